/** Our own dialect: `load_skill` and `use_skill` of S0, with `list_skills`, `search_skills`, `read_skill_file` (C1–C6, C13). */
import { OUTPUT_TRUNCATED } from '../../../sandbox/sandbox.ts';
import { MORE_FILES, renderLoadedSkill } from '../../prompt.ts';
import { howToReadOn, MAX_SHOWN } from '../../run/execution-result.ts';
import type { Skill, SkillErrorType, SkillExecutionResult, ToolDefinition } from '../../types.ts';
import {
	type CallArguments,
	numberArgument,
	type OperationResult,
	recordArgument,
	type SkillOperation,
	textArgument
} from '../operations.ts';
import {
	forSkills,
	LIST_SKILLS,
	LOAD_SKILL,
	loadingTool,
	READ_SKILL_FILE,
	SEARCH_SKILLS,
	USE_SKILL
} from '../tools.ts';

/** Files of a script listed for the model; the result has them all. */
const MAX_FILES_SHOWN = 100;
/** Above this the catalog may be incomplete, so search tools help. */
const MANY_SKILLS = 20;

/** S0's two tools. */
export const openrouter: Dialect = {
	tools: (skills) => [loadingTool(LOAD_SKILL, skills), forSkills(USE_SKILL, skills)],
	read,
	render,
	renderFailure
};

/** S0's tools and our own. */
export const full: Dialect = {
	tools(skills) {
		const hasFiles = skills.some(({ files }) => files.length > 1);
		return [
			...(skills.length > MANY_SKILLS ? [LIST_SKILLS, SEARCH_SKILLS] : []),
			loadingTool(LOAD_SKILL, skills),
			...(hasFiles ? [forSkills(READ_SKILL_FILE, skills)] : []),
			forSkills(USE_SKILL, skills)
		];
	},
	read,
	render,
	renderFailure
};

function read(name: string, args: CallArguments, skills: readonly Skill[]): SkillOperation | null {
	const skill = () => textArgument(args, 'skill', 'the name of a skill', namesOf(skills));
	switch (name) {
		case LIST_SKILLS.name:
			return { kind: 'list' };
		case SEARCH_SKILLS.name:
			return { kind: 'search', query: textArgument(args, 'query', 'the words to look for') };
		case LOAD_SKILL.name:
			return { kind: 'load', skill: skill(), offset: numberArgument(args, 'offset') };
		case READ_SKILL_FILE.name: {
			const [offset, limit] = [numberArgument(args, 'offset'), numberArgument(args, 'limit')];
			const path = typeof args.path === 'string' && args.path !== '' ? args.path : null;
			return { kind: 'read', skill: skill(), path, offset, limit };
		}
		case USE_SKILL.name: {
			const wanted = skill();
			if (typeof args.tool === 'string' && args.tool !== '') {
				const input = recordArgument(args, args.input === undefined ? 'args' : 'input');
				return { kind: 'tool', skill: wanted, tool: args.tool, args: input };
			}
			const timeoutMs = numberArgument(args, 'timeout_ms');
			const script = typeof args.script === 'string' ? args.script : '';
			return { kind: 'run', skill: wanted, script, args: args.args, argStyle: args.arg_style, timeoutMs };
		}
		default:
			return null;
	}
}

function render(result: OperationResult): string {
	switch (result.kind) {
		case 'list':
			return [`${result.skills.length} skills`, ...result.skills.map(lineOf)].join('\n');
		case 'search': {
			const lines = result.found.map(({ skill, score }) => `${lineOf(skill)} (score ${score})`);
			if (lines.length > 0) return lines.join('\n');
			return `No skill matches “${result.query.slice(0, 200)}”. list_skills shows all of them.`;
		}
		case 'load':
			return result.isKnown ? knownSkill(result.skill) : renderLoadedSkill(result.skill, result.offset);
		case 'files':
			return [
				`Files of ${result.skill.name}, readable with read_skill_file:`,
				...result.skill.files.map((file) => `- ${file}`),
				...(result.skill.hasMoreFiles ? [MORE_FILES] : [])
			].join('\n');
		case 'read': {
			const { text, offset, nextOffset, totalBytes } = result.page;
			const more =
				nextOffset === null
					? ''
					: `\n\n[bytes ${offset} to ${nextOffset} of ${totalBytes}; continue with offset ${nextOffset}]`;
			return text + more;
		}
		case 'run':
			return renderRun(result.result);
		case 'tool':
			return result.result.success ? renderValue(result.result) : renderToolFailure(result.result);
	}
}

/** Avoids repeating instructions, which would cost the same tokens again (B18). */
function knownSkill({ name, digest }: Skill): string {
	return `The skill ${name} is already loaded: its instructions (digest ${digest}) are above and have not changed.`;
}

function renderRun(result: SkillExecutionResult): string {
	const { success, error, message, hint, exitCode, durationMs, stdout, stderr, truncated, files, outputId } = result;
	const moreFiles = files.length > MAX_FILES_SHOWN ? files.length - MAX_FILES_SHOWN : undefined;
	const more = howToReadOn(outputId, result);
	const named = files.slice(0, MAX_FILES_SHOWN).map(({ version: _, ...file }) => file);
	const shown = { stdout, stderr, truncated, more, files: named, moreFiles };
	return JSON.stringify({ ok: success, error, message, hint, exitCode, durationMs, ...shown });
}

/** Cuts a long answer like an output; programs get the whole value. */
function renderValue(result: SkillExecutionResult): string {
	const text = JSON.stringify(result.value);
	if (text.length <= MAX_SHOWN) return text;
	const [head, tail] = [text.slice(0, (MAX_SHOWN * 3) / 8), text.slice(-MAX_SHOWN / 8)];
	const cut = `${head}\n${OUTPUT_TRUNCATED}\n${tail}`.toWellFormed();
	const more = howToReadOn(result.outputId, { stdout: cut, stderr: '' });
	return more ? `${cut}\n\n[${more}]` : cut;
}

/** A tool that failed; `error` is the message (D23). */
function renderToolFailure({ message, error, hint, exitCode, stdout, stderr }: SkillExecutionResult): string {
	const streams = { stdout: stdout || undefined, stderr: stderr || undefined };
	return JSON.stringify({ error: message, type: error, hint, exitCode, ...streams });
}

function renderFailure({ type, message, hint }: SkillFailure): string {
	return JSON.stringify({ ok: false, error: type, message, hint });
}

function lineOf({ name, version, source, author, description }: Skill): string {
	return `- ${name} v${version} [${source}]${author ? ` by ${author}` : ''}: ${description}`;
}

function namesOf(skills: readonly Skill[]): string {
	const names = skills.slice(0, 100).map(({ name }) => name);
	return names.length === 0 ? 'No skills are installed.' : `Available skills: ${names.join(', ')}`;
}

// A dialect: the tools, calls and answers of one document (C11, F10).

export type DialectName = 'openrouter' | 'full' | 'drover' | 'agent-zero' | 'omniroute';

export interface SkillFailure {
	type: SkillErrorType;
	message: string;
	hint?: string | undefined;
}

export interface Dialect {
	/** The tools to offer for these skills. */
	tools(skills: readonly Skill[]): ToolDefinition[];
	/** Reads a call; null if the tool isn't of this dialect. @throws SkillError InvalidArgs */
	read(name: string, args: CallArguments, skills: readonly Skill[]): SkillOperation | null;
	/** Text for the model. */
	render(result: OperationResult): string;
	renderFailure(failure: SkillFailure): string;
}
