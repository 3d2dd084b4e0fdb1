/** The names under which a model calls the tools of loaded skills (FEATURES D17). */
import { createHash } from 'node:crypto';
import type { Skill, SkillTool } from './types.ts';

export interface NamedTool {
	skill: Skill;
	tool: SkillTool;
}

/**
 * Names that the model sees: the newest skill's tool has the bare name, an older one is `skill__tool`, and so is one whose
 * name is taken by what is no skill (D17, E36).
 */
export function nameTools(skills: readonly Skill[], reserved: ReadonlySet<string>): Map<string, NamedTool> {
	const named = new Map<string, NamedTool>();
	for (const skill of skills) {
		for (const tool of skill.tools) {
			if (reserved.has(tool.name)) {
				named.set(qualifiedName({ skill, tool }, named), { skill, tool });
				continue;
			}
			const older = named.get(tool.name);
			if (older) named.set(qualifiedName(older, named), older);
			named.set(tool.name, { skill, tool });
		}
	}
	return named;
}

/** `skill__tool`, or as much of it as a model can call (64 letters, digits, `_` and `-`) with what makes it its own. */
function qualifiedName({ skill, tool }: NamedTool, taken: ReadonlyMap<string, unknown>): string {
	const whole = `${skill.name}__${tool.name}`;
	const plain = whole.replace(/[^a-zA-Z0-9_-]/g, '-');
	if (plain === whole && plain.length <= 64 && !taken.has(plain)) return plain;
	return `${plain.slice(0, 55)}_${createHash('sha256').update(whole).digest('hex').slice(0, 8)}`;
}
