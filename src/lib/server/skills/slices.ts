/** Lets long synchronous work be done in slices, with the event loop free between them. */
import { setImmediate } from 'node:timers/promises';

/** Longest that a slice runs on, in milliseconds; one step of the work may go past it. */
const SLICE_MS = 8;

/**
 * A function to be called before each step; what it returns, if anything, is to be awaited. Synchronous file calls take
 * a fifth of the time of asynchronous ones, each of which goes through the thread pool; in slices they hold nobody up.
 */
export function createPace(sliceMs = SLICE_MS): () => Promise<void> | undefined {
	let start = performance.now();
	const rest = async (): Promise<void> => {
		await setImmediate();
		start = performance.now();
	};
	return () => (performance.now() - start < sliceMs ? undefined : rest());
}
