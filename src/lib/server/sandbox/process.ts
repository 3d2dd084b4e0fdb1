/**
 * The backend that every machine has: a plain process in a group of its own (FEATURES D10, D11).
 * It limits time and output and ends the whole group; it does not isolate files or the network, and a process that
 * left its group on purpose (`setsid`) goes on.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createCappedOutput } from './output.ts';
import type { PreparedProcess, Sandbox, SandboxCommand, SandboxResult } from './sandbox.ts';

/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;
/** How long output is still read after the process ended: a daemon that holds the pipe must not hang the call. */
const DRAIN_MS = 200;
/** A timer set for longer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Plain processes; `name` is `process`. */
export function createProcessSandbox(): Sandbox {
	return { name: 'process', run: (command) => run(command), prepare };
}

function prepare(program: Pick<SandboxCommand, 'file' | 'args' | 'env' | 'cwd'>): PreparedProcess | null {
	let child: ChildProcess;
	try {
		child = start(program, 'pipe');
	} catch {
		// Nothing is lost: the call itself starts a process, and says why it cannot.
		return null;
	}
	let isUsed = false;
	child.on('error', () => child.stdin?.destroy());
	// A closed input ends it; until then it must not keep the host alive.
	const handles = [child, child.stdin, child.stdout, child.stderr] as (Partial<NodeJS.RefCounted> | null)[];
	for (const handle of handles) handle?.unref?.();
	return {
		get isAlive() {
			return !isUsed && child.pid !== undefined && child.exitCode === null && child.signalCode === null;
		},
		run(command) {
			isUsed = true;
			for (const handle of handles) handle?.ref?.();
			return run(command, child);
		},
		discard() {
			isUsed = true;
			killGroup(child, 'SIGKILL');
		}
	};
}

function start(program: Pick<SandboxCommand, 'file' | 'args' | 'env' | 'cwd'>, stdin: 'ignore' | 'pipe'): ChildProcess {
	return spawn(program.file, program.args, {
		cwd: program.cwd,
		env: program.env,
		detached: true,
		shell: false,
		windowsHide: true,
		stdio: [stdin, 'pipe', 'pipe']
	});
}

function run(command: SandboxCommand, prepared?: ChildProcess): Promise<SandboxResult> {
	return new Promise((resolve) => {
		const startedAt = performance.now();
		const stdout = createCappedOutput(command.maxOutputBytes, (text) => command.onOutput?.('stdout', text));
		const stderr = createCappedOutput(command.maxOutputBytes, (text) => command.onOutput?.('stderr', text));
		const { maxKeptBytes: most } = command;
		const kept = most === undefined ? null : { stdout: createCappedOutput(most), stderr: createCappedOutput(most) };
		let ended: SandboxResult['ended'] = 'exit';
		let hasExited = false;
		let isDone = false;
		let graceEndsAt = 0;
		const timers: NodeJS.Timeout[] = [];

		const finish = (outcome: Pick<SandboxResult, 'exitCode' | 'signal'> & { spawnError?: string }) => {
			if (isDone) return;
			isDone = true;
			for (const timer of timers) clearTimeout(timer);
			command.signal?.removeEventListener('abort', onAbort);
			const out = stdout.end();
			const err = stderr.end();
			resolve({
				stdout: out.text,
				stderr: err.text,
				stdoutTruncated: out.truncated,
				stderrTruncated: err.truncated,
				...(kept ? { kept: { stdout: kept.stdout.end(), stderr: kept.stderr.end() } } : {}),
				durationMs: performance.now() - startedAt,
				ended,
				...outcome
			});
		};

		const end = (reason: 'timeout' | 'aborted') => {
			if (ended !== 'exit' || hasExited || isDone) return;
			ended = reason;
			graceEndsAt = performance.now() + GRACE_MS;
			killGroup(child, 'SIGTERM');
			timers.push(setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS));
		};
		const onAbort = () => end('aborted');

		if (command.signal?.aborted) {
			ended = 'aborted';
			if (prepared) killGroup(prepared, 'SIGKILL');
			finish({ exitCode: null, signal: null });
			return;
		}
		let child: ChildProcess;
		try {
			child = prepared ?? start(command, command.input === undefined ? 'ignore' : 'pipe');
		} catch (error) {
			ended = 'spawn-failed';
			finish({ exitCode: null, signal: null, spawnError: (error as Error).message });
			return;
		}
		command.signal?.addEventListener('abort', onAbort, { once: true });
		timers.push(setTimeout(() => end('timeout'), Math.min(command.timeoutMs, MAX_TIMER_MS)));
		child.stdout?.on('data', (chunk: Buffer) => {
			stdout.push(chunk);
			kept?.stdout.push(chunk);
		});
		child.stderr?.on('data', (chunk: Buffer) => {
			stderr.push(chunk);
			kept?.stderr.push(chunk);
		});
		// A script that ends without reading its input breaks the pipe; its exit code tells the story.
		child.stdin?.on('error', () => child.stdin?.destroy());
		child.stdin?.end(command.input);
		child.on('error', (error) => {
			// With a process id it did start, and is one that may not be signalled: it cannot be waited for.
			if (child.pid !== undefined) return finish({ exitCode: null, signal: null });
			ended = 'spawn-failed';
			finish({ exitCode: null, signal: null, spawnError: error.message });
		});
		child.once('exit', (exitCode, signal) => {
			hasExited = true;
			const close = () => {
				if (isDone) return;
				clearTimeout(drain);
				// Whatever the script left in its group goes with it.
				killGroup(child, 'SIGKILL');
				child.stdout?.destroy();
				child.stderr?.destroy();
				finish({ exitCode, signal });
			};
			// Asked to end, what the script started has the rest of the grace, though the script itself is gone.
			const drain = setTimeout(close, Math.max(DRAIN_MS, graceEndsAt - performance.now()));
			child.once('close', close);
		});
	});
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
	if (child.pid === undefined) return;
	try {
		if (process.platform === 'win32') child.kill(signal);
		else process.kill(-child.pid, signal);
	} catch (error) {
		// ESRCH: the group has ended by itself, which is what was wanted.
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') child.kill(signal);
	}
}
