/** SkillsMP: search, and skills fetched from GitHub (E6, E7, E26). */
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { CatalogPage, CatalogSkill } from '../../../shared/install.ts';
import type { Github } from './github.ts';
import { fetchJson, type Outbound, type OutboundRequest } from './outbound.ts';
import type { TypedSource } from '../catalog-installer.ts';

export interface Skillsmp extends TypedSource<'skillsmp'> {
	/** Without `q`, sorted by stars; empty without a key. @throws AppError `invalid_input` for a query without a key */
	search(query: { q: string; page: number; limit: number }, signal: AbortSignal): Promise<CatalogPage>;
}

const SERVICE = 'SkillsMP';
const TIMEOUT_MS = 15_000;

const found = z.object({
	id: z.union([z.string(), z.number()]).optional(),
	name: z.string(),
	description: z.string().nullish(),
	author: z.string().nullish(),
	stars: z.number().nullish().catch(null),
	githubUrl: z.string().nullish(),
	skillUrl: z.string().nullish(),
	url: z.string().nullish()
});
type Found = z.infer<typeof found>;

const count = z.number().int().min(0);
/** Invalid entries become null. Semantic search wraps each entry in `skill`. */
const list = z.array(
	z
		.union([found, z.object({ skill: found }).transform(({ skill }) => skill)])
		.nullable()
		.catch(null)
);
const pagination = z.object({ total: count.optional() }).optional().catch(undefined);
/** `data.skills` is the current format; `skills` and `data.data` are from other versions. */
const searchShape = z.union([
	z.object({ data: z.object({ skills: list, pagination }) }).transform(({ data }) => data),
	z.object({ data: z.object({ data: list, pagination }) }).transform(({ data }) => ({ ...data, skills: data.data })),
	z.object({ data: z.object({ data: z.object({ skills: list, pagination }) }) }).transform(({ data }) => data.data),
	z.object({ skills: list, pagination })
]);

/** `url` has no trailing slash. `apiKey` returns the current key, sent to this host only. */
export function createSkillsmp(options: {
	outbound: Outbound;
	github: Github;
	url: string;
	apiKey: () => string | null | Promise<string | null>;
}): Skillsmp {
	const { outbound, github, url, apiKey } = options;
	return {
		async search({ q, page, limit }, signal) {
			const token = await apiKey();
			if (!token && q.trim() === '') return { skills: [], total: 0, page, limit };
			if (!token) {
				const hint = 'Get one at skillsmp.com and add it in the settings, or as SKILLSMP_API_KEY.';
				throw new AppError('invalid_input', 'Searching SkillsMP needs an API key.', { hint });
			}
			const query = new URLSearchParams({ q, page: String(page), limit: String(limit) });
			if (q.trim() === '') query.set('sortBy', 'stars');
			const request: OutboundRequest = {
				service: SERVICE,
				what: 'list of skills',
				bearer: { token, baseUrl: url },
				timeoutMs: TIMEOUT_MS,
				signal
			};
			const answer = await fetchJson(outbound, `${url}/api/v1/skills/search?${query}`, searchShape, request).catch(
				(error: unknown) => emptyOr(error, q)
			);
			const skills = answer.skills.filter((skill) => skill !== null).slice(0, limit);
			return {
				skills: skills.map(asCatalogSkill),
				total: answer.pagination?.total ?? (page - 1) * limit + skills.length,
				page,
				limit
			};
		},
		async fetch(source, into, signal) {
			const checkout = await github.open({ type: 'github', repository: source.sourceUrl }, signal);
			const fetched =
				checkout.path === '' && source.name !== undefined
					? await github.fetchNamed(checkout, source.name, into, signal)
					: await github.fetchAll(checkout, into, signal);
			return {
				...fetched,
				originOf(path) {
					const sourceUrl = github.addressOf({ ...checkout, path });
					return { ...fetched.originOf(path), provider: 'skillsmp', source: { ...source, sourceUrl } };
				}
			};
		},
		revisionOf: (origin, { sourceUrl }, signal) =>
			github.revisionOf(origin, { type: 'github', repository: sourceUrl }, signal)
	};

	/** Some versions of the API reject an empty query. */
	function emptyOr(error: unknown, q: string): z.infer<typeof searchShape> {
		const status = error instanceof AppError ? (error.details as { status?: number } | undefined)?.status : undefined;
		if (q.trim() === '' && status === 400) return { skills: [], pagination: undefined };
		if (status === 401) {
			throw new AppError('forbidden', 'SkillsMP rejected the API key.', {
				hint: 'Enter another one in the settings, or as SKILLSMP_API_KEY.',
				cause: error
			});
		}
		throw error;
	}
}

function asCatalogSkill(skill: Found): CatalogSkill {
	const { id, name, description, author, stars, githubUrl } = skill;
	const page = skill.skillUrl ?? skill.url ?? githubUrl ?? null;
	return {
		id: String(id ?? githubUrl ?? name),
		name,
		description: description ?? '',
		provider: 'skillsmp',
		author: author ?? null,
		popularity: typeof stars === 'number' ? { count: stars, unit: 'stars' } : null,
		// Becomes a link.
		url: page !== null && /^https?:\/\//.test(page) ? page : null,
		source: githubUrl ? { type: 'skillsmp', sourceUrl: githubUrl, name } : null
	};
}
