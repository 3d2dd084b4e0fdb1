/** Reads what loading a skill answered: its instructions, its files, its tools. */

export interface LoadedSkill {
	name: string;
	/** The Markdown of SKILL.md. */
	body: string;
	/** The folder; '' when it was not told. */
	folder: string;
	/** Paths from the folder. */
	files: string[];
	toolNames: string[];
}

/** Longer instructions are cut: reading them must stay a matter of milliseconds. */
const MAX_BODY_LENGTH = 200_000;

/** The names that the skill's tools may be called by; the longer one is used where another skill has the short one (D17). */
export function toolNamesOf({ name, toolNames }: LoadedSkill): string[] {
	return toolNames.flatMap((tool) => [qualifiedName(name, tool), tool]);
}

/** Those of the tools on offer that are the skill's own. */
export function ownTools<Tool extends { name: string }>(skill: LoadedSkill, tools: readonly Tool[]): Tool[] {
	return skill.toolNames.flatMap((name) => {
		const named = (wanted: string) => tools.find((tool) => tool.name === wanted);
		return named(qualifiedName(skill.name, name)) ?? named(name) ?? [];
	});
}

function qualifiedName(skill: string, tool: string): string {
	return `${skill}__${tool}`.slice(0, 64);
}

/** Null for any other output, such as an error. */
export function readSkillContent(output: string): LoadedSkill | null {
	const text = output.trimStart();
	if (!text.startsWith('<skill_content ')) return null;
	const openEnd = text.indexOf('>');
	const name = /\bname="([^"<>]*)"/.exec(text.slice(0, openEnd))?.[1];
	if (openEnd < 0 || name === undefined || name === '') return null;

	// From the end: the instructions themselves may quote such tags.
	const filesAt = text.lastIndexOf('<skill_files');
	const toolsAt = text.lastIndexOf('<skill_tools');
	const ends = [filesAt, toolsAt, text.lastIndexOf('</skill_content>')].filter((index) => index > openEnd);
	const files = elementAt(text, filesAt, '</skill_files>');
	return {
		name,
		body: text.slice(openEnd + 1, ends.length > 0 ? Math.min(...ends) : undefined).slice(0, MAX_BODY_LENGTH),
		folder: /\bdir="([^"<>]*)"/.exec(files.attributes)?.[1] ?? '',
		files: files.lines,
		toolNames: elementAt(text, toolsAt, '</skill_tools>').lines.map((line) => line.split(':', 1)[0]?.trim() ?? '')
	};
}

const BLOCKS = /<skill_content [^>]*>[^]*?<\/skill_content>/g;

/** The skills whose instructions stand in a system prompt. */
export function readSkillContents(instructions: string): LoadedSkill[] {
	return (instructions.match(BLOCKS) ?? []).flatMap((block) => readSkillContent(block) ?? []);
}

/** A system prompt without the instructions of skills, whose headings are none of its own. */
export function withoutSkillContents(instructions: string): string {
	return instructions.replace(BLOCKS, '');
}

function elementAt(text: string, start: number, close: string): { attributes: string; lines: string[] } {
	const contentAt = start < 0 ? -1 : text.indexOf('>', start);
	if (contentAt < 0) return { attributes: '', lines: [] };
	const end = text.indexOf(close, contentAt);
	const lines = text.slice(contentAt + 1, end < 0 ? undefined : end).split('\n');
	return {
		attributes: text.slice(start, contentAt),
		lines: lines.map((line) => line.trim()).filter((line) => line !== '')
	};
}
