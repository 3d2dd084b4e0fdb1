/** The one way by which catalogs and sources of skills are asked: the public internet, the hosts that the operator named, and nothing else (FEATURES E9, E23–E27; SECURITY, outbound requests). */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { NetworkError } from '../network/network-error.ts';
import { createSafeFetch, type SafeResponse } from '../network/safe-fetch.ts';
import { refusalOf } from './outbound-errors.ts';

export interface OutboundRequest {
	/** Who is asked, as it stands in messages: `GitHub`. */
	service: string;
	/** What for, as it stands in messages after “no”: `repository acme/skills`. */
	what: string;
	/** What to do when there is none. */
	hintIfMissing?: string;
	headers?: Readonly<Record<string, string>>;
	/** Sent to the origin of `baseUrl` and to no other, whatever the address or a redirect says. */
	bearer?: { token: string | null; baseUrl: string };
	/** Bytes of the answer, unpacked; more is an error. */
	maxBytes?: number;
	/** For one answer, each redirect anew. */
	timeoutMs?: number;
	signal: AbortSignal;
}

export interface OutboundResponse {
	/** Lower-case names. */
	headers: IncomingHttpHeaders;
	body: Buffer;
	/** Where it came from in the end. */
	url: string;
}

/**
 * GET, with up to five redirects followed.
 * @throws AppError `not_found`, `invalid_input` (an address that cannot be asked), `forbidden` (an address or a file that
 * may not be), `too_large`, `unavailable`
 */
export type Outbound = (url: string, request: OutboundRequest) => Promise<OutboundResponse>;

export interface OutboundOptions {
	/** `host:port` of servers that may be reached though they are not on the public internet. */
	hosts: readonly string[];
	/** Every address of a name; without it the system's resolver. */
	resolve?: (host: string) => Promise<string[]>;
}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 10 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function createOutbound({ hosts, resolve }: OutboundOptions): Outbound {
	const named = new Set(hosts.map((host) => host.toLowerCase()));
	const publicFetch = createSafeFetch({ resolve });
	// Which host and port is decided by the address that is asked for; where it lies is the operator's business.
	const namedFetch = createSafeFetch({ resolve, isAllowed: (address) => isIP(address) > 0 });

	async function once(url: URL, request: OutboundRequest): Promise<SafeResponse> {
		const { bearer, headers, service, signal, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = request;
		const isOwn = bearer?.token && url.origin === new URL(bearer.baseUrl).origin;
		const fetch = named.has(hostOf(url)) ? namedFetch : publicFetch;
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
				throw new AppError('unavailable', `${request.service} leads to an address that is not followed.`, {
					hint: `${url.host} answered with a redirect to “${location.slice(0, 200)}”.`
				});
			}
			url = parseUrl(next.href);
		}
		throw new AppError('unavailable', `${request.service} leads from one address to the next without an end.`);
	};
}

/**
 * Asks for JSON of this shape; what the shape does not name is left out.
 * @throws AppError as Outbound; `unavailable` for an answer that is something else
 */
export async function fetchJson<Shape extends z.ZodType>(
	outbound: Outbound,
	url: string,
	shape: Shape,
	request: OutboundRequest
): Promise<z.output<Shape>> {
	const accept = { accept: 'application/json', ...request.headers };
	const { body } = await outbound(url, { ...request, headers: accept });
	const parsed = shape.safeParse(parseJson(body));
	if (parsed.success) return parsed.data;
	throw new AppError('unavailable', `${request.service} answered with something that is not ${request.what}.`, {
		hint: /^\s*</.test(body.toString('utf8', 0, 100))
			? `${new URL(url).host} sent a web page; is the address right?`
			: 'Try again later; if it stays so, its interface has changed.',
		cause: parsed.error
	});
}

/** `host:port`, the port always said. */
function hostOf({ hostname, port, protocol }: URL): string {
	return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`.toLowerCase();
}

function parseUrl(text: string): URL {
	const url = URL.parse(text);
	if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url;
	throw new AppError('invalid_input', `“${text.slice(0, 200)}” is not an address that skills can be fetched from.`, {
		hint: 'It must begin with https:// and hold no user name.'
	});
}

/** undefined for what is no JSON: no shape takes that. */
function parseJson(body: Buffer): unknown {
	try {
		return JSON.parse(body.toString());
	} catch {
		return undefined;
	}
}

function checked(response: SafeResponse, request: OutboundRequest, url: URL): OutboundResponse {
	if (response.status !== 200) throw refusalOf(response, request, url);
	if (response.truncated) {
		throw new AppError('too_large', `The answer of ${request.service} is larger than what is taken: ${request.what}.`, {
			hint: 'Ask for less: a narrower search, or one folder (path) of a repository.'
		});
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
			hint: 'Servers of your own network are named in SKILLS_INSTALL_HOSTS.'
		});
	}
	return new AppError('unavailable', `${service} did not answer: ${error.message}`, {
		...options,
		hint: `Check that ${host} can be reached from this server, and try again.`
	});
}
