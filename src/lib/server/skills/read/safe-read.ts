/** Tells by `stat` alone whether a file or folder is the one that was read (FEATURES A32). */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SkillIssue } from '../types.ts';
import { compareNames, isInside } from './files.ts';

/**
 * What a later look is compared with, as five numbers each; several lie in one list, which takes a third of the memory
 * of as many lists.
 */
export type FileMarks = readonly number[];
const NUMBERS = 5;

/**
 * A clock of a file system may tick this slowly: what was changed within one tick of being read may change again
 * without a new time. Most tick every 1 to 10 ms; a time of whole seconds comes from one that has no more than those.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2000;

/**
 * Adds the mark of what stands at `path`; false for what could not be told from something newer. To be taken before the
 * reading: a change in between shows as one later.
 */
export function addMark(marks: number[], path: string): boolean {
	const now = Date.now();
	const stats = statSync(path, { throwIfNoEntry: false });
	if (!stats) return false;
	const { mtimeMs, ctimeMs } = stats;
	const tickMs = mtimeMs % 1000 === 0 ? COARSE_TICK_MS : TICK_MS;
	if (Math.max(mtimeMs, ctimeMs) > now - tickMs) return false;
	pushMark(marks, stats);
	return true;
}

/** The same of what this process has just written itself and nobody else should write: it is new, and no doubt for that. */
export function addOwnMark(marks: number[], path: string): void {
	pushMark(marks, statSync(path));
}

function pushMark(marks: number[], { dev, ino, size, mtimeMs, ctimeMs }: Stats): void {
	marks.push(dev, ino, size, mtimeMs, ctimeMs);
}

/** Is what stands at `path` now what the mark at `index` was taken of, unchanged? */
export function isUnchanged(path: string, marks: FileMarks, index: number): boolean {
	const stats = statSync(path, { throwIfNoEntry: false });
	const at = index * NUMBERS;
	return (
		stats !== undefined &&
		stats.ctimeMs === marks[at + 4] &&
		stats.mtimeMs === marks[at + 3] &&
		stats.size === marks[at + 2] &&
		stats.ino === marks[at + 1] &&
		stats.dev === marks[at]
	);
}

// Reads a file of a skill that may be anything: a FIFO, a device, a link to elsewhere, gigabytes (FEATURES A24).

const MAX_BYTES = 2 * 1024 * 1024;
// A FIFO opened without O_NONBLOCK waits for a writer; Windows has neither flag, nor the things they are for.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Bytes of a UTF-8 text file of at most 2 MiB that really lies in its folder, read at once and without ever waiting.
 * @throws Error that says what the file is instead.
 */
export function readSafely(path: string, isLink: boolean): Buffer {
	const bytes = readBytes(path, isLink);
	if (!isUtf8(bytes)) throw new Error('isn’t UTF-8 text');
	return bytes;
}

/**
 * The same of a SKILL.md, which one wrong byte does not make unreadable: it reads as \uFFFD, and the issue says where the
 * first is.
 */
export function readSkillText(path: string, isLink: boolean): { bytes: Buffer; text: string; issues: SkillIssue[] } {
	const bytes = readBytes(path, isLink);
	return { bytes, text: bytes.toString(), issues: isUtf8(bytes) ? [] : [notUtf8(bytes)] };
}

function notUtf8(bytes: Buffer): SkillIssue {
	let line = 1;
	let start = 0;
	for (let end = bytes.indexOf(10); end >= 0 && isUtf8(bytes.subarray(start, end)); end = bytes.indexOf(10, start)) {
		line += 1;
		start = end + 1;
	}
	const message = 'isn’t UTF-8 text, so unreadable bytes are shown as \uFFFD';
	return { field: '_', severity: 'warning', line, message, fix: 'save the file as UTF-8' };
}

function readBytes(path: string, isLink: boolean): Buffer {
	const file = openSync(isLink ? linkedFile(path) : path, FLAGS);
	try {
		const entry = fstatSync(file);
		if (!entry.isFile()) throw new Error('isn’t a regular file');
		if (entry.size > MAX_BYTES) throw new Error(`is larger than 2 MiB (${entry.size} bytes)`);
		const buffer = Buffer.allocUnsafe(entry.size);
		const bytes = buffer.subarray(0, readSync(file, buffer, 0, entry.size, 0));
		if (bytes.includes(0)) throw new Error('is a binary file');
		return bytes;
	} finally {
		closeSync(file);
	}
}

function linkedFile(path: string): string {
	const target = realpathSync.native(path);
	if (!isInside(realpathSync.native(dirname(path)), target)) {
		throw new Error('is a link to a file outside the skill');
	}
	return target;
}

// A skill's files as one text: trust and consent are bound to it, and a copy to run from is named after it (FEATURES D9, F4).

/** What stands at a path below a skill's folder. */
export interface DigestedEntry {
	/** Relative to the folder, with `/`. */
	path: string;
	/** `special`: a FIFO, a socket, a device. */
	kind: 'file' | 'link' | 'special';
	/** SHA-256 of the bytes; of a link, of the path that it leads to; of a special file, of the word `special`. */
	sha256: string;
}

/** SHA-256 in hexadecimal. One line for each entry, in order; a name is JSON, so that none can look like the end of its line. */
export function digestOfEntries(files: readonly DigestedEntry[], folders: readonly string[]): string {
	const digest = createHash('sha256');
	for (const folder of [...folders].sort(compareNames)) digest.update(`folder ${JSON.stringify(folder)}\n`);
	for (const { kind, sha256, path } of [...files].sort((a, b) => compareNames(a.path, b.path))) {
		digest.update(`${kind} ${sha256} ${JSON.stringify(path)}\n`);
	}
	return digest.digest('hex');
}
