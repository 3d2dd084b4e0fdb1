/** The skill that an id of the API means (FEATURES A28, A37–A39). */
import { relative, sep } from 'node:path';
import { isServerTool } from '../../shared/builtins.ts';
import { AppError } from '../../shared/errors.ts';
import { fromSkillId, toSkillId } from '../../shared/skill-names.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import { ownerOf } from '../skills/owners.ts';
import { parseReference, findSkill } from '../skills/references.ts';
import type { SkillRegistry, SkillSnapshot } from '../skills/registry.ts';
import { SkillError, type BrokenSkill, type Skill } from '../skills/types.ts';
import { viewOf } from '../skills/visibility.ts';
import { isOwned } from './install-index.ts';
import type { SkillModes } from './skill-modes.ts';

export interface LookupParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<SkillModes, 'modeOf' | 'pinOf'>;
}

/**
 * `name` is the version in use, or where all are switched off the newest; `name@range`, `source/name` and
 * `source/name@range` work as in every tool. Written exactly: what is changed must not be one that is only written alike.
 * `apiKeyId` is whose skills count beside the system's, its own first; null for whoever manages the server, and sees all.
 * @throws AppError `not_found`, `invalid_input` for a range that is none
 */
export function requireSkill(parts: LookupParts, apiKeyId: string | null, id: string): Skill {
	const found = lookUp(parts, apiKeyId, fromSkillId(id));
	if (found) return found;
	const broken = findBroken(parts, apiKeyId, id) ?? findFolder(parts, apiKeyId, id);
	if (!broken) throw new AppError('not_found', `There is no skill “${id.slice(0, 200)}”.`);
	throw new AppError('conflict', `“${broken.name}” is broken, so it can be read and not used.`, {
		hint: 'Its diagnostics say what is wrong. Repair it on its page.'
	});
}

/** The same, and of those that are broken `source/folder`. @throws AppError as `requireSkill` */
export function requireListed(parts: LookupParts, apiKeyId: string | null, id: string): Skill | BrokenSkill {
	return (
		findBroken(parts, apiKeyId, id) ??
		(lookUp(parts, apiKeyId, fromSkillId(id)) ? undefined : findFolder(parts, apiKeyId, id)) ??
		requireSkill(parts, apiKeyId, id)
	);
}

function findBroken({ skills }: LookupParts, apiKeyId: string | null, id: string): BrokenSkill | undefined {
	const wanted = toSkillId(id);
	return skills.registry.snapshot().broken.find((skill) => brokenIdOf(skill) === wanted && isSeenBy(apiKeyId, skill));
}

/** By its folder as somebody may write it, where no id is written so. */
function findFolder({ skills }: LookupParts, apiKeyId: string | null, id: string): BrokenSkill | undefined {
	return skills.registry.snapshot().broken.find((skill) => folderOf(skill) === id && isSeenBy(apiKeyId, skill));
}

/** Is it one that this key sees? Whoever manages the server (null) sees all. */
export function isSeenBy(apiKeyId: string | null, { source }: Pick<Skill, 'source'>): boolean {
	return apiKeyId === null || !isOwned(source) || source === ownerOf(apiKeyId);
}

/**
 * The id of a skill that is broken: its folder below its root. A `~` in it is written `~~`, and an `@`, which stands
 * before a version in the id of one that is not broken, `~:`, which is in no name: no other skill has this id.
 */
export function brokenIdOf(skill: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return toSkillId(folderOf(skill).replace(/[~@]/g, (sign) => (sign === '@' ? '~:' : '~~')));
}

function folderOf({ source, root, dir }: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return `${source}/${relative(root, dir).split(sep).join('/') || '.'}`;
}

/** The id that the list gives a skill: its name where that means it and no skill of the server, else with source and version. */
export function idOf(skill: Skill, isFirst: boolean): string {
	return toSkillId(isFirst && !isServerTool(skill.name) ? skill.name : `${skillIdOf(skill)}@${skill.version}`);
}

/** Is it the one that its name means, for whoever manages the server? */
export function isFirst(parts: LookupParts, skill: Skill): boolean {
	return lookUp(parts, null, skill.name) === skill;
}

/** Of skills of one name, those of this caller in its order: as `viewOf` has them, and all of them. */
export function rivalsFor(
	{ modes }: Pick<LookupParts, 'modes'>,
	apiKeyId: string | null,
	named: readonly Skill[]
): { library: SkillSnapshot; all: SkillSnapshot } {
	const seen = named.filter((skill) => isSeenBy(apiKeyId, skill));
	const all = { skills: seen.slice(0, 1), shadowed: seen.slice(1), broken: [], revision: '' };
	// Whose it is does not matter to whoever manages it.
	const owner = apiKeyId === null ? seen[0]?.owner : ownerOf(apiKeyId);
	return { library: viewOf(all, { owner, ...modes }).library, all };
}

function lookUp(parts: LookupParts, apiKeyId: string | null, id: string): Skill | undefined {
	const { skills, shadowed } = parts.skills.registry.snapshot();
	const { source, name } = parseReference(id);
	const isExact = (skill: Skill) => skill.name === name && (source === null || skill.source === source);
	const { library, all } = rivalsFor(parts, apiKeyId, [...skills, ...shadowed].filter(isExact));
	try {
		return findSkill(library, id) ?? findSkill(all, id);
	} catch (error) {
		if (error instanceof SkillError) throw new AppError('invalid_input', error.message, hintOf(error));
		throw error;
	}
}

function hintOf({ hint }: SkillError): { hint?: string } {
	return hint === undefined ? {} : { hint };
}
