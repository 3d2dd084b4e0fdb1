/** The skills `web_search` (D29) and `http_request` (D28): the operator’s search provider, and public addresses without credentials. */
import { z } from 'zod';
import { plainLine } from '../../shared/characters.ts';
import type { SafeFetch } from '../network/safe-fetch.ts';
import { SkillError, type SkillErrorType } from '../skills/types.ts';
import { type Builtin, defineBuiltin } from './builtin.ts';
import { parseJson } from '../../shared/json.ts';
import { isUtf8 } from 'node:buffer';
import { NetworkError } from '../network/addresses.ts';

const NO_PROVIDER =
	'Web search isn’t set up on this server. Whoever runs it can set SKILLS_SEARCH_URL to the address of a SearXNG server (or a compatible one).';
const DEFAULT_COUNT = 8;

/** `provider` is null if not configured; `now` is the cache’s monotonic clock, in milliseconds. */
export function createWebSearch({ provider, now }: { provider: SearchProvider | null; now?: () => number }): Builtin {
	const cache = createSearchCache<SearchResult[]>(now);
	return defineBuiltin({
		name: 'web_search',
		description: 'Search the web and read titles, addresses and snippets of the results.',
		tags: ['web search', 'search the web', 'internet', 'online', 'latest news', 'look up'],
		lane: null,
		asksFirst: false,
		sandbox: 'direct',
		properties: {
			query: { type: 'string', minLength: 1, maxLength: 1000, description: 'What to search for.' },
			count: { type: 'integer', minimum: 1, maximum: 20, description: 'Maximum results. Default: 8.' }
		},
		required: ['query'],
		unavailable: () => (provider ? null : NO_PROVIDER),
		async run(args, { signal }) {
			const { query, count = DEFAULT_COUNT } = args as { query: string; count?: number };
			const key = query.trim().replace(/\s+/g, ' ').toLowerCase();
			const known = cache.get(key);
			const found = known ?? (await provider?.search(query, signal)) ?? [];
			if (!known) cache.set(key, found);
			const value = { query, provider: provider?.name, cached: known !== undefined, results: found.slice(0, count) };
			return { ok: true, value, sandbox: 'direct' };
		}
	});
}

// Search providers; any server compatible with SearXNG works (D29).

export interface SearchResult {
	title: string;
	/** http or https. */
	url: string;
	snippet: string;
}

export interface SearchProvider {
	/** Shown with the results. */
	name: string;
	/** Best first. @throws SkillError */
	search(query: string, signal: AbortSignal): Promise<SearchResult[]>;
}

const MAX_RESULTS = 50;
const MAX_BYTES = 2_000_000;
const TIMEOUT_MS = 15_000;

const answer = z.object({
	results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() }).or(z.unknown()))
});
const result = z.object({ title: z.string(), url: z.url({ protocol: /^https?$/ }), content: z.string().nullish() });

/** `fetch` may reach private addresses, because the operator sets `url`. */
export function createSearxngProvider(url: string, fetch: SafeFetch): SearchProvider {
	const base = new URL(url);
	if (base.pathname === '/') base.pathname = '/search';
	return {
		name: base.host,
		async search(query, signal) {
			const address = new URL(base);
			address.searchParams.set('q', query);
			address.searchParams.set('format', 'json');
			const headers = { accept: 'application/json' };
			const options = { headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal };
			const { status, body } = await fetch(address.href, options).catch(asOutcome);
			if (status !== 200) throw unusable(`responded with status ${status}`);
			const parsed = answer.safeParse(parseJson(body.toString('utf8')));
			if (!parsed.success) throw unusable('didn’t send results as JSON');
			return parsed.data.results.slice(0, MAX_RESULTS).flatMap((each) => {
				const found = result.safeParse(each);
				if (!found.success) return [];
				const { title, content } = found.data;
				return [{ title: plain(title), url: found.data.url, snippet: plain(content ?? '') }];
			});
		}
	};

	function unusable(what: string): SkillError {
		const hint = 'Check SKILLS_SEARCH_URL. SearXNG must have the format “json” turned on.';
		return new SkillError('ExecutionFailed', `The search server ${base.host} ${what}.`, hint);
	}
}

/** One visible line of limited length. */
function plain(text: string): string {
	return plainLine(text).slice(0, 1000);
}

// Cache of recent searches (D29).

const MAX_AGE_MS = 15 * 60 * 1000;
const MAX_ENTRIES = 100;

/** Drops the least recently used entry first. `now` is a monotonic clock in milliseconds. */
function createSearchCache<Value>(now: () => number = () => performance.now()) {
	const entries = new Map<string, { value: Value; at: number }>();
	return {
		get(key: string): Value | undefined {
			const entry = entries.get(key);
			entries.delete(key);
			if (!entry || now() - entry.at >= MAX_AGE_MS) return undefined;
			entries.set(key, entry); // moves it to the end
			return entry.value;
		},
		set(key: string, value: Value) {
			entries.delete(key);
			entries.set(key, { value, at: now() });
			const [oldest] = entries.keys();
			if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
		}
	};
}

