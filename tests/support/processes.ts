/** Looks at processes of the machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** True while the process runs; one that has ended and only waits for its parent to notice does not. */
export function isRunning(pid: number): boolean {
	return /^[^ZX\s]/.test(existsSync('/proc/self/stat') ? linuxState(pid) : psState(pid));
}

function linuxState(pid: number): string {
	try {
		// The state stands after the name, which is in brackets and may hold anything.
		return /\) (\w)[^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
	} catch (error) {
		if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
		throw error;
	}
}

function psState(pid: number): string {
	return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}
