/** Narrowing for JSON of servers that may send anything. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one when it is anything else. */
export function asObject(value: unknown): JsonObject {
	return isObject(value) ? value : {};
}

/** The value as an object; null when it is anything else. */
export function asRecord(value: unknown): JsonObject | null {
	return isObject(value) ? value : null;
}

/** The value as a text that is not empty. */
export function asText(value: unknown): string | undefined {
	return typeof value === 'string' && value !== '' ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
	return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function asArray(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The parsed value, or undefined where the text is not JSON (JSON itself cannot say undefined). */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		// Not an error here: the caller decides what text that is not JSON means.
		return undefined;
	}
}
