/** What makes a thing new: an id of its own, and the time. */

/** The time now, as ISO 8601. */
export function timestamp(): string {
	return new Date().toISOString();
}

/** A version 4 UUID. `crypto.randomUUID` itself is missing where the page comes over plain http from another machine. */
export function newId(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
	bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
	const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
	return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
