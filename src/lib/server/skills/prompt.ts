/** How a loaded skill reads; pure (FEATURES C1, B18). */
import { withoutHidden } from '../../shared/characters.ts';
import { pageOf } from './output-store.ts';
import type { Skill } from './types.ts';

/** Of the instructions, as many are handed out at once: some 16,000 tokens, three times what the standard advises. */
const MAX_BODY_BYTES = 64 * 1024;

/** A rough count that is good enough to show and to budget with. */
export function estimateTokens(text: string): number {
	return Math.ceil(text.length / 4);
}

/** Whether the instructions are handed out in pieces. */
export function isLong({ body }: Pick<Skill, 'body'>): boolean {
	// A character takes three bytes at most: nearly every text need not be counted.
	return body.length * 3 > MAX_BODY_BYTES && Buffer.byteLength(body) > MAX_BODY_BYTES;
}

/** The instructions from a byte on, and where they are cut how to read on. */
export function renderBody(skill: Pick<Skill, 'body'>, offset = 0): string {
	if (offset === 0 && !isLong(skill)) return skill.body;
	const { text, offset: start, nextOffset, totalBytes } = pageOf(Buffer.from(skill.body), offset, MAX_BODY_BYTES);
	if (nextOffset === null) return text;
	const shown = `These are bytes ${start} to ${nextOffset} of ${totalBytes} of the instructions.`;
	return `${text}\n\n[${shown} Load the skill again with offset ${nextOffset} to read on.]`;
}

/** The answer of `load_skill`: instructions, the folder, its files and its tools; from a later byte on the instructions alone. */
export function renderLoadedSkill(skill: Skill, offset = 0): string {
	const body = inert(renderBody(skill, offset));
	// Only the beginning bears the digest, by which a conversation knows that the skill is loaded.
	if (offset > 0) return `<skill_content name="${attribute(skill.name)}" from="${offset}">\n${body}\n</skill_content>`;
	const tools = skill.tools.map((tool) => line(`${tool.name}: ${tool.description}`));
	return [
		`<skill_content name="${attribute(skill.name)}" digest="${skill.digest}">`,
		body,
		'',
		`<skill_files dir="${attribute(skill.dir)}">`,
		...skill.files.filter((file) => file !== 'SKILL.md').map(line),
		...(skill.hasMoreFiles ? [MORE_FILES] : []),
		'</skill_files>',
		...(tools.length > 0 ? ['<skill_tools>', ...tools, '</skill_tools>'] : []),
		'</skill_content>'
	].join('\n');
}

/** Ends a list of files that has no room for all. */
export const MORE_FILES = '… and more files, not listed: name one by its path to read it';

/** Text of a skill that cannot close the wrapper early and speak as if it stood outside: not with unseen characters in a tag, either. */
function inert(text: string): string {
	return withoutHidden(text).replace(/<(\/?)(skill_(?:content|files|tools))\b/gi, '&lt;$1$2');
}

function line(text: string): string {
	return inert(text).replace(/\s+/g, ' ');
}

function attribute(text: string): string {
	return line(text).replaceAll('"', '&quot;');
}
