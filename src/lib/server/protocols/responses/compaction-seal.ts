/** Encrypts the `encrypted_content` of a compaction. Only this server can read it, and only for the same API key. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ResponseItem } from '../../agent/model.ts';
import { NoRoom, unpack, type Room } from './sealed.ts';

export interface Compaction {
	/** Replaces the conversation: its summary, loaded skills, and calls without output. */
	items: ResponseItem[];
	/** Session (and workspace) of the chain it continues. */
	sessionId: string;
}

export interface CompactionSeal {
	/** `apiKeyId` is null for the server's owner. */
	close(compaction: Compaction, apiKeyId: string | null): string;
	/** null: another product's compaction. `unreadable`: from another server, for another key, or modified. @throws NoRoom */
	open(sealed: string, apiKeyId: string | null, room: Room): Compaction | 'unreadable' | null;
}

const PREFIX = 'orsc1.';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const schema = z.object({ items: z.array(z.looseObject({ type: z.string() })), sessionId: z.string() });

/** `key`: 32 bytes, used for nothing else. */
export function createCompactionSeal(key: Buffer): CompactionSeal {
	const ownerOf = (apiKeyId: string | null) => Buffer.from(apiKeyId === null ? 'manager' : `key ${apiKeyId}`);
	return {
		close(compaction, apiKeyId) {
			const iv = randomBytes(IV_BYTES);
			const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
			cipher.setAAD(ownerOf(apiKeyId));
			const sealed = Buffer.concat([cipher.update(deflateRawSync(JSON.stringify(compaction))), cipher.final()]);
			return PREFIX + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
		},

		open(sealed, apiKeyId, room) {
			if (!sealed.startsWith(PREFIX)) return null;
			const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url');
			const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
			try {
				const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
				decipher.setAAD(ownerOf(apiKeyId));
				decipher.setAuthTag(tag);
				const packed = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
				return schema.parse(JSON.parse(unpack(packed, room)));
			} catch (error) {
				if (error instanceof NoRoom) throw error;
				// OpenSSL doesn't say why, and the caller's options are the same.
				return 'unreadable';
			}
		}
	};
}
