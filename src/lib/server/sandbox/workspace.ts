/** Changes the owner of workspaces if the server is root, finds leftover processes, and watches folder sizes (SANDBOX, pitfalls 2 and 4). */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ignoring, MAX_DEPTH, walkFolder } from '../foreign-folders.ts';
import type { LaunchLimits } from './launch/launcher.ts';
import { MARKER } from './running.ts';

/** systemd’s range for dynamic users: no account is in it. */
const FIRST_UID = 61_184;
const LAST_UID = 65_519;

const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
/** O_NONBLOCK, because a pipe or device may have replaced the file. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A running script may delete the entry, or replace it by a link, a file or a socket. */
const ignoreChanged = ignoring('ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO');

/** The user and group id of a workspace: stable, rarely shared with another. */
export function workspaceUid(workspace: string): number {
	const digest = createHash('sha256').update(workspace).digest();
	return FIRST_UID + (digest.readUInt32BE(0) % (LAST_UID - FIRST_UID + 1));
}

/** Each level holds an open descriptor. Deeper nesting is hostile. */
const MAX_OWNER_DEPTH = 64;
/** Files handled concurrently. */
const BATCH = 64;

/**
 * Makes `uid` the owner of the folder and everything in it.
 *
 * A script may change the tree meanwhile. So each entry is opened without following links, through the descriptor of its
 * folder, and ownership is changed on the open descriptor. Links, pipes and sockets are left alone, and so are files with
 * several hard links, which may be system files that a script without a sandbox has linked here.
 *
 * @param maxEntries stops after this many; also skips anything deeper than 64 folders
 */
export async function giveWorkspace(workspace: string, uid: number, maxEntries: number): Promise<void> {
	let left = maxEntries;
	const walk = async (folder: FileHandle, depth: number): Promise<void> => {
		if ((await folder.stat()).uid !== uid) await folder.chown(uid, uid);
		const here = `/proc/self/fd/${folder.fd}`;
		const entries = (await readdir(here, { withFileTypes: true })).slice(0, left);
		left -= entries.length;
		const files = entries.filter((entry) => entry.isFile()).map((entry) => `${here}/${entry.name}`);
		for (let at = 0; at < files.length; at += BATCH) {
			await Promise.all(files.slice(at, at + BATCH).map((path) => giveFile(path, uid)));
		}
		if (depth === MAX_OWNER_DEPTH) return;
		for (const entry of entries) {
			if (entry.isDirectory()) await opened(`${here}/${entry.name}`, FOLDER, (inner) => walk(inner, depth + 1));
		}
	};
	await opened(workspace, FOLDER, (folder) => walk(folder, 0), true);
}

async function giveFile(path: string, uid: number): Promise<void> {
	// Skips most files without opening them; the descriptor is checked again below.
	const seen = await lstat(path).catch(ignoreChanged);
	if (!seen || seen.uid === uid || seen.nlink > 1) return;
	await opened(path, FILE, async (file) => {
		const stat = await file.stat();
		if (stat.isFile() && stat.uid !== uid && stat.nlink === 1) await file.chown(uid, uid);
	});
}

async function opened(
	path: string,
	flags: number,
	use: (handle: FileHandle) => Promise<void>,
	mustExist = false
): Promise<void> {
	const handle = await (mustExist ? open(path, flags) : open(path, flags).catch(ignoreChanged));
	if (!handle) return;
	try {
		await use(handle);
	} finally {
		await handle.close();
	}
}

// Finds processes that outlived their server or left their group by an environment variable (D10, D33).

/** A process may start others while it is being killed, so the search is repeated. */
const PASSES = 5;

/** Prefix of the markers of one server start with this data folder. `startId` is letters, digits, hyphens. */
export function ownerOf(dataDir: string, startId: string): string {
	return `${folderKey(dataDir)}-${startId}`;
}

/** Which servers have scripts that go on. */
export interface Sweep {
	dataDir: string;
	/** This server start. */
	startId: string;
	/** Other starts that live. Default: none. */
	live?: () => Promise<ReadonlySet<string>>;
}

