/** Starts programs from the calling process: own group, no shell, real pipes, complete end (D10, D11). */
import { spawn } from 'node:child_process';
import { watchFolder } from '../workspace.ts';
import { createCollector } from './collector.ts';
import {
	createDeferred,
	type Launched,
	type LaunchEnd,
	type Launcher,
	type LaunchResult,
	type LaunchSpec,
	type LaunchStdin
} from './launcher.ts';
import {
	closeStreams,
	createPipePool,
	drained,
	keepHost,
	type PipePool,
	type StartedProgram,
	startProgram
} from './start-program.ts';

/** From SIGTERM to SIGKILL. */
const GRACE_MS = 2000;
/** Time to read output after the process ended, limited because a daemon may hold the pipe open. */
const DRAIN_MS = 200;
/** Longer timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface LauncherEvents {
	/** The program runs as the leader of group `pid`. */
	onSpawn?(spec: LaunchSpec, pid: number): void;
	/** The program has ended, used or not. */
	onExit?(spec: LaunchSpec): void;
}

/** Starts programs itself; `createSpawner` leaves that to a small process. */
export function createLauncher(events: LauncherEvents = {}): Launcher {
	const pipes = createPipePool();
	const open = new Set<OpenLaunch>();
	let isClosed = false;
	return {
		launch(spec, stdin) {
			const launched = createLaunched(spec, stdin, pipes, events);
			open.add(launched);
			void launched.gone.then(() => open.delete(launched));
			if (isClosed) launched.end('killed');
			return launched;
		},
		async close() {
			isClosed = true;
			const all = [...open];
			for (const launched of all) launched.end('killed');
			await Promise.all(all.map((launched) => launched.gone));
			pipes.close();
		}
	};
}

interface OpenLaunch extends Launched {
	/** Resolves when it has ended or will never start. */
	readonly gone: Promise<void>;
}

type Ended = LaunchResult['ended'];
type Outcome = Pick<LaunchResult, 'exitCode' | 'signal' | 'spawnError'>;
const NEVER_RAN: Outcome = { exitCode: null, signal: null };

function createLaunched(spec: LaunchSpec, stdin: LaunchStdin, pipes: PipePool, events: LauncherEvents): OpenLaunch {
	const gone = createDeferred<void>();
	const exited = createDeferred<Outcome>();
	const ending: Promise<void>[] = [];
	let started: StartedProgram | null = null;
	let starting: Promise<void> | null = null;
	let hasBegun = false;
	let isOver = false;
	let isKilled = false;
	let ended: Ended = 'exit';
	let graceEndsAt = 0;
	let grace: NodeJS.Timeout | undefined;
	/** While output of an ended program is read: kills its children and stops reading. */
	let cutShort: (() => void) | null = null;

	const leave = (outcome: Outcome) => {
		if (isOver) return;
		isOver = true;
		exited.resolve(outcome);
		events.onExit?.(spec);
		// Nothing to read if it was never used.
		if (!hasBegun) finish();
	};
	const finish = () => {
		if (started) {
			// Kills whatever the script left in its group.
			if (started.child.pid !== undefined) signalGroup(started.child.pid, 'SIGKILL');
			closeStreams(started);
		}
		gone.resolve();
	};
	const start = async (input: null | 'pipe' | { text: string }) => {
		try {
			const taken = await pipes.take(2);
			if (ended !== 'exit') {
				taken?.forEach((pipe) => pipe.close());
				return leave(NEVER_RAN);
			}
			started = startProgram(spec, input, taken);
			const { child } = started;
			child.on('error', ({ message }) =>
				// With a pid it did start, but can’t be signalled, so it isn’t waited for.
				leave({ ...NEVER_RAN, spawnError: child.pid === undefined ? message : undefined })
			);
			child.once('exit', (exitCode, signal) => leave({ exitCode, signal }));
			if (child.pid !== undefined) events.onSpawn?.(spec, child.pid);
			keepHost(started, hasBegun);
		} catch (error) {
			leave({ ...NEVER_RAN, spawnError: (error as Error).message });
		}
	};
	const kill = () => {
		if (isOver || isKilled) return;
		isKilled = true;
		if (started) ending.push(settled(endNow(spec.end, started)));
		else if (!starting) leave(NEVER_RAN);
	};
	const end = (reason: Exclude<Ended, 'exit' | 'spawn-failed'>) => {
		if (isOver) {
			if (reason === 'killed') cutShort?.();
			return;
		}
		const isFirst = ended === 'exit';
		if (isFirst) ended = reason;
		if (reason === 'killed' || reason === 'quota' || !hasBegun || !started) return kill();
		if (!isFirst) return;
		graceEndsAt = performance.now() + GRACE_MS;
		ending.push(settled(askToEnd(spec.end, started)));
		grace = setTimeout(kill, GRACE_MS);
	};

	/** After SIGTERM, the script’s children have the rest of the grace period. */
	const drain = async (program: StartedProgram) => {
		const cut = createDeferred<void>();
		cutShort = () => {
			if (program.child.pid !== undefined) signalGroup(program.child.pid, 'SIGKILL');
			setTimeout(cut.resolve, DRAIN_MS);
		};
		const ms = Math.max(DRAIN_MS, isKilled ? 0 : graceEndsAt - performance.now());
		await Promise.race([drained(program, ms), cut.promise]);
		cutShort = null;
	};

	if (stdin === 'open') starting = start('pipe');
	return {
		gone: gone.promise,
		get isAlive() {
			return !isOver && ended === 'exit';
		},
		end,
		async begin(limits, input = '', onOutput) {
			const startedAt = performance.now();
			const collector = createCollector(limits, onOutput);
			hasBegun = true;
			if (!isOver) await (starting ??= start(stdin === 'given' ? { text: input } : null));
			if (started) {
				started.stdout.read((chunk) => collector.push('stdout', chunk));
				started.stderr.read((chunk) => collector.push('stderr', chunk));
				keepHost(started, true);
				started.child.stdin?.end(input);
			}
			const timer = setTimeout(() => end('timeout'), Math.min(limits.timeoutMs, MAX_TIMER_MS));
			const stopWatching = limits.watch ? watchFolder(limits.watch, () => end('quota')) : null;
			const outcome = await exited.promise;
			stopWatching?.();
			clearTimeout(timer);
			if (started) await drain(started);
			clearTimeout(grace);
			await Promise.all(ending);
			finish();
			return {
				...collector.end(),
				durationMs: performance.now() - startedAt,
				ended: outcome.spawnError === undefined ? ended : 'spawn-failed',
				...outcome
			};
		}
	};
}

