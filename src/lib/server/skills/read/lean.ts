/** Keeps little of what was read: a part of a text holds all of it in memory until it is copied. */
import { setImmediate } from 'node:timers/promises';

/** The same text, of which no longer one is kept alive. */
export function apart(text: string): string {
	// V8 copies what is shorter than this in any case.
	return text.length < 13 ? text : Buffer.from(text).toString();
}

/** A copy, to any depth, that keeps no other text alive; key order and the absence of a prototype stay. */
export function deeplyApart(value: unknown): unknown {
	if (typeof value === 'string') return apart(value);
	if (Array.isArray(value)) return lean(value.map(deeplyApart));
	if (typeof value !== 'object' || value === null) return value;
	const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>;
	// Not by assignment: a key may be called __proto__.
	for (const [key, item] of Object.entries(value)) {
		Object.defineProperty(copy, apart(key), {
			value: deeplyApart(item),
			enumerable: true,
			writable: true,
			configurable: true
		});
	}
	return copy;
}

const EMPTY: readonly never[] = Object.freeze([]);
const EMPTY_RECORD: Readonly<Record<string, never>> = Object.freeze(
	Object.create(null) as Readonly<Record<string, never>>
);

/** The same list without room to grow; one and the same for all that are empty. */
export function lean<Item>(list: readonly Item[]): readonly Item[] {
	return list.length === 0 ? EMPTY : list.slice();
}

/** The same record, apart from what it was read in; one and the same for all that are empty. */
export function leanRecord<Value>(record: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
	for (const key in record) if (key in record) return deeplyApart(record) as Record<string, Value>;
	return EMPTY_RECORD;
}

// Lets long synchronous work be done in slices, with the event loop free between them.

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
