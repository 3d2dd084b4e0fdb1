/** The folder a source is downloaded into before review, with the check of names and sizes shared by every source (E20; SECURITY, archives). */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { markHidden } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { problemOnWindows } from '../safe-path.ts';

/** Nothing is installed if any of these is exceeded. */
export interface InstallLimits {
	/** Size of an archive, or of everything downloaded for one install. */
	packedBytes: number;
	/** Total size of all files, counted as they are written. */
	unpackedBytes: number;
	files: number;
	fileBytes: number;
}

export const INSTALL_LIMITS: InstallLimits = {
	packedBytes: 50 * 1024 * 1024,
	unpackedBytes: 200 * 1024 * 1024,
	files: 1000,
	fileBytes: 10 * 1024 * 1024
};

export interface StagingFolder {
	readonly dir: string;
	readonly limits: Readonly<InstallLimits>;
	readonly files: number;
	readonly bytes: number;
	/**
	 * Writes a regular file, and creates its parent folders. `path` is relative, with `/`. Concurrent calls are allowed.
	 * For sources without permissions, `by-shebang` makes files that start with `#!` executable.
	 * After an error, only `remove` may be called.
	 * @throws AppError `invalid_input` naming the entry (see `createEntryNames`), `too_large`, `storage_full`,
	 * `unavailable` if the disk can’t be written; errors of `content` unchanged
	 */
	add(
		path: string,
		content: Uint8Array | AsyncIterable<Uint8Array>,
		options?: { isExecutable?: boolean | 'by-shebang' }
	): Promise<void>;
	/** Deletes the folder. Idempotent. */
	remove(): Promise<void>;
}

// Windows has no O_NOFOLLOW.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** Creates an empty, uniquely named folder in `parentDir`. @throws AppError `storage_full`, `unavailable` */
export async function createStagingFolder(
	parentDir: string,
	limits: InstallLimits = INSTALL_LIMITS
): Promise<StagingFolder> {
	const dir = join(parentDir, randomUUID());
	await onDisk(mkdir(parentDir, { recursive: true }).then(() => mkdir(dir, { mode: 0o700 })));
	const names = createEntryNames();
	const madeFolders = new Map<string, Promise<unknown>>();
	const counted = { files: 0, bytes: 0 };

	/** Counts before writing, so that concurrent writes can’t exceed a limit. */
	function count(path: string, fileBytes: number, more: number): void {
		counted.bytes += more;
		if (fileBytes > limits.fileBytes) {
			throw tooLarge(`${quoteEntry(path)} is larger than ${megabytes(limits.fileBytes)}, the limit per file.`);
		}
		if (counted.bytes > limits.unpackedBytes) {
			throw tooLarge(`With ${quoteEntry(path)} the files are more than ${megabytes(limits.unpackedBytes)} together.`);
		}
	}

	function makeFolder(segments: string[]): Promise<unknown> {
		const path = segments.join('/');
		const made = madeFolders.get(path) ?? mkdir(join(dir, ...segments), { recursive: true });
		madeFolders.set(path, made);
		return onDisk(made);
	}

	return {
		dir,
		limits,
		get files() {
			return counted.files;
		},
		get bytes() {
			return counted.bytes;
		},
		async add(path, content, { isExecutable = false } = {}) {
			const segments = names.take(path, 'file');
			counted.files += 1;
			if (counted.files > limits.files) {
				throw tooLarge(`With ${quoteEntry(path)} there are more than ${limits.files} files.`);
			}
			if (segments.length > 1) await makeFolder(segments.slice(0, -1));
			const file = await onDisk(open(join(dir, ...segments), NEW_FILE, 0o600)).catch((error: unknown) => {
				// This file system takes two different names for the same one.
				const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
				throw cause?.code === 'EEXIST' ? refusal(path, 'another entry has the same name', error) : error;
			});
			try {
				let written = 0;
				let start = '';
				for await (const chunk of content instanceof Uint8Array ? [content] : content) {
					written += chunk.byteLength;
					count(path, written, chunk.byteLength);
					if (start.length < 2) start += Buffer.from(chunk.subarray(0, 2)).toString('latin1');
					await onDisk(writeAll(file, chunk));
				}
				const isScript = isExecutable === 'by-shebang' ? start.startsWith('#!') : isExecutable;
				await onDisk(file.chmod(isScript ? 0o700 : 0o600));
			} finally {
				await onDisk(file.close());
			}
		},
		remove: () => onDisk(rm(dir, { recursive: true, force: true, maxRetries: 3 }))
	};
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
	let offset = 0;
	while (offset < chunk.byteLength) offset += (await file.write(chunk, offset)).bytesWritten;
}

export function tooLarge(message: string): AppError {
	return new AppError('too_large', message, { hint: 'Remove files that the skill doesn’t need.' });
}

export function megabytes(bytes: number): string {
	return bytes >= 1024 * 1024 ? `${Math.floor(bytes / (1024 * 1024))} MB` : `${bytes} bytes`;
}

// Names of entries, checked alike for every source: a name that one system refuses is refused on all (SECURITY, archives; FEATURES E20).

