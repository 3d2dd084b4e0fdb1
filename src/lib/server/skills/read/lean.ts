/** Copies slices of text: V8 keeps the whole text in memory as long as a slice of it lives. */
import { setImmediate } from 'node:timers/promises';

/** A copy that doesn't keep a longer text alive. */
export function apart(text: string): string {
	// V8 copies shorter slices anyway.
	return text.length < 13 ? text : Buffer.from(text).toString();
}

/** A deep copy that keeps no other text alive; preserves key order and a null prototype. */
export function deeplyApart(value: unknown): unknown {
	if (typeof value === 'string') return apart(value);
	if (Array.isArray(value)) return lean(value.map(deeplyApart));
	if (typeof value !== 'object' || value === null) return value;
	const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>;
	// Not an assignment, because the key may be `__proto__`.
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
const EMPTY_RECORD = Object.freeze(Object.create(null) as Record<string, never>);

/** A copy without spare capacity; empty lists share one object. */
export function lean<Item>(list: readonly Item[]): readonly Item[] {
	return list.length === 0 ? EMPTY : list.slice();
}

/** A deep copy of a record; empty records share one object. */
export function leanRecord<Value>(record: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
	for (const key in record) if (key in record) return deeplyApart(record) as Record<string, Value>;
	return EMPTY_RECORD;
}

// Splits long synchronous work into slices that leave the event loop free in between.

/** Length of a slice in milliseconds; a single step may exceed it. */
const SLICE_MS = 8;

/**
 * Returns a function to call before each step; await its result, if any. In slices, synchronous file calls block
 * nobody, and take a fifth of the time of asynchronous ones.
 */
export function createPace(sliceMs = SLICE_MS): () => Promise<void> | undefined {
	let start = performance.now();
	const rest = async (): Promise<void> => {
		await setImmediate();
		start = performance.now();
	};
	return () => (performance.now() - start < sliceMs ? undefined : rest());
}
