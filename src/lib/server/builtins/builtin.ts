/** Defines built-in skills: one tool each, offered by mode like other skills (D27–D31). */
import type { ExecutionCaller } from '../skills/run/execution-host.ts';
import { checkArguments } from '../skills/read/manifest.ts';
import { SkillError, type SkillErrorType } from '../skills/types.ts';

export interface BuiltinContext {
	/** Absolute folder of the conversation or API key: see `workspaceOf`. May not exist yet. */
	workspace: string;
	signal: AbortSignal;
	caller?: ExecutionCaller;
	/** Letters, digits, hyphens. */
	executionId: string;
	onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface BuiltinOutcome {
	ok: boolean;
	/** For the model, as JSON; null if there is only the message. */
	value: unknown;
	error?: SkillErrorType;
	/** A sentence, if `error` is set. */
	message?: string;
	hint?: string;
	exitCode?: number | null;
	files?: { path: string; bytes: number }[];
	/** Name of the backend, or `direct` if it ran in the server. */
	sandbox: string;
	/** Refused connections: `host:port`. */
	refused?: string[];
	stdoutBytes?: number;
	stderrBytes?: number;
}

export interface Builtin {
	/** Name of its tool; `builtin/name` is its skill id. */
	name: string;
	description: string;
	/** JSON Schema of an object without additional keys. */
	parameters: Record<string, unknown>;
	/** Phrases that find it in the list of skills. */
	tags: readonly string[];
	/** Calls of the same lane run one at a time; null for no limit. */
	lane: string | null;
	/** Needs approval if scripts do: it reaches outside the workspace or runs a model’s code. */
	asksFirst: boolean;
	/** Usual backend, or `direct`. */
	sandbox: string;
	/** Why it isn’t offered, and what to do; null if it is. Calls fail with it. */
	unavailable(): string | null;
	/** Never throws; invalid arguments are an outcome. */
	run(args: Record<string, unknown>, context: BuiltinContext): Promise<BuiltinOutcome>;
	close?(): Promise<void>;
}

export const WORKSPACE_LANE = 'builtin:workspace';

export interface BuiltinDefinition extends Omit<Builtin, 'parameters' | 'unavailable' | 'run'> {
	properties: Record<string, Record<string, unknown>>;
	required: readonly string[];
	/** Default: always available. */
	unavailable?: () => string | null;
	/** Called with checked arguments only; may throw a `SkillError`. */
	run(args: Record<string, unknown>, context: BuiltinContext): Promise<BuiltinOutcome>;
}

/** Adds the common checks to a definition. */
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
