/** Reads a skill's whole folder for its digest or a copy, without following links (D8, D9). */
import { createHash, hash } from 'node:crypto';
import { chmod, mkdir, open, readdir, readlink, realpath, symlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isInside, liesInside, READ_FLAGS } from './files.ts';
import { createPace } from './lean.ts';
import { addMark, type DigestedEntry, digestOfEntries, type FileMarks, isUnchanged } from './safe-read.ts';

/** For one skill, or for all copies together. */
export const MAX_BYTES = 2 * 1024 ** 3;
/** Files and folders of one skill. */
export const MAX_ENTRIES = 50_000;
const CHUNK_BYTES = 256 * 1024;
/** Only an administrator changes these, and every sandbox shows them. Virtual environments link into them. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];

export interface Tree {
	digest: string;
	bytes: number;
	/** Absolute paths of everything read. */
	paths: string[];
	/** One per path; null if something changed too recently to detect later changes. */
	marks: FileMarks | null;
}

/** The folder exceeds the limits. */
export class TooLarge extends Error {}

/** SHA-256 of all files in a folder, but for the entry `skipped`; null if it can't be read or is too large to copy. */
export async function digestOfFolder(dir: string, skipped?: string): Promise<string | null> {
	try {
		return (await readTree(await realpath(dir), MAX_BYTES, null, skipped)).digest;
	} catch {
		// Trying to run it will report what is wrong.
		return null;
	}
}

/** The same without the evals, which test the skill and are no part of it. */
export function digestWithoutEvals({ dir }: { dir: string }): Promise<string | null> {
	return digestOfFolder(dir, 'evals');
}

/** Receives a tree: relative paths, folders before their contents. */
interface TreeSink {
	folder(path: string): Promise<void>;
	file(path: string, mode: number): Promise<FileHandle>;
	/** `target` is relative to the link's folder, or a system path. */
	link(path: string, target: string): Promise<void>;
}

/** Copies a tree to `stage`, which must not exist. `copied` are its folders and files, relative. */
export async function copyTree(source: string, stage: string, maxBytes: number): Promise<Tree & { copied: string[] }> {
	const folders: string[] = [];
	const files: string[] = [];
	const tree = await readTree(source, maxBytes, {
		async folder(path) {
			await mkdir(join(stage, path), { mode: 0o700 });
			folders.push(path);
		},
		async file(path, mode) {
			const file = await open(join(stage, path), 'wx', 0o600);
			// Regardless of the umask: in a sandbox another user may read it.
			await file.chmod(mode & 0o111 ? 0o555 : 0o444);
			files.push(path);
			return file;
		},
		link: (path, target) => symlink(target, join(stage, path))
	});
	for (const path of folders) await chmod(join(stage, path), 0o555);
	return { ...tree, copied: [...folders, ...files] };
}

/** Reads every file below `root`, a real path, without following links. @throws TooLarge, or a file system error */
async function readTree(root: string, maxBytes: number, sink: TreeSink | null, skipped?: string): Promise<Tree> {
	const folders: string[] = [];
	const files: DigestedEntry[] = [];
	const paths: string[] = [];
	const marks: number[] = [];
	let isMarked = true;
	let bytes = 0;
	const note = (path: string) => {
		paths.push(path);
		isMarked &&= addMark(marks, path);
	};
	const listed = (folder: string) =>
		readdir(join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
			// A folder that vanished or can't be read has nothing for a script.
			if (folder === '') throw error;
			return [];
		});
	const pending = [''];
	for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
		note(join(root, folder));
		const entries = await listed(folder);
		await sink?.folder(folder);
		for (const entry of entries) {
			const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
			if (path === skipped) continue;
			if (folders.length + files.length >= MAX_ENTRIES) throw new TooLarge();
			const full = join(root, path);
			if (entry.isDirectory()) {
				folders.push(path);
				pending.push(path);
			} else if (entry.isSymbolicLink()) {
				const leadsTo = await readlink(full, { encoding: 'buffer' }).catch(() => null);
				files.push(leadsTo ? { path, kind: 'link', sha256: hash('sha256', leadsTo) } : absent(path));
				const target = await linkTarget(root, full);
				if (target !== null) await sink?.link(path, target);
			} else {
				note(full);
				const file = entry.isFile() ? await readOne(root, path, maxBytes - bytes, sink) : null;
				bytes += file?.bytes ?? 0;
				files.push(file ? { path, kind: 'file', sha256: file.sha256 } : absent(path));
			}
		}
	}
	return { digest: digestOfEntries(files, folders), bytes, paths, marks: isMarked ? marks : null };
}

/** Target of a link that may be copied: inside the folder, or in a system folder. */
async function linkTarget(root: string, path: string): Promise<string | null> {
	const target = await realpath(path).catch(() => null);
	if (target === null) return null;
	if (isInside(root, target)) return relative(dirname(path), target) || '.';
	return SYSTEM_FOLDERS.some((folder) => isInside(folder, target)) ? target : null;
}

/** An entry that scripts don't get: a FIFO, a device, a file that vanished or can't be read. */
function absent(path: string): DigestedEntry {
	return { path, kind: 'special', sha256: hash('sha256', 'special') };
}

/** null for anything but a readable file below the root. */
async function readOne(
	root: string,
	path: string,
	room: number,
	sink: TreeSink | null
): Promise<{ sha256: string; bytes: number } | null> {
	const full = join(root, path);
	const source = await open(full, READ_FLAGS).catch(() => null);
	if (!source) return null;
	let copy: FileHandle | null = null;
	try {
		const stats = await source.stat();
		// A folder above may have been swapped for a link since it was listed.
		if (!stats.isFile() || !(await liesInside(source, stats, root, full))) return null;
		if (stats.size > room) throw new TooLarge();
		copy = (await sink?.file(path, stats.mode)) ?? null;
		const sha256 = createHash('sha256');
		const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, stats.size + 1));
		let bytes = 0;
		for (;;) {
			const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
			if (bytesRead === 0) break;
			bytes += bytesRead;
			if (bytes > room) throw new TooLarge();
			const chunk = buffer.subarray(0, bytesRead);
			sha256.update(chunk);
			await copy?.writeFile(chunk);
		}
		return { sha256: sha256.digest('hex'), bytes };
	} finally {
		await source.close();
		await copy?.close();
	}
}

export async function isAsMarked(paths: readonly string[], marks: FileMarks): Promise<boolean> {
	const pace = createPace();
	for (const [index, path] of paths.entries()) {
		const rest = pace();
		if (rest) await rest;
		if (!isUnchanged(path, marks, index)) return false;
	}
	return true;
}
