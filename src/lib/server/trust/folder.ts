/** Every file of a skill's folder, hidden ones and links included, as one digest that trust can be bound to (FEATURES F4, D9). */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { constants, lstatSync, readdirSync } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { compareNames } from '../skills/read/files.ts';
import { createPace } from '../skills/read/lean.ts';
import { type DigestedEntry, digestOfEntries } from '../skills/read/safe-read.ts';

/** More than this nobody can look at; files and folders together. */
const MAX_ENTRIES = 2000;
const MAX_BYTES = 200 * 1024 * 1024;
/** Characters that are kept: of one file, and of all. */
const MAX_TEXT = 1024 * 1024;
const MAX_TEXTS = 8 * 1024 * 1024;
// A FIFO opened without O_NONBLOCK waits for a writer; Windows has neither flag, nor the things they are for.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

export interface FolderFile extends DigestedEntry {
	bytes: number;
	/** The text; of a link, where it leads to; null for what is no UTF-8 text. */
	text: string | null;
	/** Only the beginning of the text is here. */
	isCut: boolean;
	/** Machine code by its first bytes. */
	isProgram: boolean;
}

export interface FolderContent {
	/** SHA-256 over names, kinds and contents of all files; null when not all of them could be read. */
	digest: string | null;
	/** Sorted by path; those that were read before it was too much. */
	files: FolderFile[];
	/** Why the folder cannot be looked at as a whole. */
	problem: string | null;
}

/** Never throws: what cannot be read is a `problem`. */
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
				// A slice would keep all of the text in memory.
				file.text = Buffer.from(file.text.slice(0, Math.min(room, MAX_TEXT))).toString();
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
	if (entry.isSymbolicLink()) {
		const target = await readlink(path, { encoding: 'buffer' });
		const text = target.toString('utf8');
		return { path: name, kind: 'link', bytes: 0, sha256: hash('sha256', target), text, isCut: false, isProgram: false };
	}
	if (!entry.isFile()) {
		return {
			path: name,
			kind: 'special',
			bytes: 0,
			sha256: hash('sha256', 'special'),
			text: null,
			isCut: false,
			isProgram: false
		};
	}
	const file = await open(path, FLAGS);
	try {
		const stats = await file.stat();
		if (!stats.isFile()) throw new Error('it changed while it was being read');
		const tooLarge = {
			path: name,
			kind: 'file' as const,
			bytes: room + 1,
			sha256: '',
			text: null,
			isCut: false,
			isProgram: false
		};
		if (stats.size > room) return tooLarge;
		// One byte more than it says it has, so that one that grows meanwhile shows.
		const buffer = Buffer.allocUnsafe(stats.size + 1);
		let length = 0;
		for (;;) {
			const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
			if (bytesRead === 0) break;
			length += bytesRead;
			if (length === buffer.length) throw new Error('it changed while it was being read');
		}
		const content = buffer.subarray(0, length);
		const isText = !content.includes(0) && isUtf8(content);
		return {
			path: name,
			kind: 'file',
			bytes: length,
			sha256: hash('sha256', content),
			text: isText ? content.toString('utf8') : null,
			isCut: false,
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

// Tells by `lstat` alone whether a folder is still as it was when its digest was taken: for lists, never for a decision to run.

const SLICE_MS = 4;
/** What was written within the tick of a slow clock may be written again without a new time. */
const TICK_MS = 2000;

/** Inode, size and times of everything in the folder; null when it cannot be told from something newer, or not at all. */
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
		// What changes while it is looked at is not the same.
		return null;
	}
	return marks;
}
