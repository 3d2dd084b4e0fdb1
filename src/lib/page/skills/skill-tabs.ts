/** Advice on a skill's name and description, the files of a template, and the tabs of a skill's page. Pure. */
import { MAX_SKILL_DESCRIPTION, MAX_SKILL_NAME, SKILL_NAME, type SkillTemplate } from '../../shared/names.ts';

export interface Advice {
	message: string;
	/** The skill can't be created like this. */
	isWrong: boolean;
}

/** Shorter descriptions can't say what a skill is for. */
const FEW_CHARACTERS = 40;

export function adviseOnName(name: string, taken: ReadonlySet<string>): Advice | null {
	if (name === '') return null;
	if (!SKILL_NAME.test(name) || name.length > MAX_SKILL_NAME)
		return { message: 'Use only lowercase letters, digits and single hyphens.', isWrong: true };
	if (taken.has(name)) return { message: 'A skill with this name already exists.', isWrong: true };
	return { message: 'Looks good', isWrong: false };
}

/** The closest valid name; empty if there is none. */
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

/** Paths relative to the skills folder. */
export function filesOfTemplate(name: string, template: SkillTemplate): string[] {
	const folder = name === '' ? 'invoice-reader' : name;
	const files = {
		instructions: [],
		script: ['scripts/run.mjs'],
		tools: ['tools.json', `scripts/${toolOf(folder)}.mjs`]
	};
	return ['SKILL.md', ...files[template]].map((path) => `${folder}/${path}`);
}

/** The same rule as on the server. */
function toolOf(name: string): string {
	const tool = name.replaceAll('-', '_').slice(0, 60);
	return /^[a-z]/.test(tool) ? tool : `run_${tool}`;
}

const SKILL_TABS = ['problems', 'overview', 'instructions', 'files', 'run', 'trust', 'evals', 'versions'] as const;
export type SkillTab = (typeof SKILL_TABS)[number];

/** Older addresses, and parts of a tab. */
const ALIASES = new Map<string, SkillTab>([
	['doctor', 'problems'],
	['cases', 'run'],
	['findings', 'trust'],
	['changes', 'trust'],
	['needs', 'overview'],
	['secrets', 'overview'],
	['network', 'overview']
]);

/** The tab named by a hash such as `#files` or `#run?…`; null if none. */
export function tabOf(hash: string): SkillTab | null {
	const name = hash.replace(/^#/, '').replace(/\?.*$/, '');
	return SKILL_TABS.find((tab) => tab === name) ?? ALIASES.get(name) ?? null;
}
