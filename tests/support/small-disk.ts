/** Runs a program of Node where a folder is a disk of its own, small or read-only, in a real bubblewrap; without root's powers. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface SmallDisk {
	/** A folder that exists: the disk is there, empty. */
	dir: string;
	/** How much fits on it; `read-only` shows the folder as it is, and nothing can be written anywhere. */
	bytes: number | 'read-only';
}

/** @returns what the program (a module; imports are absolute) writes to its standard output */
export async function runOnDisk({ dir, bytes }: SmallDisk, program: string): Promise<string> {
	const disk = bytes === 'read-only' ? [] : ['--size', String(bytes), '--tmpfs', dir];
	const node = [process.execPath, '--input-type=module', '--eval', program];
	const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--cap-drop', 'ALL', ...disk, ...node];
	const { stdout } = await promisify(execFile)('bwrap', args);
	return stdout;
}
