/**
 * Walks, copies and removes folders that scripts write to concurrently, without following links.
 *
 * A script may replace a folder by a link after its name was read. So on Linux, each folder is opened through the
 * descriptor of its parent, never by path; this also keeps paths short at any depth. Other systems have no paths for
 * descriptors, so each step is checked before it is taken, which is the best possible there.
 */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants, type Dir, type Dirent, type Stats } from 'node:fs';
import {
	chmod,
	lstat,
	mkdir,
	open,
	opendir,
	realpath,
	rename,
	rm,
	rmdir,
	stat,
	unlink,
	type FileHandle
} from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';

/** Paths through open descriptors, so that each step starts at the checked folder. */
const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;
/** Follows no link. Without O_NONBLOCK, opening a FIFO waits for a writer. Windows has neither flag. */
export const FILE_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
/** Linux only, missing from Node’s constants: opens an unreadable folder to get a path through its descriptor. */
const O_PATH = 0o10000000;
/** Names are bytes on Linux. Latin-1 preserves them all. */
const ENCODING = DESCRIPTORS ? 'latin1' : 'utf8';

/** Each level holds an open descriptor. Deeper nesting is hostile. */
export const MAX_DEPTH = 64;
const STEP = 64;
const CHUNK_BYTES = 256 * 1024;
/** Deeper folders are moved up before removal, because each level holds two descriptors. */
const REMOVE_DEPTH = 32;
/** Attempts to remove a folder that is being filled concurrently. */
const REMOVE_PASSES = 5;

/** A running script may delete the entry, replace it, or change its permissions. */
const ignoreChanged = ignoring('ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO', 'EACCES', 'EPERM');
const ignoreGone = ignoring('ENOENT');

export interface OpenFolder {
	/** Valid until `close`, even if the folder is moved. */
	path: string;
	/** null on systems without paths for descriptors. */
	handle: FileHandle | null;
	close(): Promise<void>;
}

/** Opens a folder; its last part may be a link only if `mayBeLink`. @throws the system’s error; ENOTDIR also for a link */
export async function openFolder(path: string | Buffer, { mayBeLink = false } = {}): Promise<OpenFolder> {
	if (!DESCRIPTORS) {
		const entry = mayBeLink ? await stat(path) : await lstat(path);
		if (!entry.isDirectory()) throw Object.assign(new Error('ENOTDIR: not a directory'), { code: 'ENOTDIR' });
		return { path: path.toString(), handle: null, close: async () => undefined };
	}
	const handle = await open(path, FOLDER | (mayBeLink ? 0 : constants.O_NOFOLLOW));
	return { path: `${DESCRIPTORS}/${handle.fd}`, handle, close: () => handle.close() };
}

/** Opens a regular file below `root` for reading; null for anything else. On Linux, `path` must be through a held folder. @throws the system’s error */
export async function openFile(
	root: string,
	path: string | Buffer
): Promise<{ file: FileHandle; facts: Stats } | null> {
	const file = await open(path, FILE_ONLY);
	try {
		const facts = await file.stat();
		if (facts.isFile() && (DESCRIPTORS || (await isStillInside(root, path.toString(), facts)))) return { file, facts };
	} catch (error) {
		await file.close();
		throw error;
	}
	await file.close();
	return null;
}

export interface WalkBounds {
	/** Levels below the root, at most 64. */
	maxDepth?: number;
	/** Maximum number of entries read. */
	maxEntries?: number;
	/** Entries to skip, with everything below. */
	isSkipped?: (name: string) => boolean;
	/** Breadth-first instead of depth-first. */
	nearestFirst?: boolean;
}

export interface FolderEntry {
	kind: 'file' | 'folder' | 'other';
	/** Valid until the next step. Only the entry itself may have become a link, not its parents. */
	at: Buffer;
	/** Path parts below the root. Characters may be bytes, so use them only for comparison. */
	names: readonly string[];
}

/** Yields everything below a folder, in groups of entries of one folder. Treats unreadable folders as empty. */
export async function* walkFolder(
	root: string,
	{ maxDepth = MAX_DEPTH, maxEntries = Infinity, isSkipped = () => false, nearestFirst = false }: WalkBounds = {}
): AsyncGenerator<FolderEntry[], void, undefined> {
	const way = createWay(root);
	const pending: (readonly string[])[] = [[]];
	const next = () => (nearestFirst ? pending.shift() : pending.pop());
	let left = maxEntries;
	try {
		for (let folder = next(); folder; folder = next()) {
			const here = await way.enter(folder).catch(ignoreChanged);
			const listed = here === null ? null : await listing(here).catch(ignoreChanged);
			if (here === null || !listed) continue;
			for await (const entries of inSteps(listed)) {
				const step: FolderEntry[] = [];
				for (const entry of entries.slice(0, left)) {
					if (isSkipped(entry.name)) continue;
					const names = [...folder, entry.name];
					const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other';
					if (kind === 'folder' && folder.length < Math.min(maxDepth, MAX_DEPTH)) pending.push(names);
					step.push({ kind, at: below(here, entry.name), names });
				}
				if (step.length > 0) yield step;
				left -= entries.length;
				if (left < 0) return;
			}
		}
	} finally {
		await way.close();
	}
}

