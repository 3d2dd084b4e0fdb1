/** Skill tools of one conversation: what the model may call, and the outcome of calls (C11, C12, D24, F10). */
import { withoutHidden } from '../../../shared/characters.ts';
import { agentZero, readEnvelope } from './dialects/agent-zero.ts';
import { type Dialect, type DialectName, full, openrouter } from './dialects/openrouter.ts';
import { drover } from './dialects/drover.ts';
import { omniroute } from './dialects/omniroute.ts';
import type { Executor } from '../executor.ts';
import { textArgument, type OperationResult, type SkillOperation } from './operations.ts';
import { callTool, perform, shorten, type Approval, type PerformContext } from './perform.ts';
import { findSkill } from '../registry/references.ts';
import type { SkillSnapshot } from '../registry/registry.ts';
import { readScriptArguments } from '../run/environment.ts';
import type { ExecutionContext } from '../run/execution-host.ts';
import { failureOf } from '../run/execution-record.ts';
import { isBuiltInTool, nameTools, readQualified, type IsReserved, type NamedTool } from '../read/tool-names.ts';
import { viewOf, type Visibility } from '../registry/visibility.ts';
import { DEFINE, REMOVE, type Workshop } from '../make/workshop.ts';
import {
	SkillError,
	type Skill,
	type SkillErrorType,
	type SkillExecutionResult,
	type ToolDefinition
} from '../types.ts';
import { isObject } from '../../../shared/json.ts';

/** A call's output for the model, and the same as data. */
export interface ToolOutcome {
	ok: boolean;
	output: string;
	result: string | SkillExecutionResult;
}

export interface SkillSession {
	/** The dialect's tools and those of the skills loaded so far; none without skills (C18). */
	tools(): ToolDefinition[];
	has(name: string): boolean;
	/** Calls in the same lane must not run at the same time: a skill's scripts run one at a time (D43). */
	lane(name: string, args: Record<string, unknown>): string | null;
	/** What a call would run, for approvals; null if it runs nothing or is invalid. */
	plan(name: string, args: Record<string, unknown>): PlannedRun | null;
	/** The same for an operation. */
	planOperation(operation: SkillOperation): PlannedRun | null;
	/** Performs an operation for callers other than a model. Never throws. */
	perform(operation: SkillOperation, context: ExecutionContext): Promise<ToolOutcome>;
	/** Performs a call in any dialect. Never throws: errors become outcomes. */
	call(name: string, args: Record<string, unknown>, context: ExecutionContext): Promise<ToolOutcome>;
}

/** A requested run of a skill's script or tool. */
export interface PlannedRun {
	skill: Skill;
	/** As the caller named it: a path, a bare name, or a tool of tools.json. */
	script: string;
	args: string[];
}

export interface SessionOptions extends Visibility {
	snapshot: () => SkillSnapshot;
	executor: Executor;
	/** References to skills loaded earlier in the conversation. */
	loaded?: Iterable<string>;
	/** Digests of instructions the model still sees, which aren't repeated (B18); by default everything is. */
	seen?: Iterable<string>;
	/** Tools to offer; calls in other dialects work too. `openrouter` by default. */
	dialect?: DialectName;
	/** Asked before a skill is loaded or runs (C16). */
	approve?: Approval;
	/** Names of other tools, checked at each call; a skill's tool with such a name is called `skill__tool` (E36). */
	reserved?: ReadonlySet<string>;
	/** The same for the host's tools, offered or not; none by default. */
	isReserved?: IsReserved;
	/** Lets the model define tools (D25); without it `define_tool` and `remove_tool` don't exist. */
	workshop?: Workshop | undefined;
	/** Skills that only this conversation has, read at each call: their tools are always offered (D25). */
	own?: () => readonly Skill[];
}

const DIALECTS: Record<DialectName, Dialect> = { openrouter, full, drover, 'agent-zero': agentZero, omniroute };
/** `full` also reads calls of `openrouter`. OmniRoute comes last, because any name may be one of its tools. */
const READERS: readonly Dialect[] = [full, drover, agentZero, omniroute];

