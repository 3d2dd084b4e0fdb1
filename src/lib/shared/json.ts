/** Narrows untrusted JSON. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value, or an empty object if it isn’t one. */
export function asObject(value: unknown): JsonObject {
	return isObject(value) ? value : {};
}

/** The value, or null if it isn’t an object. */
export function asRecord(value: unknown): JsonObject | null {
	return isObject(value) ? value : null;
}

/** The value, if it is a non-empty string. */
export function asText(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
	return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function asArray(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The parsed value; undefined if it isn’t JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** From the first `open` to the last `close`, as in prose around JSON; null without. */
export function between(text: string, open: string, close: string): string | null {
	const [start, end] = [text.indexOf(open), text.lastIndexOf(close)];
	return start < 0 || end < start ? null : text.slice(start, end + close.length);
}
