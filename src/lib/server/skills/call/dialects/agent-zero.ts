/** The Agent Zero document's one tool, `skills_tool` with a `method`, and its form `skills_tool:method` (C3–C6, C17, D2). */
import { MORE_FILES, renderBody } from '../../prompt.ts';
import { type Skill, SkillError, type SkillExecutionResult } from '../../types.ts';
import {
	type CallArguments,
	numberArgument,
	type OperationResult,
	type SkillOperation,
	textArgument
} from '../operations.ts';
import { toolOf } from '../tools.ts';
import type { Dialect } from './openrouter.ts';
import { isObject, parseJson } from '../../../../shared/json.ts';

const METHODS = ['list', 'load', 'read_file', 'execute_script', 'search'] as const;
const MAX_FILES = 80;
const MAX_DESCRIPTION = 200;

const SKILLS_TOOL = toolOf(
	'skills_tool',
	'Manage and use agent skills: list or search them, load the instructions of one, read one of its files, execute one of its scripts.',
	{
		method: { type: 'string', enum: [...METHODS] },
		skill_name: { type: 'string', description: 'Name of the skill (load, read_file, execute_script)' },
		file_path: { type: 'string', description: 'Path from the skill folder (read_file)' },
		offset: { type: 'integer', description: 'Byte offset to continue from, for long text (read_file, load)' },
		script_path: { type: 'string', description: 'Path of the script (execute_script)' },
		script_args: { type: 'object', description: 'Arguments of the script (execute_script)' },
		arg_style: {
			type: 'string',
			enum: ['positional', 'named', 'env'],
			description: 'How the script gets them: values in order, --key value pairs, or only as SKILL_ARG_* variables'
		},
		query: { type: 'string', description: 'Words to look for (search)' }
	},
	['method']
);

export const agentZero: Dialect = {
	tools: () => [SKILLS_TOOL],
	read(name, args) {
		const [tool, suffix] = name.split(':', 2);
		if (tool !== SKILLS_TOOL.name) return null;
		return readMethod(suffix ?? args.method, args);
	},
	render,
	renderFailure: ({ message, hint }) => [`Error in skills_tool: ${message}`, hint].filter(Boolean).join('\n')
};

function readMethod(method: unknown, args: CallArguments): SkillOperation {
	const skill = () => textArgument(args, 'skill_name', 'the name of a skill', 'Use "list" or "search" to find it.');
	switch (method) {
		case 'list':
			return { kind: 'list' };
		case 'search':
			return { kind: 'search', query: textArgument(args, 'query', 'the words to look for') };
		case 'load':
			return { kind: 'load', skill: skill(), offset: numberArgument(args, 'offset') };
		case 'read_file': {
			const path = textArgument(args, 'file_path', 'a path in the skill folder');
			const offset = numberArgument(args, 'offset') ?? 0;
			return { kind: 'read', skill: skill(), path, offset };
		}
		case 'execute_script': {
			const script = textArgument(args, 'script_path', 'the path of a script');
			return { kind: 'run', skill: skill(), script, args: args.script_args ?? {}, argStyle: args.arg_style };
		}
		default:
			throw new SkillError(
				'InvalidArgs',
				`“method” must be one of ${METHODS.join(', ')}, not ${JSON.stringify(method ?? null).slice(0, 100)}.`,
				'Use "list" to see the available skills.'
			);
	}
}

function render(result: OperationResult): string {
	switch (result.kind) {
		case 'list': {
			const lines = result.skills.map(lineOf);
			return [
				`${lines.length} skills available:`,
				...lines,
				'',
				'Tip: load a skill with method "load" and its skill_name.'
			].join('\n');
		}
		case 'search': {
			if (result.found.length === 0) return `No skills match “${result.query.slice(0, 200)}”.`;
			const lines = result.found.map(({ skill, score }) => `${lineOf(skill)} (score ${score})`);
			return [`${lines.length} skills match “${result.query.slice(0, 200)}”:`, ...lines].join('\n');
		}
		case 'load':
			return renderLoad(result.skill, result.offset);
		case 'files':
			return fileLines(result.skill).join('\n');
		case 'read': {
			const { text, nextOffset, totalBytes } = result.page;
			if (nextOffset === null) return text;
			return `${text}\n\n[${nextOffset} of ${totalBytes} bytes; continue with offset ${nextOffset}]`;
		}
		case 'run':
		case 'tool':
			return renderRun(result.result);
	}
}

