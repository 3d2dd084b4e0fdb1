/** Detects changes of files and folders by `stat` alone (A32). */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SkillIssue } from '../types.ts';
import { compareNames, isInside, READ_FLAGS } from './files.ts';

/** Marks to compare later, five numbers each. One list for several takes a third of the memory of many lists. */
export type FileMarks = readonly number[];
const NUMBERS = 5;

/**
 * Slowest tick of a file system's clock, within which a second change gets no new time. Most tick every 1 to 10 ms;
 * times in whole seconds come from a coarse clock.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2000;

/** Adds the mark of `path`; false if it's missing or too new to detect changes. Call it before reading. */
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

/** The same for a file that this process just wrote and nobody else should, so being new doesn't matter. */
export function addOwnMark(marks: number[], path: string): void {
	pushMark(marks, statSync(path));
}

function pushMark(marks: number[], { dev, ino, size, mtimeMs, ctimeMs }: Stats): void {
	marks.push(dev, ino, size, mtimeMs, ctimeMs);
}

/** True if `path` still matches the mark at `index`. */
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

// Reads a skill's file safely: it may be a FIFO, a device, a link elsewhere or gigabytes long (A24).

const MAX_BYTES = 2 * 1024 * 1024;

/** Reads a UTF-8 text file of at most 2 MiB inside its folder, without ever waiting. @throws Error with the reason */
export function readSafely(path: string, isLink: boolean): Buffer {
	const bytes = readBytes(path, isLink);
	if (bytes.includes(0)) throw new Error('is a binary file');
	if (!isUtf8(bytes)) throw new Error('isn’t UTF-8 text');
	return bytes;
}

/**
 * The same for a SKILL.md, which is used as far as it can be: invalid bytes read as \uFFFD, a text of Windows in UTF-16 is
 * converted, and of a longer file the beginning is read. Each is an issue.
 */
export function readSkillText(path: string, isLink: boolean): { bytes: Buffer; text: string; issues: SkillIssue[] } {
	const issues: SkillIssue[] = [];
	const warn = (message: string, fix: string) => {
		issues.push({ field: '_', severity: 'warning', line: 1, message, fix });
	};
	const read = readBytes(path, isLink, {
		onCut: (size) =>
			warn(`is larger than 2 MiB (${size} bytes), so only its beginning is used`, 'move details to other files')
	});
	const encoding = utf16Of(read);
	if (encoding) {
		warn('is UTF-16 text, which other clients can’t read', 'save the file as UTF-8');
		return { bytes: read, text: new TextDecoder(encoding).decode(read), issues };
	}
	const bytes = issues.length > 0 ? withoutLastCharacter(read) : read;
	if (bytes.includes(0)) throw new Error('is a binary file');
	if (!isUtf8(bytes)) issues.push(notUtf8(bytes));
	return { bytes, text: bytes.toString(), issues };
}

/** The last one may be cut in two. */
function withoutLastCharacter(bytes: Buffer): Buffer {
	let end = bytes.length - 1;
	while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
	return bytes.subarray(0, end);
}

/** By the byte order mark that Windows writes. */
function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
	const mark = bytes.length > 1 ? bytes.readUInt16BE(0) : 0;
	return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : null;
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

/** `onCut` allows a larger file, whose first 2 MiB are read. */
function readBytes(path: string, isLink: boolean, { onCut }: { onCut?: (size: number) => void } = {}): Buffer {
	const file = openSync(isLink ? linkedFile(path) : path, READ_FLAGS);
	try {
		const entry = fstatSync(file);
		if (!entry.isFile()) throw new Error('isn’t a regular file');
		const isCut = entry.size > MAX_BYTES;
		if (isCut && !onCut) throw new Error(`is larger than 2 MiB (${entry.size} bytes)`);
		if (isCut) onCut?.(entry.size);
		const buffer = Buffer.allocUnsafe(Math.min(entry.size, MAX_BYTES));
		return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
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

// The digest of a skill's files, which trust, approvals and copies are bound to (D9, F4).

/** An entry in a skill's folder. */
export interface DigestedEntry {
	/** Relative to the folder, with `/`. */
	path: string;
	/** `special`: a FIFO, a socket, a device. */
	kind: 'file' | 'link' | 'special';
	/** SHA-256 of a file's bytes, of a link's target, or of the word `special`. */
	sha256: string;
}

/** SHA-256 in hexadecimal. Hashes one line per entry, sorted; names are JSON, so none can fake a line end. */
export function digestOfEntries(files: readonly DigestedEntry[], folders: readonly string[]): string {
	const digest = createHash('sha256');
	for (const folder of [...folders].sort(compareNames)) digest.update(`folder ${JSON.stringify(folder)}\n`);
	for (const { kind, sha256, path } of [...files].sort((a, b) => compareNames(a.path, b.path))) {
		digest.update(`${kind} ${sha256} ${JSON.stringify(path)}\n`);
	}
	return digest.digest('hex');
}
