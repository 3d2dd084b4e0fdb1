/** A folder that files of a source are written into before anybody has looked at them; the one check of names and sizes for every source (FEATURES E20; SECURITY, archives). */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { onDisk } from './disk-errors.ts';
import { createEntryNames, quoteEntry } from './entry-names.ts';

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
			throw tooLarge(
				`${quoteEntry(path)} is larger than ${megabytes(limits.fileBytes)}, the most that one file may be.`
			);
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
		throw new AppError('invalid_input', `The entry ${quoteEntry(path)} is refused: another has its name here.`, {
			cause: error
		});
	};
}

export function tooLarge(message: string): AppError {
	return new AppError('too_large', message, { hint: 'Leave out files that the skill does not need.' });
}

/** A limit as people read it. */
export function megabytes(bytes: number): string {
	return bytes >= 1024 * 1024 ? `${Math.floor(bytes / (1024 * 1024))} MB` : `${bytes} bytes`;
}
