/** Creates all built-in skills, in the order in which they are offered (D27–D31, D36). */
import type { SafeFetch } from '../network/safe-fetch.ts';
import type { Sandbox, SandboxLimits } from '../sandbox/sandbox.ts';
import type { NetworkSession, ExecutionCaller, ExecutionRecorder } from '../skills/run/execution-host.ts';
import { createInterpreters } from '../skills/run/interpreters.ts';
import { createBrowser } from './browser.ts';
import { type Builtin, failedBuiltin, type BuiltinOutcome } from './builtin.ts';
import { findChromium as findInstalled, type Chromium } from './browser-page.ts';
import { createFileRead, createFileWrite } from './file-tools.ts';
import { createHttpRequest, createSearxngProvider, createWebSearch } from './web.ts';
import { createHybridExecutor, type HybridOptions } from './hybrid.ts';
import { createEvalCode, createExecuteCommand, createSandboxRunner } from './programs.ts';
import type { Turns } from '../skills/turns.ts';
import { createWorkspaceRooms, type WorkspaceRooms } from '../workspace-rooms.ts';
import { hash, randomUUID } from 'node:crypto';
import { failed } from '../skills/call/tools.ts';
import { builtinNameOf } from '../../shared/names.ts';
import type { SkillEvent, ToolDefinition } from '../skills/types.ts';
import type { ApprovalRequest } from '../../shared/events.ts';
import type { Approval } from '../../shared/message.ts';

