/** The two tools of S0, word for word (FEATURES C1, D1). */
import type { ToolDefinition } from './types.ts';

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