/** Yields regular files below a folder, breadth-first, by paths with `/`. Skips names that aren’t text. */
export async function* walkFiles(
	root: string,
	bounds: WalkBounds
): AsyncGenerator<{ path: string; facts: Stats }, void, undefined> {
	const look = async ({ kind, at, names }: FolderEntry) => {
		const path = kind === 'file' ? textOf(names) : null;
		// Files that vanish between the two calls are temporary.
		const facts = path === null ? null : await lstat(at).catch(() => null);
		return path !== null && facts?.isFile() ? [{ path, facts }] : [];
	};
	for await (const step of walkFolder(root, { ...bounds, nearestFirst: true })) {
		yield* (await Promise.all(step.map(look))).flat();
	}
}

/**
 * Copies folders and regular files; `from` may not exist. Skips links, pipes, unreadable or vanished entries, and
 * anything deeper than 64 levels.
 * @param take receives the size of each entry before it is created; its errors end the copy
 */
export async function copyFolder(from: string, to: string, take: (bytes: number) => void): Promise<void> {
	const way = createWay(to, { make: true });
	try {
		for await (const step of walkFolder(from)) {
			for (const { kind, at, names } of step) {
				if (kind === 'folder') {
					take(0);
					await way.enter(names);
				}
				const source = kind === 'file' ? await openFile(from, at).catch(ignoreChanged) : null;
				if (!source) continue;
				try {
					take(source.facts.size);
					await copyFile(source, below(await way.enter(names.slice(0, -1)), names.at(-1) ?? ''));
				} finally {
					await source.file.close();
				}
			}
		}
	} finally {
		await way.close();
	}
}

async function copyFile({ file, facts }: { file: FileHandle; facts: Stats }, target: Buffer): Promise<void> {
	const copy = await open(target, 'wx', 0o600);
	try {
		// Copies only the counted size, even if the file grows.
		for await (const piece of readInPieces(file, facts.size)) await copy.writeFile(piece);
		await copy.chmod(facts.mode & 0o777);
	} finally {
		await copy.close();
	}
}

/** Removes a folder recursively, at any depth, or just a link. A missing folder is no error. */
export async function removeFolder(path: string): Promise<void> {
	if (!DESCRIPTORS) return rm(path, { recursive: true, force: true });
	let passes = 0;
	for (;;) {
		const moved = { count: 0 };
		try {
			const top = await openToEmpty(Buffer.from(path));
			if (!top) return await unlink(path);
			await empty(top, 0, { top, moved }).finally(() => top.close());
			return await rmdir(path);
		} catch (error) {
			const { code = '' } = error as NodeJS.ErrnoException;
			if (code === 'ENOENT') return;
			// Filled or replaced concurrently, or folders were moved up and must be removed next.
			const isOther = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR'].includes(code);
			if (moved.count === 0) passes += 1;
			if (!isOther || passes === REMOVE_PASSES) throw error;
		}
	}
}

/** Moves folders that are too deep to `top`, for the next pass. */
async function empty(
	folder: OpenFolder,
	depth: number,
	way: { top: OpenFolder; moved: { count: number } }
): Promise<void> {
	for await (const entries of inSteps(await listing(folder.path))) {
		const [folders, others] = [true, false].map((is) =>
			entries.filter((entry) => entry.isDirectory() === is).map(({ name }) => below(folder.path, name))
		) as [Buffer[], Buffer[]];
		await Promise.all(others.map((at) => unlink(at).catch(ignoreGone)));
		for (const at of folders) {
			if (depth === REMOVE_DEPTH) {
				const place = below(way.top.path, `.removed-${randomUUID()}`);
				await rename(at, place).catch(async (error: NodeJS.ErrnoException) => {
					if (error.code !== 'EACCES') throw error;
					await allow(at);
					await rename(at, place);
				});
				way.moved.count += 1;
				continue;
			}
			const inner = await openToEmpty(at).catch(ignoreGone);
			if (!inner) continue;
			await empty(inner, depth + 1, way).finally(() => inner.close());
			await rmdir(at).catch(ignoreGone);
		}
	}
}

