/**
 * Items of the model's server inside `encrypted_content`: what a client cannot show or would not send back whole, it
 * returns unread. Nothing is secret about them, and nothing is believed: a caller could send such items openly as well.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ResponseItem } from '../../agent/model.ts';
import { ApiError } from './errors.ts';

/** Bytes that the items which a request packs or refers to may still come to, together. */
export interface Room {
	left: number;
}

/** Of one request: a few bytes may stand for millions, and the same ones may come again and again. */
export const MAX_UNSHOWN = 16 * 1024 * 1024;

export interface Sealed {
	items: ResponseItem[];
	/** What answered: reasoning of another model is refused by servers. */
	model: string;
	/** The call that they stood before, where the output has them after it. */
	before?: string | undefined;
}

const PREFIX = 'ors1.';
const schema = z.object({
	items: z.array(z.looseObject({ type: z.string() })).max(10_000),
	model: z.string(),
	before: z.string().optional()
});

export function seal(sealed: Sealed): string {
	return PREFIX + deflateRawSync(JSON.stringify(sealed)).toString('base64url');
}

/** Null for what another server has made; `damaged` for what was ours and can no longer be read. @throws NoRoom */
export function unseal(text: string, room: Room): Sealed | 'damaged' | null {
	if (!text.startsWith(PREFIX)) return null;
	try {
		const json = unpack(Buffer.from(text.slice(PREFIX.length), 'base64url'), room);
		return schema.safeParse(JSON.parse(json)).data ?? 'damaged';
	} catch (error) {
		if (error instanceof NoRoom) throw error;
		// Cut, changed or made up: the caller is told, whichever it is.
		return 'damaged';
	}
}

/** @throws NoRoom, or what zlib throws for what is damaged */
export function unpack(packed: Buffer, room: Room): string {
	if (room.left < 1) throw new NoRoom();
	try {
		const bytes = inflateRawSync(packed, { maxOutputLength: room.left });
		take(bytes.length, room);
		return bytes.toString('utf8');
	} catch (error) {
		const isTooLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
		throw isTooLarge ? new NoRoom() : error;
	}
}

/** @throws NoRoom */
export function take(bytes: number, room: Room): void {
	room.left -= bytes;
	if (room.left < 0) throw new NoRoom();
}

export class NoRoom extends ApiError {
	constructor() {
		const sentence = 'The packed (`encrypted_content`) or referenced items total more than 16 MB. Send fewer.';
		super(400, sentence, { code: 'too_large', param: 'input' });
	}
}