// One request to a public address, without credentials (D28).

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60_000;

/** Headers with credentials, and those that control the connection. */
const BLOCKED: ReadonlySet<string> = new Set(
	`host connection content-length cookie set-cookie authorization proxy-authorization cookie2 set-cookie2
	transfer-encoding te trailer upgrade expect keep-alive`.split(/\s+/)
);

const HEADER_VALUE = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

export function createHttpRequest({ fetch, maxBytes }: { fetch: SafeFetch; maxBytes: number }): Builtin {
	return defineBuiltin({
		name: 'http_request',
		description:
			'Send one HTTP request to a public address and read the response. Redirects are not followed; the response has their location.',
		tags: ['http://', 'https://', 'rest api', 'web api', 'endpoint', 'curl'],
		lane: null,
		asksFirst: true,
		sandbox: 'direct',
		properties: {
			url: { type: 'string', minLength: 1, maxLength: 8192, description: 'http or https.' },
			method: { type: 'string', enum: METHODS, description: 'Default: GET.' },
			headers: {
				type: 'object',
				additionalProperties: HEADER_VALUE,
				description: 'Cookies and authorization aren’t allowed.'
			},
			body: { type: 'string', description: 'Text to send.' },
			timeoutMs: { type: 'integer', minimum: 1, maximum: MAX_TIMEOUT_MS, description: 'Default: 10000.' }
		},
		required: ['url'],
		async run(args, { signal }) {
			const { url, method = 'GET', headers = {}, body, timeoutMs = DEFAULT_TIMEOUT_MS } = args as unknown as Arguments;
			if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
				throw new SkillError('InvalidArgs', `A ${method} request can’t have a body.`, 'Use POST, PUT or PATCH.');
			}
			const sent = checkHeaders(headers);
			const response = await fetch(url, { method, headers: sent, body, timeoutMs, maxBytes, signal }).catch(asOutcome);
			const { status, statusText, truncated, finalUrl } = response;
			const { 'set-cookie': _cookies, ...received } = response.headers;
			return {
				ok: true,
				value: {
					status,
					statusText,
					url: finalUrl,
					headers: received,
					...readableBody(response.body, received['content-type'], truncated),
					bytes: response.body.length,
					truncated
				},
				sandbox: 'direct'
			};
		}
	});
}

interface Arguments {
	url: string;
	method?: string;
	headers?: Record<string, string | string[]>;
	body?: string;
	timeoutMs?: number;
}

/** @throws SkillError for a forbidden or invalid header */
function checkHeaders(headers: Record<string, string | string[]>): Record<string, string> {
	const sent = Object.entries(headers).map(([name, value]) => {
		const text = Array.isArray(value) ? value.join(', ') : value;
		if (BLOCKED.has(name.trim().toLowerCase()) || /^(proxy|sec)-/i.test(name.trim())) {
			const hint = 'Leave it out. For sites that need a login, use a skill with its own secret.';
			throw new SkillError('InvalidArgs', `The header “${name}” can’t be set.`, hint);
		}
		if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(text)) {
			throw new SkillError('InvalidArgs', `“${name.slice(0, 100)}” isn’t a valid header.`);
		}
		return [name, text] as const;
	});
	return Object.fromEntries(sent);
}

/** Turns a NetworkError into a SkillError. @throws SkillError; other errors unchanged */
function asOutcome(error: unknown): never {
	if (!(error instanceof NetworkError)) throw error;
	const type: SkillErrorType =
		error.code === 'timeout'
			? 'ExecutionTimeout'
			: error.code === 'bad-url' || error.code === 'bad-request' || error.code === 'blocked-address'
				? 'InvalidArgs'
				: 'ExecutionFailed';
	throw new SkillError(type, error.message);
}

// Response bodies for models: text by its charset, else base64 (D28).

const TEXT_TYPES =
	/^(text\/|application\/(json|xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|x-www-form-urlencoded)$)|[+](json|xml|yaml)$/;

/** If `truncated`, drops a character that was cut. */
function readableBody(body: Buffer, contentType: string | undefined, truncated: boolean) {
	const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
	const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]+)/.exec(each)?.[1]).find(Boolean);
	const isText = TEXT_TYPES.test(type.trim()) || (charset !== undefined && type.trim() !== 'application/octet-stream');
	const isPlain = type.trim() === '' && isUtf8(body) && !body.includes(0);
	const decoder = isText || isPlain ? decoderOf(charset ?? charsetOfMark(body)) : null;
	if (!decoder) return { body: body.toString('base64'), encoding: 'base64' };
	return { body: decoder.decode(body, { stream: truncated }), encoding: 'utf8' };
}

/** Falls back to UTF-8 with replacement characters for an unknown charset. */
function decoderOf(charset: string): TextDecoder {
	try {
		return new TextDecoder(charset);
	} catch (error) {
		if (error instanceof RangeError) return new TextDecoder();
		throw error;
	}
}

function charsetOfMark(body: Buffer): string {
	const mark = body.subarray(0, 2).toString('hex');
	return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
}
