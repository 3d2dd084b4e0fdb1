/** Lets long synchronous work be done in slices, with the event loop free between them. */
import { setImmediate } from 'node:timers/promises';

/** Longest that a slice runs on, in milliseconds; one step of the work may go past it. */
const SLICE_MS = 8;

/**
 * A function to be awaited before each step. Synchronous file calls take a fifth of the time of asynchronous ones,
 * each of which goes through the thread pool; in slices they hold nobody up.
 */
export function createPace(sliceMs = SLICE_MS): () => Promise<void> {
	let start = performance.now();
	return async () => {
		if (performance.now() - start < sliceMs) return;
		await setImmediate();
		start = performance.now();
	};
}
