/** `skills/list` and `skills/get`: the extension io.modelcontextprotocol/skills (E15). */
import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { type Skill as SkillEntry, skillEntry } from '@modelcontextprotocol/server/ext/skills';
import { z } from 'zod';
import { MAX_SKILL_NAME, SKILL_NAME } from '../../../shared/names.ts';
import type { Skill } from '../../skills/types.ts';
import { type CallerView, pageOf } from './definitions.ts';
import { findNamed, parseSkillUri, readSkillBytes, skillUri } from './resources.ts';

export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

/** `isModern`: adds cache hints to results, as 2026-07-28 requires. */
export function serveSkills(
	server: Server,
	viewOfReader: (handled: ServerContext) => CallerView,
	isModern: boolean
): void {
	const cacheHints = isModern ? { ttlMs: 0, cacheScope: 'private' as const } : {};
	server.setRequestHandler(
		'skills/list',
		{ params: z.looseObject({ cursor: z.string().optional() }).optional() },
		async (params, handled) => ({ ...(await listSkillEntries(viewOfReader(handled), params?.cursor)), ...cacheHints })
	);
	server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, handled) => ({
		...(await getSkillEntry(viewOfReader(handled), uri)),
		...cacheHints
	}));
}

/** Small, because each entry has the digest of every file, so listing a page reads them all. */
const SKILLS_PAGE = 20;
/** The files of a larger skill aren't listed. */
const MAX_BYTES = 16 * 1024 * 1024;

async function listSkillEntries(
	{ library }: CallerView,
	cursor: string | undefined
): Promise<{ skills: SkillEntry[]; nextCursor?: string }> {
	// The extension allows no other names. Such skills are tools, resources and prompts all the same.
	const named = library.skills.filter(({ name }) => name.length <= MAX_SKILL_NAME && SKILL_NAME.test(name));
	const { page, ...more } = pageOf(named, ({ name }) => name, { cursor, size: SKILLS_PAGE });
	const skills: SkillEntry[] = [];
	for (const skill of page) skills.push(await entryOf(skill));
	return { skills, ...more };
}

/** @throws ProtocolError if the skill isn't found */
async function getSkillEntry({ library }: CallerView, uri: string): Promise<{ skill: SkillEntry }> {
	const named = parseSkillUri(uri);
	const skill = named?.path === 'SKILL.md' ? findNamed(library, named.skill) : null;
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: ${uri.slice(0, 200)}.`);
	return { skill: await entryOf(skill) };
}

/** Lists the skill's files, or `dynamic` if the standard’s rules or our limits don't allow it. */
async function entryOf(skill: Skill): Promise<SkillEntry> {
	const { name, description } = skill;
	const dynamic = {
		uri: skillUri(name, 'SKILL.md'),
		frontmatter: { name, description },
		resources: 'dynamic' as const
	};
	// A partial list would look complete.
	if (skill.hasMoreFiles) return dynamic;
	try {
		const files: Record<string, Uint8Array> = {};
		let total = 0;
		for (const path of skill.files) {
			const bytes = await readSkillBytes(skill.dir, path);
			if (bytes === null || (total += bytes.length) > MAX_BYTES) return dynamic;
			files[path] = bytes;
		}
		return await skillEntry(name, files);
	} catch {
		// A folder that breaks the standard's rules, or changes at this moment.
		return dynamic;
	}
}
