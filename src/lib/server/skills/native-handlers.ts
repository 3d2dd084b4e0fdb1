/** Handlers that are functions of the host, known to skills by name (S1 `registerHandler`; FEATURES D37, D38, E35). */
import type { ExecutionContext } from './execution-context.ts';
import { carryOut, storedSecrets } from './execution-record.ts';
import type { ExecutionHost } from './execution-host.ts';
import { timeoutOf } from './limits.ts';
import { callerKey, type Turns } from './turns.ts';
import { SkillError, type Skill, type SkillExecutionResult, type SkillTool } from './types.ts';

export interface NativeContext {
	apiKeyId?: string;
	sessionId?: string;
	/** Absolute path of the folder that it may work in. */
	cwd: string;
	/** Aborts when the call is stopped or has taken too long: what runs on after that runs for nobody. */
	signal: AbortSignal;
}

/** Takes a tool's arguments; what it returns is JSON, and what it throws is the call's error. */
export type NativeHandler = (input: Record<string, unknown>, context: NativeContext) => unknown;

export interface NativeHandlers {
	/** In place of the handler of this name before. */
	register(name: string, handler: NativeHandler): void;
	get(name: string): NativeHandler | undefined;
	readonly names: string[];
}

export function createNativeHandlers(initial: Readonly<Record<string, NativeHandler>> = {}): NativeHandlers {
	const handlers = new Map(Object.entries(initial));
	return {
		register: (name, handler) => void handlers.set(name, handler),
		get: (name) => handlers.get(name),
		get names() {
			return [...handlers.keys()];
		}
	};
}

export interface NativeParts {
	handlers: NativeHandlers;
	host: ExecutionHost;
	digestOf(skill: Skill): Promise<string>;
	/** How many of one caller run at once is bounded there. */
	turns: Turns;
	/** Milliseconds. */
	timeoutMs: number;
}

/** Runs in this process, announced and recorded like any other execution. @throws SkillError `HandlerNotFound` */
export async function runNative(
	{ skill, tool, args }: { skill: Skill; tool: SkillTool; args: Record<string, unknown> },
	context: ExecutionContext,
	{ handlers, host, digestOf, turns, timeoutMs }: NativeParts
): Promise<SkillExecutionResult> {
	const name = tool.handler ?? '';
	const handler = handlers.get(name);
	if (!handler) {
		const known = handlers.names.length > 0 ? `There are: ${handlers.names.join(', ')}.` : 'There are none.';
		throw new SkillError(
			'HandlerNotFound',
			`No handler “${name.slice(0, 100)}” is registered on this server.`,
			`${known} The operator registers handlers with SKILLS_HANDLERS.`
		);
	}
	const limits = { timeoutMs: timeoutOf(skill, context.timeoutMs, timeoutMs) };
	const call = {
		skill,
		script: name,
		tool: tool.name,
		args: [],
		toolInput: args,
		digest: digestOf(skill),
		sandbox: 'direct',
		limits,
		secrets: Object.values(await storedSecrets(host, skill))
	};
	const turn = { caller: callerKey(context.caller), lane: null, isWithoutPlace: true };
	return carryOut(call, context, { host }, (_id, isRunning) =>
		turns.run(turn, async () => {
			isRunning();
			const started = performance.now();
			const value = await answerOf(handler, args, context, limits.timeoutMs);
			const durationMs = Math.round(performance.now() - started);
			return { success: true, stdout: '', stderr: '', exitCode: 0, durationMs, truncated: false, files: [], value };
		})
	);
}

/** @throws SkillError for a handler that fails, takes too long, is stopped, or answers what is no JSON */
async function answerOf(
	handler: NativeHandler,
	args: Record<string, unknown>,
	{ signal, caller = {}, cwd }: ExecutionContext,
	timeoutMs: number
): Promise<unknown> {
	const stop = new AbortController();
	const timer = setTimeout(
		() => stop.abort(new SkillError('ExecutionTimeout', `The handler took longer than ${timeoutMs} ms.`)),
		timeoutMs
	);
	const onAbort = () => stop.abort(new SkillError('Cancelled', 'The call was stopped.'));
	if (signal?.aborted) onAbort();
	signal?.addEventListener('abort', onAbort, { once: true });
	const ended = new Promise<never>((_resolve, reject) => {
		stop.signal.addEventListener('abort', () => reject(stop.signal.reason as SkillError), { once: true });
	});
	const { apiKeyId, sessionId } = caller;
	const own = { ...(apiKeyId ? { apiKeyId } : {}), ...(sessionId ? { sessionId } : {}), cwd, signal: stop.signal };
	try {
		stop.signal.throwIfAborted();
		const value = await Promise.race([handler(args, own), ended]);
		// As data, so that nothing of the handler's own objects goes on into records and answers.
		return JSON.parse(JSON.stringify(value ?? null)) as unknown;
	} catch (error) {
		if (error instanceof SkillError) throw error;
		throw new SkillError('ExecutionFailed', error instanceof Error ? error.message : String(error));
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', onAbort);
	}
}
