/** Performs operations, the one way to skills in every dialect (C1–C6, C13, D1–D4, D18, D24). */
import type { Executor } from '../executor.ts';
import { searchSkills } from '../find/scores.ts';
import { lackOf, unloadable } from '../needs/siblings.ts';
import { estimateTokens } from '../../../shared/characters.ts';
import { renderBody } from '../prompt.ts';
import { readSkillFile } from '../read/files.ts';
import { checkArguments } from '../read/manifest.ts';
import { findSkill, similarNames } from '../registry/references.ts';
import type { SkillSnapshot } from '../registry/registry.ts';
import { readScriptArguments } from '../run/environment.ts';
import type { ExecutionContext } from '../run/execution-host.ts';
import { isOutputName, readNamedOutput } from '../run/execution-result.ts';
import { type Skill, SkillError, type SkillExecutionResult, type SkillTool } from '../types.ts';
import { numberArgument, type OperationResult, type SkillOperation } from './operations.ts';
import { isObject } from '../../../shared/json.ts';

const MAX_NAMES_SHOWN = 100;

/** True allows the operation; false or a reason for the model denies it. */
export type Approval = (operation: SkillOperation, skill: Skill) => boolean | string | Promise<boolean | string>;

export interface PerformContext extends ExecutionContext {
	library: SkillSnapshot;
	executor: Executor;
	/** Skills that are turned off (B6). */
	off: readonly Skill[];
	/** Asked before a skill is loaded or runs (C16). */
	approve?: Approval | undefined;
	/** Called for each loaded skill; true if the model already has its instructions. */
	onLoad(skill: Skill): boolean;
}

/** @throws SkillError if it can't be done; a failing script is a result */
export async function perform(operation: SkillOperation, context: PerformContext): Promise<OperationResult> {
	const { library, executor } = context;
	switch (operation.kind) {
		case 'list':
			return { kind: 'list', skills: library.skills };
		case 'search':
			return { kind: 'search', query: operation.query, found: searchSkills(library.skills, operation.query) };
		case 'load':
			return load(await expandInline(await activate(operation, context), context), context, operation.offset);
		case 'read': {
			const skill = requireSkill(context, operation.skill);
			if (operation.path === null) return { kind: 'files', skill };
			const { path, offset = 0, limit } = operation;
			const range = { offset, limit };
			const page = isOutputName(path)
				? readNamedOutput(executor.readOutput, path, range)
				: await readSkillFile(skill.dir, path, range);
			return { kind: 'read', skill, path, page };
		}
		case 'run': {
			if (isOutputName(operation.script)) return readOn(operation, context);
			const skill = await activate(operation, context);
			if (operation.script === '') {
				const hint = `Its scripts: ${skill.scripts.join(', ') || 'none'}`;
				throw new SkillError('InvalidArgs', '“script” must be the name of a script.', hint);
			}
			const input = readScriptArguments(operation.args, operation.argStyle);
			const limits = operation.timeoutMs === undefined ? {} : { timeoutMs: operation.timeoutMs };
			const result = await executor.runScript(skill, operation.script, input, { ...context, ...limits });
			return { kind: 'run', skill, result };
		}
		case 'tool': {
			const skill = requireSkill(context, operation.skill);
			const tool = skill.tools.find(({ name }) => name === operation.tool);
			if (tool) return callTool(skill, tool, operation.args, context);
			const hint = `Its tools: ${skill.tools.map(({ name }) => name).join(', ') || 'none'}`;
			throw new SkillError('UnknownTool', `“${skill.name}” has no tool “${shorten(operation.tool)}”.`, hint);
		}
	}
}

/** Pages through an output with S0's two tools: `args` has the byte offset, in a list or by name. Nothing runs. */
function readOn(
	{ skill: name, script, args }: SkillOperation & { kind: 'run' },
	context: PerformContext
): OperationResult {
	const skill = requireSkill(context, name);
	const given: unknown = Array.isArray(args) ? args[0] : isObject(args) ? args.offset : undefined;
	const offset = numberArgument({ offset: given }, 'offset') ?? 0;
	return { kind: 'read', skill, path: script, page: readNamedOutput(context.executor.readOutput, script, { offset }) };
}

/** Validates the arguments and calls a tool of tools.json; one without a script returns the instructions (D18). */
export async function callTool(
	skill: Skill,
	tool: SkillTool,
	given: Record<string, unknown>,
	context: PerformContext
): Promise<OperationResult> {
	await ask({ kind: 'tool', skill: skill.name, tool: tool.name, args: given }, skill, context);
	if (!tool.script && !tool.handler) return load(skill, context);
	const { __workDir: _reserved, ...args } = given;
	const wrong = checkArguments(tool, args);
	if (wrong) throw new SkillError('InvalidArgs', wrong, `Parameters: ${JSON.stringify(tool.inputSchema.properties)}`);
	const { executor } = context;
	let result = await executor.runTool(skill, tool, args, context);
	for (let retry = 1; tool.isIdempotent && mayPass(result) && retry <= executor.maxRetries; retry += 1) {
		if (context.signal?.aborted) break;
		result = await executor.runTool(skill, tool, args, context);
	}
	return { kind: 'tool', skill, result };
}

