/** What the drover document's two tools are and say, for its library and for its dialect alike (FEATURES C2, C7). */
import type { FilePage } from './operations.ts';
import { MORE_FILES } from './prompt.ts';
import type { ToolDefinition } from './types.ts';

/** The folders whose files are counted and listed by name. */
export const RESOURCE_FOLDERS = ['scripts', 'references', 'assets'] as const;

export const SKILL_LOAD: ToolDefinition = {
	type: 'function',
	name: 'skill_load',
	description: 'Load the instructions of a skill. Call it when a task matches one of the available skills.',
	parameters: {
		type: 'object',
		properties: { name: { type: 'string', description: 'Name of the skill' } },
		required: ['name']
	}
};

export const SKILL_RESOURCE: ToolDefinition = {
	type: 'function',
	name: 'skill_resource',
	description: 'List the supporting files of a skill, or read one of them.',
	parameters: {
		type: 'object',
		properties: {
			name: { type: 'string', description: 'Name of the skill' },
			resource: {
				type: 'string',
				description: "Path from the skill's folder, e.g. references/forms.md; without it the files are listed"
			},
			offset: { type: 'integer', minimum: 0, description: 'Byte to read on from, as a truncated answer names it' }
		},
		required: ['name']
	}
};

/** Where the rest of the skill is, to stand behind its instructions; empty when there is none. */
export function resourceHint(name: string, countIn: (folder: (typeof RESOURCE_FOLDERS)[number]) => number): string {
	const counts = RESOURCE_FOLDERS.flatMap((folder) => {
		const count = countIn(folder);
		return count === 0 ? [] : [`${count} ${count === 1 ? folder.slice(0, -1) : folder}`];
	});
	if (counts.length === 0) return '';
	return `\n\n---\nThis skill ships ${counts.join(', ')}. Call skill_resource(name="${name}") to list them.`;
}

/** The supporting files, a line each. */
export function renderFiles(name: string, files: readonly string[], hasMore = false): string {
	if (files.length === 0) return `${name} has no supporting files.`;
	return [...files.map((file) => `- ${file}`), ...(hasMore ? [MORE_FILES] : [])].join('\n');
}

/** A piece of a file, and where to go on. */
export function renderPage({ text, offset, nextOffset, totalBytes }: FilePage): string {
	if (nextOffset === null) return text;
	return `${text}\n\n[truncated: bytes ${offset} to ${nextOffset} of ${totalBytes}; call again with offset ${nextOffset} for more]`;
}