/** Kills processes left by earlier servers with this data folder. Finds only this user’s, on Linux. @returns their number */
export async function sweepLeftovers({ dataDir, startId, live }: Sweep): Promise<number> {
	const prefix = ownerOf(dataDir, '');
	const startOf = (marker: string) =>
		marker.startsWith(prefix) ? (marker.slice(prefix.length).split('.')[0] ?? '') : null;
	const starts = new Set<string>();
	const note = (marker: string) => {
		const start = startOf(marker);
		if (start !== null && start !== startId) starts.add(start);
		return false;
	};
	await findMarked(note);
	if (starts.size === 0) return 0;
	// Asked afterwards: a server lives before its first script.
	for (const id of (await live?.()) ?? []) starts.delete(id);
	return endMarked((marker) => starts.has(startOf(marker) ?? ''));
}

/** Kills this user’s processes with such a marker. @returns their number */
export async function endMarked(isMarked: (marker: string) => boolean): Promise<number> {
	const ended = new Set<number>();
	for (let pass = 0; pass < PASSES; pass += 1) {
		const found = await findMarked(isMarked);
		for (const pid of found) end(pid);
		const fresh = found.filter((pid) => !ended.has(pid));
		for (const pid of fresh) ended.add(pid);
		if (fresh.length === 0) break;
	}
	return ended.size;
}

async function findMarked(isMarked: (marker: string) => boolean): Promise<number[]> {
	const uid = process.getuid?.();
	const found: number[] = [];
	for (const name of await readdir('/proc').catch(() => [])) {
		const pid = Number(name);
		if (!Number.isInteger(pid) || pid === process.pid) continue;
		try {
			const path = `/proc/${name}`;
			if ((await stat(path)).uid !== uid) continue;
			const entry = (await readFile(`${path}/environ`, 'latin1'))
				.split('\0')
				.find((line) => line.startsWith(`${MARKER}=`));
			if (entry && isMarked(entry.slice(MARKER.length + 1))) found.push(pid);
		} catch {
			// It has ended meanwhile, or isn’t readable.
			continue;
		}
	}
	return found;
}

function end(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}

function folderKey(dataDir: string): string {
	return createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16);
}

// Watches the size of a folder while a program runs in it (D33), without following links.

const EVERY_MS = 500;
/** Waits at least this many times the duration of the last check. */
const SHARE = 10;

/**
 * Calls `onOver` once if the folder exceeds its limits or is nested too deep. A failed check is repeated.
 * @returns a function that stops it
 */
export function watchFolder(limits: NonNullable<LaunchLimits['watch']>, onOver: () => void): () => void {
	let isStopped = false;
	let timer: NodeJS.Timeout;
	const look = async () => {
		const startedAt = performance.now();
		const isOver = await isOverfull(limits, () => isStopped).catch(() => false);
		if (isStopped) return;
		if (isOver) onOver();
		else timer = setTimeout(look, Math.max(EVERY_MS, SHARE * (performance.now() - startedAt)));
	};
	timer = setTimeout(look, EVERY_MS);
	return () => {
		isStopped = true;
		clearTimeout(timer);
	};
}

/** Stops as soon as a limit is exceeded. Doesn’t count unreadable files, or files that disappear meanwhile. */
async function isOverfull(
	{ dir, maxBytes, maxFiles }: NonNullable<LaunchLimits['watch']>,
	isStopped: () => boolean
): Promise<boolean> {
	let bytes = 0;
	let entries = 0;
	for await (const step of walkFolder(dir)) {
		if (isStopped()) return false;
		entries += step.length;
		const isTooDeep = step.some(({ kind, names }) => kind === 'folder' && names.length > MAX_DEPTH);
		if (isTooDeep || entries > maxFiles) return true;
		const files = step.filter(({ kind }) => kind !== 'folder');
		for (const size of await Promise.all(files.map(({ at }) => sizeOf(at)))) bytes += size;
		if (bytes > maxBytes) return true;
	}
	return false;
}

/** Size on disk, because of sparse files. */
function sizeOf(at: Buffer): Promise<number> {
	return lstat(at).then(
		({ blocks }) => blocks * 512,
		() => 0
	);
}
