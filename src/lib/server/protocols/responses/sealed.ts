/**
 * Packs items of the model's server into `encrypted_content`, which clients send back unread. Without this they would
 * drop or shorten them. Neither secret nor trusted: a caller could send such items openly as well.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ResponseItem } from '../../agent/model.ts';
import { ApiError } from './errors.ts';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Bytes left for a request's packed and referenced items. */
export interface Room {
	left: number;
}

/** Per request. Guards against decompression bombs and repeated references. */
export const MAX_UNSHOWN = 16 * 1024 * 1024;

export interface Sealed {
	items: ResponseItem[];
	/** The model that wrote them: servers refuse another model's reasoning. */
	model: string;
	/** Id of the call they came before, if the output has them after it. */
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

/** null: another server's. `damaged`: ours, but unreadable. @throws NoRoom */
export function unseal(text: string, room: Room): Sealed | 'damaged' | null {
	if (!text.startsWith(PREFIX)) return null;
	try {
		const json = unpack(Buffer.from(text.slice(PREFIX.length), 'base64url'), room);
		return schema.safeParse(JSON.parse(json)).data ?? 'damaged';
	} catch (error) {
		if (error instanceof NoRoom) throw error;
		return 'damaged';
	}
}

/** @throws NoRoom, or zlib's error for damaged data */
function unpack(packed: Buffer, room: Room): string {
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

class NoRoom extends ApiError {
	constructor() {
		const sentence = 'The packed (`encrypted_content`) or referenced items total more than 16 MB. Send fewer.';
		super(400, sentence, { code: 'too_large', param: 'input' });
	}
}

export interface Compaction {
	/** Replaces the conversation: its summary, loaded skills, and calls without output. */
	items: ResponseItem[];
	/** Session (and workspace) of the chain it continues. */
	sessionId: string;
}

const COMPACTION_PREFIX = 'orsc1.';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const compactionSchema = z.object({ items: z.array(z.looseObject({ type: z.string() })), sessionId: z.string() });

/**
 * Encrypts the `encrypted_content` of a compaction. Only this server can read it, and only for the same API key.
 * `key`: 32 bytes, used for nothing else.
 */
export function createCompactionSeal(key: Buffer) {
	const ownerOf = (apiKeyId: string | null) => Buffer.from(apiKeyId === null ? 'manager' : `key ${apiKeyId}`);
	return {
		/** `apiKeyId` is null for the server's owner. */
		close(compaction: Compaction, apiKeyId: string | null): string {
			const iv = randomBytes(IV_BYTES);
			const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
			cipher.setAAD(ownerOf(apiKeyId));
			const sealed = Buffer.concat([cipher.update(deflateRawSync(JSON.stringify(compaction))), cipher.final()]);
			return COMPACTION_PREFIX + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
		},

		/** null: another product's compaction. `unreadable`: from another server, for another key, or modified. @throws NoRoom */
		open(sealed: string, apiKeyId: string | null, room: Room): Compaction | 'unreadable' | null {
			if (!sealed.startsWith(COMPACTION_PREFIX)) return null;
			const bytes = Buffer.from(sealed.slice(COMPACTION_PREFIX.length), 'base64url');
			const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
			try {
				const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
				decipher.setAAD(ownerOf(apiKeyId));
				decipher.setAuthTag(tag);
				const packed = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
				return compactionSchema.parse(JSON.parse(unpack(packed, room)));
			} catch (error) {
				if (error instanceof NoRoom) throw error;
				// OpenSSL doesn't say why, and the caller's options are the same.
				return 'unreadable';
			}
		}
	};
}

export type CompactionSeal = ReturnType<typeof createCompactionSeal>;
