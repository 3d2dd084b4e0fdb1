/** Bytes that each API key has stored (F12). */
export interface KeyTotals {
	/** Whether it can store so much more. Additions at the same time may exceed `most` by what they add. */
	hasRoom(apiKeyId: string | null, bytes: number, most: number): Promise<boolean>;
	add(apiKeyId: string | null, bytes: number): void;
	/** After much was deleted. */
	forget(apiKeyId: string | null): void;
}

/** In milliseconds. Other servers add to the same database, too. */
const KNOWN_FOR = 60_000;

/** Adds up at a key's first request, counts from there, and adds up again each minute, and before it says no: what was deleted makes room. */
export function createKeyTotals(measure: (apiKeyId: string | null) => Promise<number>): KeyTotals {
	const totals = new Map<string | null, { total: number; until: number }>();
	return {
		async hasRoom(apiKeyId, bytes, most) {
			const known = totals.get(apiKeyId);
			if (known && performance.now() < known.until && known.total + bytes <= most) return true;
			const total = await measure(apiKeyId);
			totals.set(apiKeyId, { total, until: performance.now() + KNOWN_FOR });
			return total + bytes <= most;
		},
		add(apiKeyId, bytes) {
			const known = totals.get(apiKeyId);
			if (known) known.total += bytes;
		},
		forget: (apiKeyId) => void totals.delete(apiKeyId)
	};
}
