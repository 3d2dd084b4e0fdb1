/** A folder that files of a source are written into before anybody has looked at them; the one check of names and sizes for every source (FEATURES E20; SECURITY, archives). */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { markHidden } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { problemOnWindows } from '../safe-path.ts';

/** Bytes and counts; over one of them, nothing is installed. */
export interface InstallLimits {
	/** Of an archive, or of all that is downloaded for one install. */
	packedBytes: number;
	/** Of all files together, counted as they are written. */
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
	/** Absolute path. */
	readonly dir: string;
	readonly limits: Readonly<InstallLimits>;
	/** How many files have been written, and their bytes. */
	readonly files: number;
	readonly bytes: number;
	/**
	 * Writes one regular file; folders on the way are made. `path` is relative, with `/`. Several may be written at once.
	 * Where a source knows nothing of permissions, `by-shebang` makes a file executable that begins with `#!`.
	 * After an error the folder is good for `remove` alone.
	 * @throws AppError `invalid_input` with the entry named (traversal, absolute, Windows names, control characters, a
	 * name that stands twice or differs in case or Unicode form only, a file where a folder is), `too_large`,
	 * `storage_full`, `unavailable` where the disk cannot be written; and what `content` throws, as it is
	 */
	add(
		path: string,
		content: Uint8Array | AsyncIterable<Uint8Array>,
		options?: { isExecutable?: boolean | 'by-shebang' }
	): Promise<void>;
	/** Removes all of it; may be called twice. */
	remove(): Promise<void>;
}

// Windows has no such flag, nor the links it is for.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Makes an empty folder with a name of its own below `parentDir`, which is made where it is missing.
 * @throws AppError `storage_full`, `unavailable`
 */
export async function createStagingFolder(
	parentDir: string,
	limits: InstallLimits = INSTALL_LIMITS
): Promise<StagingFolder> {
	const dir = join(parentDir, randomUUID());
	await onDisk(mkdir(parentDir, { recursive: true }).then(() => mkdir(dir, { mode: 0o700 })));
	const names = createEntryNames();
	const madeFolders = new Map<string, Promise<unknown>>();
	const counted = { files: 0, bytes: 0 };

	/** Counts before anything is written, so that no limit is passed even while several files are written at once. */
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
			const file = await onDisk(open(join(dir, ...segments), NEW_FILE, 0o600)).catch(orTwin(path));
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

/** Names that differ by a rule of this file system alone. */
function orTwin(path: string) {
	return (error: unknown): never => {
		const cause = error instanceof AppError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
		if (cause?.code !== 'EEXIST') throw error;
		throw new AppError('invalid_input', `The entry ${quoteEntry(path)} was refused: another entry has the same name.`, {
			cause: error
		});
	};
}

export function tooLarge(message: string): AppError {
	return new AppError('too_large', message, { hint: 'Remove files that the skill doesn’t need.' });
}

/** A limit as people read it. */
export function megabytes(bytes: number): string {
	return bytes >= 1024 * 1024 ? `${Math.floor(bytes / (1024 * 1024))} MB` : `${bytes} bytes`;
}

// The one check of names for every source of skills: what is refused on some system is refused on each (SECURITY, archives; FEATURES E20).

const MAX_PATH_CHARS = 1024;
const MAX_LEVELS = 12;
/** What Linux, macOS and Windows allow at least. */
const MAX_SEGMENT_BYTES = 255;
const SHOWN_CHARS = 100;
/** What operating systems and version control leave beside the files of a skill. */
const LEFT_OUT = new Set(['__macosx', '.ds_store', '.git', 'thumbs.db', 'desktop.ini']);

/** All names of one folder, as they come. */
export interface EntryNames {
	/**
	 * Takes a path and the folders on its way.
	 * @returns its segments
	 * @throws AppError `invalid_input`: see `checkEntryName`; a file that stands twice, a name that differs from another
	 * in case or Unicode form only, a file where a folder is or the other way round
	 */
	take(path: string, kind: 'file' | 'folder'): string[];
}

/**
 * Segments of a relative path with `/` that means the same on every system.
 * @throws AppError `invalid_input` that names the entry and says what is wrong with it
 */
export function checkEntryName(path: string): string[] {
	const segments = path.split('/');
	const problem = problemOfPath(path, segments) ?? segments.map(problemOfSegment).find((found) => found !== null);
	if (problem) throw refusal(path, problem);
	return segments;
}

export function createEntryNames(): EntryNames {
	/** By what a file system may take the path for. */
	const taken = new Map<string, { path: string; kind: 'file' | 'folder' }>();
	/** Keys of folders, so that no name is folded twice. */
	const folders = new Map<string, string>();

	/** @returns the key of the path */
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
		take(path, kind) {
			const segments = checkEntryName(path);
			takeOne(path, kind, path);
			return segments;
		}
	};
}

/** Is this no part of any skill (`.git/`, `__MACOSX/`, `.DS_Store`), and left out with a note? */
export function isLeftOut(path: string): boolean {
	return path.split('/').some((segment) => LEFT_OUT.has(segment.toLowerCase()));
}

/** A name as people may read it: in quotes, cut, with marks for what cannot be seen. */
export function quoteEntry(path: string): string {
	const shown = path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}…` : path;
	return `“${markHidden(shown.toWellFormed())}”`;
}

/** `problem` goes on after “is refused: ”. */
export function refusal(path: string, problem: string): AppError {
	return new AppError('invalid_input', `The entry ${quoteEntry(path)} was refused: ${problem}.`);
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
	// What looks like dots may be made into dots by a system that normalises names.
	const plain = segment.normalize('NFKC');
	if (segment === '') return 'part of its path is empty';
	if (plain.split(/[/\\]/).some((part) => part === '.' || part === '..')) return 'its path leads outside the folder';
	if (markHidden(segment) !== segment || !segment.isWellFormed())
		return 'its name contains control or invisible characters';
	if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) return `its name is longer than ${MAX_SEGMENT_BYTES} bytes`;
	return problemOnWindows(segment);
}

/** The same for all names that some file system takes for one; upper case first, since “ß” is “SS” there. */
function foldName(path: string): string {
	return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

// What a file system says, as errors that a caller can act on.

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const READ_ONLY = new Set(['EROFS', 'EACCES', 'EPERM']);

/**
 * An error of a file operation as `storage_full` or `unavailable`; what is no such error (an AppError, a bug) comes back
 * as it is.
 */
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

/** The result of a file operation, its errors as `diskError` has them. */
export async function onDisk<T>(operation: Promise<T>): Promise<T> {
	try {
		return await operation;
	} catch (error) {
		throw diskError(error);
	}
}
