/** One HTTP request to the public internet and nowhere else, capped in every direction (FEATURES D28; SECURITY, outbound requests). */
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type AddressGuardOptions, createAddressGuard, NetworkError } from './addresses.ts';

export interface SafeFetchOptions {
	method?: string;
	/** None of those that a connection is made of: `host`, `connection`, `content-length`, … */
	headers?: Readonly<Record<string, string>>;
	body?: string | Uint8Array;
	/** For all of it, from the look-up to the last byte. */
	timeoutMs?: number;
	/** Bytes of the body that are kept, counted as they are unpacked. */
	maxBytes?: number;
	signal?: AbortSignal;
	/** The only way there is: a redirect is returned as it came. */
	redirect?: 'manual';
}

export interface SafeResponse {
	status: number;
	statusText: string;
	/** Lower-case names; without `content-encoding` and `content-length` when the body was unpacked. */
	headers: IncomingHttpHeaders;
	/** Unpacked. */
	body: Buffer;
	/** There was more. */
	truncated: boolean;
	/** The address as it was understood, without its fragment. */
	finalUrl: string;
}

/** @throws NetworkError, and nothing else */
export type SafeFetch = (url: string, options?: SafeFetchOptions) => Promise<SafeResponse>;

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 256_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** A timer set for longer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Those that say where a request goes and how long it is are ours to write. */
const OWN_HEADERS =
	/^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

/** No redirect is followed, no proxy of the environment used, no connection kept. */
export function createSafeFetch(options: AddressGuardOptions = {}): SafeFetch {
	const guard = createAddressGuard(options);
	return async (text, { method = 'GET', headers = {}, body, timeoutMs, maxBytes, signal } = {}) => {
		const url = parseUrl(text);
		guard.check(url.hostname);
		const own = Object.keys(headers).find((name) => OWN_HEADERS.test(name));
		if (own) throw new NetworkError('bad-request', `The header “${own}” can’t be set.`);
		const stop = new AbortController();
		const timer = setTimeout(
			() => stop.abort(new NetworkError('timeout', `${url.host} took too long to respond.`)),
			Math.min(timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMER_MS)
		);
		const onAbort = () => stop.abort(new NetworkError('aborted', `The request to ${url.host} was stopped.`));
		if (signal?.aborted) onAbort();
		signal?.addEventListener('abort', onAbort, { once: true });
		try {
			const response = await send(url, { method, headers, body, signal: stop.signal, lookup: guard.lookup });
			const read = await readBody(response, maxBytes ?? DEFAULT_MAX_BYTES);
			return {
				status: response.statusCode ?? 0,
				statusText: response.statusMessage ?? '',
				headers: read.isUnpacked ? withoutPacking(response.headers) : response.headers,
				body: read.body,
				truncated: read.truncated,
				finalUrl: url.href
			};
		} catch (error) {
			throw stop.signal.aborted ? (stop.signal.reason as NetworkError) : asNetworkError(error, url);
		} finally {
			clearTimeout(timer);
			signal?.removeEventListener('abort', onAbort);
			// Whatever became of it, its socket goes.
			stop.abort();
		}
	};
}

function parseUrl(text: string): URL {
	const url = URL.parse(text);
	if (!url) throw new NetworkError('bad-url', `“${text.slice(0, 200)}” isn’t a web address.`);
	if (url.protocol !== 'http:' && url.protocol !== 'https:') {
		throw new NetworkError('bad-url', `Only http and https work, not “${url.protocol}”.`);
	}
	if (url.username || url.password) {
		throw new NetworkError('bad-url', `Addresses with a user name or password aren’t allowed.`);
	}
	url.hash = '';
	return url;
}

type Sending = Pick<SafeFetchOptions, 'method' | 'headers' | 'body'> & {
	signal: AbortSignal;
	lookup: ReturnType<typeof createAddressGuard>['lookup'];
};

function send(url: URL, { method, headers, body, signal, lookup }: Sending): Promise<IncomingMessage> {
	const request = url.protocol === 'https:' ? requestHttps : requestHttp;
	return new Promise((resolve, reject) => {
		const outgoing = request(url, {
			method,
			headers: { 'accept-encoding': 'gzip, deflate, br', ...headers },
			lookup,
			signal,
			// One of its own: no connection is shared, no proxy of the environment asked.
			agent: false,
			maxHeaderSize: MAX_HEADER_BYTES
		});
		outgoing.on('response', resolve);
		outgoing.on('error', reject);
		outgoing.on('upgrade', (_, socket) => {
			socket.destroy();
			reject(new NetworkError('bad-response', `${url.host} responded with an unexpected protocol.`));
		});
		outgoing.end(body);
	});
}

function withoutPacking({ ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
	delete headers['content-encoding'];
	delete headers['content-length'];
	return headers;
}

function asNetworkError(error: unknown, { host }: URL): NetworkError {
	if (error instanceof NetworkError) return error;
	const { code = '', message = '' } = error as NodeJS.ErrnoException;
	if (code.startsWith('HPE_'))
		return new NetworkError('bad-response', `${host} didn’t respond in HTTP.`, { cause: error });
	if (code.startsWith('ERR_INVALID_') || code === 'ERR_UNESCAPED_CHARACTERS') {
		return new NetworkError('bad-request', `Couldn’t send the request: ${message}.`, { cause: error });
	}
	return new NetworkError('unreachable', `Couldn’t connect to ${host}: ${code || message}.`, { cause: error });
}

// The body of a response, unpacked, up to a cap that counts what comes out.

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
	return new NetworkError('bad-response', 'The response couldn’t be decompressed.', { cause });
}