/** Creates a session; each call sees the library as `snapshot` returns it then. */
export function createSkillSession({
	snapshot,
	executor,
	loaded = [],
	seen,
	dialect = 'openrouter',
	approve,
	reserved,
	isReserved = () => false,
	workshop,
	own = () => workshop?.passing ?? [],
	...visibility
}: SessionOptions): SkillSession {
	const references = new Set(loaded);
	const isOthers: IsReserved = (name) => isReserved(name) || (reserved?.has(name) ?? false);
	const isTaken: IsReserved = (name) => isBuiltInTool(name) || isOthers(name);
	const digests = seen ? new Set(seen) : null;
	const view = () => {
		const library = snapshot();
		const more = own().filter((skill) => !library.skills.includes(skill));
		return viewOf(more.length === 0 ? library : { ...library, skills: [...library.skills, ...more] }, visibility);
	};
	const loadedTools = (library: SkillSnapshot): Map<string, NamedTool> => {
		const always = library.skills.filter((skill) => visibility.modeOf?.(skill) === 'on');
		const loaded = [...references].flatMap((reference) => findSkill(library, reference) ?? []);
		const first = [...own().filter((skill) => library.skills.includes(skill)), ...always];
		return nameTools([...new Set(first.filter((skill) => !loaded.includes(skill))), ...loaded], isTaken);
	};
	const remember = (library: SkillSnapshot, skill: Skill) => {
		const isFirst = library.skills.includes(skill);
		const reference = isFirst ? skill.name : `${skill.source}/${skill.name}@${skill.version}`;
		references.delete(reference);
		references.add(reference); // the newest comes last and wins a conflict of tool names (D17)
	};

	const plan = (name: string, args: Record<string, unknown>): PlannedRun | null => {
		const { library } = view();
		const loadedTool = loadedTools(library).get(name);
		if (loadedTool) return planTool(loadedTool.skill, loadedTool.tool.name, args);
		try {
			const operation = isObject(args) ? findOperation(name, args, library.skills, isOthers)?.operation : undefined;
			return operation ? planOperation(operation) : null;
		} catch (error) {
			// The call itself reports the error.
			if (error instanceof SkillError) return null;
			throw error;
		}
	};
	const planOperation = (operation: SkillOperation): PlannedRun | null => {
		if (operation.kind !== 'run' && operation.kind !== 'tool') return null;
		const skill = findSkill(view().library, operation.skill);
		if (!skill) return null;
		if (operation.kind === 'tool') return planTool(skill, operation.tool, operation.args);
		const { argv, input } = readScriptArguments(operation.args, operation.argStyle);
		return { skill, script: operation.script, args: input === undefined ? argv : [...argv, input] };
	};
	const performingWith = (context: ExecutionContext): PerformContext => {
		const { library, off } = view();
		const onLoad = (skill: Skill) => {
			remember(library, skill);
			const isKnown = digests?.has(skill.digest) ?? false;
			digests?.add(skill.digest);
			return isKnown;
		};
		return { ...context, library, off, executor, approve, onLoad };
	};

	const defineTool = async (args: Record<string, unknown>, made: Workshop): Promise<ToolOutcome> => {
		const { tool, skill, persistent } = await made.define(args);
		const { library } = view();
		const found = findSkill(library, skill);
		if (found) remember(library, found);
		return textOutcome(
			`The tool ${tool} is defined${persistent ? ` and kept as the skill ${skill}` : ''}. Call it as ${tool}.`
		);
	};
	const removeTool = async (args: Record<string, unknown>, made: Workshop): Promise<ToolOutcome> => {
		const name = textArgument(args, 'name', 'the name of a tool');
		await made.remove(name);
		return textOutcome(`The tool ${name} was removed.`);
	};

	return {
		tools() {
			const { library } = view();
			const making = workshop ? [DEFINE, REMOVE] : [];
			if (library.skills.length === 0) return making;
			const own = [...loadedTools(library)].map(([name, { tool }]): ToolDefinition => {
				return { type: 'function', name, description: tool.description, parameters: tool.inputSchema };
			});
			return [...DIALECTS[dialect].tools(library.skills), ...making, ...own];
		},
		has(name) {
			const { library } = view();
			if (workshop && (name === DEFINE.name || name === REMOVE.name)) return true;
			return loadedTools(library).has(name) || readerOf(name, library.skills, isOthers) !== null;
		},
		lane: (name, args) => plan(name, args)?.skill.name ?? null,
		plan,
		planOperation,
		async perform(operation, context) {
			try {
				return toOutcome(await perform(operation, performingWith(context)), full);
			} catch (error) {
				return toFailure(error, full);
			}
		},
		async call(name, given, context) {
			const performing = performingWith(context);
			const { library } = performing;
			let reader: Dialect = full;
			try {
				if (!isObject(given)) throw new SkillError('InvalidArgs', '“arguments” must be an object.');
				if (workshop && name === DEFINE.name) return await defineTool(given, workshop);
				if (workshop && name === REMOVE.name) return await removeTool(given, workshop);
				const named = loadedTools(library).get(name);
				if (named) return toOutcome(await callTool(named.skill, named.tool, given, performing), full);
				const found = findOperation(name, given, library.skills, isOthers);
				if (!found) {
					const hint = 'Load the skill first: its tools appear then.';
					throw new SkillError('UnknownTool', `There is no tool “${shorten(name)}”.`, hint);
				}
				reader = found.reader;
				return toOutcome(await perform(found.operation, performing), reader);
			} catch (error) {
				return toFailure(error, readerOf(name, library.skills, isOthers) ?? reader);
			}
		}
	};
}

