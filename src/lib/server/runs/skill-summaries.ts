/** The library as the API lists it: usable skills, then shadowed ones, then broken ones, each with its diagnostics. */
import { relative } from 'node:path';
import type { SkillSummary } from '../../shared/api.ts';
import type { SkillSnapshot } from '../skills/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';

/** Those whose name or description holds `query`, in a stable order. */
export function summariseSkills({ skills, shadowed, broken }: SkillSnapshot, query: string): SkillSummary[] {
	const wanted = query.trim().toLowerCase();
	return [
		...skills.map((skill) => summarise(skill, skill.name)),
		...shadowed.map((skill) => summarise(skill, `${skill.source}/${skill.name}@${skill.version}`)),
		...broken.map((skill) => summarise(skill, `${skill.source}/${relative(skill.root, skill.dir) || '.'}`))
	].filter(({ name, description }) => `${name}\n${description}`.toLowerCase().includes(wanted));
}

function summarise(skill: Skill | BrokenSkill, id: string): SkillSummary {
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
