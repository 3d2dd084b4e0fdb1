/**
 * Folders into which others write meanwhile: walked, copied and removed without ever following a link.
 *
 * A script may put a link in the place of a folder after its name was read and before it is opened. So on Linux each
 * folder is opened by the descriptor of the one that it is in, and never by its path; that also keeps every path short,
 * however deep it leads. Elsewhere descriptors have no names: there each step is looked at before it is taken, which is
 * the best there is.
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

/** Linux names what a descriptor is open on, so that each step begins at the folder that was checked, not at its path. */
const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;
// A FIFO opened without O_NONBLOCK waits for a writer. Windows has neither flag, nor the things they are for.
const FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
/** Linux only, and not among Node's constants: it opens whatever may not be read, so that it has a name. */
const O_PATH = 0o10000000;
/** Names are bytes on Linux: read like this each of them leads back to its file, whether or not it is text. */
const ENCODING = DESCRIPTORS ? 'latin1' : 'utf8';

/** Nobody nests folders as deep but to do harm; each level holds a descriptor while it is walked. */
export const MAX_DEPTH = 64;
/** Entries of one step. */
const STEP = 64;
const CHUNK_BYTES = 256 * 1024;
/** What is nested deeper is moved up before it is removed, for each level holds two descriptors. */
const REMOVE_DEPTH = 32;
/** A folder that somebody fills while it is removed is gone through again, so many times. */
const REMOVE_PASSES = 5;

/** Gone, a link now, no folder any more, a socket, closed: a script that runs meanwhile may do that. */
const CHANGED = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO', 'EACCES', 'EPERM']);

export interface OpenFolder {
	/** Of the folder, whatever becomes of the way to it, until `close`. */
	path: string;
	/** null where descriptors have no names. */
	handle: FileHandle | null;
	close(): Promise<void>;
}

/**
 * Opens a folder, through no link in its last step unless that `mayBeLink`.
 * @throws the system's error; ENOTDIR for a link as for whatever else is no folder
 */
export async function openFolder(path: string | Buffer, { mayBeLink = false } = {}): Promise<OpenFolder> {
	if (!DESCRIPTORS) {
		const entry = mayBeLink ? await stat(path) : await lstat(path);
		if (!entry.isDirectory()) throw Object.assign(new Error('ENOTDIR: not a directory'), { code: 'ENOTDIR' });
		return { path: path.toString(), handle: null, close: async () => undefined };
	}
	const handle = await open(path, FOLDER | (mayBeLink ? 0 : constants.O_NOFOLLOW));
	return { path: `${DESCRIPTORS}/${handle.fd}`, handle, close: () => handle.close() };
}

/**
 * Opens a regular file below `root` for reading; null for anything else. Where descriptors have names, the folder in
 * `path` must be a held one.
 * @throws the system's error
 */
export async function openFile(
	root: string,
	path: string | Buffer
): Promise<{ file: FileHandle; facts: Stats } | null> {
	const file = await open(path, FILE);
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
	/** Folders below the first one, 64 at most. */
	maxDepth?: number;
	/** Names that are looked at, files or not; whatever is beyond them is not seen. */
	maxEntries?: number;
	/** Names that are passed over, with all that is in them. */
	isSkipped?: (name: string) => boolean;
	/** The files that are nearest to the first folder before those below; otherwise one folder after the other, to its end. */
	nearestFirst?: boolean;
}

export interface FolderEntry {
	/** What it was when it was listed. */
	kind: 'file' | 'folder' | 'other';
	/** Leads to it until the next step is asked for: only it may be a link by then, nothing above it. */
	at: Buffer;
	/** Its own name after those of the folders that it is in; each character may be a byte, so they are for comparing alone. */
	names: readonly string[];
}

/** Everything below a folder, by steps of some entries of one folder. What cannot be opened any more is an empty folder. */
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

