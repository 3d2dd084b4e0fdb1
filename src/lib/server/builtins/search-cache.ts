/** The answers to the latest searches, for a while (FEATURES D29). */

export interface SearchCache<Value> {
	get(key: string): Value | undefined;
	set(key: string, value: Value): void;
}

const MAX_AGE_MS = 15 * 60 * 1000;
const MAX_ENTRIES = 100;

/** @param now milliseconds of a clock that is never set back; of what grows too much, the longest unused goes first */
export function createSearchCache<Value>(now: () => number = () => performance.now()): SearchCache<Value> {
	const entries = new Map<string, { value: Value; at: number }>();
	return {
		get(key) {
			const entry = entries.get(key);
			entries.delete(key);
			if (!entry || now() - entry.at >= MAX_AGE_MS) return undefined;
			entries.set(key, entry); // last in order: just used
			return entry.value;
		},
		set(key, value) {
			entries.delete(key);
			entries.set(key, { value, at: now() });
			const [oldest] = entries.keys();
			if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
		}
	};
}
