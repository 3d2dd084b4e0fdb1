/** The drover document's tools: `skill_load` and `skill_resource` (FEATURES C2, C7). */
import {
	numberArgument,
	textArgument,
	type CallArguments,
	type OperationResult,
	type SkillOperation
} from '../operations.ts';
import { forSkills } from '../tools.ts';
import type { Skill, SkillExecutionResult, ToolDefinition } from '../types.ts';
import type { Dialect } from './dialect.ts';

const SKILL_LOAD: ToolDefinition = {
	type: 'function',
	name: 'skill_load',
	description: 'Load the instructions of a skill. Call it when a task matches one of the available skills.',
	parameters: {
		type: 'object',
		properties: { name: { type: 'string', description: 'Name of the skill' } },
		required: ['name']
	}
};

const SKILL_RESOURCE: ToolDefinition = {
	type: 'function',
	name: 'skill_resource',
	description: 'List the supporting files of a skill, or read one of them.',
	parameters: {
		type: 'object',
		properties: {
			name: { type: 'string', description: 'Name of the skill' },
			resource: { type: 'string', description: "Path from the skill's folder; without it the files are listed" },
			offset: { type: 'integer', description: 'Byte to begin at, for a long file' }
		},
		required: ['name']
	}
};

export const drover: Dialect = {
	tools: (skills) => [forSkills(SKILL_LOAD, skills, 'name'), forSkills(SKILL_RESOURCE, skills, 'name')],
	read(name, args) {
		if (name === SKILL_LOAD.name) return { kind: 'load', skill: nameIn(args) };
		if (name !== SKILL_RESOURCE.name) return null;
		const resource = args.resource;
		const path = typeof resource === 'string' && resource !== '' ? resource : null;
		const offset = numberArgument(args, 'offset');
		return {
			kind: 'read',
			skill: nameIn(args),
			path,
			...(offset === undefined ? {} : { offset })
		} satisfies SkillOperation;
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
			return result.skill.body + resourceHint(result.skill);
		case 'files':
			return filesOf(result.skill);
		case 'read': {
			const { text, nextOffset, totalBytes } = result.page;
			if (nextOffset === null) return text;
			return `${text}\n\n[truncated: ${nextOffset} of ${totalBytes} bytes; call skill_resource with offset ${nextOffset} for the rest]`;
		}
		case 'list':
			return result.skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
		case 'search':
			return result.found.map(({ skill }) => `- ${skill.name}: ${skill.description}`).join('\n');
		case 'run':
		case 'tool':
			return renderRun(result.result);
	}
}

/** Where the rest of the skill is, when there is any. */
function resourceHint(skill: Skill): string {
	const counts = (['scripts', 'references', 'assets'] as const).flatMap((folder) => {
		const count = skill.files.filter((file) => file.startsWith(`${folder}/`)).length;
		return count === 0 ? [] : [`${count} ${count === 1 ? folder.slice(0, -1) : folder}`];
	});
	if (counts.length === 0) return '';
	return `\n\n---\nThis skill ships ${counts.join(', ')}. Call skill_resource(name="${skill.name}") to list them.`;
}

function filesOf({ name, files }: Skill): string {
	const others = files.filter((file) => file !== 'SKILL.md');
	return others.length === 0 ? `${name} has no supporting files.` : others.map((file) => `- ${file}`).join('\n');
}

function renderRun({ success, message, stdout, stderr, value }: SkillExecutionResult): string {
	const answer = value === undefined ? stdout : JSON.stringify(value);
	return success ? answer : [message, stdout, stderr].filter(Boolean).join('\n');
}
