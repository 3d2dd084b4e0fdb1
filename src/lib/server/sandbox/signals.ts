/** How a started program is asked to end, and ended: by signals to its group, or by commands of the host. */
import { spawn } from 'node:child_process';
import type { LaunchEnd } from './launcher.ts';
import type { StartedProgram } from './start-program.ts';

/** Namespaces are made within some milliseconds, on a busy machine within many. */
const INNER_MS = 1000;
/** A command to a container runtime that has nothing to wait for answers within this time; else the runtime hangs. */
export const COMMAND_MS = 5_000;

/** Sends to the whole group; that it is gone already is what was wanted. */
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

/** Asks it to end. */
export async function askToEnd(end: LaunchEnd, started: StartedProgram): Promise<void> {
	const { child } = started;
	if (child.pid === undefined) return;
	if (end.kind === 'commands') return runCommand(end.term, end.env);
	const inner = end.kind === 'inner' ? await innerOf(started) : null;
	// Before there is a first inside there is nobody who could tidy up.
	signalGroup(inner ?? child.pid, 'SIGTERM');
}

/** Ends it at once. */
export async function endNow(end: LaunchEnd, started: StartedProgram): Promise<void> {
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
 * The first process inside, once it is there. It makes a session of its own and dies with the one outside only from some
 * moment of its beginning on: an outside that is ended before leaves it behind, so it is waited for, and ended first.
 */
async function innerOf({ child, innerPid }: StartedProgram): Promise<number | null> {
	let timer: NodeJS.Timeout | undefined;
	const patience = new Promise<null>((resolve) => (timer = setTimeout(resolve, INNER_MS, null)));
	const pid = await Promise.race([innerPid, patience]);
	clearTimeout(timer);
	// With the one outside it has gone too, and its number may be another's.
	return child.exitCode === null && child.signalCode === null ? pid : null;
}

/** Runs one of those commands; that it fails (the container is gone) changes nothing. One that hangs is given up, with what it started. */
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
