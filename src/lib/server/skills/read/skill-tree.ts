/** Reads the folder of a skill whole, for its digest and for a copy of it, and follows no link (FEATURES D8, D9). */
import { createHash, hash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, readlink, realpath, symlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isInside, liesInside } from './files.ts';
import { createPace } from './lean.ts';
import { addMark, type DigestedEntry, digestOfEntries, type FileMarks, isUnchanged } from './safe-read.ts';

/** Of one skill, or of all that are copied. */
export const MAX_BYTES = 2 * 1024 ** 3;
/** Files and folders of one skill. */
export const MAX_ENTRIES = 50_000;
const CHUNK_BYTES = 256 * 1024;
// A FIFO opened without O_NONBLOCK waits for a writer; Windows has neither flag, nor the things they are for.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
/** What lies here only the machine's administrator changes, and every backend shows it: virtual environments link to it. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];

/** A folder as it was read. */
export interface Tree {
	digest: string;
	bytes: number;
	/** Absolute paths of what was read. */
	paths: string[];
	/** One of each path; null when something changed too short a while before to tell later changes from it. */
	marks: FileMarks | null;
}

/** There is more than there may be. */
export class TooLarge extends Error {}

/** SHA-256 of all files of a folder as they are now; null when they cannot be read, or are more than would be copied. */
export async function digestOfFolder(dir: string): Promise<string | null> {
	try {
		return (await readTree(await realpath(dir), MAX_BYTES, null)).digest;
	} catch {
		// Whatever is wrong with it, there is no digest of it; who wants to run it is told.
		return null;
	}
}

/** Where something of the tree goes to: paths relative to it, folders before what is in them. */
interface TreeSink {
	folder(path: string): Promise<void>;
	file(path: string, mode: number): Promise<FileHandle>;
	/** `target` is relative to the link's folder, or a path of the system. */
	link(path: string, target: string): Promise<void>;
}

/** Writes what is read to `stage`, which must not be there; `copied` are the folders and files in it, relative. */
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
			// Whatever the process's mask says: in a sandbox another user may read it.
			await file.chmod(mode & 0o111 ? 0o555 : 0o444);
			files.push(path);
			return file;
		},
		link: (path, target) => symlink(target, join(stage, path))
	});
	for (const path of folders) await chmod(join(stage, path), 0o555);
	return { ...tree, copied: [...folders, ...files] };
}

/** Reads every file below `root`, a real path, and follows no link. @throws TooLarge, or what the system says */
async function readTree(root: string, maxBytes: number, sink: TreeSink | null): Promise<Tree> {
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
			// One that went away or may not be read has nothing for a script.
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

/** Where a link leads that may stand in a copy: inside the folder, or to the system's own files. */
async function linkTarget(root: string, path: string): Promise<string | null> {
	const target = await realpath(path).catch(() => null);
	if (target === null) return null;
	if (isInside(root, target)) return relative(dirname(path), target) || '.';
	return SYSTEM_FOLDERS.some((folder) => isInside(folder, target)) ? target : null;
}

/** What no script finds: a FIFO, a device, a file that may not be read or went away. */
function absent(path: string): DigestedEntry {
	return { path, kind: 'special', sha256: hash('sha256', 'special') };
}

/** null for what is no file that can be read, or does not lie below the root. */
async function readOne(
	root: string,
	path: string,
	room: number,
	sink: TreeSink | null
): Promise<{ sha256: string; bytes: number } | null> {
	const full = join(root, path);
	const source = await open(full, FLAGS).catch(() => null);
	if (!source) return null;
	let copy: FileHandle | null = null;
	try {
		const stats = await source.stat();
		// A folder above it may have become a link to elsewhere since it was listed.
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