function lineOf({ name, version, source, author, tags, description }: Skill): string {
	const short = description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1)}…` : description;
	const by = author ? ` author=${author}` : '';
	return `- ${name} v${version} [${source}]${by}${tags.length > 0 ? ` tags=${tags.join(',')}` : ''}: ${short}`;
}

function renderLoad(skill: Skill, offset: number): string {
	const body = renderBody(skill, offset);
	if (offset > 0) return body;
	const facts = [
		['Skill', skill.name],
		['Source', skill.source],
		['Path', skill.dir],
		['Version', skill.version],
		['Author', skill.author],
		['License', skill.license],
		['Tags', skill.tags.join(', ')],
		['Allowed tools', skill.allowedTools],
		['Triggers', skill.triggers.join(', ')],
		['Description', skill.description]
	].flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
	return [...facts, '', 'Content:', body, '', 'Files:', ...fileLines(skill)].join('\n');
}

function fileLines({ files, hasMoreFiles }: Skill): string[] {
	const more = hasMoreFiles ? [MORE_FILES] : files.length > MAX_FILES ? [`… and ${files.length - MAX_FILES} more`] : [];
	return [...files.slice(0, MAX_FILES).map((file) => `- ${file}`), ...more];
}

function renderRun({ success, message, hint, exitCode, stdout, stderr, value }: SkillExecutionResult): string {
	const output = value === undefined ? stdout : JSON.stringify(value);
	if (success)
		return [output, stderr && `stderr:\n${stderr}`].filter(Boolean).join('\n') || 'The script finished without output.';
	const streams = [stdout && `stdout:\n${stdout}`, stderr && `stderr:\n${stderr}`];
	return [`Script failed: ${message ?? 'unknown reason'} (exit code ${exitCode})`, hint, ...streams]
		.filter(Boolean)
		.join('\n');
}

// Agent Zero's text protocol: `{thoughts, headline, tool_name, tool_args}`, for models without tool calls (C17).

export interface ToolEnvelope {
	name: string;
	args: Record<string, unknown>;
	/** What the step is about, in the model's words. */
	headline?: string;
	thoughts: string[];
}

/** Reads an object as such a call; null if it isn't one. */
export function readEnvelope(value: unknown): ToolEnvelope | null {
	if (!isObject(value) || typeof value.tool_name !== 'string' || value.tool_name === '') return null;
	const { tool_name: name, tool_args: args = {}, headline, thoughts } = value;
	if (!isObject(args)) return null;
	const texts: unknown[] = Array.isArray(thoughts) ? thoughts : [thoughts];
	return {
		name,
		args,
		headline: typeof headline === 'string' && headline !== '' ? headline : undefined,
		thoughts: texts.filter((thought) => typeof thought === 'string')
	};
}

/** The first such call in a model's text, in a code fence or bare; null if there is none. */
export function findEnvelope(text: string): ToolEnvelope | null {
	for (const start of startsOf(text)) {
		const end = endOfObject(text, start);
		if (end === null) continue;
		const envelope = readEnvelope(parseJson(text.slice(start, end)));
		if (envelope) return envelope;
	}
	return null;
}

const MAX_STARTS = 50;
const MAX_LENGTH = 200_000;

function startsOf(text: string): number[] {
	const starts: number[] = [];
	for (let at = text.indexOf('{'); at >= 0 && starts.length < MAX_STARTS; at = text.indexOf('{', at + 1))
		starts.push(at);
	return starts;
}

/** Index after the brace that closes the object at `start`, ignoring braces in strings. */
function endOfObject(text: string, start: number): number | null {
	let depth = 0;
	let isInString = false;
	for (let at = start; at < text.length && at - start < MAX_LENGTH; at += 1) {
		const character = text.charAt(at);
		if (isInString) {
			if (character === '\\') at += 1;
			else if (character === '"') isInString = false;
		} else if (character === '"') isInString = true;
		else if (character === '{') depth += 1;
		else if (character === '}' && (depth -= 1) === 0) return at + 1;
	}
	return null;
}