/** A program that can’t be ended must not crash the server. */
function settled(ending: Promise<void>): Promise<void> {
	return ending.catch(() => undefined);
}

// Ends programs, by signals to their group or by commands of the host.

/** Creating namespaces takes milliseconds, more on a busy machine. */
const INNER_MS = 1000;
/** A container runtime that takes longer for a simple command hangs. */
export const COMMAND_MS = 5_000;

/** Signals the whole group, if it still exists. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
	signalProcess(process.platform === 'win32' ? pid : -pid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== 'ESRCH' && code !== 'EPERM') throw error;
	}
}

async function askToEnd(end: LaunchEnd, started: StartedProgram): Promise<void> {
	const { child } = started;
	if (child.pid === undefined) return;
	if (end.kind === 'commands') return runCommand(end.term, end.env);
	const inner = end.kind === 'inner' ? await innerOf(started) : null;
	// Without an inner process, nothing needs to clean up.
	signalGroup(inner ?? child.pid, 'SIGTERM');
}

async function endNow(end: LaunchEnd, started: StartedProgram): Promise<void> {
	const { child } = started;
	if (child.pid === undefined) return;
	if (end.kind === 'commands') await runCommand(end.kill, end.env);
	if (end.kind === 'inner') {
		const inner = await innerOf(started);
		if (inner !== null) signalProcess(inner, 'SIGKILL');
	}
	signalGroup(child.pid, 'SIGKILL');
}

/**
 * The first inner process, once it exists. Early in its life it doesn’t die with the outer one yet, and it has its own
 * session, so it is awaited and ended first.
 */
async function innerOf({ child, innerPid }: StartedProgram): Promise<number | null> {
	let timer: NodeJS.Timeout | undefined;
	const patience = new Promise<null>((resolve) => (timer = setTimeout(resolve, INNER_MS, null)));
	const pid = await Promise.race([innerPid, patience]);
	clearTimeout(timer);
	// If the outer process has ended, so has the inner one, and its pid may be reused.
	return child.exitCode === null && child.signalCode === null ? pid : null;
}

/** Runs a command and ignores its failure, as the container may be gone. Kills it with its children if it hangs. */
export function runCommand([file, ...args]: string[], env: Record<string, string> = {}): Promise<void> {
	return new Promise((resolve) => {
		if (!file) return resolve();
		const child = spawn(file, args, { env, stdio: 'ignore', detached: true, windowsHide: true });
		const giveUp = () => {
			if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
			resolve();
		};
		const timer = setTimeout(giveUp, COMMAND_MS);
		const done = () => {
			clearTimeout(timer);
			resolve();
		};
		child.once('error', done).once('exit', done);
	});
}
