/** The base of every backend: running commands by id, how they are ended, and prepared processes (D10, D33). */
import { randomUUID } from 'node:crypto';
import {
	createDeferred,
	type Launched,
	type Launcher,
	type LaunchLimits,
	type LaunchResult,
	type LaunchSpec,
	type LaunchStdin
} from './launch/launcher.ts';
import {
	DEFAULT_LIMITS,
	type PreparedProcess,
	type Sandbox,
	type SandboxCommand,
	type SandboxIsolation,
	type SandboxLimits,
	type SandboxName,
	type SandboxProgram,
	type SandboxResult
} from './sandbox.ts';

/** The environment variable that identifies processes: see `Execution.marker`. */
export const MARKER = 'SKILLS_EXECUTION';

export interface Execution {
	/** The command’s id, or a random one: letters, digits, hyphens. */
	id: string;
	limits: SandboxLimits;
	/** Value of `MARKER`: owner and id. Set by backends that can’t end all processes otherwise. */
	marker: string;
	stdin: LaunchStdin;
}

export interface SandboxBaseOptions {
	name: SandboxName;
	/** A function if it is known only later. */
	isolation: SandboxIsolation | (() => SandboxIsolation);
	launcher: Launcher;
	/** Maximum for any program. Default: `DEFAULT_LIMITS`. */
	limits?: SandboxLimits;
	/** Prefix of every marker: see `ownerOf` in workspace.ts. */
	owner?: string;
	/** The host’s command line for a program. Its errors become the result `spawn-failed`. */
	toLaunch(program: SandboxProgram, execution: Execution): LaunchSpec | Promise<LaunchSpec>;
	/** Wraps a launched program. */
	watch?(launched: Launched, execution: Execution): Launched;
	/** Default: the host’s paths. */
	locate?: Sandbox['locate'];
	programs?: Sandbox['programs'];
	/** Runs after each program; its return value is merged into the result. Must not throw. */
	onEnd?(
		execution: Execution,
		result: LaunchResult
	): Partial<SandboxResult> | void | Promise<Partial<SandboxResult> | void>;
	/** Runs when the sandbox is closed and nothing runs any more. */
	onClose?(): Promise<unknown>;
}

export function createSandboxBase(options: SandboxBaseOptions): Sandbox {
	const { launcher, owner = 'none' } = options;
	const running = new Map<string, Run>();
	const waiting = new Set<PreparedProcess>();
	let isClosed = false;

	const executionOf = (program: SandboxProgram, id: string, stdin: Execution['stdin']): Execution => ({
		id,
		limits: within(options.limits ?? DEFAULT_LIMITS, program.limits),
		marker: `${owner}.${id}`,
		stdin
	});
	const launch = async (program: SandboxProgram, execution: Execution): Promise<Launched> => {
		const launched = launcher.launch(await options.toLaunch(program, execution), execution.stdin);
		return options.watch?.(launched, execution) ?? launched;
	};

	/** Runs a started or starting program under the command’s id. */
	const use = async (
		command: SandboxCommand,
		execution: Execution,
		start: () => Promise<Launched>
	): Promise<SandboxResult> => {
		const { id } = command;
		const key = id ?? execution.id;
		if (isClosed) return failed('The sandbox is closed.');
		if (running.has(key)) return failed(`A script with the id ${key} is already running.`);
		if (command.signal?.aborted) return { ...failed(''), ended: 'aborted', spawnError: undefined };
		const run = createRun();
		running.set(key, run);
		const onAbort = () => run.end('aborted');
		command.signal?.addEventListener('abort', onAbort, { once: true });
		try {
			const launched = await start();
			run.attach(launched);
			const result = await launched.begin(limitsOf(command, execution), command.input, command.onOutput);
			return { ...result, ...(await options.onEnd?.(execution, result)) };
		} catch (error) {
			return failed((error as Error).message);
		} finally {
			command.signal?.removeEventListener('abort', onAbort);
			running.delete(key);
			run.settle();
		}
	};

	const killAll = async () => {
		const runs = [...running.values()];
		for (const run of runs) run.end('killed');
		await Promise.all(runs.map((run) => run.ended));
	};

	return {
		name: options.name,
		get isolation() {
			return typeof options.isolation === 'function' ? options.isolation() : options.isolation;
		},
		programs: options.programs,
		locate: options.locate ?? ((folders) => folders),
		run(command) {
			const stdin = command.input === undefined ? 'closed' : 'given';
			const execution = executionOf(command, command.id ?? randomUUID(), stdin);
			return use(command, execution, () => launch(command, execution));
		},
		prepare(program) {
			if (isClosed) return null;
			const execution = executionOf(program, randomUUID(), 'open');
			const prepared = createPrepared(launch(program, execution), () => waiting.delete(prepared), {
				run: (command, start) => use(command, execution, start)
			});
			waiting.add(prepared);
			return prepared;
		},
		kill(id) {
			const run = running.get(id);
			run?.end('killed');
			return run !== undefined;
		},
		killAll,
		isRunning: (id) => running.has(id),
		get runningCount() {
			return running.size;
		},
		async close() {
			isClosed = true;
			for (const prepared of [...waiting]) prepared.discard();
			await killAll();
			await options.onClose?.();
		}
	};
}

