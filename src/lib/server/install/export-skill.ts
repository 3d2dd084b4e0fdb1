/** Exports a skill as a zip archive that can be installed again; the same files give the same bytes (F8). */
import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { readInPieces } from '../foreign-folders.ts';
import { holdFolder } from '../safe-path.ts';
import { compareNames } from '../skills/read/files.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import { writeZip } from '../zip.ts';
import {
	createEntryNames,
	INSTALL_LIMITS,
	type InstallLimits,
	isLeftOut,
	megabytes,
	quoteEntry,
	tooLarge
} from './staging-folder.ts';

// Without O_NONBLOCK, opening a FIFO waits for a writer. Windows has neither flag.
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** The earliest time in zip format, for every file: modification times must not change the bytes. */
const TIME = new Date(1980, 0, 1);

export interface ExportEntry {
	/** Relative to the skill’s folder, with `/`. */
	path: string;
	bytes: number;
	isExecutable: boolean;
}

/**
 * Yields the archive on demand. Checks everything before the first chunk: what couldn’t be installed again is refused.
 * Skips links and `.git/`.
 * @throws AppError `too_large`, `invalid_input` naming the entry, `conflict` if files disappear meanwhile
 */
export async function exportSkill(
	{ name, dir }: Pick<Skill | BrokenSkill, 'name' | 'dir'>,
	limits: InstallLimits = INSTALL_LIMITS
): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>> {
	return zipEntries(dir, await listEntries({ dir, name }, { limits }), `${folderNameOf(name)}/`);
}

/** The same files give the same bytes. `top` is in front of every path. */
export function zipEntries(
	dir: string,
	entries: readonly ExportEntry[],
	top: string
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
	return writeZip(
		entries.map(({ path, bytes, isExecutable }) => ({
			name: `${top}${path}`,
			modifiedAt: TIME,
			mode: isExecutable ? 0o755 : 0o644,
			isCompressed: true,
			chunks: readWhole(dir, path, bytes)
		}))
	);
}

/** A name that is safe in a header and on every disk. A broken skill may have any name. */
export function folderNameOf(name: string): string {
	const safe = name
		.replace(/[^A-Za-z0-9._-]+/g, '-')
		.replace(/^[.-]+|[.-]+$/g, '')
		.slice(0, 64);
	return safe === '' ? 'skill' : safe;
}

/** What could be installed again, by path. @throws AppError as `exportSkill` */
export async function listEntries(
	{ name, dir }: Pick<Skill | BrokenSkill, 'name' | 'dir'>,
	{ limits = INSTALL_LIMITS, isSkipped = isLeftOut }: { limits?: InstallLimits; isSkipped?: (path: string) => boolean }
): Promise<ExportEntry[]> {
	const names = createEntryNames();
	const entries: ExportEntry[] = [];
	let bytes = 0;
	const pending = [''];
	for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
		for (const each of await readSorted(join(dir, folder), name)) {
			const path = folder ? `${folder}/${each.name}` : each.name;
			if (isSkipped(path)) continue;
			if (each.isDirectory()) pending.push(path);
			if (!each.isFile()) continue;
			names.take(`${folderNameOf(name)}/${path}`, 'file');
			const { size, mode } = await statOf(dir, path);
			bytes += size;
			if (size > limits.fileBytes) throw tooLarge(`${quoteEntry(path)} is larger than ${megabytes(limits.fileBytes)}.`);
			if (bytes > limits.unpackedBytes) {
				throw tooLarge(`The files of “${name}” total more than ${megabytes(limits.unpackedBytes)}.`);
			}
			entries.push({ path, bytes: size, isExecutable: (mode & 0o111) !== 0 });
			if (entries.length > limits.files) throw tooLarge(`“${name}” has more than ${limits.files} files.`);
		}
	}
	return entries.sort((a, b) => compareNames(a.path, b.path));
}

/** Reads no more than `bytes`, so that a growing file can’t exceed the limits. */
async function* readWhole(dir: string, path: string, bytes: number): AsyncGenerator<Uint8Array> {
	yield* readInPieces(await openEntry(dir, path), bytes);
}

async function statOf(dir: string, path: string): Promise<Stats> {
	try {
		const file = await openEntry(dir, path);
		return await file.stat().finally(() => file.close());
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw new AppError('conflict', `Couldn’t read ${quoteEntry(path)} (${codeOf(error)}).`, { cause: error });
	}
}

async function openEntry(dir: string, path: string): Promise<FileHandle> {
	const folder = await holdFolder(dir, path);
	return open(folder.target, READ).finally(() => folder.close());
}

async function readSorted(folder: string, name: string): Promise<Dirent[]> {
	try {
		const entries = await readdir(folder, { withFileTypes: true });
		return entries.sort((a, b) => compareNames(a.name, b.name));
	} catch (error) {
		throw new AppError('conflict', `Couldn’t read a folder of “${name}” (${codeOf(error)}).`, { cause: error });
	}
}

function codeOf(error: unknown): string {
	return (error as NodeJS.ErrnoException).code ?? String(error);
}
