/** The library as the API lists it: usable skills, then shadowed, broken and built-in ones, each with its diagnostics. */
import { relative } from 'node:path';
import type { SkillSummary, TrustState } from '../../shared/api.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import type { SkillSnapshot } from '../skills/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import { summariseBuiltin, type BuiltinSkill } from './builtin-skills.ts';
import type { SkillModes } from './skill-modes.ts';

/** What the list holds: skills of folders with the ids that it gives them, and those of this server. */
export interface ListedSkills {
	folders: { id: string; skill: Skill | BrokenSkill }[];
	builtins: BuiltinSkill[];
}

export interface SummaryParts {
	trust: { statesOf(skills: readonly (Skill | BrokenSkill)[]): Promise<TrustState[]> };
	modes: Pick<SkillModes, 'modeOf'>;
}

/** Those whose name or description holds `query`, in a stable order. */
export function listSkills(
	{ skills, shadowed, broken }: SkillSnapshot,
	builtins: readonly BuiltinSkill[],
	query: string
): ListedSkills {
	const wanted = query.trim().toLowerCase();
	const fits = ({ name, description }: Pick<Skill, 'name' | 'description'>) =>
		`${name}\n${description}`.toLowerCase().includes(wanted);
	const folders = [
		...skills.map((skill) => ({ id: skill.name, skill })),
		...shadowed.map((skill) => ({ id: `${skillIdOf(skill)}@${skill.version}`, skill })),
		...broken.map((skill) => ({ id: `${skill.source}/${relative(skill.root, skill.dir) || '.'}`, skill }))
	];
	return { folders: folders.filter(({ skill }) => fits(skill)), builtins: builtins.filter(fits) };
}

/** The piece of the list from `start` to before `end`: whether files are trusted costs more than the rest. */
export async function summariseSkills(
	{ folders, builtins }: ListedSkills,
	{ trust, modes }: SummaryParts,
	{ start, end }: { start: number; end: number }
): Promise<SkillSummary[]> {
	const listed = folders.slice(start, end);
	const states = await trust.statesOf(listed.map(({ skill }) => skill));
	const own = builtins.slice(Math.max(0, start - folders.length), Math.max(0, end - folders.length));
	return [
		...listed.map(({ id, skill }, index) => ({
			...summaryOf(skill, id),
			trust: states[index] ?? 'untrusted',
			mode: modes.modeOf(skillIdOf(skill))
		})),
		...own.map((builtin) => summariseBuiltin(builtin, modes))
	];
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
