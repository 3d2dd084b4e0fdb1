/** Runs a Node program in a real bubblewrap, without root's powers, where a folder is a disk of its own, small or read-only. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface SmallDisk {
	/** An existing folder: the disk appears there, empty. */
	dir: string;
	/** The disk's size; `read-only` keeps the folder's content, and nothing can be written anywhere. */
	bytes: number | 'read-only';
}

/** @returns the stdout of the program (a module with absolute imports) */
export async function runOnDisk({ dir, bytes }: SmallDisk, program: string): Promise<string> {
	const disk = bytes === 'read-only' ? [] : ['--size', String(bytes), '--tmpfs', dir];
	const node = [process.execPath, '--input-type=module', '--eval', program];
	const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--cap-drop', 'ALL', ...disk, ...node];
	const { stdout } = await promisify(execFile)('bwrap', args);
	return stdout;
}
