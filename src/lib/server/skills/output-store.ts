/** Keeps the long outputs of scripts for paging, within a bound (FEATURES D11). */
import { randomUUID } from 'node:crypto';
import type { FilePage } from './operations.ts';

export interface OutputStore {
	/** Its id; the oldest go when there is too much. */
	save(text: string): string;
	/** A piece of it, in bytes and cut at characters; null when it is not kept any more. */
	read(id: string, range?: { offset?: number; limit?: number }): FilePage | null;
}

const MAX_BYTES = 32 * 1024 * 1024;
const PAGE_BYTES = 64 * 1024;

export function createOutputStore(maxBytes = MAX_BYTES): OutputStore {
	const kept = new Map<string, Buffer>();
	let total = 0;
	return {
		save(text) {
			const bytes = Buffer.from(text);
			const id = randomUUID();
			kept.set(id, bytes);
			total += bytes.length;
			for (const [oldest, { length }] of kept) {
				if (total <= maxBytes) break;
				kept.delete(oldest);
				total -= length;
			}
			return id;
		},
		read(id, { offset = 0, limit = PAGE_BYTES } = {}) {
			const bytes = kept.get(id);
			if (!bytes) return null;
			const start = atCharacter(bytes, Math.min(offset, bytes.length));
			const end = Math.max(
				atCharacter(bytes, Math.min(start + limit, bytes.length)),
				Math.min(start + 4, bytes.length)
			);
			const last = atCharacter(bytes, end);
			return {
				text: bytes.toString('utf8', start, last),
				offset: start,
				nextOffset: last < bytes.length ? last : null,
				totalBytes: bytes.length
			};
		}
	};
}

/** The nearest place before `index` where a character begins. */
function atCharacter(bytes: Buffer, index: number): number {
	let at = index;
	while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
	return at;
}