const MAX_PATH_CHARS = 1024;
const MAX_LEVELS = 12;
/** The lowest limit of Linux, macOS and Windows. */
const MAX_SEGMENT_BYTES = 255;
const SHOWN_CHARS = 100;
/** Files of operating systems and version control, lower-case. */
const LEFT_OUT = new Set(['__macosx', '.ds_store', '.git', 'thumbs.db', 'desktop.ini']);

/** Splits a relative path with `/` that is valid on every system. @throws AppError `invalid_input` with entry and reason */
export function checkEntryName(path: string): string[] {
	const segments = path.split('/');
	const problem = problemOfPath(path, segments) ?? segments.map(problemOfSegment).find((found) => found !== null);
	if (problem) throw refusal(path, problem);
	return segments;
}

/** The names taken so far in one folder. */
export function createEntryNames() {
	/** By folded path. */
	const taken = new Map<string, { path: string; kind: 'file' | 'folder' }>();
	/** Folded paths of folders, so that each name is folded once. */
	const folders = new Map<string, string>();

	/** @returns the folded path */
	function takeOne(path: string, kind: 'file' | 'folder', entry: string): string {
		const slash = path.lastIndexOf('/');
		const above = slash < 0 ? null : path.slice(0, slash);
		const keyAbove = above === null ? '' : (folders.get(above) ?? takeOne(above, 'folder', entry));
		const key = `${keyAbove}/${foldName(path.slice(slash + 1))}`;
		const other = taken.get(key);
		if (other && other.path !== path) {
			throw refusal(entry, `it differs from ${quoteEntry(other.path)} only in case or Unicode form`);
		}
		if (other && other.kind !== kind) throw refusal(entry, `${quoteEntry(path)} is both a file and a folder`);
		if (other && kind === 'file') throw refusal(entry, 'it appears twice');
		taken.set(key, { path, kind });
		if (kind === 'folder') folders.set(path, key);
		return key;
	}

	return {
		/**
		 * Takes a path and its parent folders.
		 * @returns its segments
		 * @throws AppError `invalid_input`: see `checkEntryName`; duplicate files, names that differ only in case or Unicode
		 * form, a file with the name of a folder
		 */
		take(path: string, kind: 'file' | 'folder'): string[] {
			const segments = checkEntryName(path);
			takeOne(path, kind, path);
			return segments;
		}
	};
}

/** Whether a path belongs to no skill (`.git/`, `__MACOSX/`, `.DS_Store`); such files are skipped with a note. */
export function isLeftOut(path: string): boolean {
	return path.split('/').some((segment) => LEFT_OUT.has(segment.toLowerCase()));
}

/** The name in quotes, shortened, with invisible characters marked. */
export function quoteEntry(path: string): string {
	const shown = path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}…` : path;
	return `“${markHidden(shown.toWellFormed())}”`;
}

/** `problem` continues “was refused: ”. */
export function refusal(path: string, problem: string, cause?: unknown): AppError {
	return new AppError('invalid_input', `The entry ${quoteEntry(path)} was refused: ${problem}.`, { cause });
}

function problemOfPath(path: string, segments: string[]): string | null {
	if (path === '') return 'its name is empty';
	if (path.length > MAX_PATH_CHARS) return `its path is longer than ${MAX_PATH_CHARS} characters`;
	if (path.startsWith('/')) return 'its path is absolute';
	if (/^[A-Za-z]:/.test(path)) return 'its path starts with a drive letter';
	if (path.includes('\\')) return 'its path contains a backslash';
	if (segments.length > MAX_LEVELS) return `it’s nested more than ${MAX_LEVELS} levels deep`;
	return null;
}

function problemOfSegment(segment: string): string | null {
	// A system that normalises names may turn lookalikes into dots.
	const plain = segment.normalize('NFKC');
	if (segment === '') return 'part of its path is empty';
	if (plain.split(/[/\\]/).some((part) => part === '.' || part === '..')) return 'its path leads outside the folder';
	if (markHidden(segment) !== segment || !segment.isWellFormed())
		return 'its name contains control or invisible characters';
	if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `its name is longer than ${MAX_SEGMENT_BYTES} bytes`;
	return problemOnWindows(segment);
}

/** Equal for all names that some file system treats as one. Upper case first, because “ß” becomes “SS”. */
function foldName(path: string): string {
	return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

// Errors of the file system as AppErrors.

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const READ_ONLY = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Turns an error of a file operation into `storage_full` or `unavailable`; returns other errors unchanged. */
export function diskError(error: unknown): unknown {
	if (error instanceof AppError) return error;
	const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
	if (typeof code !== 'string' || typeof syscall !== 'string') return error;
	const fail = (kind: 'storage_full' | 'unavailable', message: string) => new AppError(kind, message, { cause: error });
	if (FULL.has(code)) return fail('storage_full', 'The disk is full. Free some space and try again.');
	if (READ_ONLY.has(code)) {
		return fail('unavailable', `Can’t write to the data folder (${code}). Check its permissions and try again.`);
	}
	return fail('unavailable', `The data folder isn’t working (${code}). Check the disk and try again.`);
}

/** Awaits a file operation. @throws its error, by `diskError` */
export async function onDisk<T>(operation: Promise<T>): Promise<T> {
	try {
		return await operation;
	} catch (error) {
		throw diskError(error);
	}
}
