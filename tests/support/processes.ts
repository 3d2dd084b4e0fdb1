/** Looks up processes on this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** True while the process runs; a zombie doesn't count. */
export function isRunning(pid: number): boolean {
	return /^[^ZX\s]/.test(existsSync('/proc/self/stat') ? linuxState(pid) : psState(pid));
}

/** The state follows the name, which is in parentheses and may contain anything. */
const linuxState = (pid: number) => /\) (\w)[^)]*$/.exec(linuxFile(pid, 'stat'))?.[1] ?? '';

function psState(pid: number): string {
	return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}

/** Command lines of running processes whose parent has ended. */
export function orphans(): string[] {
	if (!existsSync('/proc/self/stat')) {
		const { stdout } = spawnSync('ps', ['-e', '-o', 'ppid=,args='], { encoding: 'utf8' });
		return stdout.split('\n').filter((line) => /^\s*1\s/.test(line));
	}
	return linuxProcesses()
		.filter((id) => /\) [^ZX] 1 /.test(linuxFile(id, 'stat')))
		.map(linuxCommand)
		.filter(Boolean);
}

const linuxProcesses = () => readdirSync('/proc').map(Number).filter(Boolean);
const linuxCommand = (id: number) => linuxFile(id, 'cmdline').replaceAll('\0', ' ');

/** Empty if the process has ended. */
function linuxFile(id: number, name: 'stat' | 'cmdline'): string {
	try {
		return readFileSync(`/proc/${id}/${name}`, 'utf8');
	} catch (error) {
		if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
		throw error;
	}
}

/**
 * Ids of running processes whose command line contains this text. In a sandbox a process has another id than outside,
 * so tests find it by a unique text such as `sleep 98765.4321`.
 */
export function processesWith(text: string): number[] {
	if (existsSync('/proc/self/stat')) {
		return linuxProcesses().filter((id) => linuxCommand(id).includes(text) && isRunning(id));
	}
	const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,stat=,args='], { encoding: 'utf8', maxBuffer: 64 << 20 });
	const lines = stdout.split('\n').filter((line) => line.includes(text) && !/^\s*\d+\s+[ZX]/.test(line));
	return lines.map((line) => Number.parseInt(line, 10));
}
