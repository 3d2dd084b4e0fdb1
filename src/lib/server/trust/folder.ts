/** Reads every file of a skill's folder, even hidden ones and links, for the digest that is trusted (F4, D9). */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readUpTo } from '../foreign-folders.ts';
import { compareNames, READ_FLAGS } from '../skills/read/files.ts';
import { apart, createPace } from '../skills/read/lean.ts';
import { type DigestedEntry, digestOfEntries } from '../skills/read/safe-read.ts';

/** Files and folders; nobody can check more. */
const MAX_ENTRIES = 2000;
const MAX_BYTES = 200 * 1024 * 1024;
/** Characters kept of one file, and of all. */
const MAX_TEXT = 1024 * 1024;
const MAX_TEXTS = 8 * 1024 * 1024;

export interface FolderFile extends DigestedEntry {
	bytes: number;
	/** UTF-8 text, or a link's target; null for anything else. */
	text: string | null;
	/** `text` is only the beginning. */
	isCut: boolean;
	/** Machine code by its first bytes. */
	isProgram: boolean;
}

export interface FolderContent {
	/** SHA-256 over names, kinds and contents of all files; null if not all could be read. */
	digest: string | null;
	/** Sorted by path; if there is a problem, those read until then. */
	files: FolderFile[];
	/** Why the folder can't be checked completely. */
	problem: string | null;
}

/** Never throws: errors become a `problem`. */
export async function readFolder(dir: string): Promise<FolderContent> {
	const files: FolderFile[] = [];
	const folders: string[] = [];
	const pending = [''];
	let bytes = 0;
	let room = MAX_TEXTS;
	const fail = (problem: string): FolderContent => ({ digest: null, files: files.sort(byPath), problem });
	for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
		const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch((error: Error) => error);
		if (entries instanceof Error) return fail(`Couldn’t read the folder “${folder || '.'}”: ${codeOf(entries)}.`);
		for (const entry of entries) {
			if (files.length + folders.length >= MAX_ENTRIES) {
				return fail(`The folder has more than ${MAX_ENTRIES} files and folders, too many to check.`);
			}
			const path = folder ? `${folder}/${entry.name}` : entry.name;
			if (entry.isDirectory()) {
				folders.push(path);
				pending.push(path);
				continue;
			}
			const file = await readEntry(join(dir, path), path, MAX_BYTES - bytes).catch((error: Error) => error);
			if (file instanceof Error) return fail(`Couldn’t read the file “${path}”: ${codeOf(file)}.`);
			bytes += file.bytes;
			if (file.text !== null && file.text.length > Math.min(room, MAX_TEXT)) {
				file.text = apart(file.text.slice(0, Math.min(room, MAX_TEXT)));
				file.isCut = true;
			}
			room -= file.text?.length ?? 0;
			if (bytes > MAX_BYTES) return fail('The folder has more than 200 MB of files, too much to check.');
			files.push(file);
		}
	}
	files.sort(byPath);
	return { digest: digestOfEntries(files, folders), files, problem: null };
}

async function readEntry(path: string, name: string, room: number): Promise<FolderFile> {
	const entry = await lstat(path);
	const unread = { path: name, bytes: 0, text: null, isCut: false, isProgram: false };
	if (entry.isSymbolicLink()) {
		const target = await readlink(path, { encoding: 'buffer' });
		return { ...unread, kind: 'link', sha256: hash('sha256', target), text: target.toString('utf8') };
	}
	if (!entry.isFile()) return { ...unread, kind: 'special', sha256: hash('sha256', 'special') };
	const file = await open(path, READ_FLAGS);
	try {
		const stats = await file.stat();
		if (!stats.isFile()) throw new Error('it changed while it was being read');
		if (stats.size > room) return { ...unread, kind: 'file', bytes: room + 1, sha256: '' };
		// One byte more than its size, to notice if it grows.
		const content = await readUpTo(file, stats.size + 1);
		if (content.length > stats.size) throw new Error('it changed while it was being read');
		const isText = !content.includes(0) && isUtf8(content);
		return {
			...unread,
			kind: 'file',
			bytes: content.length,
			sha256: hash('sha256', content),
			text: isText ? content.toString('utf8') : null,
			isProgram: !isText && isMachineCode(content)
		};
	} finally {
		await file.close();
	}
}

/** ELF, PE, Mach-O, WebAssembly, Python bytecode, Java classes. */
function isMachineCode(content: Buffer): boolean {
	const magic = content.subarray(0, 4).toString('hex');
	return (
		/^(7f454c46|0061736d|cafebabe|feedface|feedfacf|cefaedfe|cffaedfe)$/.test(magic) ||
		magic.startsWith('4d5a') ||
		(content.length >= 16 && magic.slice(4) === '0d0a')
	);
}

function byPath(a: FolderFile, b: FolderFile): number {
	return compareNames(a.path, b.path);
}

function codeOf({ code, message }: NodeJS.ErrnoException): string {
	return code ?? message;
}

// Detects changes of a folder by `lstat` alone: for lists, never for a decision to run.

const SLICE_MS = 4;
/** Tick of a slow clock, within which a second change gets no new time. */
const TICK_MS = 2000;

/** Inode, size and times of everything in the folder; null if something is too new or can't be read. */
export async function marksOf(dir: string): Promise<string | null> {
	const now = Date.now();
	const pace = createPace(SLICE_MS);
	const pending = [dir];
	let marks = '';
	let count = 0;
	try {
		for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
			for (const entry of readdirSync(folder, { withFileTypes: true })) {
				await pace();
				if ((count += 1) > MAX_ENTRIES) return null;
				const path = join(folder, entry.name);
				const { dev, ino, size, mtimeMs, ctimeMs } = lstatSync(path);
				if (Math.max(mtimeMs, ctimeMs) > now - TICK_MS) return null;
				marks += `${JSON.stringify(path)} ${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
				if (entry.isDirectory()) pending.push(path);
			}
		}
	} catch {
		// It changed while it was being read.
		return null;
	}
	return marks;
}
