/** A skill that this server brings itself: one tool, offered by its mode like any other skill (FEATURES D27–D31). */
import type { ExecutionCaller } from '../skills/run/execution-host.ts';
import { checkArguments } from '../skills/read/manifest.ts';
import { SkillError, type SkillErrorType } from '../skills/types.ts';

export interface BuiltinContext {
	/** Absolute folder of the conversation, or of an API key: see `workspaceOf`. It need not exist. */
	workspace: string;
	signal: AbortSignal;
	/** Who asked. */
	caller?: ExecutionCaller;
	/** Id of the execution: letters, digits, hyphens. */
	executionId: string;
	/** Live output of a program. */
	onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface BuiltinOutcome {
	ok: boolean;
	/** What the model reads, as JSON; null where there is nothing but the message. */
	value: unknown;
	error?: SkillErrorType;
	/** What happened, in a sentence, when `error` is set. */
	message?: string;
	/** What to do about it. */
	hint?: string;
	exitCode?: number | null;
	/** Files written in the workspace. */
	files?: { path: string; bytes: number }[];
	/** Name of the backend; `direct` for what ran in the server itself. */
	sandbox: string;
	/** Connections that were refused: `host:port`. */
	refused?: string[];
	stdoutBytes?: number;
	stderrBytes?: number;
}

export interface Builtin {
	/** Name of its one tool; `builtin/name` is its skill id. */
	name: string;
	description: string;
	/** JSON Schema of an object that allows no other keys. */
	parameters: Record<string, unknown>;
	/** Phrases that ask for it, for the scorer of `auto` (B8). */
	tags: readonly string[];
	/** Calls with the same lane must not run at the same time; null runs beside anything. */
	lane: string | null;
	/** Whether it reaches out of the workspace or runs what a model wrote: asked about first, where scripts are. */
	asksFirst: boolean;
	/** Where it runs as a rule: name of the backend, or `direct`. */
	sandbox: string;
	/** Why it is not offered, and what to do about that; null when it is. A call of one that is not offered gets this. */
	unavailable(): string | null;
	/** Never throws; arguments that do not fit the schema are an outcome. */
	run(args: Record<string, unknown>, context: BuiltinContext): Promise<BuiltinOutcome>;
	/** Ends what it keeps between calls. */
	close?(): Promise<void>;
}

/** Of those that change files of the workspace. */
export const WORKSPACE_LANE = 'builtin:workspace';

export interface BuiltinDefinition extends Omit<Builtin, 'parameters' | 'unavailable' | 'run'> {
	properties: Record<string, Record<string, unknown>>;
	required: readonly string[];
	/** Always available without it. */
	unavailable?: () => string | null;
	/** Called with checked arguments only; may throw a `SkillError`. */
	run(args: Record<string, unknown>, context: BuiltinContext): Promise<BuiltinOutcome>;
}

/** Puts the checks around a definition that every call passes. */
export function defineBuiltin(definition: BuiltinDefinition): Builtin {
	const { properties, required, unavailable = () => null, ...rest } = definition;
	const parameters = { type: 'object', properties, required, additionalProperties: false };
	const tool = { name: rest.name, description: rest.description, inputSchema: parameters };
	return {
		...rest,
		parameters,
		unavailable,
		async run(args, context) {
			const reason = unavailable();
			if (reason !== null) return failedBuiltin('SkillDisabled', reason);
			const problem = checkArguments(tool, args);
			if (problem !== null) return failedBuiltin('InvalidArgs', problem);
			try {
				return await definition.run(args, context);
			} catch (error) {
				return outcomeOf(error, context.signal);
			}
		}
	};
}

export function failedBuiltin(error: SkillErrorType, message: string, hint?: string): BuiltinOutcome {
	return { ok: false, value: null, error, message, hint, sandbox: 'direct' };
}

function outcomeOf(error: unknown, signal: AbortSignal): BuiltinOutcome {
	if (signal.aborted) return failedBuiltin('Cancelled', 'The call was stopped.');
	if (error instanceof SkillError) return failedBuiltin(error.type, error.message, error.hint);
	return failedBuiltin('ExecutionFailed', error instanceof Error ? error.message : String(error));
}