/** Opens a folder and makes its content removable, if allowed; null if it isn’t a folder. */
async function openToEmpty(at: Buffer): Promise<OpenFolder | null> {
	const folder = await openFolder(at).catch(async (error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOTDIR') return null;
		if (error.code !== 'EACCES') throw error;
		await allow(at);
		return openFolder(at);
	});
	const mode = (await folder?.handle?.stat())?.mode ?? 0o700;
	// If this fails, removing its content reports the error.
	if ((mode & 0o700) !== 0o700) await folder?.handle?.chmod(0o700).catch(() => undefined);
	return folder;
}

/** An unreadable folder can’t be opened for chmod, and by path a link could have replaced it. */
async function allow(at: Buffer): Promise<void> {
	const named = await open(at, O_PATH | FOLDER | constants.O_NOFOLLOW);
	await chmod(`${DESCRIPTORS}/${named.fd}`, 0o700).finally(() => named.close());
}

/** Holds one open folder per level. `make` creates missing ones. */
function createWay(root: string, { make = false } = {}) {
	const held: { name: string; folder: OpenFolder }[] = [];
	const hold = async (name: string, path: string | Buffer, isFirst: boolean) => {
		if (make) await mkdir(path, { recursive: isFirst }).catch(ignoring('EEXIST'));
		const folder = await openFolder(path, { mayBeLink: isFirst });
		held.push({ name, folder });
		return folder.path;
	};
	const leave = async (levels: number) => {
		for (const { folder } of held.splice(levels).reverse()) await folder.close();
	};
	return {
		/** Opens a folder until the next call. @returns its path. @throws the system’s error */
		async enter(names: readonly string[]): Promise<string> {
			let path = held[0]?.folder.path ?? (await hold('', root, true));
			const isHeld = (name: string, index: number) => held[index + 1]?.name === name;
			const other = names.findIndex((name, index) => !isHeld(name, index));
			const common = other < 0 ? names.length : other;
			await leave(common + 1);
			path = held.at(-1)?.folder.path ?? path;
			for (const name of names.slice(common)) path = await hold(name, below(path, name), false);
			return path;
		},
		close: () => leave(0)
	};
}

function listing(path: string): Promise<Dir> {
	return opendir(path, { encoding: ENCODING, bufferSize: STEP });
}

/** Closes the folder at the end. */
async function* inSteps(dir: Dir): AsyncGenerator<Dirent[], void, undefined> {
	let step: Dirent[] = [];
	for await (const entry of dir) {
		step.push(entry);
		if (step.length < STEP) continue;
		yield step;
		step = [];
	}
	if (step.length > 0) yield step;
}

function below(folder: string, name: string): Buffer {
	return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, ENCODING)]);
}

function textOf(names: readonly string[]): string | null {
	const bytes = Buffer.from(names.join('/'), ENCODING);
	return isUtf8(bytes) ? bytes.toString() : null;
}

/** On systems without paths for descriptors: whether the opened file is still the one at this path, below `root`. */
async function isStillInside(root: string, target: string, opened: { dev: number; ino: number }): Promise<boolean> {
	const real = await realpath(target);
	const between = relative(await realpath(root), real);
	const now = await lstat(real);
	const isInside = !between.startsWith(`..${sep}`) && !isAbsolute(between);
	return isInside && now.dev === opened.dev && now.ino === opened.ino;
}

/** For the `catch` of a file operation: null for errors with these codes; throws others. */
export function ignoring(...codes: readonly string[]) {
	return (error: NodeJS.ErrnoException): null => {
		if (codes.includes(error.code ?? '')) return null;
		throw error;
	};
}

/** A link counts, too, wherever it leads. */
export async function isThere(path: string): Promise<boolean> {
	return (await lstat(path).catch(ignoreGone)) !== null;
}

/** The first `bytes` of a file, which may grow or shrink meanwhile. */
export async function readUpTo(file: FileHandle, bytes: number, position = 0): Promise<Buffer> {
	const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, position);
	return buffer.subarray(0, bytesRead);
}

/** The same in pieces. Closes the file. */
export async function* readInPieces(file: FileHandle, bytes: number): AsyncGenerator<Uint8Array> {
	try {
		for (let at = 0; at < bytes;) {
			const piece = await readUpTo(file, Math.min(CHUNK_BYTES, bytes - at), at);
			if (piece.length === 0) break;
			at += piece.length;
			yield piece;
		}
	} finally {
		await file.close();
	}
}
