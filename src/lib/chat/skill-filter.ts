/** Which skills of the list are looked at. Pure. */
import type { SkillSummary } from '../shared/skills.ts';

export const SKILL_FILTERS = [
	['all', 'All'],
	['on', 'On'],
	['auto', 'Auto'],
	['off', 'Off'],
	['broken', 'Broken'],
	['installed', 'Installed'],
	['builtin', 'Built in']
] as const;
export type SkillFilter = (typeof SKILL_FILTERS)[number][0];

/** Every word of `query` occurs in the name or the description. */
export function filterSkills(
	skills: readonly SkillSummary[],
	{ query, filter }: { query: string; filter: SkillFilter }
): SkillSummary[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	return skills.filter((skill) => {
		const text = `${skill.name} ${skill.description}`.toLowerCase();
		return isKind(skill, filter) && words.every((word) => text.includes(word));
	});
}

function isKind({ status, mode, provider }: SkillSummary, filter: SkillFilter): boolean {
	if (filter === 'all') return true;
	if (filter === 'broken') return status === 'broken';
	if (filter === 'builtin') return provider === 'builtin';
	if (filter === 'installed') return provider !== 'local' && provider !== 'builtin';
	return status === 'ready' && mode === filter;
}