/** The regular files below a folder, the nearest first, by paths with `/`; names that are no text are left out. */
export async function* walkFiles(
	root: string,
	bounds: WalkBounds
): AsyncGenerator<{ path: string; facts: Stats }, void, undefined> {
	const look = async ({ kind, at, names }: FolderEntry) => {
		const path = kind === 'file' ? textOf(names) : null;
		// A file that vanishes between the two calls was a temporary one.
		const facts = path === null ? null : await lstat(at).catch(() => null);
		return path !== null && facts?.isFile() ? [{ path, facts }] : [];
	};
	for await (const step of walkFolder(root, { ...bounds, nearestFirst: true }))
		yield* (await Promise.all(step.map(look))).flat();
}

/**
 * Copies the folders and regular files of a folder, which need not exist. Links and pipes stay behind, and so does what
 * lies deeper than 64 folders, may not be read or goes away meanwhile.
 * @param take is told of the bytes of each entry before it is made; what it throws ends the copy
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
		const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, facts.size));
		// What is written to its end meanwhile was not counted.
		for (let left = facts.size; left > 0;) {
			const { bytesRead } = await file.read(buffer, 0, Math.min(left, buffer.length), null);
			if (bytesRead === 0) break;
			await copy.writeFile(buffer.subarray(0, bytesRead));
			left -= bytesRead;
		}
		await copy.chmod(facts.mode & 0o777);
	} finally {
		await copy.close();
	}
}

/** Removes a folder with all that is in it, however deep that is; of a link the link alone. What is not there is gone. */
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
			// Somebody put something into it, or another thing in its place; what was moved up is still to be removed.
			const isOther = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR'].includes(code);
			if (moved.count === 0) passes += 1;
			if (!isOther || passes === REMOVE_PASSES) throw error;
		}
	}
}

/** What is too deep is moved to `top`, whence the next pass removes it. */
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

/** A folder of which everything may be removed, as far as this user may allow it; null for what is none. */
async function openToEmpty(at: Buffer): Promise<OpenFolder | null> {
	const folder = await openFolder(at).catch(async (error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOTDIR') return null;
		if (error.code !== 'EACCES') throw error;
		await allow(at);
		return openFolder(at);
	});
	const mode = (await folder?.handle?.stat())?.mode ?? 0o700;
	// Where even that is not allowed, removing what is in it fails and says so.
	if ((mode & 0o700) !== 0o700) await folder?.handle?.chmod(0o700).catch(() => undefined);
	return folder;
}

/** A folder that its owner has closed to himself cannot be opened to say so; by its path a link in its place would be. */
async function allow(at: Buffer): Promise<void> {
	const named = await open(at, O_PATH | FOLDER | constants.O_NOFOLLOW);
	await chmod(`${DESCRIPTORS}/${named.fd}`, 0o700).finally(() => named.close());
}

/** From a folder to those below it. */
interface Way {
	/** Path of one, which is held until the next call. @throws the system's error */
	enter(names: readonly string[]): Promise<string>;
	close(): Promise<void>;
}

/** Of folders it holds one a level. With `make` those that are missing are made. */
function createWay(root: string, { make = false } = {}): Way {
	const held: { name: string; folder: OpenFolder }[] = [];
	const hold = async (name: string, path: string | Buffer, isFirst: boolean) => {
		if (make)
			await mkdir(path, { recursive: isFirst }).catch((error: NodeJS.ErrnoException) => {
				if (error.code !== 'EEXIST') throw error;
			});
		const folder = await openFolder(path, { mayBeLink: isFirst });
		held.push({ name, folder });
		return folder.path;
	};
	const leave = async (levels: number) => {
		for (const { folder } of held.splice(levels).reverse()) await folder.close();
	};
	return {
		async enter(names) {
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

/** Closes the folder at its end, or when it is left. */
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

/** Where descriptors have no names: is what was opened the file that is there now, below `root`? */
async function isStillInside(root: string, target: string, opened: { dev: number; ino: number }): Promise<boolean> {
	const real = await realpath(target);
	const between = relative(await realpath(root), real);
	const now = await lstat(real);
	const isInside = !between.startsWith(`..${sep}`) && !isAbsolute(between);
	return isInside && now.dev === opened.dev && now.ino === opened.ino;
}

function ignoreChanged(error: NodeJS.ErrnoException): null {
	if (CHANGED.has(error.code ?? '')) return null;
	throw error;
}

function ignoreGone(error: NodeJS.ErrnoException): null {
	if (error.code === 'ENOENT') return null;
	throw error;
}
