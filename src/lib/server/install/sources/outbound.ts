/** HTTP requests of skill catalogs and sources: to the public internet and hosts the operator allows, nothing else (E9, E23–E27; SECURITY, outbound requests). */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { z } from 'zod';
import { AppError, hostAndPort, parseRetryAfterMs } from '../../../shared/errors.ts';
import { NetworkError } from '../../network/addresses.ts';
import { createSafeFetch, type SafeResponse } from '../../network/safe-fetch.ts';
import { parseJson } from '../../../shared/json.ts';

export interface OutboundRequest {
	/** Name for messages, such as `GitHub`. */
	service: string;
	/** Object for messages, after “no”: `repository acme/skills`. */
	what: string;
	hintIfMissing?: string;
	headers?: Readonly<Record<string, string>>;
	/** Sent only to the origin of `baseUrl`, also after redirects. */
	bearer?: { token: string | null; baseUrl: string };
	/** Maximum bytes of the decompressed response. */
	maxBytes?: number;
	/** Per response; starts again after a redirect. */
	timeoutMs?: number;
	signal: AbortSignal;
}

export interface OutboundResponse {
	/** By lower-case name. */
	headers: IncomingHttpHeaders;
	body: Buffer;
	/** After redirects. */
	url: string;
}

/** GET with up to 5 redirects. @throws AppError `not_found`, `invalid_input` (bad URL), `forbidden`, `too_large`, `unavailable` */
export type Outbound = (url: string, request: OutboundRequest) => Promise<OutboundResponse>;

export interface OutboundOptions {
	/** `host:port` of allowed servers outside the public internet. */
	hosts: readonly string[];
	/** All addresses of a host name. Default: the system’s resolver. */
	resolve?: (host: string) => Promise<string[]>;
}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 10 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function createOutbound({ hosts, resolve }: OutboundOptions): Outbound {
	const named = new Set(hosts.map((host) => host.toLowerCase()));
	const publicFetch = createSafeFetch({ resolve });
	// The operator allowed these hosts, so any IP address is accepted.
	const namedFetch = createSafeFetch({ resolve, isAllowed: (address) => isIP(address) > 0 });

	async function once(url: URL, request: OutboundRequest): Promise<SafeResponse> {
		const { bearer, headers, service, signal, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = request;
		const isOwn = bearer?.token && url.origin === new URL(bearer.baseUrl).origin;
		const fetch = named.has(hostAndPort(url)) ? namedFetch : publicFetch;
		try {
			return await fetch(url.href, {
				headers: {
					'user-agent': 'openrouter-skills',
					...headers,
					...(isOwn ? { authorization: `Bearer ${bearer.token}` } : {})
				},
				timeoutMs,
				maxBytes,
				signal
			});
		} catch (error) {
			throw error instanceof NetworkError ? asAppError(error, service, url) : error;
		}
	}

	return async (address, request) => {
		let url = parseUrl(address);
		for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
			const response = await once(url, request);
			const { location } = response.headers;
			if (!REDIRECTS.has(response.status) || !location) return checked(response, request, url);
			const next = URL.parse(location, url.href);
			if (!next || (url.protocol === 'https:' && next.protocol !== 'https:')) {
				throw new AppError('unavailable', `${request.service} redirects to an address that isn’t followed.`, {
					hint: `${url.host} redirected to “${location.slice(0, 200)}”.`
				});
			}
			url = parseUrl(next.href);
		}
		throw new AppError('unavailable', `${request.service} redirects too many times.`);
	};
}

/** GET of JSON; drops unknown keys. @throws AppError as Outbound; `unavailable` for another shape */
export async function fetchJson<Shape extends z.ZodType>(
	outbound: Outbound,
	url: string,
	shape: Shape,
	request: OutboundRequest
): Promise<z.output<Shape>> {
	const accept = { accept: 'application/json', ...request.headers };
	const { body } = await outbound(url, { ...request, headers: accept });
	const parsed = shape.safeParse(parseJson(body.toString()));
	if (parsed.success) return parsed.data;
	throw new AppError('unavailable', `${request.service} sent something other than ${request.what}.`, {
		hint: /^\s*</.test(body.toString('utf8', 0, 100))
			? `${new URL(url).host} sent a web page. Check the address.`
			: 'Try again later. If it keeps failing, its API may have changed.',
		cause: parsed.error
	});
}

