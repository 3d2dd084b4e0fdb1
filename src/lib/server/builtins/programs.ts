/** The skills `eval_code` and `execute_command`, which run a model’s code only in a sandbox that isolates files (D30). */
import { existsSync } from 'node:fs';
import type { Sandbox, SandboxLimits, SandboxResult } from '../sandbox/sandbox.ts';
import { explain } from '../skills/run/execution-result.ts';
import type { Interpreters, Program } from '../skills/run/interpreters.ts';
import { localeOf, openScratch } from '../skills/run/environment.ts';
import { changedFiles, listWorkspace } from '../skills/run/execution.ts';
import { SkillError } from '../skills/types.ts';
import { type Builtin, type BuiltinContext, type BuiltinOutcome, defineBuiltin, WORKSPACE_LANE } from './builtin.ts';
import { mkdir, realpath } from 'node:fs/promises';
import { delimiter } from 'node:path';
import type { NetworkSession } from '../skills/run/execution-host.ts';
import { callerKey, createTurns, type Turns } from '../skills/turns.ts';

export interface ProgramOptions {
	runner: SandboxRunner;
	timeoutMs: number;
	maxOutputChars: number;
	/** The backend for a container image named by a call. @throws Error if the image isn’t allowed */
	sandboxOfImage?: ((image: string) => Sandbox) | undefined;
}

/** Linux limits one argument to 128 KiB. */
const MAX_TEXT = 100_000;

const SHARED = {
	networkEnabled: {
		type: 'boolean',
		description: 'Request internet access, if the operator allows it. Default: false.'
	},
	timeoutMs: { type: 'integer', minimum: 100, maximum: 60_000, description: 'Time limit in milliseconds.' }
};

export function createEvalCode(options: ProgramOptions): Builtin {
	return defineBuiltin({
		name: 'eval_code',
		description:
			'Run a short Node.js or Python program in a sandbox and read its output. Files of the working directory are in its working directory. Print the results you need.',
		tags: ['run code', 'python', 'javascript', 'node.js', 'evaluate', 'code snippet'],
		lane: WORKSPACE_LANE,
		asksFirst: true,
		sandbox: options.runner.sandbox.name,
		properties: {
			language: { type: 'string', enum: ['node', 'javascript', 'python'], description: 'Language of the code.' },
			code: { type: 'string', minLength: 1, maxLength: MAX_TEXT, description: 'The whole program.' },
			input: { type: 'string', maxLength: 1_048_576, description: 'Text for standard input.' },
			...SHARED
		},
		required: ['language', 'code'],
		unavailable: () => options.runner.reason(),
		run(args, context) {
			const { code, input } = args as { code: string; input?: string };
			const isPython = args.language === 'python';
			const program = (interpreters: Interpreters) => (isPython ? interpreters.python() : interpreters.node());
			// Joined, so that code starting with a hyphen isn’t an option.
			const argv = isPython ? ['-c', code] : [`--eval=${code}`];
			const call = { what: 'The code', language: isPython ? 'python' : 'node', args, program, argv, input };
			return execute(call, options, context);
		}
	});
}

export function createExecuteCommand(options: ProgramOptions): Builtin {
	return defineBuiltin({
		name: 'execute_command',
		description:
			'Run a shell command in a sandbox and read its output. Files of the working directory are in its working directory.',
		tags: ['shell', 'terminal', 'bash', 'command line', 'run command'],
		lane: WORKSPACE_LANE,
		asksFirst: true,
		sandbox: options.runner.sandbox.name,
		properties: {
			command: { type: 'string', minLength: 1, maxLength: MAX_TEXT, description: 'A command line for the shell.' },
			image: { type: 'string', description: 'Container image, if the sandbox is a container.' },
			...SHARED
		},
		required: ['command'],
		unavailable: () => options.runner.reason(),
		async run(args, context) {
			const sandbox = imageSandbox(args.image as string | undefined, options);
			const program = () => shellOf(sandbox ?? options.runner.sandbox);
			const argv = ['-c', '--', args.command as string];
			return execute({ what: 'The command', language: 'shell', args, program, argv, sandbox }, options, context);
		}
	});
}

