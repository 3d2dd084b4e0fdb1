/** Tools of our own dialect; the first two are S0's, word for word (FEATURES C1, C4–C6, C11, D1). */
import { isLong } from '../prompt.ts';
import type { Skill, ToolDefinition } from '../types.ts';

export const LOAD_SKILL: ToolDefinition = {
	type: 'function',
	name: 'load_skill',
	description: 'Load the full instructions for a skill. Call this before using a skill for the first time.',
	parameters: {
		type: 'object',
		properties: { skill: { type: 'string', description: 'Name of the skill to load (folder name)' } },
		required: ['skill']
	}
};

export const USE_SKILL: ToolDefinition = {
	type: 'function',
	name: 'use_skill',
	description:
		'Run a script from a skill folder. The skill instructions tell you which scripts to call and with what arguments.',
	parameters: {
		type: 'object',
		properties: {
			skill: { type: 'string', description: 'Name of the skill (folder name)' },
			script: { type: 'string', description: 'Script filename to run (e.g. "discord.mjs")' },
			args: {
				type: 'array',
				items: { type: 'string' },
				description:
					'Arguments to pass to the script as individual items (e.g. ["channels", "list"] or ["send", "Hello World", "--channel=123"])'
			}
		},
		required: ['skill', 'script']
	}
};

export const LIST_SKILLS: ToolDefinition = {
	type: 'function',
	name: 'list_skills',
	description: 'List every skill that is available, with its version and description.',
	parameters: { type: 'object', properties: {}, required: [] }
};

export const SEARCH_SKILLS: ToolDefinition = {
	type: 'function',
	name: 'search_skills',
	description: 'Search the skills by words in their names, descriptions and tags. Best matches come first.',
	parameters: {
		type: 'object',
		properties: { query: { type: 'string', description: 'Words to look for, e.g. "pdf form"' } },
		required: ['query']
	}
};

export const READ_SKILL_FILE: ToolDefinition = {
	type: 'function',
	name: 'read_skill_file',
	description:
		'Read a file of a skill, such as a reference that its instructions name. Without a path: list the files of the skill.',
	parameters: {
		type: 'object',
		properties: {
			skill: { type: 'string', description: 'Name of the skill' },
			path: { type: 'string', description: "Path from the skill's folder, e.g. references/forms.md" },
			offset: { type: 'integer', description: 'Byte to begin at, for a long file' },
			limit: { type: 'integer', description: 'Most bytes to read' }
		},
		required: ['skill']
	}
};

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

export const LOAD_OFFSET = { type: 'integer', minimum: 0, description: 'Byte of long instructions to read on from' };