/** True for failures that a retry may fix: of a service, say, not of an argument (D38). */
function mayPass({ error }: SkillExecutionResult): boolean {
	return error === 'ExecutionFailed' || error === 'ExecutionTimeout';
}

/** @throws SkillError SkillNotFound with the available skills, similar names first; SkillDisabled */
function requireSkill({ library, off }: PerformContext, name: string): Skill {
	const skill = findSkill(library, name);
	if (skill) return skill;
	if (findSkill({ ...library, skills: off, shadowed: [] }, name)) {
		throw new SkillError('SkillDisabled', `The skill “${shorten(name)}” is off.`, 'The user can turn it on.');
	}
	const names = library.skills.map((each) => each.name);
	const similar = similarNames(names, name.slice(0, 100));
	const guess = similar.length > 0 ? `Did you mean ${similar.join(' or ')}? ` : '';
	const listed = `Available skills: ${names.slice(0, MAX_NAMES_SHOWN).join(', ')}${names.length > MAX_NAMES_SHOWN ? ', …' : ''}`;
	const hint = names.length === 0 ? 'No skills are installed.' : guess + listed;
	throw new SkillError('SkillNotFound', `Skill not found: “${shorten(name)}”.`, hint);
}

async function activate(operation: SkillOperation & { skill: string }, context: PerformContext): Promise<Skill> {
	const skill = requireSkill(context, operation.skill);
	await ask(operation, skill, context);
	return skill;
}

async function ask(operation: SkillOperation, skill: Skill, { approve }: PerformContext): Promise<void> {
	const answer = (await approve?.(operation, skill)) ?? true;
	if (answer === true) return;
	const reason = typeof answer === 'string' && answer !== '' ? `: ${answer}` : '.';
	throw new SkillError('ApprovalDenied', `The user didn’t allow “${skill.name}”${reason}`);
}

/** Shortens a name, because the model may make up any. */
export function shorten(name: string): string {
	return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function load(skill: Skill, context: PerformContext, offset = 0): OperationResult {
	// Later pages weren't part of the first load.
	const isKnown = context.onLoad(skill) && offset === 0;
	context.executor.warm(skill, context);
	const { name, description, path } = skill;
	const tokens = estimateTokens(renderBody(skill, offset));
	const lacks = unloadable(skill, { skills: context.library.skills, off: context.off });
	context.onEvent?.({ type: 'loaded', skill: name, description, path, tokens, ...(lacks.length > 0 && { lacks }) });
	return { kind: 'load', skill, offset, isKnown, lack: lackOf(lacks) };
}

// Inline commands in instructions: text, unless the host lets them run when the skill is loaded (D45).

/** ``!`command` ``, at the start of a line or after a space. */
const INLINE = /(?<=^|\s)!`([^`\n]{1,1000})`/g;
const MAX_COMMANDS = 10;
/** Characters of one command's output. */
const MAX_CHARACTERS = 4000;

/** Replaces commands with their output; changes nothing if there are none or they may not run. */
async function expandInline(
	skill: Skill,
	context: ExecutionContext & { executor: Pick<Executor, 'mayRunInline' | 'runInline'> }
): Promise<Skill> {
	const commands = [...skill.body.matchAll(INLINE)].slice(0, MAX_COMMANDS);
	if (commands.length === 0) return skill;
	const files = await context.executor.mayRunInline(skill);
	if (!files) return skill;
	const allowed = files.digest === null ? context : { ...context, allowed: files.digest };
	let body = '';
	let end = 0;
	for (const match of commands) {
		body += skill.body.slice(end, match.index) + (await outputOf(skill, match[1] ?? '', allowed));
		end = match.index + match[0].length;
	}
	return { ...skill, body: body + skill.body.slice(end) };
}

async function outputOf(
	skill: Skill,
	command: string,
	{ executor, ...context }: ExecutionContext & { executor: Pick<Executor, 'runInline'> }
): Promise<string> {
	try {
		// Part of the instructions, not a step of its own.
		const { onEvent: _unseen, ...quiet } = context;
		return shown(command, await executor.runInline(skill, command, quiet));
	} catch (error) {
		if (!(error instanceof SkillError)) throw error;
		return `[${command}: ${error.message}]`;
	}
}

function shown(command: string, { success, stdout, stderr, message }: SkillExecutionResult): string {
	if (!success) return `[${command}: ${message ?? 'it failed'} ${stderr.slice(0, 500).trim()}]`;
	const text = stdout.trimEnd();
	return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