/** A command, which can be ended before it has started. */
interface Run {
	attach(launched: Launched): void;
	end(reason: 'aborted' | 'killed'): void;
	settle(): void;
	readonly ended: Promise<void>;
}

function createRun(): Run {
	const { promise, resolve } = createDeferred<void>();
	let launched: Launched | null = null;
	let reason: 'aborted' | 'killed' | null = null;
	return {
		attach(started) {
			launched = started;
			if (reason) launched.end(reason);
		},
		end(why) {
			// The first reason is reported, but `killed` still cuts the grace period of `aborted` short.
			reason ??= why;
			launched?.end(why);
		},
		settle: resolve,
		ended: promise
	};
}

function createPrepared(
	starting: Promise<Launched>,
	onUse: () => void,
	{ run }: { run(command: SandboxCommand, start: () => Promise<Launched>): Promise<SandboxResult> }
): PreparedProcess {
	let launched: Launched | null = null;
	let isOver = false;
	starting.then(
		(started) => {
			launched = started;
		},
		// A call that finds it dead starts a new process, and reports the reason if that fails too.
		() => {
			isOver = true;
			onUse();
		}
	);
	return {
		get isAlive() {
			return !isOver && (launched === null || launched.isAlive);
		},
		run(command) {
			isOver = true;
			onUse();
			return run(command, () => starting);
		},
		discard() {
			isOver = true;
			onUse();
			starting.then(
				(started) => started.end('killed'),
				() => undefined
			);
		}
	};
}

/** The program’s limits, capped by the host’s. */
function within(most: SandboxLimits, wanted: Partial<SandboxLimits> = {}): SandboxLimits {
	const limits = { ...most, virtualBytes: wanted.virtualBytes };
	for (const key of Object.keys(DEFAULT_LIMITS) as (keyof typeof DEFAULT_LIMITS)[]) {
		limits[key] = Math.min(most[key], wanted[key] ?? most[key]);
	}
	return limits;
}

function limitsOf(command: SandboxCommand, { limits }: Execution): LaunchLimits {
	const { timeoutMs, maxOutputBytes, maxKeptBytes, redact, folders } = command;
	return {
		timeoutMs,
		maxOutputBytes,
		maxKeptBytes,
		redact: redact?.length ? redact : undefined,
		watch: folders
			? { dir: folders.workspace, maxBytes: limits.workspaceBytes, maxFiles: limits.workspaceFiles }
			: undefined
	};
}

/** The result of a program that never started. */
export function failed(spawnError: string): SandboxResult {
	return {
		stdout: '',
		stderr: '',
		stdoutTruncated: false,
		stderrTruncated: false,
		stdoutBytes: 0,
		stderrBytes: 0,
		exitCode: null,
		signal: null,
		durationMs: 0,
		ended: 'spawn-failed',
		spawnError
	};
}
