/** Search with the points of the Agent Zero document (FEATURES C5); pure. */
import type { Skill } from './types.ts';

export interface FoundSkill {
	skill: Skill;
	score: number;
}

const NAME = 3;
const DESCRIPTION = 2;
const TAG = 1;
/** Beyond the document: what is only in a trigger or in the instructions counts less than anything it names. */
const TRIGGER = 0.5;
const BODY = 0.25;
const MAX_TERMS = 32;

/**
 * For each term of the query: 3 points in the name, 2 in the description, 1 for each tag that holds it. Best first,
 * equals by name; at most `limit`.
 */
export function searchSkills(skills: readonly Skill[], query: string, limit = 25): FoundSkill[] {
	const terms = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MAX_TERMS);
	return skills
		.map((skill) => ({ skill, score: scoreOf(skill, terms) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
		.slice(0, limit);
}

function scoreOf(skill: Skill, terms: readonly string[]): number {
	const name = skill.name.toLowerCase();
	const description = skill.description.toLowerCase();
	const tags = [...new Set(skill.tags.map((tag) => tag.toLowerCase()))];
	const triggers = skill.triggers.join('\n').toLowerCase();
	const body = skill.body.toLowerCase();
	let score = 0;
	for (const term of terms) {
		if (name.includes(term)) score += NAME;
		if (description.includes(term)) score += DESCRIPTION;
		score += TAG * tags.filter((tag) => tag.includes(term)).length;
		if (triggers.includes(term)) score += TRIGGER;
		if (body.includes(term)) score += BODY;
	}
	return score;
}
