/**
 * The small process that starts scripts for the server, because its `spawn` is quick. It ends with its channel to the
 * server, and everything it started ends with it, even if the server is killed.
 */
import { failed } from '../running.ts';
import { createLauncher } from './launch.ts';
import type { Launched, LaunchLimits, LaunchResult, LaunchSpec, LaunchStdin } from './launcher.ts';

serve();

function serve(): void {
	const programs = new Map<number, Launched>();
	const begun = new Set<number>();
	const numbers = new WeakMap<LaunchSpec, number>();
	// `disconnect` reports a closed channel.
	const send = (message: FromRunner) => void (process.connected && process.send?.(message, () => undefined));
	const launcher = createLauncher({
		onSpawn: (spec, pid) => send({ type: 'spawned', n: numbers.get(spec) ?? 0, pid }),
		onExit: (spec) => send({ type: 'exited', n: numbers.get(spec) ?? 0 })
	});

	const receive = (message: ToRunner) => {
		const { n } = message;
		if (message.type === 'launch') {
			numbers.set(message.spec, n);
			programs.set(n, launcher.launch(message.spec, message.stdin));
			return;
		}
		const program = programs.get(n);
		if (message.type === 'end') {
			program?.end(message.reason);
			// Ended before its use.
			if (!begun.has(n)) programs.delete(n);
			return;
		}
		begun.add(n);
		void program
			?.begin(message.limits, message.input, (stream, text) => send({ type: 'output', n, stream, text }))
			// Unhandled, an error of one program would end all the others.
			.catch((error: unknown) => failed(String(error)))
			.then((result) => {
				programs.delete(n);
				begun.delete(n);
				send({ type: 'result', n, result });
			});
	};

	// Ctrl+C reaches the whole group, but the server decides what happens to scripts.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
	process.on('message', receive);
	process.on('disconnect', () => void launcher.close().finally(() => process.exit()));
}

/** Messages between server and runner, as plain data. `n` numbers the programs of a runner. */
export type ToRunner =
	| { type: 'launch'; n: number; spec: LaunchSpec; stdin: LaunchStdin }
	| { type: 'begin'; n: number; limits: LaunchLimits; input?: string }
	| { type: 'end'; n: number; reason: 'aborted' | 'killed' };

export type FromRunner =
	/** It runs as the leader of group `pid`. */
	| { type: 'spawned'; n: number; pid: number }
	| { type: 'exited'; n: number }
	| { type: 'output'; n: number; stream: 'stdout' | 'stderr'; text: string }
	| { type: 'result'; n: number; result: LaunchResult };
