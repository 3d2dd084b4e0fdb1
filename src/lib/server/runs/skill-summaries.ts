/** The library as the API lists it: usable skills, then shadowed ones, then broken ones, each with its diagnostics. */
import { relative } from 'node:path';
import type { SkillSummary, TrustState } from '../../shared/api.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import type { SkillSnapshot } from '../skills/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import type { SkillModes } from './skill-modes.ts';

/** A skill, and the id that the list gives it. */
export interface ListedSkill {
	id: string;
	skill: Skill | BrokenSkill;
}

export interface SummaryParts {
	trust: { statesOf(skills: readonly (Skill | BrokenSkill)[]): Promise<TrustState[]> };
	modes: Pick<SkillModes, 'modeOf'>;
}

/** Those whose name or description holds `query`, in a stable order. */
export function listSkills({ skills, shadowed, broken }: SkillSnapshot, query: string): ListedSkill[] {
	const wanted = query.trim().toLowerCase();
	return [
		...skills.map((skill) => ({ id: skill.name, skill })),
		...shadowed.map((skill) => ({ id: `${skillIdOf(skill)}@${skill.version}`, skill })),
		...broken.map((skill) => ({ id: `${skill.source}/${relative(skill.root, skill.dir) || '.'}`, skill }))
	].filter(({ skill: { name, description } }) => `${name}\n${description}`.toLowerCase().includes(wanted));
}

/** One page of the list: whether files are trusted costs more than the rest. */
export async function summariseSkills(
	listed: readonly ListedSkill[],
	{ trust, modes }: SummaryParts
): Promise<SkillSummary[]> {
	const states = await trust.statesOf(listed.map(({ skill }) => skill));
	return listed.map(({ id, skill }, index) => ({
		...summaryOf(skill, id),
		trust: states[index] ?? 'untrusted',
		mode: modes.modeOf(skillIdOf(skill))
	}));
}

export function summaryOf(skill: Skill | BrokenSkill, id: string): Omit<SkillSummary, 'trust' | 'mode'> {
	const { name, description, status, path, issues } = skill;
	return {
		id,
		name,
		description,
		status,
		path,
		scripts: skill.status === 'ready' ? [...skill.scripts] : [],
		tools: skill.status === 'ready' ? skill.tools.map((tool) => tool.name) : [],
		diagnostics: [...issues]
	};
}