function parseUrl(text: string): URL {
	const url = URL.parse(text);
	if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url;
	const hint = 'Use an address that starts with https:// and has no user name.';
	throw new AppError('invalid_input', `Skills can’t be installed from “${text.slice(0, 200)}”.`, { hint });
}

function checked(response: SafeResponse, request: OutboundRequest, url: URL): OutboundResponse {
	if (response.status !== 200) throw refusalOf(response, request, url);
	if (response.truncated) {
		const hint = 'Narrow the search, or choose one folder (path) of the repository.';
		throw new AppError('too_large', `The response of ${request.service} is too large: ${request.what}.`, { hint });
	}
	return { headers: response.headers, body: response.body, url: url.href };
}

function asAppError(error: NetworkError, service: string, { host }: URL): AppError {
	const options = { cause: error };
	if (error.code === 'bad-url' || error.code === 'bad-request') {
		return new AppError('invalid_input', error.message, options);
	}
	if (error.code === 'blocked-address') {
		return new AppError('forbidden', error.message, {
			...options,
			hint: 'To allow servers in your own network, list them in SKILLS_INSTALL_HOSTS.'
		});
	}
	return new AppError('unavailable', `${service} didn’t respond: ${error.message}`, {
		...options,
		hint: `Check that this server can reach ${host}, then try again.`
	});
}

type Answer = Pick<SafeResponse, 'status' | 'headers' | 'body'>;

function refusalOf(
	answer: Answer,
	{ service, what, hintIfMissing }: { service: string; what: string; hintIfMissing?: string },
	url: URL
): AppError {
	const { status } = answer;
	if (isRateLimit(answer)) return rateLimit(answer, service);
	// GitHub answers 409 for a repository without commits and 422 for an unknown ref.
	if (status === 404 || status === 410 || status === 409 || status === 422) {
		return new AppError('not_found', `${service} has no ${what}.`, { hint: hintIfMissing, details: { status } });
	}
	if (status === 401 || status === 403) {
		return new AppError('forbidden', `${service} denied access to ${what}.`, {
			hint: `${url.host} responded with status ${status}. Check that its key is set and allows this.`,
			details: { status }
		});
	}
	return new AppError('unavailable', `${service} responded with status ${status}.`, {
		hint: status >= 500 ? 'Try again later.' : 'Try again. If it keeps failing, its API may have changed.',
		details: { status }
	});
}

function isRateLimit({ status, headers }: Answer): boolean {
	const isExhausted = headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined;
	return status === 429 || (status === 403 && isExhausted);
}

function rateLimit({ headers }: Answer, service: string): AppError {
	const until = resetOf(headers);
	const when = until ? `at ${until.toISOString()}` : 'later';
	const hint = service === 'GitHub' ? 'Set GITHUB_TOKEN to get a higher limit.' : undefined;
	return new AppError('unavailable', `${service} has reached its request limit. Try again ${when}.`, {
		hint,
		details: { status: 429, retryAt: until?.toISOString() }
	});
}

/** `retry-after` in seconds or as a date, else `x-ratelimit-reset` in seconds since 1970. */
function resetOf(headers: Answer['headers']): Date | null {
	const now = Date.now();
	const afterMs = parseRetryAfterMs(headers['retry-after'], now);
	const time = afterMs === undefined ? Number(headers['x-ratelimit-reset']) * 1000 : now + afterMs;
	// Invalid, or out of the range of dates.
	return Number.isFinite(time) && time > 0 && time < 8.64e15 ? new Date(time) : null;
}

/** Runs `work` for each item, `width` at a time. A failure aborts the others; rejects with the first one once all have ended. */
export async function inParallel<Item>(
	items: Iterable<Item>,
	width: number,
	signal: AbortSignal,
	work: (item: Item, signal: AbortSignal) => Promise<void>
): Promise<void> {
	const stop = new AbortController();
	const either = AbortSignal.any([signal, stop.signal]);
	const failures: unknown[] = [];
	const left = Array.from(items).reverse();
	async function worker(): Promise<void> {
		while (left.length > 0 && !stop.signal.aborted) {
			try {
				await work(left.pop() as Item, either);
			} catch (error) {
				failures.push(error);
				stop.abort();
			}
		}
	}
	await Promise.all(Array.from({ length: width }, worker));
	if (failures.length > 0) throw failures[0];
}
