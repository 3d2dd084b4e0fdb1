/** The library as the API lists it: usable skills, then shadowed ones, then broken ones, each with its diagnostics. */
import { basename } from 'node:path';
import type { SkillSummary } from '../../shared/api.ts';
import type { SkillSnapshot } from '../skills/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';

/** Those whose name or description holds `query`, in a stable order. */
export function summariseSkills({ skills, shadowed, broken }: SkillSnapshot, query: string): SkillSummary[] {
	const wanted = query.trim().toLowerCase();
	return [...skills.map((skill) => summarise(skill, skill.name)), ...[...shadowed, ...broken].map(aside)].filter(
		({ name, description }) => `${name}\n${description}`.toLowerCase().includes(wanted)
	);
}

function aside(skill: Skill | BrokenSkill): SkillSummary {
	return summarise(skill, `${basename(skill.root)}/${basename(skill.dir)}`);
}

function summarise(skill: Skill | BrokenSkill, id: string): SkillSummary {
	const { name, description, status, path, issues } = skill;
	return {
		id,
		name,
		description,
		status,
		path,
		scripts: skill.status === 'ready' ? skill.scripts : [],
		tools: skill.status === 'ready' ? skill.tools.map((tool) => tool.name) : [],
		diagnostics: issues
	};
}
