/** Files of a local folder that scripts may change meanwhile: what has changed, and placing and reading single ones. */
import { createHash, randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, open, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isUtf8 } from 'node:buffer';
import { type FolderEntry, ignoring, MAX_DEPTH, openFile, readInPieces, walkFolder } from '../foreign-folders.ts';
import { holdSegments } from '../safe-path.ts';
import { UPLOADING } from '../workspace-rooms.ts';
import type { KnownFile } from './local-state.ts';

/** As the database's keys, which have little more room. */
const MAX_PATH_BYTES = 1000;
const BLOCK_BYTES = 4096;
/** Unfinished files of the server's own. */
const UNFINISHED = /^\.(upload|write)-[0-9a-f-]{36}$/;
const ignoreChanged = ignoring('ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO', 'EACCES', 'EPERM');

export interface ChangedFile {
	path: string;
	sha256: string;
	bytes: number;
	mode: number;
	modifiedAt: string;
	stamp: string;
}

interface Changes {
	/** New, or perhaps changed: their contents may be the known ones. */
	changed: ChangedFile[];
	deleted: string[];
	/** Paths that can't be stored. */
	refused: string[];
}

/** Compares the files with what is known of them. Links, pipes, and names that aren't text don't count. */
export async function findChanges(root: string, known: ReadonlyMap<string, KnownFile>): Promise<Changes> {
	const changes: Changes = { changed: [], deleted: [], refused: [] };
	const missing = new Set(known.keys());
	const look = async ({ kind, at, names }: FolderEntry): Promise<void> => {
		if (kind !== 'file' || UNFINISHED.test(names.at(-1) ?? '')) return;
		const path = textOf(names);
		if (path === null) return;
		if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
			changes.refused.push(path);
			return;
		}
		const opened = await openFile(root, at).catch(ignoreChanged);
		if (!opened) return;
		missing.delete(path);
		const { file, facts } = opened;
		const stamp = stampOf(facts);
		if (known.get(path)?.stamp === stamp) return file.close();
		const { sha256, bytes } = await digestOf(readInPieces(file, facts.size));
		const mode = facts.mode & 0o777;
		changes.changed.push({ path, sha256, bytes, mode, modifiedAt: facts.mtime.toISOString(), stamp });
	};
	for await (const step of walkFolder(root)) await Promise.all(step.map(look));
	changes.deleted.push(...missing);
	return changes;
}

/** Differs if any file has changed. */
export async function stampsIn(root: string): Promise<string> {
	const hash = createHash('sha256');
	for await (const step of walkFolder(root)) {
		for (const { at, names } of step) {
			const facts = await lstat(at).catch(ignoreChanged);
			if (facts && !facts.isDirectory()) hash.update(JSON.stringify([names, stampOf(facts)]));
		}
	}
	return hash.digest('hex');
}

/** What it takes on the disk, empty files too. */
export async function bytesIn(root: string): Promise<number> {
	let bytes = 0;
	for await (const step of walkFolder(root)) {
		for (const { at } of step) {
			const facts = await lstat(at).catch(ignoreChanged);
			if (facts) bytes += Math.max(facts.blocks * 512, BLOCK_BYTES);
		}
	}
	return bytes;
}

/** null for a path that must not be used. */
export function pathParts(path: string): string[] | null {
	const parts = path.split('/');
	const isBad = (part: string) =>
		part === '' || part === '.' || part === '..' || part.includes('\0') || Buffer.byteLength(part) > 255;
	const isLong = Buffer.byteLength(path) > MAX_PATH_BYTES || parts.length > MAX_DEPTH + 1;
	return isLong || parts.some(isBad) ? null : parts;
}

export function isSameFile(known: KnownFile, facts: Stats): boolean {
	return facts.isFile() && known.stamp === stampOf(facts);
}

/** null if there is nothing. */
export async function factsAt(root: string, parts: readonly string[]): Promise<Stats | null> {
	const folder = await hold(root, parts);
	return folder && (await lstat(folder.target).catch(ignoring('ENOENT')).finally(folder.close));
}

export async function hashAt(root: string, parts: readonly string[]): Promise<string> {
	return (await digestOf(readAt(root, parts))).sha256;
}

/** Nothing for anything but a file; one byte more than `bytes` of a file that has grown. */
export async function* readAt(root: string, parts: readonly string[], bytes = Infinity): AsyncGenerator<Uint8Array> {
	const folder = await hold(root, parts);
	if (!folder) return;
	const opened = await openFile(root, folder.target).catch(ignoreChanged).finally(folder.close);
	if (opened) yield* readInPieces(opened.file, Math.min(bytes + 1, Math.max(opened.facts.size, 1)));
}

/** Whole or not at all. null where it has no place: a folder has its name, or a file that of its folder. */
export async function placeFile(
	root: string,
	parts: readonly string[],
	pieces: AsyncIterable<Uint8Array>,
	{ mode, modifiedAt }: { mode: number; modifiedAt: string }
): Promise<{ stamp: string; mode: number } | null> {
	const folder = await holdSegments(root, parts, { make: true }).catch(noPlace);
	if (!folder) return null;
	const staging = join(root, `${UPLOADING}${randomUUID()}`);
	try {
		const file = await open(staging, 'wx', 0o600);
		try {
			for await (const piece of pieces) await file.writeFile(piece);
			await folder.adopt(file);
			// What its folder allows, and what may be executed.
			if (mode & 0o100) await file.chmod(((await file.stat()).mode & 0o777) | 0o100);
			const at = new Date(modifiedAt);
			await file.utimes(at, at);
			if ((await rename(staging, folder.target).then(() => true, noPlace)) === null) return null;
			const facts = await file.stat();
			return { stamp: stampOf(facts), mode: facts.mode & 0o777 };
		} finally {
			await file.close();
		}
	} finally {
		await rm(staging, { force: true });
		await folder.close();
	}
}

/** With the folders that are empty then. */
export async function removeAt(root: string, parts: readonly string[]): Promise<void> {
	let isEmpty = true;
	for (let length = parts.length; length > 0 && isEmpty; length -= 1) {
		const folder = await hold(root, parts.slice(0, length));
		if (!folder) return;
		const remove = length === parts.length ? unlink : rmdir;
		isEmpty = await remove(folder.target)
			.then(
				() => true,
				(error: NodeJS.ErrnoException) => error.code === 'ENOENT'
			)
			.finally(folder.close);
	}
}

function noPlace(error: NodeJS.ErrnoException): null {
	if (['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'invalid_input'].includes(error.code ?? '')) return null;
	throw error;
}

/** null if a folder on the way isn't there, or isn't a folder. */
function hold(root: string, parts: readonly string[]) {
	return holdSegments(root, parts).catch((error: NodeJS.ErrnoException) => {
		if (['ENOENT', 'EACCES', 'invalid_input'].includes(error.code ?? '')) return null;
		throw error;
	});
}

function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
	return `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
}

async function digestOf(pieces: AsyncIterable<Uint8Array>): Promise<{ sha256: string; bytes: number }> {
	const hash = createHash('sha256');
	let bytes = 0;
	for await (const piece of pieces) {
		hash.update(piece);
		bytes += piece.length;
	}
	return { sha256: hash.digest('hex'), bytes };
}

/** The walker's names are bytes on Linux. */
function textOf(names: readonly string[]): string | null {
	const bytes = Buffer.from(names.join('/'), process.platform === 'linux' ? 'latin1' : 'utf8');
	return isUtf8(bytes) ? bytes.toString() : null;
}
