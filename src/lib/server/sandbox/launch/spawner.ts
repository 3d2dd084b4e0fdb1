/**
 * Starts programs from a small process instead of the server, whose own `spawn` would block its event loop the longer the
 * more memory it has (SANDBOX: 0.02 ms against up to 113 ms).
 */
import { fork } from 'node:child_process';
import nodeModule from 'node:module';
import { dirname } from 'node:path';
import { createDeferred, type Launched, type Launcher, type LaunchResult, type LaunchSpec } from './launcher.ts';
import type { FromRunner, ToRunner } from './runner.ts';
import { failed } from '../running.ts';
import { runCommand, signalGroup } from './launch.ts';

interface Remote {
	spec: LaunchSpec;
	pid: number | null;
	isOver: boolean;
	/** It will never begin. */
	isDiscarded: boolean;
	onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
	/** Undefined until it begins. */
	resolve?: (result: LaunchResult) => void;
}

/** Like `createLauncher`. Starts the runner (`entry`) with the first program, and again if it ended. */
export function createSpawner(options: { entry: string; log?: (message: string) => void }): Launcher {
	const { entry, log = () => undefined } = options;
	let runner: Runner | null = null;
	let count = 0;
	let isClosed = false;

	return {
		launch(spec, stdin): Launched {
			const n = (count += 1);
			const remote: Remote = { spec, pid: null, isOver: false, isDiscarded: false };
			let own: Runner | null = null;
			let reason: 'aborted' | 'killed' | null = null;
			// Others start with `begin`, so the end of a runner before doesn’t matter.
			const start = () => {
				if (!runner?.isAlive) runner = startRunner(entry, log);
				own = runner;
				own.add(n, remote);
				own.send({ type: 'launch', n, spec, stdin });
			};
			if (stdin === 'open' && !isClosed) start();
			return {
				get isAlive() {
					return !isClosed && !remote.isOver && reason === null && (own === null || own.isAlive);
				},
				begin(limits, input, onOutput) {
					const why = reason ?? (isClosed ? 'killed' : null);
					if (why) return Promise.resolve({ ...failed(''), ended: why, spawnError: undefined });
					if (own && !own.isAlive) return Promise.resolve(failed(RUNNER_ENDED));
					return new Promise((resolve) => {
						remote.resolve = resolve;
						remote.onOutput = onOutput;
						if (!own) start();
						own?.hold();
						own?.send({ type: 'begin', n, limits, input });
					});
				},
				end(why) {
					reason ??= why;
					own?.end(n, why);
				}
			};
		},
		async close() {
			isClosed = true;
			await runner?.close();
		}
	};
}

function runnerEnvironment(): Record<string, string> {
	const { TMPDIR } = process.env;
	// The folder has a subfolder per Node version. Older versions of Node have no compile cache.
	const compiled = (nodeModule as Partial<typeof nodeModule>).getCompileCacheDir?.();
	return {
		...(TMPDIR ? { TMPDIR } : {}),
		...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) })
	};
}

const RUNNER_ENDED = 'The process that starts scripts ended, so all running scripts were stopped.';

type Runner = ReturnType<typeof startRunner>;

function startRunner(entry: string, log: (message: string) => void) {
	const remotes = new Map<number, Remote>();
	const gone = createDeferred<void>();
	let isAlive = true;
	const child = fork(entry, [], {
		execPath: process.execPath,
		execArgv: [],
		serialization: 'advanced',
		env: runnerEnvironment(),
		stdio: ['ignore', 'ignore', 'inherit', 'ipc']
	});
	const rest = () => {
		if ([...remotes.values()].some(({ resolve }) => resolve)) return;
		child.unref();
		child.channel?.unref();
	};
	const fail = async (why: string) => {
		if (!isAlive) return;
		isAlive = false;
		const left = [...remotes.values()];
		remotes.clear();
		const ran = left.filter(({ resolve }) => resolve).length;
		if (ran > 0) log(`The process that starts scripts ended (${why}) while ${ran} was running.`);
		// Settled, so that every caller gets a result even if one can’t be ended.
		await Promise.allSettled(left.map(endRemote));
		for (const remote of left) remote.resolve?.(failed(RUNNER_ENDED));
		gone.resolve();
	};
	child.on('error', (error) => void fail(error.message));
	child.once('exit', (code, signal) => void fail(signal ?? `code ${code}`));
	child.on('message', (message: FromRunner) => {
		const remote = remotes.get(message.n);
		if (!remote) return;
		if (message.type === 'spawned') remote.pid = message.pid;
		else if (message.type === 'exited') {
			remote.isOver = true;
			remote.pid = null;
			if (remote.isDiscarded) remotes.delete(message.n);
		} else if (message.type === 'output') remote.onOutput?.(message.stream, message.text);
		else {
			remotes.delete(message.n);
			rest();
			remote.resolve?.(message.result);
		}
	});
	rest();
	const send = (message: ToRunner) => void (child.connected && child.send(message, () => undefined));
	const end = (n: number, reason: 'aborted' | 'killed') => {
		const remote = remotes.get(n);
		if (!remote) return;
		send({ type: 'end', n, reason });
		if (remote.resolve) return;
		remote.isDiscarded = true;
		if (remote.isOver) remotes.delete(n);
	};
	return {
		get isAlive() {
			return isAlive && child.connected;
		},
		add: (n: number, remote: Remote) => void remotes.set(n, remote),
		send,
		end,
		/** Keeps the host alive while a program runs. */
		hold() {
			child.ref();
			child.channel?.ref();
		},
		/** Ends the runner and everything it started. */
		async close(): Promise<void> {
			if (!isAlive) return gone.promise;
			child.ref();
			child.channel?.ref();
			await Promise.all([...remotes].map(([n, remote]) => ended(remote, () => end(n, 'killed'))));
			if (child.connected) child.disconnect();
			await gone.promise;
		}
	};
}

/** Resolves with the program’s result; at once if it only waits, because it ends with the runner. */
function ended(remote: Remote, end: () => void): Promise<void> {
	return new Promise((done) => {
		const { resolve } = remote;
		if (!resolve) return done();
		remote.resolve = (result) => {
			resolve(result);
			done();
		};
		end();
	});
}

/** Ends a program that the runner no longer can. */
async function endRemote({ spec, pid }: Remote): Promise<void> {
	if (pid !== null) signalGroup(pid, 'SIGKILL');
	if (spec.end.kind === 'commands') await runCommand(spec.end.kill, spec.end.env);
}
