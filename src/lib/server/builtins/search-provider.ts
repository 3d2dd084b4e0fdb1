/** Who searches the web for `web_search`; a server that answers as SearXNG does is one (FEATURES D29). */
import { plainLine } from '../../shared/characters.ts';
import { z } from 'zod';
import type { SafeFetch } from '../network/safe-fetch.ts';
import { asOutcome } from './http-request.ts';
import { SkillError } from '../skills/types.ts';

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

/** `url` is the operator's own: `fetch` may reach private addresses, and is used for nothing else. */
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
			if (status !== 200) throw unusable(`answered with status ${status}`);
			const parsed = answer.safeParse(parseJson(body.toString('utf8')));
			if (!parsed.success) throw unusable('did not answer with results in JSON');
			return parsed.data.results.slice(0, MAX_RESULTS).flatMap((each) => {
				const found = result.safeParse(each);
				if (!found.success) return [];
				const { title, content } = found.data;
				return [{ title: plain(title), url: found.data.url, snippet: plain(content ?? '') }];
			});
		}
	};

	function unusable(what: string): SkillError {
		const hint = 'The operator can check SKILLS_SEARCH_URL; SearXNG must have the format “json” switched on.';
		return new SkillError('ExecutionFailed', `The search server ${base.host} ${what}.`, hint);
	}
}

/** One line without what cannot be seen, and no longer than a result needs. */
function plain(text: string): string {
	return plainLine(text).slice(0, 1000);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
