/** The parts of a skill's page, and which of them an address asks for. Pure. */

const SKILL_TABS = ['problems', 'instructions', 'files', 'run', 'trust', 'needs', 'evals', 'versions'] as const;
export type SkillTab = (typeof SKILL_TABS)[number];

/** Addresses from before there were tabs, and of parts of a tab. */
const ALIASES = new Map<string, SkillTab>([
	['doctor', 'problems'],
	['cases', 'run'],
	['findings', 'trust'],
	['changes', 'trust'],
	['secrets', 'needs'],
	['network', 'needs'],
	['removal', 'versions']
]);

/** Of `#files` and the like, with what it says besides after a `?`; null for one that means none. */
export function tabOf(hash: string): SkillTab | null {
	const name = hash.replace(/^#/, '').replace(/\?.*$/, '');
	return SKILL_TABS.find((tab) => tab === name) ?? ALIASES.get(name) ?? null;
}
