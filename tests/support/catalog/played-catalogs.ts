/** skills.sh, SkillsMP and a site with `/.well-known/agent-skills`, answering as documented. */
import { createHash } from 'node:crypto';
import { json, notFound, startPlayedServer, type PlayedReply, type PlayedServer } from './played-server.ts';

export interface SkillsshEntry {
	/** Default: `owner/repo/skillId`. */
	id?: string;
	skillId: string;
	name: string;
	installs: number;
	source: string;
}

export interface PlayedSkillssh extends PlayedServer {
	skills: SkillsshEntry[];
	/** File texts by `owner/repo/slug`. */
	downloads: Record<string, Record<string, string>>;
	/** By `owner/repo`, then slug, in the audit's own format: `{ ath: { risk: 'safe' }, socket: { alerts: 2 } }`. */
	audits: Record<string, Record<string, Record<string, { risk?: string; alerts?: number }>>>;
}

/** Search, downloads and audits on one host. */
export async function startSkillssh(
	given: Partial<Pick<PlayedSkillssh, 'skills' | 'downloads' | 'audits'>> = {}
): Promise<PlayedSkillssh> {
	const server = await startPlayedServer(({ url }) => {
		if (url.pathname === '/api/search') return searchReply(url.searchParams);
		if (url.pathname === '/audit') {
			const slugs = (url.searchParams.get('skills') ?? '').split(',');
			const known = Object.entries(played.audits[url.searchParams.get('source') ?? ''] ?? {});
			return json(Object.fromEntries(known.filter(([slug]) => slugs.includes(slug))));
		}
		const [, wanted] = /^\/api\/download\/(.+)$/.exec(url.pathname) ?? [];
		const files = played.downloads[decodeURIComponent(wanted ?? '')];
		if (!files) return json({ error: 'Not found' }, 404);
		const hash = createHash('sha256');
		for (const [path, contents] of Object.entries(files)) hash.update(path).update(contents);
		return json({
			files: Object.entries(files).map(([path, contents]) => ({ path, contents })),
			hash: hash.digest('hex')
		});
	});

	function searchReply(query: URLSearchParams): PlayedReply {
		const q = query.get('q') ?? '';
		if (q.length < 2) return json({ error: 'Query must be at least 2 characters' }, 400);
		const found = played.skills
			.filter(({ name, source }) => `${name} ${source}`.toLowerCase().includes(q.toLowerCase()))
			.slice(0, Number(query.get('limit') ?? 10))
			.map((skill) => ({ id: `${skill.source}/${skill.skillId}`, ...skill }));
		return json({ query: q, searchType: 'fuzzy', skills: found, count: found.length, duration_ms: 3 });
	}

	const played: PlayedSkillssh = Object.assign(server, { skills: [], downloads: {}, audits: {}, ...given });
	return played;
}

export interface SkillsmpEntry {
	id: string;
	name: string;
	author: string;
	description: string;
	githubUrl: string;
	stars: number;
}

export interface PlayedSkillsmp extends PlayedServer {
	skills: SkillsmpEntry[];
	/** The accepted key. */
	key: string;
}

export async function startSkillsmp(
	given: Partial<Pick<PlayedSkillsmp, 'skills' | 'key'>> = {}
): Promise<PlayedSkillsmp> {
	const refuse = (status: number, code: string, message: string) =>
		json({ success: false, error: { code, message } }, status);
	const server = await startPlayedServer(({ url, headers }) => {
		if (url.pathname !== '/api/v1/skills/search') return notFound();
		if (!headers.authorization) return refuse(401, 'MISSING_API_KEY', 'API key not provided');
		if (headers.authorization !== `Bearer ${played.key}`) return refuse(401, 'INVALID_API_KEY', 'Invalid API key');
		const q = url.searchParams.get('q') ?? '';
		const page = Number(url.searchParams.get('page') ?? 1);
		const limit = Math.min(100, Number(url.searchParams.get('limit') ?? 20));
		const found = played.skills
			.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(q.toLowerCase()))
			.sort((a, b) => (url.searchParams.get('sortBy') === 'stars' ? b.stars - a.stars : 0));
		const skills = found
			.slice((page - 1) * limit, page * limit)
			.map((skill) => ({ ...skill, skillUrl: `${server.url}/skills/${skill.id}`, updatedAt: 1770060931 }));
		const totalPages = Math.ceil(found.length / limit);
		const pagination = { page, limit, total: found.length, totalPages, hasNext: page < totalPages, hasPrev: page > 1 };
		return json({ success: true, data: { skills, pagination, filters: {} } });
	});
	const played: PlayedSkillsmp = Object.assign(server, { skills: [], key: 'sk_live_skillsmp_test', ...given });
	return played;
}

/** `text`: a single SKILL.md; `archive`: bytes of a zip (or something that claims to be one). */
export type WellKnownSkill = { description?: string; digest?: string; url?: string } & (
	{ text: string } | { archive: Uint8Array; file?: string }
);

export interface PlayedWellKnown extends PlayedServer {
	/** Version 0.2.0 skills by name; null: no such index. */
	skills: Record<string, WellKnownSkill> | null;
	/** Version 0.1.0: each skill's files, by name; null: no such index. */
	legacy: Record<string, Record<string, string>> | null;
	/** Replaces the version 0.2.0 index. */
	index: unknown;
}

export async function startWellKnown(
	given: Partial<Pick<PlayedWellKnown, 'skills' | 'legacy' | 'index'>> = {}
): Promise<PlayedWellKnown> {
	const server = await startPlayedServer(({ url: { pathname } }) => {
		const [, root, name = '', path = ''] =
			/^\/\.well-known\/(agent-skills|skills)\/([^/]+)\/?(.*)$/.exec(pathname) ?? [];
		if (root === 'agent-skills') {
			if (name === 'index.json') return indexReply();
			const skill = played.skills?.[name];
			return skill ? { body: contentOf(skill) } : notFound();
		}
		if (root !== 'skills' || !played.legacy) return notFound();
		if (name !== 'index.json') return fileReply(played.legacy[name]?.[decodeURIComponent(path)]);
		const skills = Object.entries(played.legacy);
		return json({
			skills: skills.map(([each, files]) => ({ name: each, description: `All of ${each}.`, files: Object.keys(files) }))
		});
	});
	function indexReply(): PlayedReply {
		if (played.index !== undefined) return json(played.index);
		return played.skills ? json(indexOf(played.skills)) : notFound();
	}

	const played: PlayedWellKnown = Object.assign(server, { skills: {}, legacy: null, index: undefined, ...given });
	return played;
}

const contentOf = (skill: WellKnownSkill) => ('text' in skill ? Buffer.from(skill.text) : skill.archive);
const fileReply = (text: string | undefined): PlayedReply => (text === undefined ? notFound() : { body: text });

function indexOf(skills: Record<string, WellKnownSkill>): unknown {
	return {
		$schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
		skills: Object.entries(skills).map(([name, skill]) => ({
			name,
			type: 'text' in skill ? 'skill-md' : 'archive',
			description: skill.description ?? `All of ${name}.`,
			url:
				skill.url ?? `/.well-known/agent-skills/${name}/${'text' in skill ? 'SKILL.md' : (skill.file ?? 'skill.zip')}`,
			digest: skill.digest ?? `sha256:${createHash('sha256').update(contentOf(skill)).digest('hex')}`
		}))
	};
}
