/** What the model is told of the library, and how a loaded skill reads; pure (FEATURES B1, C1, B18). */
import type { Skill } from './types.ts';

/** Characters of a description that the catalog shows (A9). */
const MAX_DESCRIPTION = 1024;

/** The system prompt's section of S0; empty when there is nothing to offer. */
export function renderSystemPrompt(skills: readonly Skill[]): string {
	if (skills.length === 0) return '';
	const entries = skills.map(({ name, description }) => `### ${name}\n${firstCharacters(description)}`);
	return `## Available Skills

You have access to skills that help you perform specific tasks. Each skill has instructions and scripts you can run.

To use a skill:
1. Call load_skill to read its instructions
2. Follow the instructions, calling use_skill to run scripts as directed

${entries.join('\n\n')}`;
}

function firstCharacters(text: string): string {
	return text.length <= MAX_DESCRIPTION ? text : [...text].slice(0, MAX_DESCRIPTION).join('');
}

/** A rough count that is good enough to show and to budget with. */
export function estimateTokens(text: string): number {
	return Math.ceil(text.length / 4);
}

/** The answer of `load_skill`: instructions, the folder, its files and its tools. */
export function renderLoadedSkill(skill: Skill): string {
	const tools = skill.tools.map((tool) => line(`${tool.name}: ${tool.description}`));
	return [
		`<skill_content name="${attribute(skill.name)}" digest="${skill.digest}">`,
		inert(skill.body),
		'',
		`<skill_files dir="${attribute(skill.dir)}">`,
		...skill.files.filter((file) => file !== 'SKILL.md').map(line),
		'</skill_files>',
		...(tools.length > 0 ? ['<skill_tools>', ...tools, '</skill_tools>'] : []),
		'</skill_content>'
	].join('\n');
}

/** Text of a skill that cannot close the wrapper early and speak as if it stood outside. */
function inert(text: string): string {
	return text.replace(/<(\/?)(skill_(?:content|files|tools))\b/gi, '&lt;$1$2');
}

function line(text: string): string {
	return inert(text.replace(/\s+/g, ' '));
}

function attribute(text: string): string {
	return line(text).replaceAll('"', '&quot;');
}
