/** How a loaded skill reads; pure (FEATURES C1, B18). */
import type { Skill } from './types.ts';

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
