/** The skill tools of one conversation: what the model may call now, and what comes of a call (FEATURES C11, C12, D24, F10). */
import { withoutHidden } from '../../../shared/characters.ts';
import { agentZero, readEnvelope } from './dialects/agent-zero.ts';
import { type Dialect, type DialectName, full, openrouter } from './dialects/openrouter.ts';
import { drover } from './dialects/drover.ts';
import { omniroute } from './dialects/omniroute.ts';
import type { ExecutionContext, Executor } from '../executor.ts';
import { textArgument, type OperationResult, type SkillOperation } from './operations.ts';
import { callTool, perform, shorten, type Approval, type PerformContext } from './perform.ts';
import { findSkill } from '../registry/references.ts';
import type { SkillSnapshot } from '../registry/registry.ts';
import { readScriptArguments } from '../run/environment.ts';
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

/** What the model reads, and the same as data. */
export interface ToolOutcome {
	ok: boolean;
	output: string;
	result: string | SkillExecutionResult;
}

export interface SkillSession {
	/** The dialect's tools and those of the skills loaded so far; none without skills (C18). */
	tools(): ToolDefinition[];
	has(name: string): boolean;
	/** Calls with the same lane must not run at the same time: one skill's scripts one at a time (D43). */
	lane(name: string, args: Record<string, unknown>): string | null;
	/** What a call would run, for whoever is asked first; null for a call that runs nothing, or says nothing sensible. */
	plan(name: string, args: Record<string, unknown>): PlannedRun | null;
	/** The same for an operation that needs no reading. */
	planOperation(operation: SkillOperation): PlannedRun | null;
	/** Does an operation that needs no reading: for callers that are no model. Never throws. */
	perform(operation: SkillOperation, context: ExecutionContext): Promise<ToolOutcome>;
	/** Takes the calls of every dialect. Never throws: what goes wrong is an outcome. */
	call(name: string, args: Record<string, unknown>, context: ExecutionContext): Promise<ToolOutcome>;
}

/** A run of a skill's script or tool that was asked for. */
export interface PlannedRun {
	skill: Skill;
	/** As the caller named it: a path, a bare name, or a tool of tools.json. */
	script: string;
	args: string[];
}

export interface SessionOptions extends Visibility {
	snapshot: () => SkillSnapshot;
	executor: Executor;
	/** References of skills that were loaded earlier in the conversation. */
	loaded?: Iterable<string>;
	/**
	 * Digests of the instructions that the model of this one conversation still sees: they are not handed out again, nor
	 * what is loaded from here on (B18). Without it every load is answered in full.
	 */
	seen?: Iterable<string>;
	/** Which tools are offered; calls of the others are understood as well. `openrouter`. */
	dialect?: DialectName;
	/** Asked before a skill is loaded or runs (C16). */
	approve?: Approval;
	/** Names of tools that others bring, asked at each call: a skill's tool of the name is called `skill__tool` (E36). */
	reserved?: ReadonlySet<string>;
	/** The same of tools that the host may bring, offered or not; none without it. */
	isReserved?: IsReserved;
	/** Lets the model define tools (D25); without it `define_tool` and `remove_tool` do not exist. */
	workshop?: Workshop | undefined;
}

const DIALECTS: Record<DialectName, Dialect> = { openrouter, full, drover, 'agent-zero': agentZero, omniroute };
/** `openrouter` reads all that `full` does; OmniRoute's come last, for any name may be one of its tools. */
const READERS: readonly Dialect[] = [full, drover, agentZero, omniroute];

