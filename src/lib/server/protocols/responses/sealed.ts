/**
 * Items of the model's server inside `encrypted_content`: what a client cannot show or would not send back whole, it
 * returns unread. Nothing is secret about them, and nothing is believed: a caller could send such items openly as well.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ResponseItem } from '../../agent/model.ts';

export interface Sealed {
	items: ResponseItem[];
	/** What answered: reasoning of another model is refused by servers. */
	model: string;
	/** The call that they stood before, where the output has them after it. */
	before?: string | undefined;
}

const PREFIX = 'ors1.';
/** Unpacked. */
const MAX_BYTES = 16 * 1024 * 1024;

const schema = z.object({
	items: z.array(z.looseObject({ type: z.string() })).max(10_000),
	model: z.string(),
	before: z.string().optional()
});

export function seal(sealed: Sealed): string {
	return PREFIX + deflateRawSync(JSON.stringify(sealed)).toString('base64url');
}

/** Null for what another server has made; `damaged` for what was ours and can no longer be read. */
export function unseal(text: string): Sealed | 'damaged' | null {
	if (!text.startsWith(PREFIX)) return null;
	try {
		const packed = Buffer.from(text.slice(PREFIX.length), 'base64url');
		const json = inflateRawSync(packed, { maxOutputLength: MAX_BYTES }).toString('utf8');
		return schema.safeParse(JSON.parse(json)).data ?? 'damaged';
	} catch {
		// Cut, changed or made up: the caller is told, whichever it is.
		return 'damaged';
	}
}
