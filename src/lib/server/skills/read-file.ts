/** Reads a piece of a skill's file, and never one that lies elsewhere (FEATURES C6, C9). */
import { constants } from 'node:fs';
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { FilePage } from './operations.ts';
import { isInside, leavesFolder, listTree } from './resources.ts';
import { SkillError } from './types.ts';

const DEFAULT_LIMIT = 64 * 1024;
const MAX_LIMIT = 1024 * 1024;
/** Of the files that there are, as many are named where one is missing. */
const MAX_FILES_SHOWN = 50;
/** A NUL in so many first bytes means that the file is no text. */
const SNIFFED_BYTES = 4096;
// A FIFO opened without O_NONBLOCK waits for a writer; Windows has neither flag, nor the things they are for.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * At most `limit` bytes from `offset` on, cut at characters.
 * @throws SkillError `ScriptNotAllowed` for a path that leaves the folder or is no text, `FileNotFound` with what there is
 */
export async function readSkillFile(
	dir: string,
	requested: string,
	{ offset = 0, limit = DEFAULT_LIMIT }: { offset?: number; limit?: number } = {}
): Promise<FilePage> {
	const root = await realpath(dir).catch(() => {
		throw new SkillError('FileNotFound', 'The folder of this skill is gone.', 'Use another skill.');
	});
	const path = await insidePath(root, requested);
	const file = await open(path, FLAGS).catch(() => {
		throw notAllowed(requested, 'it cannot be opened');
	});
	try {
		const { size } = await checked(file, root, path, requested);
		const head = await readAt(file, 0, Math.min(size, SNIFFED_BYTES));
		if (head.includes(0)) throw notAllowed(requested, 'it is a binary file');
		const bytes = await readAt(file, Math.min(offset, size), Math.min(limit, MAX_LIMIT, Math.max(0, size - offset)));
		const end = Math.min(offset, size) + bytes.length;
		const isLast = end >= size;
		// A character that the limit cuts in half belongs to the next piece.
		const decoder = new StringDecoder('utf8');
		const text = decoder.write(bytes) + (isLast ? decoder.end() : '');
		const nextOffset = isLast ? null : end - undecoded(bytes);
		return { text, offset, nextOffset: nextOffset === offset ? end : nextOffset, totalBytes: size };
	} finally {
		await file.close();
	}
}

async function insidePath(root: string, requested: string): Promise<string> {
	if (leavesFolder(requested)) throw notAllowed(requested, 'it must be a path inside the skill\u2019s folder');
	let path: string;
	try {
		path = await realpath(resolve(root, requested));
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? '';
		if (!['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) throw notAllowed(requested, (error as Error).message);
		const { files, truncated } = await listTree(root);
		const more = truncated || files.length > MAX_FILES_SHOWN ? ', …' : '';
		throw new SkillError(
			'FileNotFound',
			`There is no file “${requested.slice(0, 200)}” in this skill.`,
			`Its files: ${files.slice(0, MAX_FILES_SHOWN).join(', ')}${more}`
		);
	}
	if (!isInside(root, path)) throw notAllowed(requested, 'it is a link that leaves the skill\u2019s folder');
	return path;
}

/** What was opened must lie inside: a link may have been swapped in since the path was checked. */
async function checked(file: FileHandle, root: string, path: string, requested: string): Promise<{ size: number }> {
	const opened = await file.stat();
	if (!opened.isFile()) throw notAllowed(requested, 'it is not a regular file');
	if (!(await liesInside(file, opened, root, path))) throw notAllowed(requested, 'it was changed while it was read');
	return opened;
}

/**
 * Linux tells where the file lies that was opened, whatever has become of the path; looking at the path again could be
 * fooled by swapping twice. Elsewhere that is the best there is.
 */
export async function liesInside(
	// No types of Node's: the library's own types need none.
	file: { fd: number },
	opened: { ino: number; dev: number },
	root: string,
	path: string
): Promise<boolean> {
	const place = await readlink(`/proc/self/fd/${file.fd}`).catch(() => null);
	if (place !== null) return isInside(root, place);
	const now = await realpath(path).catch(() => '');
	const there = isInside(root, now) ? await lstat(now).catch(() => null) : null;
	return there?.ino === opened.ino && there.dev === opened.dev;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
	if (length === 0) return Buffer.alloc(0);
	const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
	return buffer.subarray(0, bytesRead);
}

/** Bytes at the end that begin a character without ending it. */
function undecoded(bytes: Buffer): number {
	for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
		const byte = bytes[bytes.length - back] ?? 0;
		if ((byte & 0xc0) === 0x80) continue;
		const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
		return length > back ? back : 0;
	}
	return 0;
}

function notAllowed(path: string, reason: string): SkillError {
	return new SkillError(
		'ScriptNotAllowed',
		`“${path.slice(0, 200).replaceAll('\0', '\\0')}” may not be read: ${reason}.`,
		'Only text files inside the skill’s folder are read; name one by its path from there, e.g. references/forms.md.'
	);
}
