/** The skill that an id of the API means (FEATURES A28, A37–A39). */
import { relative } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import { parseReference, findSkill } from '../skills/references.ts';
import type { SkillRegistry, SkillSnapshot } from '../skills/registry.ts';
import { SkillError, type BrokenSkill, type Skill } from '../skills/types.ts';
import { viewOf } from '../skills/visibility.ts';
import type { SkillModes } from './skill-modes.ts';

export interface LookupParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot'> };
	modes: Pick<SkillModes, 'modeOf' | 'pinOf'>;
}

/**
 * `name` is the version in use, or where all are switched off the newest; `name@range`, `source/name` and
 * `source/name@range` work as in every tool. Written exactly: what is changed must not be one that is only written alike.
 * @throws AppError `not_found`, `invalid_input` for a range that is none
 */
export function requireSkill(parts: LookupParts, id: string): Skill {
	const snapshot = parts.skills.registry.snapshot();
	const found = lookUp(snapshot, parts.modes, id);
	if (!found) throw new AppError('not_found', `There is no skill “${id.slice(0, 200)}”.`);
	return found;
}

/** The same, and of those that are broken `source/folder`. @throws AppError as `requireSkill` */
export function requireListed(parts: LookupParts, id: string): Skill | BrokenSkill {
	const { broken } = parts.skills.registry.snapshot();
	return broken.find((skill) => brokenIdOf(skill) === id) ?? requireSkill(parts, id);
}

/** The id of a skill that is broken: its folder below its root. */
export function brokenIdOf({ source, root, dir }: Pick<BrokenSkill, 'source' | 'root' | 'dir'>): string {
	return `${source}/${relative(root, dir).replaceAll('\\', '/') || '.'}`;
}

/** The id that the list gives a skill: its name where that means it, else with source and version. */
export function idOf(skill: Skill, isFirst: boolean): string {
	return isFirst ? skill.name : `${skillIdOf(skill)}@${skill.version}`;
}

/** Is it the one that its name means? */
export function isFirst({ skills, modes }: LookupParts, skill: Skill): boolean {
	return lookUp(skills.registry.snapshot(), modes, skill.name) === skill;
}

function lookUp(snapshot: SkillSnapshot, modes: LookupParts['modes'], id: string): Skill | undefined {
	const { source, name } = parseReference(id);
	const isExact = (skill: Skill) => skill.name === name && (source === null || skill.source === source);
	const all = [...snapshot.skills, ...snapshot.shadowed].filter(isExact);
	if (all.length === 0) return undefined;
	const here = { ...snapshot, skills: all.slice(0, 1), shadowed: all.slice(1) };
	// Whose it is does not matter to whoever manages it.
	const { library } = viewOf(here, { owner: all[0]?.owner, ...modes });
	try {
		return findSkill(library, id) ?? findSkill(here, id);
	} catch (error) {
		if (error instanceof SkillError) throw new AppError('invalid_input', error.message, hintOf(error));
		throw error;
	}
}

function hintOf({ hint }: SkillError): { hint?: string } {
	return hint === undefined ? {} : { hint };
}
