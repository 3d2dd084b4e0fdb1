/** What is said of a name and a description while they are typed, and what a template makes. Pure. */
import { MAX_SKILL_DESCRIPTION, MAX_SKILL_NAME, SKILL_NAME, type SkillTemplate } from '../shared/skill-names.ts';
import { newSkillText as text } from '../strings/skill-editor.ts';

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
	if (!SKILL_NAME.test(name) || name.length > MAX_SKILL_NAME) return { message: text.nameWrong, isWrong: true };
	if (taken.has(name)) return { message: text.nameTaken, isWrong: true };
	return { message: text.nameGood, isWrong: false };
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
	if (given.length > MAX_SKILL_DESCRIPTION) return { message: text.tooLong, isWrong: true };
	if (given.length < FEW_CHARACTERS) return { message: text.tooShort, isWrong: false };
	if (!/\b(?:when|whenever|if|for)\b/i.test(given)) return { message: text.sayWhen, isWrong: false };
	return { message: text.good, isWrong: false };
}

/** Paths, relative to the folder of skills. */
export function filesOfTemplate(name: string, template: SkillTemplate): string[] {
	const folder = name === '' ? text.namePlaceholder : name;
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
