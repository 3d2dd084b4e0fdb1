/** Looks at processes of the machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

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

/** Command lines of running processes whose parent has ended. */
export function orphans(): string[] {
	if (!existsSync('/proc/self/stat')) {
		const { stdout } = spawnSync('ps', ['-e', '-o', 'ppid=,args='], { encoding: 'utf8' });
		return stdout.split('\n').filter((line) => /^\s*1\s/.test(line));
	}
	return readdirSync('/proc').flatMap((name) => {
		try {
			if (!/^\d+$/.test(name) || !/\) [^ZX] 1 /.test(readFileSync(`/proc/${name}/stat`, 'utf8'))) return [];
			return [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')];
		} catch {
			// It has ended between two looks.
			return [];
		}
	});
}

/**
 * Ids of running processes whose command line has this text in it. In a sandbox a process has another id than outside,
 * so a test finds it by a text that nothing else has, `sleep 98765.4321` say.
 */
export function processesWith(text: string): number[] {
	const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 });
	const lines = stdout.split('\n').filter((line) => line.includes(text) && !/^\s*\d+\s+[ZX]/.test(line));
	return lines.map((line) => Number.parseInt(line, 10));
}