function planTool(skill: Skill, tool: string, args: Record<string, unknown>): PlannedRun {
	return { skill, script: tool, args: [JSON.stringify(args)] };
}

/** Reads a call in the first dialect that knows the tool; opens envelopes (C17). @throws SkillError InvalidArgs */
function findOperation(
	name: string,
	args: Record<string, unknown>,
	skills: readonly Skill[],
	isOthers: IsReserved
): { reader: Dialect; operation: SkillOperation } | null {
	const envelope = readEnvelope(args);
	if (envelope) return findOperation(envelope.name, envelope.args, skills, isOthers);
	// A dialect may take any skill's name for a tool, and another tool may have that name.
	if (isOthers(name)) return null;
	for (const reader of READERS) {
		const operation = reader.read(name, args, skills);
		if (operation) return { reader, operation };
	}
	const qualified = readQualified(name, skills);
	return qualified && { reader: full, operation: { kind: 'tool', ...qualified, args } };
}

/** The dialect that knows the tool, whatever the arguments. */
function readerOf(name: string, skills: readonly Skill[], isOthers: IsReserved): Dialect | null {
	if (isOthers(name)) return null;
	const known = READERS.find((reader) => reads(reader, name, skills));
	return known ?? (readQualified(name, skills) && full);
}

function reads(reader: Dialect, name: string, skills: readonly Skill[]): boolean {
	try {
		return reader.read(name, {}, skills) !== null;
	} catch (error) {
		if (error instanceof SkillError) return true;
		throw error;
	}
}

function textOutcome(output: string): ToolOutcome {
	const seen = withoutHidden(output);
	return { ok: true, output: seen, result: seen };
}

function toOutcome(result: OperationResult, reader: Dialect): ToolOutcome {
	const output = withoutHidden(reader.render(result));
	if (result.kind === 'load' && result.lack !== null) return textOutcome(`${output}\n\n${result.lack}`);
	if (result.kind !== 'run' && result.kind !== 'tool') return { ok: true, output, result: output };
	return { ok: result.result.success, output, result: result.result };
}

/** Hints for errors without their own (C15). */
const HINTS: Partial<Record<SkillErrorType, string>> = {
	InvalidArgs: 'Correct the arguments to match the tool’s parameters, then call it again.',
	ScriptNotAllowed: 'Use the script’s path inside the skill’s folder.',
	FileNotFound: 'Leave out the path to see which files there are.',
	ApprovalDenied: 'Continue without it, or ask the user.',
	ExecutionFailed: 'Try again, or continue without it and say so.'
};

function toFailure(error: unknown, reader: Dialect): ToolOutcome {
	const failure = failureOf(error);
	const { error: type, message } = failure;
	const hint = failure.hint ?? HINTS[type];
	const output = withoutHidden(reader.renderFailure({ type, message, hint }));
	return { ok: false, output, result: { ...failure, hint } };
}
