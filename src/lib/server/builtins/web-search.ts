/** The skill `web_search`: whichever provider the operator has chosen, and a cache (FEATURES D29). */
import { defineBuiltin, type Builtin } from './builtin.ts';
import { createSearchCache } from './search-cache.ts';
import type { SearchProvider, SearchResult } from './search-provider.ts';

export interface WebSearchOptions {
	/** null where none is configured. */
	provider: SearchProvider | null;
	/** Milliseconds; the clock of the cache. */
	now?: () => number;
}

const NO_PROVIDER =
	'No web search is configured on this server. The operator can set SKILLS_SEARCH_URL to the address of a SearXNG server, or one that answers like it.';
const DEFAULT_COUNT = 8;

export function createWebSearch({ provider, now }: WebSearchOptions): Builtin {
	const cache = createSearchCache<SearchResult[]>(now);
	return defineBuiltin({
		name: 'web_search',
		description: 'Search the web and read titles, addresses and snippets of what is found.',
		tags: ['web search', 'search the web', 'internet', 'online', 'latest news', 'look up'],
		lane: null,
		asksFirst: false,
		sandbox: 'direct',
		properties: {
			query: { type: 'string', minLength: 1, maxLength: 1000, description: 'What to search for.' },
			count: { type: 'integer', minimum: 1, maximum: 20, description: 'Most results; default: 8.' }
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
