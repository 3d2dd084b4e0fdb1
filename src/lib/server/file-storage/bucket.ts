/** A bucket on a server that speaks S3: puts, gets and deletes whole objects. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../log.ts';

/** Where the bucket is. */
export interface BucketSettings {
	/** `https://host/bucket`, perhaps with a folder in it; without a trailing slash. */
	url: string;
	accessKeyId: string;
	secretAccessKey: string;
	region: string;
}

export interface BucketTimes {
	/** Until it answers. */
	answerMs: number;
	/** Time for an object on top of it, by its size. */
	bytesPerSecond: number;
	/** Waits before an attempt is repeated. */
	againMs: readonly number[];
}

const TIMES: BucketTimes = { answerMs: 10_000, bytesPerSecond: 256 * 1024, againMs: [200, 1000] };

/** The server can't be reached, refuses us, or is too slow: it may work later. */
export class BucketUnavailable extends Error {
	override name = 'BucketUnavailable';
}

/** The object isn't there, or has another content. */
export class BlobDamaged extends Error {
	override name = 'BlobDamaged';
}

export interface Content {
	sha256: string;
	bytes: number;
	/** Called for each attempt. Opens nothing before it's read. */
	read(): AsyncIterable<Uint8Array>;
}

export interface Bucket {
	/** False if the content is another one by now, which isn't stored then. @throws BucketUnavailable */
	put(object: string, content: Content, signal: AbortSignal): Promise<boolean>;
	/** Hands on the pieces of this content. @throws BucketUnavailable, BlobDamaged at its end at the latest */
	get(object: string, content: Omit<Content, 'read'>, signal: AbortSignal): AsyncGenerator<Uint8Array>;
	/** One that isn't there is no error. @throws BucketUnavailable */
	remove(object: string, signal: AbortSignal): Promise<void>;
}

export function openBucket(
	{ url, region, ...keys }: BucketSettings,
	{ answerMs, bytesPerSecond, againMs } = TIMES
): Bucket {
	const send = async (
		method: 'GET' | 'PUT' | 'DELETE',
		object: string,
		given: { sha256?: string; bytes?: number; body?: AsyncIterable<Uint8Array>; signal: AbortSignal }
	): Promise<Response> => {
		const { sha256, bytes = 0, body } = given;
		// A row that somebody else wrote must not lead to another folder of the bucket.
		if (!OBJECT.test(object)) throw new BlobDamaged('the database names no object');
		// Of nothing, for requests without a body.
		const digest = sha256 ?? EMPTY;
		// Only with S3_URL.
		const { AwsV4Signer } = await import('aws4fetch');
		const signer = new AwsV4Signer({
			method,
			url: `${url}/${object}`,
			headers: { 'x-amz-content-sha256': digest },
			service: 's3',
			region,
			...keys
		});
		const { headers } = await signer.sign();
		if (body) headers.set('content-length', String(bytes));
		const limit = AbortSignal.timeout(answerMs + Math.ceil((bytes / bytesPerSecond) * 1000));
		return fetch(signer.url, {
			method,
			headers,
			signal: AbortSignal.any([given.signal, limit]),
			redirect: 'error',
			...(body && { body: body as unknown as BodyInit, duplex: 'half' as const })
		});
	};
	/** Once more after a wait, unless it's refused or `signal` is aborted. */
	const again = async <Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
		for (const waitMs of [...againMs, null]) {
			try {
				return await work();
			} catch (error) {
				signal.throwIfAborted();
				if (error instanceof BlobDamaged) throw error;
				const isFinal = error instanceof BucketUnavailable && error.cause === REFUSED;
				if (waitMs === null || isFinal) throw asUnavailable(error);
				await delay(waitMs, undefined, { signal });
			}
		}
		throw new Error('There is always a last attempt.');
	};
	return {
		put: (object, content, signal) =>
			again(signal, async () => {
				const { sha256, bytes } = content;
				const seen = { isSame: true };
				// fetch reads an empty stream as no body, which is right for an empty file.
				const body = bytes === 0 ? undefined : checked(content.read(), { sha256, bytes }, () => (seen.isSame = false));
				try {
					const response = await send('PUT', object, { sha256, bytes, body, signal });
					await refuse(response);
				} catch (error) {
					if (!seen.isSame) return false;
					throw error;
				}
				return true;
			}),
		async *get(object, { sha256, bytes }, signal) {
			const response = await again(signal, async () => {
				const answer = await send('GET', object, { bytes, signal });
				await refuse(answer, { keepsBody: true, missing: `${object} isn't in the bucket` });
				return answer;
			});
			const hash = createHash('sha256');
			let count = 0;
			try {
				for await (const piece of response.body ?? []) {
					count += piece.length;
					if (count > bytes) throw new BlobDamaged(`${object} is longer than it was`);
					hash.update(piece);
					yield piece;
				}
			} catch (error) {
				signal.throwIfAborted();
				throw error instanceof BlobDamaged ? error : asUnavailable(error);
			}
			if (count !== bytes || hash.digest('hex') !== sha256) throw new BlobDamaged(`${object} has another content`);
		},
		remove: (object, signal) =>
			again(signal, async () => {
				await refuse(await send('DELETE', object, { signal }), { missing: object });
			}).catch((error: unknown) => {
				if (!(error instanceof BlobDamaged)) throw error;
			})
	};
}

