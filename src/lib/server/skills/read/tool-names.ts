/** Names under which a model calls skills' tools, and names they can't have (D17). */
import { hash } from 'node:crypto';
import type { Skill, SkillTool } from '../types.ts';

/** The library's own tools, in every dialect. */
export const BUILT_IN_TOOLS: ReadonlySet<string> = new Set([
	'list_skills',
	'search_skills',
	'load_skill',
	'read_skill_file',
	'use_skill',
	'skill_load',
	'skill_resource',
	'skills_tool',
	'define_tool',
	'remove_tool'
]);

/** True for names of tools that aren't a skill's, offered or not. */
export type IsReserved = (name: string) => boolean;

export const isBuiltInTool: IsReserved = (name) => BUILT_IN_TOOLS.has(name);

export interface NamedTool {
	skill: Skill;
	tool: SkillTool;
}

/** Names for the model: the newest skill's tool gets the bare name, others and reserved ones `skill__tool` (D17, E36). */
export function nameTools(skills: readonly Skill[], isReserved: IsReserved): Map<string, NamedTool> {
	const named = new Map<string, NamedTool>();
	const isTaken = (name: string) => named.has(name) || isReserved(name);
	for (const skill of skills) {
		for (const tool of skill.tools) {
			if (isReserved(tool.name)) {
				named.set(qualifiedName({ skill, tool }, isTaken), { skill, tool });
				continue;
			}
			const older = named.get(tool.name);
			if (older) named.set(qualifiedName(older, isTaken), older);
			named.set(tool.name, { skill, tool });
		}
	}
	return named;
}

/** Reads `skill:tool`, which always works; null for any other name. */
export function readQualified(name: string, skills: readonly Skill[]): { skill: string; tool: string } | null {
	const colon = name.lastIndexOf(':');
	const [skill, tool] = [name.slice(0, colon), name.slice(colon + 1)];
	const isThere = skills.some((each) => each.name === skill && each.tools.some((own) => own.name === tool));
	return colon > 0 && isThere ? { skill, tool } : null;
}

/** `skill__tool`, shortened and with a hash if it's taken or not callable (at most 64 letters, digits, `_` and `-`). */
function qualifiedName({ skill, tool }: NamedTool, isTaken: IsReserved): string {
	const whole = `${skill.name}__${tool.name}`;
	const plain = whole.replace(/[^a-zA-Z0-9_-]/g, '-');
	if (plain === whole && plain.length <= 64 && !isTaken(plain)) return plain;
	const suffix = hash('sha256', whole).slice(0, 8);
	const short = `${plain.slice(0, 55)}_${suffix}`;
	// A skill named `mcp` would collide with MCP tools.
	return isTaken(short) ? `skill_${plain.slice(0, 49)}_${suffix}` : short;
}
