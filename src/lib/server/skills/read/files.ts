/** Lists, resolves and reads files in a skill's folder, never outside it (D1, D5, D8, C8). */
import { constants } from 'node:fs';
import { access, type FileHandle, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import nodePath, { basename, join, posix, resolve, win32 } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { readUpTo } from '../../foreign-folders.ts';
import type { FilePage } from '../call/operations.ts';
import { SkillError } from '../types.ts';

const SCRIPT_EXTENSIONS = ['.py', '.js', '.mjs', '.cjs', '.ts', '.sh', '.bash'] as const;

const MAX_FILES = 100;
const MAX_FOLDERS = 200;
const MAX_DEPTH = 6;

/** The part of `Dirent` a listing needs, declared here so that the library's types don't depend on Node's. */
interface FolderEntry {
	name: string;
	isFile(): boolean;
	isDirectory(): boolean;
}

/** Part of `node:path`, declared here for the same reason. */
interface PathRules {
	relative(from: string, to: string): string;
	isAbsolute(path: string): boolean;
	sep: string;
}

type ReadFolder = (folder: string) => Promise<FolderEntry[]>;

/** Paths of files below `dir`, relative with `/`, sorted; skips hidden files, `node_modules` and links; at most 100. */
export async function listFiles(dir: string, readFolder?: ReadFolder): Promise<string[]> {
	return (await listTree(dir, readFolder)).files;
}

/** `listFiles`, and whether it was cut at 100 files, 200 folders or six levels (C8). */
export async function listTree(
	dir: string,
	readFolder: ReadFolder = (folder) => readdir(folder, { withFileTypes: true })
): Promise<{ files: string[]; truncated: boolean }> {
	const files: string[] = [];
	const folders = [{ path: '', depth: 0 }];
	let isCut = false;
	let count = 0;
	for (let folder = folders.shift(); folder; folder = folders.shift()) {
		if ((count += 1) > MAX_FOLDERS || files.length === MAX_FILES) {
			isCut = true;
			break;
		}
		// A folder that vanished or can't be read counts as empty.
		const entries = await readFolder(folder.path ? join(dir, folder.path) : dir).catch(() => []);
		for (const entry of entries.sort((a, b) => compareNames(a.name, b.name))) {
			if (isLeftOut(entry.name)) continue;
			const path = folder.path ? `${folder.path}/${entry.name}` : entry.name;
			if (entry.isDirectory()) {
				if (folder.depth < MAX_DEPTH) folders.push({ path, depth: folder.depth + 1 });
				else isCut = true;
			}
			if (!entry.isFile()) continue;
			if (files.length < MAX_FILES) files.push(path);
			else isCut = true;
		}
	}
	return { files: files.sort(), truncated: isCut };
}

/** True for names that are never part of a skill. */
export function isLeftOut(name: string): boolean {
	return name.startsWith('.') || name === 'node_modules' || name === '__pycache__';
}

/** Compares by code unit, so the order is the same on every computer. */
export function compareNames(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

/** Files with a script's extension (D5). */
export function scriptsOf(files: readonly string[]): string[] {
	return files.filter((file) => SCRIPT_EXTENSIONS.some((extension) => file.endsWith(extension)));
}

/** True when `path` is `root` or below it. Both must be real paths. */
export function isInside(root: string, path: string, { relative, sep, isAbsolute }: PathRules = nodePath): boolean {
	const between = relative(root, path);
	return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between));
}

/** True for anything but a relative path inside a folder, by the rules of every system; on Windows also for devices. */
export function leavesFolder(path: string, platform: string = process.platform): boolean {
	const segments = path.split(/[\\/]/);
	const isDevice = (segment: string) =>
		platform === 'win32' && /^(con|prn|aux|nul|com\d|lpt\d) *(\.|:|$)/i.test(segment);
	return (
		path === '' ||
		path.includes('\0') ||
		posix.isAbsolute(path) ||
		win32.isAbsolute(path) ||
		/^[A-Za-z]:/.test(path) ||
		// Windows strips trailing spaces and dots.
		segments.some((segment) => /^\.\.[. ]*$/.test(segment) || isDevice(segment))
	);
}

/**
 * Resolves a script's path, or a bare name at the root, in `scripts/`, or anywhere if unique (D1).
 * @throws SkillError `ScriptNotAllowed` for a path that leaves the folder, `ScriptNotFound` with the available scripts
 */
export async function resolveScript(dir: string, requested: string): Promise<{ path: string; name: string }> {
	const script = requested.replace(/^(\.\/)+/, '');
	if (leavesFolder(script)) {
		throw cannotRun(requested, 'it must be a path inside the skill\u2019s folder');
	}
	const root = await realpath(dir).catch((error: unknown) => {
		if (!isMissing(error)) throw error;
		throw new SkillError('ScriptNotFound', 'The folder of this skill is gone.', 'Use another skill.');
	});
	for (const candidate of [script, `scripts/${script}`]) {
		const found = await realFile(root, candidate, requested);
		if (found) return { path: found, name: candidate };
	}
	const files = await listFiles(root);
	const named = files.filter((file) => basename(file) === script);
	if (named.length === 1 && named[0]) {
		const found = await realFile(root, named[0], requested);
		if (found) return { path: found, name: named[0] };
	}
	const scripts = scriptsOf(files);
	throw new SkillError(
		'ScriptNotFound',
		`“${requested}” isn’t a script of this skill.`,
		scripts.length > 0 ? `Its scripts: ${scripts.join(', ')}` : 'This skill has no scripts. Follow its instructions.'
	);
}

