/** Starts programs from the calling process: own group, no shell, real pipes, complete end (D10, D11). */
import { spawn } from 'node:child_process';
import { watchFolder } from '../workspace.ts';
import {
	createDeferred,
	type Launched,
	type LaunchEnd,
	type Launcher,
	type LaunchLimits,
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
import { StringDecoder } from 'node:string_decoder';
import { OUTPUT_TRUNCATED } from '../sandbox.ts';
import { createRedactor } from '../output/redact.ts';

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

// The output of a process: counted, redacted, capped to its head and tail, and streamed (D11, F3).

/** Minimum time between two events, so that a script writing single bytes doesn’t flood the page. */
const FLUSH_MS = 30;
/** So often one stream's text goes out before its time because the other one has some: beyond it, order counts less than a flood. */
const MAX_TURNS = 500;

/**
 * Keeps at most `maxBytes`, three quarters of them from the start. `onText` receives the head as it comes and the rest at
 * the end; joined, its texts equal the result’s.
 */
export function createCappedOutput(maxBytes: number, onText?: (text: string) => void) {
	const headLimit = maxBytes - Math.floor(maxBytes / 4);
	const tailLimit = maxBytes - headLimit;
	const decoder = new StringDecoder('utf8');
	const text: string[] = [];
	// A ring buffer of the last bytes, so that skipped output takes no memory.
	let ring = Buffer.alloc(0);
	let headBytes = 0;
	let total = 0;
	let waiting = '';
	let timer: NodeJS.Timeout | undefined;

	const flush = () => {
		timer = undefined;
		const ready = waiting;
		waiting = '';
		if (ready) onText?.(ready);
	};
	const show = (decoded: string) => {
		waiting += decoded;
		if (timer || !decoded) return;
		flush();
		timer = setTimeout(flush, FLUSH_MS);
	};

	return {
		/** Hands over at once what waits for its time. */
		flush(): void {
			clearTimeout(timer);
			flush();
		},
		/** Copies what it keeps: the chunk may be reused. */
		push(chunk: Buffer): void {
			total += chunk.length;
			const first = chunk.subarray(0, headLimit - headBytes);
			if (first.length > 0) {
				headBytes += first.length;
				const decoded = decoder.write(first);
				text.push(decoded);
				show(decoded);
			}
			if (first.length === chunk.length) return;
			if (ring.length === 0) ring = Buffer.alloc(tailLimit);
			const rest = chunk.subarray(Math.max(first.length, chunk.length - tailLimit));
			const at = (total - headBytes - rest.length) % Math.max(1, tailLimit);
			rest.copy(ring, at);
			// Wraps around.
			if (at + rest.length > tailLimit) rest.copy(ring, 0, tailLimit - at);
		},
		/** Flushes, and returns the text, cut at characters, with a marker for omitted bytes. */
		end(): { text: string; truncated: boolean } {
			clearTimeout(timer);
			const behind = total - headBytes;
			const oldest = behind % Math.max(1, tailLimit);
			const kept =
				behind <= tailLimit
					? ring.subarray(0, behind)
					: Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
			const truncated = total > maxBytes;
			// Drops a character that was cut, on both sides.
			const rest = truncated ? `\n${OUTPUT_TRUNCATED}\n${cutStart(kept)}` : decoder.write(kept) + decoder.end();
			waiting += rest;
			flush();
			return { text: text.join('') + rest, truncated };
		}
	};
}

/** Decodes a buffer that may begin inside a character. */
function cutStart(bytes: Buffer): string {
	let start = 0;
	while (start < 4 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
	return bytes.toString('utf8', start);
}

type Stream = 'stdout' | 'stderr';

/** Both streams: `onOutput` receives their texts in the order in which they were read, whichever waits for its time. */
export function createCollector(
	limits: Pick<LaunchLimits, 'maxOutputBytes' | 'maxKeptBytes' | 'redact'>,
	onOutput?: (stream: Stream, text: string) => void
) {
	const streams = {
		stdout: createStream(limits, (text) => onOutput?.('stdout', text)),
		stderr: createStream(limits, (text) => onOutput?.('stderr', text))
	};
	let turns = 0;
	let last: Stream = 'stdout';
	return {
		push(stream: Stream, chunk: Buffer) {
			if (stream !== last && ++turns <= MAX_TURNS) streams[last].flush();
			last = stream;
			streams[stream].push(chunk);
		},
		end() {
			const stdout = streams.stdout.end();
			const stderr = streams.stderr.end();
			return {
				stdout: stdout.text,
				stderr: stderr.text,
				stdoutTruncated: stdout.truncated,
				stderrTruncated: stderr.truncated,
				stdoutBytes: stdout.bytes,
				stderrBytes: stderr.bytes,
				...(stdout.kept && stderr.kept ? { kept: { stdout: stdout.kept, stderr: stderr.kept } } : {})
			};
		}
	};
}

function createStream(
	{ maxOutputBytes, maxKeptBytes, redact }: Pick<LaunchLimits, 'maxOutputBytes' | 'maxKeptBytes' | 'redact'>,
	onText: (text: string) => void
) {
	const shown = createCappedOutput(maxOutputBytes, onText);
	const kept = maxKeptBytes === undefined ? null : createCappedOutput(maxKeptBytes);
	const redactor = redact?.length ? createRedactor(redact) : null;
	let bytes = 0;
	const take = (chunk: Buffer) => {
		shown.push(chunk);
		kept?.push(chunk);
	};
	return {
		flush: () => shown.flush(),
		push(chunk: Buffer) {
			bytes += chunk.length;
			take(redactor ? redactor.push(chunk) : chunk);
		},
		end() {
			if (redactor) take(redactor.end());
			return { ...shown.end(), bytes, kept: kept?.end() };
		}
	};
}