const OBJECT = /^\w[\w.-]*$/;
/**
 * Puts, gets and deletes an object, before anything else is started. A server that can't be reached now is only logged.
 *
 * @throws {Error} saying what to do, if the server refuses that
 */
export async function requireBucket(settings: BucketSettings, log: Log): Promise<void> {
	const bucket = openBucket(settings, { ...TIMES, answerMs: 5_000, againMs: [] });
	const object = `start.${randomUUID()}`;
	const content = { sha256: EMPTY, bytes: 0 };
	const { signal } = new AbortController();
	try {
		await bucket.put(object, { ...content, async *read() {} }, signal);
		await Array.fromAsync(bucket.get(object, content, signal));
		await bucket.remove(object, signal);
	} catch (error) {
		const { message, cause } = error as BucketUnavailable;
		const [, hint = null] = HINTS.find(([says]) => says.test(message)) ?? [];
		if (hint === null && cause !== REFUSED) return log.error({ reason: message }, 'The file storage can’t be used yet');
		const what = hint ?? 'Check the address, the key and its rights in S3_URL.';
		throw new Error(`Files can’t be stored at ${settings.url} (${message}). ${what}`, { cause: error });
	}
}

/** By what the server says, or TLS. */
const HINTS: readonly [says: RegExp, hint: string][] = [
	[/NoSuchBucket/, 'Create the bucket, or correct its name in S3_URL.'],
	[/InvalidAccessKeyId|SignatureDoesNotMatch/, 'Check the key and the secret in S3_URL.'],
	[/AccessDenied/, 'Check the key in S3_URL, and give it the rights to put, get and delete objects.'],
	[/AuthorizationHeaderMalformed|IllegalLocation/, 'Set the bucket’s region in S3_URL: ?region=…'],
	[/RequestTimeTooSkewed/, 'Set the clock of this machine.'],
	[/CERT|UNABLE_TO_/, 'If the certificate is one of your own, start with NODE_EXTRA_CA_CERTS=/path/ca.pem.']
];

const EMPTY = createHash('sha256').digest('hex');
/** As a cause: no use in trying again at once. */
const REFUSED = Symbol('refused');

/** More of an error isn't read: its server may be anything. */
const MAX_ERROR_CHARACTERS = 10_000;
/** Of all objects, not of the one that was asked for. */
const NO_BUCKET = 'NoSuchBucket';

/** `missing`: what to say of an object that isn't there. @throws BucketUnavailable, BlobDamaged */
async function refuse(response: Response, options: { keepsBody?: boolean; missing?: string } = {}): Promise<void> {
	const { keepsBody = false, missing } = options;
	if (response.ok) {
		if (!keepsBody) await response.body?.cancel();
		return;
	}
	// Nothing of what it says but its code, which is a word: `AccessDenied`.
	const code = /<Code>(\w{1,60})<\/Code>/.exec(await beginningOf(response))?.[1];
	if (response.status === 404 && code !== NO_BUCKET && missing !== undefined) throw new BlobDamaged(missing);
	const says = code ? `${response.status} ${code}` : String(response.status);
	const isFinal = response.status < 500 && response.status !== 429 && response.status !== 408;
	throw new BucketUnavailable(`it answered ${says}`, { cause: isFinal ? REFUSED : undefined });
}

async function beginningOf({ body }: Response): Promise<string> {
	const decoder = new TextDecoder();
	let text = '';
	try {
		for await (const piece of body ?? []) {
			text += decoder.decode(piece, { stream: true });
			if (text.length > MAX_ERROR_CHARACTERS) break;
		}
	} catch {
		// What came is enough.
	}
	return text;
}

/** Ends with an error before the last piece if it isn't this content. */
async function* checked(
	pieces: AsyncIterable<Uint8Array>,
	{ sha256, bytes }: Omit<Content, 'read'>,
	onOther: () => void
): AsyncGenerator<Uint8Array> {
	const hash = createHash('sha256');
	let count = 0;
	let last: Uint8Array | null = null;
	for await (const piece of pieces) {
		count += piece.length;
		if (count > bytes) break;
		if (last) yield last;
		hash.update(piece);
		last = piece;
	}
	if (count === bytes && hash.digest('hex') === sha256) {
		if (last) yield last;
		return;
	}
	onOther();
	throw new Error('The file changed while it was sent.');
}

function asUnavailable(error: unknown): BucketUnavailable {
	if (error instanceof BucketUnavailable) return error;
	const { name, message, cause } = error as Error;
	if (name === 'TimeoutError') return new BucketUnavailable('it took too long', { cause: error });
	const code = (cause as NodeJS.ErrnoException | undefined)?.code;
	return new BucketUnavailable(code ?? message, { cause: error });
}

/** As people are told: `unavailable` or `storage_full`; others as they are. */
export function asTold(error: unknown): unknown {
	if (error instanceof BucketUnavailable) {
		const message = `The files can’t be fetched, because the file storage can’t be used (${error.message}). Try again later.`;
		return new AppError('unavailable', message, { cause: error });
	}
	if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
		return new AppError('storage_full', 'The disk is full. Free some space and try again.', { cause: error });
	}
	return error;
}