async function realFile(root: string, candidate: string, requested: string): Promise<string | null> {
	let path: string;
	try {
		path = await realpath(resolve(root, candidate));
	} catch (error) {
		if (isMissing(error)) return null;
		throw cannotRun(requested, (error as Error).message);
	}
	if (!isInside(root, path)) throw cannotRun(requested, 'it’s a link to a file outside the skill');
	if (!(await stat(path)).isFile()) throw cannotRun(requested, 'it isn’t a regular file');
	return path;
}

function isMissing(error: unknown): boolean {
	const code = (error as NodeJS.ErrnoException).code;
	return code === 'ENOENT' || code === 'ENOTDIR';
}

function cannotRun(script: string, reason: string): SkillError {
	return new SkillError(
		'ScriptNotAllowed',
		`Can’t run “${script.replaceAll('\0', '\\0')}”: ${reason}.`,
		'Use the script’s path from the skill’s folder, e.g. scripts/run.py.'
	);
}

export async function isExecutable(path: string): Promise<boolean> {
	return access(path, constants.X_OK).then(
		() => true,
		() => false
	);
}

/** Reads the first `bytes` of a file as text, to find a shebang or inline dependencies. */
export async function readHead(path: string, bytes: number): Promise<string> {
	const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		return (await readUpTo(file, bytes)).toString();
	} finally {
		await file.close();
	}
}

// Reads part of a file, only inside the skill's folder (C6, C9).

const DEFAULT_LIMIT = 64 * 1024;
const MAX_LIMIT = 1024 * 1024;
/** Files listed in the error for a missing one. */
const MAX_FILES_SHOWN = 50;
/** A NUL in this many first bytes means a binary file. */
const SNIFFED_BYTES = 4096;
/** Opens without following links, and without waiting for a FIFO's writer. Windows has neither flag and needs neither. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Reads up to `limit` bytes from `offset`, cut at character boundaries.
 * @throws SkillError `ScriptNotAllowed` for a path outside or a binary file, `FileNotFound` with the available files
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
	const file = await open(path, READ_FLAGS).catch(() => {
		throw cannotRead(requested, 'it can’t be opened');
	});
	try {
		const { size } = await checked(file, root, path, requested);
		const head = await readUpTo(file, Math.min(size, SNIFFED_BYTES));
		if (head.includes(0)) throw cannotRead(requested, 'it’s a binary file');
		const start = Math.min(offset, size);
		const bytes = await readUpTo(file, Math.min(limit, MAX_LIMIT, size - start), start);
		const end = start + bytes.length;
		const isLast = end >= size;
		// A character split by the limit belongs to the next page.
		const decoder = new StringDecoder('utf8');
		const text = decoder.write(bytes) + (isLast ? decoder.end() : '');
		const nextOffset = isLast ? null : end - undecoded(bytes);
		return { text, offset, nextOffset: nextOffset === offset ? end : nextOffset, totalBytes: size };
	} finally {
		await file.close();
	}
}

async function insidePath(root: string, requested: string): Promise<string> {
	if (leavesFolder(requested)) throw cannotRead(requested, 'it must be a path inside the skill\u2019s folder');
	let path: string;
	try {
		path = await realpath(resolve(root, requested));
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? '';
		if (!['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) throw cannotRead(requested, (error as Error).message);
		const { files, truncated } = await listTree(root);
		const more = truncated || files.length > MAX_FILES_SHOWN ? ', …' : '';
		throw new SkillError(
			'FileNotFound',
			`This skill has no file “${requested.slice(0, 200)}”.`,
			`Its files: ${files.slice(0, MAX_FILES_SHOWN).join(', ')}${more}`
		);
	}
	if (!isInside(root, path)) throw cannotRead(requested, 'it’s a link to a file outside the skill');
	return path;
}

/** Checks the opened file: a link may have been swapped in since the path was checked. */
async function checked(file: FileHandle, root: string, path: string, requested: string): Promise<{ size: number }> {
	const opened = await file.stat();
	if (!opened.isFile()) throw cannotRead(requested, 'it isn’t a regular file');
	if (!(await liesInside(file, opened, root, path))) throw cannotRead(requested, 'it changed while it was being read');
	return opened;
}

/** True if an open file is inside `root`. On Linux even a swapped link can't fool it. */
export async function liesInside(
	// Not Node's types, so that the library's types don't depend on them.
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

/** Number of trailing bytes that start an incomplete character. */
function undecoded(bytes: Buffer): number {
	for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
		const byte = bytes[bytes.length - back] ?? 0;
		if ((byte & 0xc0) === 0x80) continue;
		const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
		return length > back ? back : 0;
	}
	return 0;
}

function cannotRead(path: string, reason: string): SkillError {
	return new SkillError(
		'ScriptNotAllowed',
		`Can’t read “${path.slice(0, 200).replaceAll('\0', '\\0')}”: ${reason}.`,
		'Only text files of the skill can be read. Use a path from its folder, e.g. references/forms.md.'
	);
}
