/** HTTP requests to the public internet only, with limits (D28; SECURITY, outbound requests). */
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type AddressGuardOptions, createAddressGuard, NetworkError } from './addresses.ts';

export interface SafeFetchOptions {
	method?: string;
	/** Without connection headers: `host`, `connection`, `content-length`, … */
	headers?: Readonly<Record<string, string>>;
	body?: string | Uint8Array;
	/** For the whole request, from DNS lookup to the last byte. */
	timeoutMs?: number;
	/** Maximum bytes of the decompressed body. */
	maxBytes?: number;
	signal?: AbortSignal;
	/** Redirects are returned, never followed. */
	redirect?: 'manual';
}

export interface SafeResponse {
	status: number;
	statusText: string;
	/** By lower-case name; without `content-encoding` and `content-length` if the body was decompressed. */
	headers: IncomingHttpHeaders;
	/** Decompressed. */
	body: Buffer;
	/** Whether the body was longer. */
	truncated: boolean;
	/** The normalised URL without its fragment. */
	finalUrl: string;
}

/** @throws NetworkError only */
export type SafeFetch = (url: string, options?: SafeFetchOptions) => Promise<SafeResponse>;

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 256_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Longer timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const OWN_HEADERS =
	/^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

/** Follows no redirects, ignores proxy variables and keeps no connections. */
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
			// Closes the socket in any case.
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
			// No shared connections, no proxy from the environment.
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
	if (code.startsWith('HPE_')) {
		return new NetworkError('bad-response', `${host} didn’t respond in HTTP.`, { cause: error });
	}
	if (code.startsWith('ERR_INVALID_') || code === 'ERR_UNESCAPED_CHARACTERS') {
		return new NetworkError('bad-request', `Couldn’t send the request: ${message}.`, { cause: error });
	}
	return new NetworkError('unreachable', `Couldn’t connect to ${host}: ${code || message}.`, { cause: error });
}

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
	gzip: createGunzip,
	'x-gzip': createGunzip,
	deflate: createInflate,
	br: createBrotliDecompress
};

/** Extra compressed bytes allowed, to end a stream that decompresses to nothing. */
const SLACK_BYTES = 64 * 1024;

/** Decompresses the body and stops at `maxBytes`. @throws NetworkError `bad-response`; errors of the response */
export async function readBody(response: IncomingMessage, maxBytes: number) {
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
		// HEAD names the encoding of a body it doesn’t send.
		const isEmpty = packedBytes === 0 && response.complete;
		if (!truncated && !isEmpty) {
			// Error codes of zlib and Brotli.
			const isPackingError = /^(Z_|ERR__)/.test((error as NodeJS.ErrnoException).code ?? '');
			if (!isPackingError) throw error;
			throw new NetworkError('bad-response', 'The response couldn’t be decompressed.', { cause: error });
		}
	}
	return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated, isUnpacked: unpack !== undefined };
}
