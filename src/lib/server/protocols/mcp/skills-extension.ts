/** `skills/list` and `skills/get`: the extension io.modelcontextprotocol/skills (FEATURES E15). */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { skillEntry, type Skill as SkillEntry } from '@modelcontextprotocol/server/ext/skills';
import type { Skill } from '../../skills/types.ts';
import { pageOf } from './paging.ts';
import { findNamed } from './resources.ts';
import { readSkillBytes } from './skill-bytes.ts';
import { parseSkillUri, skillUri } from './skill-uri.ts';
import type { CallerView } from './view.ts';

/** Each entry has the digest of every file, so a page reads them all. */
const PAGE = 20;
/** Of a skill whose files are told one by one. */
const MAX_BYTES = 16 * 1024 * 1024;

export async function listSkillEntries(
	{ library }: CallerView,
	cursor: string | undefined
): Promise<{ skills: SkillEntry[]; nextCursor?: string }> {
	const { page, ...more } = pageOf(library.skills, ({ name }) => name, { cursor, size: PAGE });
	const skills: SkillEntry[] = [];
	for (const skill of page) skills.push(await entryOf(skill));
	return { skills, ...more };
}

/** @throws ProtocolError for an address that is no skill’s */
export async function getSkillEntry({ library }: CallerView, uri: string): Promise<{ skill: SkillEntry }> {
	const named = parseSkillUri(uri);
	const skill = named?.path === 'SKILL.md' ? findNamed(library, named.skill) : null;
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no skill at ${uri.slice(0, 200)}.`);
	return { skill: await entryOf(skill) };
}

/** With its files, or `dynamic` where the standard’s rules or limits do not allow to tell them. */
async function entryOf(skill: Skill): Promise<SkillEntry> {
	const { name, description } = skill;
	const dynamic = {
		uri: skillUri(name, 'SKILL.md'),
		frontmatter: { name, description },
		resources: 'dynamic' as const
	};
	// A list of some of them would say that these are all.
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
		// Folders that we are lenient with, or that change just now.
		return dynamic;
	}
}
