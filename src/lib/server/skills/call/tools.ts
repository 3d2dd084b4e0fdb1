/** Tools of our own dialect; the first two are S0's, word for word (C1, C4–C6, C11, D1). */
import { isLong } from '../prompt.ts';
import type { Skill, ToolDefinition } from '../types.ts';

/** A tool whose parameters are an object with these properties. */
export function toolOf(
	name: string,
	description: string,
	properties: Record<string, unknown>,
	required: readonly string[]
): ToolDefinition {
	return { type: 'function', name, description, parameters: { type: 'object', properties, required } };
}

/** What a tool that is no skill's gives the model, as JSON. */
export interface ToolAnswer {
	ok: boolean;
	output: string;
	/** Skills were added, which this turn can use, too. */
	changesLibrary?: boolean;
}

export function done(value: object): ToolAnswer {
	return { ok: true, output: JSON.stringify({ ok: true, ...value }) };
}

export function failed(error: string, message?: string, hint?: string): ToolAnswer {
	return { ok: false, output: JSON.stringify({ ok: false, error, message, hint }) };
}

export const LOAD_SKILL = toolOf(
	'load_skill',
	'Load the full instructions for a skill. Call this before using a skill for the first time.',
	{ skill: { type: 'string', description: 'Name of the skill to load (folder name)' } },
	['skill']
);

export const USE_SKILL = toolOf(
	'use_skill',
	'Run a script from a skill folder. The skill instructions tell you which scripts to call and with what arguments.',
	{
		skill: { type: 'string', description: 'Name of the skill (folder name)' },
		script: { type: 'string', description: 'Script filename to run (e.g. "discord.mjs")' },
		args: {
			type: 'array',
			items: { type: 'string' },
			description:
				'Arguments to pass to the script as individual items (e.g. ["channels", "list"] or ["send", "Hello World", "--channel=123"])'
		}
	},
	['skill', 'script']
);

export const LIST_SKILLS = toolOf(
	'list_skills',
	'List every available skill, with its version and description.',
	{},
	[]
);

export const SEARCH_SKILLS = toolOf(
	'search_skills',
	'Search the skills by words in their names, descriptions and tags. Best matches come first.',
	{ query: { type: 'string', description: 'Words to look for, e.g. "pdf form"' } },
	['query']
);

export const READ_SKILL_FILE = toolOf(
	'read_skill_file',
	'Read a file of a skill, such as a reference that its instructions name. Without a path: list the files of the skill.',
	{
		skill: { type: 'string', description: 'Name of the skill' },
		path: { type: 'string', description: "Path from the skill's folder, e.g. references/forms.md" },
		offset: { type: 'integer', description: 'Byte offset to start at, for a long file' },
		limit: { type: 'integer', description: 'Maximum bytes to read' }
	},
	['skill']
);

/** Longer lists of names cost more tokens than they save mistakes. */
const MAX_ENUM = 64;

/** Limits `skill` to the available names (B14, and the standard's guide). */
export function forSkills(tool: ToolDefinition, skills: readonly Skill[], property = 'skill'): ToolDefinition {
	if (skills.length === 0 || skills.length > MAX_ENUM) return tool;
	const properties = tool.parameters.properties as Record<string, Record<string, unknown>>;
	const named = { ...properties[property], enum: skills.map(({ name }) => name) };
	return { ...tool, parameters: { ...tool.parameters, properties: { ...properties, [property]: named } } };
}

/** A tool that loads a skill. Takes an `offset` only if some instructions come in pages. */
export function loadingTool(tool: ToolDefinition, skills: readonly Skill[], property = 'skill'): ToolDefinition {
	const named = forSkills(tool, skills, property);
	if (!skills.some(isLong)) return named;
	const properties = { ...(named.parameters.properties as Record<string, unknown>), offset: LOAD_OFFSET };
	return { ...named, parameters: { ...named.parameters, properties } };
}

export const LOAD_OFFSET = {
	type: 'integer',
	minimum: 0,
	description: 'Byte offset to continue from, for long instructions'
};