/** A session over the library as `snapshot` gives it at each call. */
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
	...visibility
}: SessionOptions): SkillSession {
	const references = new Set(loaded);
	const isOthers: IsReserved = (name) => isReserved(name) || (reserved?.has(name) ?? false);
	const isTaken: IsReserved = (name) => isBuiltInTool(name) || isOthers(name);
	const digests = seen ? new Set(seen) : null;
	const view = () => {
		const library = snapshot();
		const passing = workshop?.passing ?? [];
		return viewOf(passing.length === 0 ? library : { ...library, skills: [...library.skills, ...passing] }, visibility);
	};
	const loadedTools = (library: SkillSnapshot): Map<string, NamedTool> => {
		const always = library.skills.filter((skill) => visibility.modeOf?.(skill) === 'on');
		const loaded = [...references].flatMap((reference) => findSkill(library, reference) ?? []);
		return nameTools([...always.filter((skill) => !loaded.includes(skill)), ...loaded], isTaken);
	};
	const remember = (library: SkillSnapshot, skill: Skill) => {
		const isFirst = library.skills.includes(skill);
		const reference = isFirst ? skill.name : `${skill.source}/${skill.name}@${skill.version}`;
		references.delete(reference);
		references.add(reference); // the newest stands last and wins a clash of tool names (D17)
	};

	const plan = (name: string, args: Record<string, unknown>): PlannedRun | null => {
		const { library } = view();
		const loadedTool = loadedTools(library).get(name);
		if (loadedTool) return planTool(loadedTool.skill, loadedTool.tool.name, args);
		try {
			const operation = isObject(args) ? findOperation(name, args, library.skills, isOthers)?.operation : undefined;
			return operation ? planOperation(operation) : null;
		} catch (error) {
			// The call itself will say what is wrong with it.
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
		return saying(
			`The tool ${tool} is defined${persistent ? ` and kept as the skill ${skill}` : ''}. Call it as ${tool}.`
		);
	};
	const removeTool = async (args: Record<string, unknown>, made: Workshop): Promise<ToolOutcome> => {
		const name = textArgument(args, 'name', 'the name of a tool');
		await made.remove(name);
		return saying(`The tool ${name} was removed.`);
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

/** Of the first dialect that knows the tool; an envelope is opened (C17). @throws SkillError InvalidArgs */
function findOperation(
	name: string,
	args: Record<string, unknown>,
	skills: readonly Skill[],
	isOthers: IsReserved
): { reader: Dialect; operation: SkillOperation } | null {
	const envelope = readEnvelope(args);
	if (envelope) return findOperation(envelope.name, envelope.args, skills, isOthers);
	// Some dialect may take any skill's name for a tool, and a skill may be named like one of somebody else's.
	if (isOthers(name)) return null;
	for (const reader of READERS) {
		const operation = reader.read(name, args, skills);
		if (operation) return { reader, operation };
	}
	const qualified = readQualified(name, skills);
	return qualified && { reader: full, operation: { kind: 'tool', ...qualified, args } };
}

/** The dialect that knows the tool, with whatever arguments. */
function readerOf(name: string, skills: readonly Skill[], isOthers: IsReserved): Dialect | null {
	if (isOthers(name)) return null;
	const known = READERS.find((reader) => reads(reader, name, skills));
	return known ?? (readQualified(name, skills) && full);
}

/** Whether a dialect knows the tool, with whatever arguments. */
function reads(reader: Dialect, name: string, skills: readonly Skill[]): boolean {
	try {
		return reader.read(name, {}, skills) !== null;
	} catch (error) {
		if (error instanceof SkillError) return true;
		throw error;
	}
}

function saying(output: string): ToolOutcome {
	const seen = withoutHidden(output);
	return { ok: true, output: seen, result: seen };
}

function toOutcome(result: OperationResult, reader: Dialect): ToolOutcome {
	const output = withoutHidden(reader.render(result));
	if (result.kind !== 'run' && result.kind !== 'tool') return { ok: true, output, result: output };
	return { ok: result.result.success, output, result: result.result };
}

/** What to do about an error that says no more itself (C15). */
const HINTS: Partial<Record<SkillErrorType, string>> = {
	InvalidArgs: 'Correct the arguments to match the tool’s parameters, then call it again.',
	ScriptNotAllowed: 'Use the script’s path inside the skill’s folder.',
	FileNotFound: 'Leave out the path to see which files there are.',
	ApprovalDenied: 'Continue without it, or ask the user.',
	ExecutionFailed: 'Try again, or continue without it and say so.'
};

function toFailure(error: unknown, reader: Dialect): ToolOutcome {
	const type = error instanceof SkillError ? error.type : 'ExecutionFailed';
	const message = error instanceof Error ? error.message : String(error);
	const hint = (error instanceof SkillError ? error.hint : undefined) ?? HINTS[type];
	const result: SkillExecutionResult = {
		success: false,
		stdout: '',
		stderr: '',
		exitCode: -1,
		error: type,
		message,
		hint,
		durationMs: 0,
		truncated: false,
		files: []
	};
	return { ok: false, output: withoutHidden(reader.renderFailure({ type, message, hint })), result };
}
