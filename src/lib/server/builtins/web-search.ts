/** The skill `web_search`: the operator’s provider, with a cache (FEATURES D29). */
import { z } from 'zod';
import { plainLine } from '../../shared/characters.ts';
import type { SafeFetch } from '../network/safe-fetch.ts';
import { SkillError } from '../skills/types.ts';
import { type Builtin, defineBuiltin } from './builtin.ts';
import { asOutcome } from './http-request.ts';
import { parseJson } from '../../shared/json.ts';

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

// Search providers; any server compatible with SearXNG works (FEATURES D29).

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

// Cache of recent searches (FEATURES D29).

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