interface Call extends Pick<SandboxedProgram, 'program' | 'input' | 'sandbox'> {
	/** Subject for messages: `The code`. */
	what: string;
	language: string;
	args: Record<string, unknown>;
	argv: string[];
}

async function execute(call: Call, { runner, timeoutMs, maxOutputChars }: ProgramOptions, context: BuiltinContext) {
	const { what, language, args, argv, program, input, sandbox } = call;
	const limitMs = (args.timeoutMs as number | undefined) ?? timeoutMs;
	const before = await listWorkspace(context.workspace);
	const run = await runner.run(
		{
			program,
			args: argv,
			input,
			sandbox,
			timeoutMs: limitMs,
			// A character takes at least one byte.
			maxOutputBytes: maxOutputChars,
			networkEnabled: args.networkEnabled as boolean | undefined
		},
		context
	);
	const files = changedFiles(before, await listWorkspace(context.workspace));
	const name = (sandbox ?? runner.sandbox).name;
	return programOutcome(run, { what, language, timeoutMs: limitMs, sandbox: name, files });
}

function shellOf({ programs }: Sandbox): Program {
	const file = programs?.shell ?? (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');
	return { file, args: [], runtime: [] };
}

/** @throws SkillError if the image isn’t allowed, or without containers */
function imageSandbox(image: string | undefined, { sandboxOfImage }: ProgramOptions): Sandbox | undefined {
	if (image === undefined) return undefined;
	if (!sandboxOfImage) {
		const hint = 'Leave out “image”: it needs SKILLS_SANDBOX=container.';
		throw new SkillError('InvalidArgs', 'Commands don’t run in containers on this server.', hint);
	}
	try {
		return sandboxOfImage(image);
	} catch (error) {
		throw new SkillError('InvalidArgs', (error as Error).message);
	}
}

// Results of programs, in OmniRoute’s format and more (D12, D33).

function programOutcome(
	run: SandboxedRun,
	facts: Pick<Call, 'what' | 'language'> & { timeoutMs: number; sandbox: string; files: BuiltinOutcome['files'] }
): BuiltinOutcome {
	const { what, language, timeoutMs, sandbox, files } = facts;
	const { error, message, hint } = explain(run, what, timeoutMs);
	const success = run.ended === 'exit' && run.exitCode === 0;
	const own = error === 'ExecutionTimeout' ? 'Give it less to do, or request more time with timeoutMs.' : hint;
	return {
		ok: success,
		value: {
			success,
			exitCode: run.exitCode ?? -1,
			stdout: run.stdout,
			stderr: run.stderr,
			output: [run.stdout, run.stderr].filter(Boolean).join('\n'),
			truncated: run.stdoutTruncated || run.stderrTruncated,
			durationMs: Math.round(run.durationMs),
			killed: run.ended !== 'exit' || run.signal !== null,
			timedOut: run.ended === 'timeout',
			image: run.image ?? null,
			language,
			sandbox,
			files,
			refused: run.refused.length > 0 ? run.refused : undefined
		},
		error,
		message,
		hint: own,
		exitCode: run.exitCode,
		files,
		sandbox,
		refused: run.refused,
		stdoutBytes: run.stdoutBytes,
		stderrBytes: run.stderrBytes
	};
}

// Runs programs of built-in skills in a sandbox that shows only the system and the workspace (D30, D32).

interface SandboxRunnerOptions {
	sandbox: Sandbox;
	interpreters: Interpreters;
	limits: SandboxLimits;
	/** Queue shared with the scripts of skills. Default: no waiting. */
	turns?: Turns | undefined;
	/** true lets calls request network access (D35). */
	network: boolean | null;
	/** Opens a guarded proxy to public addresses. Default: no network. */
	openNetwork?: ((executionId: string) => Promise<NetworkSession>) | undefined;
}

interface SandboxedProgram {
	program(interpreters: Interpreters): Program | Promise<Program>;
	/** After the program’s own. */
	args: string[];
	input?: string | undefined;
	timeoutMs: number;
	maxOutputBytes: number;
	networkEnabled?: boolean | undefined;
	/** Replaces the usual backend, for a container image. */
	sandbox?: Sandbox | undefined;
}

interface SandboxedRun extends SandboxResult {
	refused: string[];
}

export function createSandboxRunner(options: SandboxRunnerOptions) {
	const { sandbox: usual, interpreters, limits, turns = createTurns() } = options;
	const reason = () => (usual.isolation.files ? null : noSandbox(usual));
	const openNetwork = async ({ networkEnabled = false }: SandboxedProgram, { executionId }: BuiltinContext) => {
		if (!networkEnabled) return null;
		if (options.network === true && options.openNetwork) return options.openNetwork(executionId);
		const hint =
			'Whoever runs the server can allow it with SKILLS_SANDBOX_NETWORK_ENABLED=true. http_request works without it.';
		throw new SkillError('SkillDisabled', 'Programs have no network access on this server.', hint);
	};
	return {
		sandbox: usual,
		/** Why programs can’t run here, and what to do; null if they can. */
		reason,
		/** @throws SkillError if it isn’t started */
		async run(call: SandboxedProgram, context: BuiltinContext): Promise<SandboxedRun> {
			const { sandbox = usual } = call;
			const why = sandbox.isolation.files ? null : noSandbox(sandbox);
			if (why !== null) throw new SkillError('SkillDisabled', why);
			await mkdir(context.workspace, { recursive: true });
			const folders = { workspace: await realpath(context.workspace) };
			const { workspace } = sandbox.locate(folders);
			const program = await call.program(interpreters);
			const onPath = await interpreters.onPath();
			const caller = callerKey(context.caller);
			const turn = { caller, lane: null, signal: context.signal };
			return turns
				.run(turn, async () => {
					// In the sandbox, so there is nothing to remove.
					const scratch = await openScratch(sandbox);
					const network = await openNetwork(call, context);
					try {
						const result = await sandbox.run({
							id: context.executionId,
							file: program.file,
							args: [...program.args, ...call.args],
							env: { ...environmentOf(onPath.folders), ...scratch.env },
							cwd: workspace,
							folders,
							runtime: [...new Set([...onPath.runtime, ...program.runtime])],
							limits,
							timeoutMs: call.timeoutMs,
							maxOutputBytes: call.maxOutputBytes,
							signal: context.signal,
							caller: { key: caller, runId: context.caller?.runId },
							input: call.input,
							proxySocket: network?.socket,
							onOutput: context.onOutput
						});
						return { ...result, refused: network?.refused() ?? [] };
					} finally {
						await network?.close();
					}
				})
				.catch((error: unknown) => {
					if (!context.signal.aborted || error instanceof SkillError) throw error;
					throw new SkillError('Cancelled', 'The program was stopped before it started.');
				});
		}
	};
}

export type SandboxRunner = ReturnType<typeof createSandboxRunner>;

function noSandbox({ name }: Sandbox): string {
	return `This needs a sandbox that isolates files, which “${name}” doesn’t. Install bubblewrap, or set SKILLS_SANDBOX=container if docker or podman is installed, then restart the server.`;
}

function environmentOf(folders: readonly string[]): Record<string, string> {
	const { TZ } = process.env;
	return {
		...localeOf(process.env),
		...(TZ ? { TZ } : {}),
		PATH: [...new Set([...folders, ...(process.env.PATH ?? '').split(delimiter)])].filter(Boolean).join(delimiter),
		PYTHONUNBUFFERED: '1',
		PYTHONDONTWRITEBYTECODE: '1',
		PYTHONIOENCODING: 'utf-8'
	};
}
