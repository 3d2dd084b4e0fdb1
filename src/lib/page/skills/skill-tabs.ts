/** What is said of a name and a description while they are typed, and what a template makes. Pure. */
import { MAX_SKILL_DESCRIPTION, MAX_SKILL_NAME, SKILL_NAME, type SkillTemplate } from '../../shared/names.ts';

export interface Advice {
	message: string;
	/** It cannot be made so. */
	isWrong: boolean;
}

/** Below it nobody can tell what a skill is for. */
const FEW_CHARACTERS = 40;

/** Null while there is nothing to say. */
export function adviseOnName(name: string, taken: ReadonlySet<string>): Advice | null {
	if (name === '') return null;
	if (!SKILL_NAME.test(name) || name.length > MAX_SKILL_NAME)
		return { message: 'Use only lowercase letters, digits and single hyphens.', isWrong: true };
	if (taken.has(name)) return { message: 'A skill with this name already exists.', isWrong: true };
	return { message: 'Looks good', isWrong: false };
}

/** The nearest name that may be; empty where there is none. */
export function suggestName(typed: string): string {
	const plain = typed.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
	return plain
		.replace(/[^a-z0-9]+/g, '-')
		.slice(0, MAX_SKILL_NAME)
		.replace(/^-+|-+$/g, '');
}

export function adviseOnDescription(description: string): Advice | null {
	const given = description.trim();
	if (given === '') return null;
	if (given.length > MAX_SKILL_DESCRIPTION)
		return { message: 'Too long: the limit is 1,024 characters.', isWrong: true };
	if (given.length < FEW_CHARACTERS)
		return { message: 'Say more: the model chooses skills by this text alone.', isWrong: false };
	if (!/\b(?:when|whenever|if|for)\b/i.test(given))
		return { message: 'Say when to use it: “Use when someone asks about…”', isWrong: false };
	return { message: 'Says what it does and when to use it', isWrong: false };
}

/** Paths, relative to the folder of skills. */
export function filesOfTemplate(name: string, template: SkillTemplate): string[] {
	const folder = name === '' ? 'invoice-reader' : name;
	const files = {
		instructions: [],
		script: ['scripts/run.mjs'],
		tools: ['tools.json', `scripts/${toolOf(folder)}.mjs`]
	};
	return ['SKILL.md', ...files[template]].map((path) => `${folder}/${path}`);
}

/** As the server names it. */
function toolOf(name: string): string {
	const tool = name.replaceAll('-', '_').slice(0, 60);
	return /^[a-z]/.test(tool) ? tool : `run_${tool}`;
}

// The parts of a skill's page, and which of them an address asks for. Pure.

const SKILL_TABS = ['problems', 'overview', 'instructions', 'files', 'run', 'trust', 'evals', 'versions'] as const;
export type SkillTab = (typeof SKILL_TABS)[number];

/** Addresses from before there were tabs, and of parts of a tab. */
const ALIASES = new Map<string, SkillTab>([
	['doctor', 'problems'],
	['cases', 'run'],
	['findings', 'trust'],
	['changes', 'trust'],
	['needs', 'overview'],
	['secrets', 'overview'],
	['network', 'overview']
]);

/** Of `#files` and the like, with what it says besides after a `?`; null for one that means none. */
export function tabOf(hash: string): SkillTab | null {
	const name = hash.replace(/^#/, '').replace(/\?.*$/, '');
	return SKILL_TABS.find((tab) => tab === name) ?? ALIASES.get(name) ?? null;
}
