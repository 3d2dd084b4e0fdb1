/** The body of a response, unpacked, up to a cap that counts what comes out. */
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { NetworkError } from './network-error.ts';

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
	gzip: createGunzip,
	'x-gzip': createGunzip,
	deflate: createInflate,
	br: createBrotliDecompress
};

/** Packed bytes that may come beyond the cap without giving anything: a stream of nothing must end too. */
const SLACK_BYTES = 64 * 1024;

export interface ReadBody {
	body: Buffer;
	truncated: boolean;
	isUnpacked: boolean;
}

/** Stops reading at the cap. @throws NetworkError `bad-response`, or whatever ended the response. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<ReadBody> {
	const unpack = UNPACKERS[response.headers['content-encoding']?.trim().toLowerCase() ?? ''];
	const chunks: Buffer[] = [];
	let bytes = 0;
	let packedBytes = 0;
	let truncated = false;
	const source = unpack ? pipeline(response, unpack(), () => {}) : response;
	if (unpack) {
		response.on('data', (chunk: Buffer) => {
			packedBytes += chunk.length;
			if (packedBytes <= maxBytes + SLACK_BYTES) return;
			truncated = true;
			response.destroy();
		});
	}
	try {
		for await (const chunk of source as AsyncIterable<Buffer>) {
			chunks.push(chunk);
			bytes += chunk.length;
			if (bytes <= maxBytes) continue;
			truncated = true;
			break;
		}
	} catch (error) {
		// No body at all is no bad one: HEAD says how a body would be packed.
		const isEmpty = packedBytes === 0 && response.complete;
		if (!truncated && !isEmpty) throw isPackingError(error) ? badPacking(error) : error;
	}
	return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated, isUnpacked: unpack !== undefined };
}

/** By the codes of zlib and of Brotli. */
function isPackingError(error: unknown): boolean {
	return /^(Z_|ERR__)/.test((error as NodeJS.ErrnoException).code ?? '');
}

function badPacking(cause: unknown): NetworkError {
	return new NetworkError('bad-response', 'The answer is not packed as it says.', { cause });
}