export interface BuiltinsOptions {
	sandbox: Sandbox;
	/** Runs host programs to find interpreters. Default: `sandbox`. */
	hostSandbox?: Pick<Sandbox, 'run'>;
	limits: SandboxLimits;
	/** Size limits of workspaces. Default: none. */
	rooms?: WorkspaceRooms;
	/** Queue shared with the scripts of skills. Default: no waiting. */
	turns?: Turns;
	/** From `config.execution.builtins`. */
	settings: {
		timeoutMs: number;
		maxOutputChars: number;
		maxFileBytes: number;
		maxHttpBytes: number;
		searchUrl: string | null;
		hasBrowser: boolean;
	};
	/** true lets programs request network access (D35). */
	network: boolean | null;
	/** For public addresses only. */
	fetch: SafeFetch;
	/** For any address; used only for the operator’s search server. */
	operatorFetch: SafeFetch;
	/** Opens a guarded proxy to public addresses. `id`: letters, digits, hyphens. */
	openNetwork(id: string): Promise<NetworkSession>;
	/** The backend for a container image named by a call. @throws Error if the image isn’t allowed */
	sandboxOfImage?: (image: string) => Sandbox;
	/** Default: the installed one. */
	findChromium?: (own: string | null) => Chromium | null | Promise<Chromium | null>;
	hybrid?: HybridOptions;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

export function createBuiltins(options: BuiltinsOptions): readonly Builtin[] {
	const { sandbox, settings, limits, network, fetch, openNetwork, sandboxOfImage, turns } = options;
	const { rooms = createWorkspaceRooms(), hostSandbox: host = sandbox } = options;
	const { timeoutMs, maxOutputChars, searchUrl } = settings;
	const interpreters = createInterpreters({ host, sandbox, path: process.env.PATH ?? '' });
	const runner = createSandboxRunner({ sandbox, interpreters, limits, network, openNetwork, turns });
	const files = { hybrid: createHybridExecutor(options.hybrid), runner, maxBytes: settings.maxFileBytes, timeoutMs };
	const programs = { runner, timeoutMs, maxOutputChars, sandboxOfImage };
	const provider = searchUrl === null ? null : createSearxngProvider(searchUrl, options.operatorFetch);
	const findChromium = options.findChromium ?? ((own: string | null) => findInstalled(process.env, own));
	return [
		createFileRead(files),
		createFileWrite({ ...files, rooms }),
		createHttpRequest({ fetch, maxBytes: settings.maxHttpBytes }),
		createWebSearch({ provider, now: options.now }),
		createEvalCode(programs),
		createExecuteCommand(programs),
		createBrowser({
			isEnabled: settings.hasBrowser,
			findChromium,
			openNetwork,
			turns,
			rooms,
			maxChars: maxOutputChars
		})
	];
}

// Calls: whether the skill is on, its question, its record and its events (SECURITY `gate`; FEATURES E11, E13).

export interface BuiltinCallOptions {
	builtins: readonly Builtin[];
	/** By skill id, `builtin/name`. */
	modeOf(skillId: `builtin/${string}`): BuiltinMode;
	/** False while skills are turned off (E11). */
	isEnabled?: () => boolean;
	recorder?: ExecutionRecorder;
	timeoutMs: number;
}

export interface BuiltinCallContext {
	cwd: string;
	signal: AbortSignal;
	onEvent?: ((event: SkillEvent) => void) | undefined;
	caller?: ExecutionCaller;
}

/** Characters of recorded output. */
const MAX_RECORDED = 20_000;
const VERSION = '1.0.0';

export function createBuiltinCalls(options: BuiltinCallOptions) {
	const { builtins, modeOf, recorder, timeoutMs, isEnabled = () => true } = options;
	const refusal = ({ name }: Builtin): BuiltinOutcome | null => {
		if (!isEnabled()) {
			const hint = 'Whoever runs the server can turn them on with SKILLS_ENABLED=true.';
			return failedBuiltin('SkillsDisabled', 'Skills are turned off on this server.', hint);
		}
		if (modeOf(builtinId(name)) !== 'off') return null;
		return failedBuiltin('SkillDisabled', `The skill “${name}” is off.`, 'You can turn it on.');
	};

	async function execute(builtin: Builtin, args: Record<string, unknown>, context: BuiltinCallContext) {
		const { name, sandbox } = builtin;
		const { cwd, signal, onEvent, caller = {} } = context;
		const executionId = randomUUID();
		const startedAt = performance.now();
		const input = JSON.stringify(args);
		onEvent?.({ type: 'started', executionId, skill: name, script: name, tool: name, args: [input], sandbox });
		const started = recorder?.started({
			id: executionId,
			skillId: builtinId(name),
			skill: name,
			version: VERSION,
			tool: name,
			argv: [],
			input,
			digest: '',
			sandbox,
			limits: { timeoutMs: typeof args.timeoutMs === 'number' ? args.timeoutMs : timeoutMs },
			caller
		});
		const recorded = started?.then(() => recorder?.running(executionId));
		const outcome = await builtin.run(args, {
			workspace: cwd,
			signal,
			caller,
			executionId,
			onOutput: (stream, text) => onEvent?.({ type: 'output', stream, text })
		});
		const output = render(outcome);
		const { error, message, exitCode = null, files = [], refused = [] } = outcome;
		const end = { exitCode, durationMs: Math.round(performance.now() - startedAt), files, message };
		onEvent?.({
			type: 'finished',
			skill: name,
			truncated: isTruncated(outcome.value),
			...end,
			error,
			refused: refused.length > 0 ? refused : undefined
		});
		await recorded;
		await recorder?.finished(executionId, {
			status: outcome.ok ? 'success' : error === 'ExecutionTimeout' ? 'timeout' : 'error',
			errorType: error,
			...end,
			stdoutBytes: outcome.stdoutBytes ?? 0,
			stderrBytes: outcome.stderrBytes ?? 0,
			output: output.slice(0, MAX_RECORDED).replace(/[\ud800-\udbff]$/, ''),
			refused
		});
		return { ok: outcome.ok, output, outcome };
	}

	return {
		builtins,
		/** By name or alias. */
		find(name: string): Builtin | null {
			const known = builtinNameOf(name);
			return builtins.find((builtin) => builtin.name === known) ?? null;
		},
		/** Never throws. `output` is for the model. */
		async call(
			builtin: Builtin,
			args: Record<string, unknown>,
			context: BuiltinCallContext
		): Promise<{ ok: boolean; output: string; outcome: BuiltinOutcome }> {
			const refused = refusal(builtin);
			return refused ? { ok: false, output: render(refused), outcome: refused } : execute(builtin, args, context);
		},
		async close(): Promise<void> {
			await Promise.all(builtins.map(async (builtin) => builtin.close?.()));
		}
	};
}

export type BuiltinCalls = ReturnType<typeof createBuiltinCalls>;

function render({ ok, value, error, message, hint }: BuiltinOutcome): string {
	const facts = typeof value === 'object' && value !== null ? value : value === null ? {} : { value };
	return JSON.stringify({ ok, ...(error ? { error, message, hint } : {}), ...facts });
}

function isTruncated(value: unknown): boolean {
	return typeof value === 'object' && value !== null && 'truncated' in value && value.truncated === true;
}

export type BuiltinMode = 'on' | 'off' | 'auto';

function builtinId(name: string): `builtin/${string}` {
	return `builtin/${name}`;
}

// The built-in skills of a conversation.

interface BuiltinSessionOptions {
	/** By skill id, `builtin/name`. */
	modeOf(skillId: `builtin/${string}`): BuiltinMode;
	/** `ask`: skills that reach outside the workspace or run a model’s code need approval. */
	approvals: 'ask' | 'auto';
	/** Only these, by name or alias (D42). Default: all. */
	only?: readonly string[] | undefined;
}

export function createBuiltinSession(calls: BuiltinCalls, { modeOf, approvals, only }: BuiltinSessionOptions) {
	const names = only && new Set(only.map((name) => builtinNameOf(name) ?? name));
	const find = (name: string) => {
		const builtin = calls.find(name);
		return builtin && (names?.has(builtin.name) ?? true) ? builtin : null;
	};
	return {
		/** All that are available and not off, whatever is asked: a tool that came later would cost the server's cache of everything. */
		tools(): ToolDefinition[] {
			return calls.builtins.flatMap(({ name, description, parameters, unavailable }) => {
				const isOffered = find(name) !== null && modeOf(builtinId(name)) !== 'off' && unavailable() === null;
				return isOffered ? { type: 'function', name, description, parameters } : [];
			});
		},
		/** Whether the name or alias is a built-in skill, offered or not. */
		has: (name: string): boolean => find(name) !== null,
		lane: (name: string): string | null => find(name)?.lane ?? null,
		/** The approval it needs; null for none. `earlier` is valid for identical arguments only. */
		approval(name: string, args: Record<string, unknown>, earlier: Approval | null): ApprovalRequest | null {
			const builtin = find(name);
			if (approvals === 'auto' || !builtin?.asksFirst || builtin.unavailable() !== null) return null;
			const question = builtinQuestion(builtin, args);
			const isAllowed = earlier?.decision !== undefined && earlier.decision.choice !== 'deny';
			return isAllowed && earlier.digest === question.digest ? null : question;
		},
		/** Never throws. */
		async call(
			name: string,
			args: Record<string, unknown>,
			context: BuiltinCallContext
		): Promise<{ ok: boolean; output: string }> {
			const builtin = find(name);
			if (!builtin) return failed('UnknownTool');
			return calls.call(builtin, args, context);
		}
	};
}

/** The digest covers the arguments. */
export function builtinQuestion({ name }: Pick<Builtin, 'name'>, args: Record<string, unknown>): ApprovalRequest {
	const input = JSON.stringify(args);
	return {
		interruptId: randomUUID(),
		skill: name,
		script: name,
		args: [input],
		reason: `The built-in skill “${name}” wants to run.`,
		digest: hash('sha256', JSON.stringify([name, input]))
	};
}
