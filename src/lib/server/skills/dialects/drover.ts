/** The drover document's tools: `skill_load` and `skill_resource` (FEATURES C2, C7). */
import { renderFiles, renderPage, resourceHint, SKILL_LOAD, SKILL_RESOURCE } from '../drover-tools.ts';
import {
	numberArgument,
	textArgument,
	type CallArguments,
	type OperationResult,
	type SkillOperation
} from '../operations.ts';
import { renderBody } from '../prompt.ts';
import { forSkills, loadingTool } from '../tools.ts';
import type { Skill, SkillExecutionResult } from '../types.ts';
import type { Dialect } from './dialect.ts';

export const drover: Dialect = {
	tools: (skills) => [loadingTool(SKILL_LOAD, skills, 'name'), forSkills(SKILL_RESOURCE, skills, 'name')],
	read(name, args) {
		if (name === SKILL_LOAD.name) return { kind: 'load', skill: nameIn(args), offset: numberArgument(args, 'offset') };
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
			return renderBody(result.skill, result.offset) + hintOf(result.skill);
		case 'files':
			return renderFiles(
				result.skill.name,
				result.skill.files.filter((file) => file.toLowerCase() !== 'skill.md'),
				result.skill.hasMoreFiles
			);
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
