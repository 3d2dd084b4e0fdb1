/** A skill as a zip archive that can be installed again: one folder, the same bytes for the same files (FEATURES F8). */
import { constants, type Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Zip, ZipDeflate } from 'fflate';
import { AppError } from '../../shared/errors.ts';
import { holdFolder, type HeldFolder } from '../safe-path.ts';
import { compareNames } from '../skills/read/files.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import {
	createEntryNames,
	INSTALL_LIMITS,
	type InstallLimits,
	isLeftOut,
	megabytes,
	quoteEntry,
	tooLarge
} from './staging-folder.ts';

const CHUNK = 64 * 1024;
// A FIFO opened without O_NONBLOCK waits for a writer; Windows has neither flag, nor the things they are for.
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** The earliest that a zip archive can name, for all: when a file was written makes no difference. */
const TIME = new Date(1980, 0, 1);
const UNIX = 3;

interface Entry {
	path: string;
	bytes: number;
	isExecutable: boolean;
}

/**
 * Pieces of the archive, made as fast as they are taken. All is looked at before the first: what could not be installed
 * again is refused. Links are left out, and what is no part of any skill (`.git/`).
 * @throws AppError `too_large`, `invalid_input` with the entry named, `conflict` where files go away meanwhile
 */
export async function exportSkill(
	{ name, dir }: Pick<Skill | BrokenSkill, 'name' | 'dir'>,
	limits: InstallLimits = INSTALL_LIMITS
): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>> {
	const entries = await listEntries(dir, name, limits);
	return write(dir, folderNameOf(name), entries);
}

/** A name that is safe in a header and on every disk; a broken skill may have any. */
export function folderNameOf(name: string): string {
	const safe = name
		.replace(/[^A-Za-z0-9._-]+/g, '-')
		.replace(/^[.-]+|[.-]+$/g, '')
		.slice(0, 64);
	return safe === '' ? 'skill' : safe;
}

async function listEntries(dir: string, name: string, limits: InstallLimits): Promise<Entry[]> {
	const names = createEntryNames();
	const entries: Entry[] = [];
	let bytes = 0;
	const pending = [''];
	for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
		for (const each of await readSorted(join(dir, folder), name)) {
			const path = folder ? `${folder}/${each.name}` : each.name;
			if (isLeftOut(path)) continue;
			if (each.isDirectory()) pending.push(path);
			if (!each.isFile()) continue;
			names.take(`${folderNameOf(name)}/${path}`, 'file');
			const { size, mode } = await withFile(dir, path, (file) => file.stat());
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

async function* write(dir: string, top: string, entries: readonly Entry[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
	const made: Uint8Array<ArrayBuffer>[] = [];
	let failure: Error | null = null;
	const zip = new Zip((error, chunk) => {
		failure ??= error;
		made.push(chunk as Uint8Array<ArrayBuffer>);
	});
	for (const { path, bytes, isExecutable } of entries) {
		const packed = new ZipDeflate(`${top}/${path}`, { level: 6 });
		packed.mtime = TIME;
		packed.os = UNIX;
		// The permissions of a regular file stand in the upper half.
		packed.attrs = ((0o100000 | (isExecutable ? 0o755 : 0o644)) << 16) >>> 0;
		zip.add(packed);
		yield* made.splice(0);
		for await (const chunk of readWhole(dir, path, bytes)) {
			packed.push(chunk);
			yield* made.splice(0);
		}
		packed.push(new Uint8Array(0), true);
		yield* made.splice(0);
		if (failure) throw failure;
	}
	zip.end();
	yield* made.splice(0);
}

/** As many bytes as were counted: one that grows meanwhile would pass the limits. */
async function* readWhole(dir: string, path: string, bytes: number): AsyncGenerator<Uint8Array> {
	const folder = await holdFolder(dir, path);
	try {
		const file = await open(folder.target, READ);
		try {
			for (let at = 0; at < bytes;) {
				const { bytesRead, buffer } = await file.read(new Uint8Array(Math.min(CHUNK, bytes - at)), 0, null, at);
				if (bytesRead === 0) break;
				at += bytesRead;
				yield buffer.subarray(0, bytesRead);
			}
		} finally {
			await file.close();
		}
	} finally {
		await folder.close();
	}
}

async function withFile<T>(
	dir: string,
	path: string,
	use: (file: Awaited<ReturnType<typeof open>>) => Promise<T>
): Promise<T> {
	let folder: HeldFolder | null = null;
	try {
		folder = await holdFolder(dir, path);
		const file = await open(folder.target, READ);
		try {
			return await use(file);
		} finally {
			await file.close();
		}
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw new AppError('conflict', `Couldn’t read ${quoteEntry(path)} (${codeOf(error)}).`, { cause: error });
	} finally {
		await folder?.close();
	}
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
