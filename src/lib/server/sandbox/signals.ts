/** How a started program is asked to end, and ended: by signals to its group, or by commands of the host. */
import { execFile, type ChildProcess } from 'node:child_process';
import type { LaunchEnd } from './launcher.ts';
import type { StartedProgram } from './start-program.ts';

/** A command that ends a container answers within this time, or is given up. */
const COMMAND_MS = 10_000;

/** Sends to the whole group; that it is gone already is what was wanted. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(process.platform === 'win32' ? pid : -pid, signal);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== 'ESRCH' && code !== 'EPERM') throw error;
	}
}

/** Asks it to end. */
export async function askToEnd(end: LaunchEnd, { child, innerPid }: StartedProgram): Promise<void> {
	if (child.pid === undefined) return;
	if (end.kind === 'commands') return runCommand(end.term, end.env);
	// Before the first inside is known there is nobody who could tidy up.
	signalGroup(end.kind === 'inner' ? (innerPid ?? child.pid) : child.pid, 'SIGTERM');
}

/** Ends it at once. */
export async function endNow(end: LaunchEnd, child: ChildProcess): Promise<void> {
	if (child.pid === undefined) return;
	if (end.kind === 'commands') await runCommand(end.kill, end.env);
	signalGroup(child.pid, 'SIGKILL');
}

/** Runs one of those commands; that it fails (the container is gone) changes nothing. */
export function runCommand([file, ...args]: string[], env: Record<string, string> = {}): Promise<void> {
	return new Promise((resolve) => {
		if (!file) return resolve();
		execFile(file, args, { env, timeout: COMMAND_MS, killSignal: 'SIGKILL' }, () => resolve());
	});
}
