/** Bytes that each API key has stored (F12). */
export interface KeyTotals {
	/** Whether it can store so much more. Additions at the same time may exceed `most` by what they add. */
	hasRoom(apiKeyId: string | null, bytes: number, most: number): Promise<boolean>;
	add(apiKeyId: string | null, bytes: number): void;
	/** After much was deleted. */
	forget(apiKeyId: string | null): void;
}

/** Adds up at a key's first request, counts from there, and adds up again before it says no: what was deleted makes room. */
export function createKeyTotals(measure: (apiKeyId: string | null) => Promise<number>): KeyTotals {
	const totals = new Map<string | null, number>();
	return {
		async hasRoom(apiKeyId, bytes, most) {
			const known = totals.get(apiKeyId);
			if (known !== undefined && known + bytes <= most) return true;
			const total = await measure(apiKeyId);
			totals.set(apiKeyId, total);
			return total + bytes <= most;
		},
		add(apiKeyId, bytes) {
			const known = totals.get(apiKeyId);
			if (known !== undefined) totals.set(apiKeyId, known + bytes);
		},
		forget: (apiKeyId) => void totals.delete(apiKeyId)
	};
}
