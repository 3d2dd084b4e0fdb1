/** The drover document's tools: `skill_load` and `skill_resource` (C2, C7). */
import { MORE_FILES, renderBody } from '../../prompt.ts';
import type { Skill, SkillExecutionResult } from '../../types.ts';
import {
	type CallArguments,
	type FilePage,
	numberArgument,
	type OperationResult,
	type SkillOperation,
	textArgument
} from '../operations.ts';
import { forSkills, loadingTool, toolOf } from '../tools.ts';
import type { Dialect } from './openrouter.ts';

export const drover: Dialect = {
	tools: (skills) => [loadingTool(SKILL_LOAD, skills, 'name'), forSkills(SKILL_RESOURCE, skills, 'name')],
	read(name, args) {
		if (name === SKILL_LOAD.name) return { kind: 'load', skill: nameIn(args), offset: numberArgument(args, 'offset') };
		if (name !== SKILL_RESOURCE.name) return null;
		const resource = args.resource;
		const path = typeof resource === 'string' && resource !== '' ? resource : null;
		const offset = numberArgument(args, 'offset');
		return { kind: 'read', skill: nameIn(args), path, offset } satisfies SkillOperation;
	},
	render,
	renderFailure: ({ message, hint }) => [message, hint].filter(Boolean).join(' ')
};

function nameIn(args: CallArguments): string {
	return textArgument(args, 'name', 'the name of a skill');
}

function render(result: OperationResult): string {
	switch (result.kind) {
		case 'load':
			return renderBody(result.skill, result.offset) + hintOf(result.skill);
		case 'files':
			return fileList(result.skill);
		case 'read':
			return renderPage(result.page);
		case 'list':
			return result.skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
		case 'search':
			return result.found.map(({ skill }) => `- ${skill.name}: ${skill.description}`).join('\n');
		case 'run':
		case 'tool':
			return renderRun(result.result);
	}
}

function fileList({ name, files, hasMoreFiles }: Skill): string {
	const supporting = files.filter((file) => file.toLowerCase() !== 'skill.md');
	return renderFiles(name, supporting, hasMoreFiles);
}

function hintOf({ name, files }: Skill): string {
	return resourceHint(name, (folder) => files.filter((file) => file.startsWith(`${folder}/`)).length);
}

function renderRun({ success, message, exitCode, stdout, stderr, value }: SkillExecutionResult): string {
	const answer = value === undefined ? stdout : JSON.stringify(value);
	const errors = stderr && `stderr:\n${stderr}`;
	if (success) return [answer, errors].filter(Boolean).join('\n');
	return [`${message ?? 'It failed.'} (exit code ${exitCode})`, stdout && `stdout:\n${stdout}`, errors]
		.filter(Boolean)
		.join('\n');
}

// Definitions and output of the drover document's two tools, for its library and its dialect (C2, C7).

/** Folders whose files are counted and listed. */
export const RESOURCE_FOLDERS = ['scripts', 'references', 'assets'] as const;

export const SKILL_LOAD = toolOf(
	'skill_load',
	'Load the instructions of a skill. Call it when a task matches one of the available skills.',
	{ name: { type: 'string', description: 'Name of the skill' } },
	['name']
);

const RESOURCE = "Path from the skill's folder, e.g. references/forms.md; without it the files are listed";

export const SKILL_RESOURCE = toolOf(
	'skill_resource',
	'List the supporting files of a skill, or read one of them.',
	{
		name: { type: 'string', description: 'Name of the skill' },
		resource: { type: 'string', description: RESOURCE },
		offset: { type: 'integer', minimum: 0, description: 'Byte offset to continue from, as given in a truncated answer' }
	},
	['name']
);

/** A note about the skill's other files, to append to its instructions; empty if there are none. */
export function resourceHint(name: string, countIn: (folder: (typeof RESOURCE_FOLDERS)[number]) => number): string {
	const counts = RESOURCE_FOLDERS.flatMap((folder) => {
		const count = countIn(folder);
		return count === 0 ? [] : [`${count} ${count === 1 ? folder.slice(0, -1) : folder}`];
	});
	if (counts.length === 0) return '';
	return `\n\n---\nThis skill ships ${counts.join(', ')}. Call skill_resource(name="${name}") to list them.`;
}

/** The supporting files, one per line. */
export function renderFiles(name: string, files: readonly string[], hasMore = false): string {
	if (files.length === 0) return `${name} has no supporting files.`;
	return [...files.map((file) => `- ${file}`), ...(hasMore ? [MORE_FILES] : [])].join('\n');
}

/** A page of a file, and how to read on. */
export function renderPage({ text, offset, nextOffset, totalBytes }: FilePage): string {
	if (nextOffset === null) return text;
	return `${text}\n\n[truncated: bytes ${offset} to ${nextOffset} of ${totalBytes}; call again with offset ${nextOffset} for more]`;
}
