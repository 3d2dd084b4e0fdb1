/** skills.sh: search, skills fetched from GitHub, and security audits (E8, E9, E23–E25). */
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { CatalogPage, InstallSource, StagedSkill } from '../../../shared/install.ts';
import type { StagingFolder } from '../staging-folder.ts';
import { isRepositoryName } from './github-api.ts';
import type { Github } from './github.ts';
import { fetchJson, type Outbound, type OutboundRequest } from './outbound.ts';
import type { FetchedSkills, TypedSource } from '../catalog-installer.ts';
import { slugOf } from './github.ts';

type SkillsshSource = Extract<InstallSource, { type: 'skillssh' }>;

export interface Skillssh extends TypedSource<'skillssh'> {
	/** Empty for fewer than 2 characters: skills.sh has no full list. @throws AppError */
	search(query: { q: string; limit: number }, signal: AbortSignal): Promise<CatalogPage>;
}

const SERVICE = 'skills.sh';
const SEARCH_TIMEOUT_MS = 15_000;
const MIN_QUERY = 2;

const found = z.object({
	id: z.string().optional(),
	skillId: z.string().optional(),
	name: z.string(),
	installs: z.number().catch(0),
	source: z.string().default('')
});
/** Invalid entries become null. */
const searchShape = z.object({ skills: z.array(found.nullable().catch(null)), count: z.number().optional() });
const downloadShape = z.object({
	files: z
		.array(z.object({ path: z.string(), contents: z.string() }))
		.min(1)
		.max(5000)
});

/** URLs without a trailing slash. */
export function createSkillssh(options: {
	outbound: Outbound;
	github: Github;
	url: string;
	auditUrl: string;
}): Skillssh {
	const { outbound, github, url, auditUrl } = options;
	const request = (what: string, signal: AbortSignal): OutboundRequest => ({ service: SERVICE, what, signal });

	/** Fetches the copy on skills.sh: text only, of an unknown commit. */
	async function fetchCopy(
		{ source, skillId }: SkillsshSource,
		reason: AppError,
		into: StagingFolder,
		signal: AbortSignal
	): Promise<FetchedSkills> {
		const slug = slugOf(skillId);
		const address = `${url}/api/download/${source.split('/').map(encodeURIComponent).join('/')}/${encodeURIComponent(slug)}`;
		const maxBytes = into.limits.packedBytes;
		const { files } = await fetchJson(outbound, address, downloadShape, {
			...request(`copy of ${source}/${slug}`, signal),
			maxBytes
		}).catch((error: unknown) => {
			// Both failed; report the first error.
			throw error instanceof AppError && error.code !== 'too_large' ? reason : error;
		});
		for (const { path, contents } of files) {
			await into.add(`${slug}/${path}`, Buffer.from(contents), { isExecutable: 'by-shebang' });
		}
		return {
			folders: [slug],
			notes: [`This is the copy that skills.sh keeps, which may not be the latest. ${reason.message}`],
			originOf: (path) => ({
				provider: 'skillssh',
				source: { type: 'skillssh', source, skillId },
				url: `${url}/${source}/${encodeURIComponent(skillId)}`,
				commit: null,
				path,
				revision: null
			})
		};
	}

	async function fetchFiles(source: SkillsshSource, into: StagingFolder, signal: AbortSignal): Promise<FetchedSkills> {
		const checkout = await github
			.open({ type: 'github', repository: source.source }, signal)
			.catch((error: unknown) => {
				if (error instanceof AppError && error.code === 'unavailable' && !signal.aborted) return error;
				throw error;
			});
		if (checkout instanceof AppError) return fetchCopy(source, checkout, into, signal);
		const fetched = await github.fetchNamed(checkout, source.skillId, into, signal);
		return {
			...fetched,
			originOf: (path) => ({ ...fetched.originOf(path), provider: 'skillssh', source })
		};
	}

	return {
		async search({ q, limit }, signal) {
			const query = q.trim();
			if (query.length < MIN_QUERY) return { skills: [], total: 0, page: 1, limit };
			const address = `${url}/api/search?${new URLSearchParams({ q: query, limit: String(limit) })}`;
			const { skills } = await fetchJson(outbound, address, searchShape, {
				...request('list of skills', signal),
				timeoutMs: SEARCH_TIMEOUT_MS
			});
			const known = skills.filter((skill) => skill !== null).slice(0, limit);
			return {
				skills: known.map(({ id, skillId, name, installs, source }) => {
					const slug = skillId ?? slugOf(name);
					const isRepository = isRepositoryName(source) && slug !== '';
					return {
						id: id ?? `${source}/${slug}`,
						name,
						description: '',
						provider: 'skillssh',
						author: source.split('/')[0] || null,
						popularity: { count: installs, unit: 'installs' },
						url: isRepository ? `${url}/${source}/${encodeURIComponent(slug)}` : null,
						source: isRepository ? { type: 'skillssh', source, skillId: slug } : null
					};
				}),
				total: known.length,
				page: 1,
				limit
			};
		},
		async fetch(source, into, signal) {
			const asked = fetchAudit(outbound, auditUrl, source.source, slugOf(source.skillId), signal);
			const fetched = await fetchFiles(source, into, signal);
			const audit = await asked;
			const [folder] = fetched.folders ?? [];
			return audit && folder !== undefined ? { ...fetched, audits: new Map([[folder, audit]]) } : fetched;
		},
		async revisionOf(origin, { source }, signal) {
			// A copy has no known commit.
			if (origin.commit === null) return null;
			return github.revisionOf(origin, { type: 'github', repository: source }, signal);
		}
	};
}

// Security audits of skills.sh (E25).

const TIMEOUT_MS = 3000;
const MAX_BYTES = 64 * 1024;
const NAMES: Readonly<Record<string, string>> = { ath: 'Gen Agent Trust Hub', socket: 'Socket', snyk: 'Snyk' };
const finding = z.object({ risk: z.string().max(40).optional(), alerts: z.number().optional() });
const auditShape = z.record(z.string(), z.record(z.string().max(40), finding.nullable().catch(null)));

/** null without an audit or an answer in time, so that an install neither waits nor fails. */
async function fetchAudit(
	outbound: Outbound,
	url: string,
	source: string,
	slug: string,
	signal: AbortSignal
): Promise<StagedSkill['audit']> {
	const address = `${url}/audit?${new URLSearchParams({ source, skills: slug })}`;
	const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
	const asked = { service: 'The audit of skills.sh', what: `audit of ${slug}`, signal, ...limits };
	const all = await fetchJson(outbound, address, auditShape, asked).catch(() => null);
	const found = all && Object.hasOwn(all, slug) ? Object.entries(all[slug] ?? {}) : [];
	const audit = found.flatMap(([by, said]) => {
		const risk = said?.risk ?? (said?.alerts === undefined ? null : `${said.alerts} alerts`);
		return risk === null ? [] : [{ by: Object.hasOwn(NAMES, by) ? (NAMES[by] ?? by) : by, risk }];
	});
	return audit.length > 0 ? audit : null;
}
