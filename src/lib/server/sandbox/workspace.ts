/** Gives a workspace to the user that scripts run as, where the server is root (SANDBOX, pitfalls 2 and 4). */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { MAX_DEPTH, walkFolder } from '../foreign-folders.ts';
import type { LaunchLimits } from './launch/launcher.ts';
import { MARKER } from './running.ts';

/** The range that systemd gives to services without a user of their own: no account is in it. */
const FIRST_UID = 61_184;
const LAST_UID = 65_519;

const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
/** A pipe or device that was put in the place of a file does not make the open wait. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Gone, a link now, not a folder any more, a socket: a script that runs meanwhile may do that. */
const CHANGED = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO']);

/** The user and group of a workspace: always the same, and seldom that of another one. */
export function workspaceUid(workspace: string): number {
	const digest = createHash('sha256').update(workspace).digest();
	return FIRST_UID + (digest.readUInt32BE(0) % (LAST_UID - FIRST_UID + 1));
}

/** Each level holds a descriptor while it is walked; nobody nests folders as deep but to do harm. */
const MAX_OWNER_DEPTH = 64;
/** Entries looked at in one go. */
const BATCH = 64;

/**
 * Makes the folder and the folders and files in it belong to `uid`, as far as they do not yet.
 *
 * A script may change the tree while it is walked. So each entry is opened without following a link, by the descriptor of
 * the folder it is in, and what was opened is what gets the owner. Links, pipes and sockets stay as they are; so does a
 * file with a second name, which may be a file of the system that a script without a sandbox has linked here.
 *
 * @param maxEntries after so many the rest is left as it is, as is what lies deeper than 64 folders
 */
export async function giveWorkspace(workspace: string, uid: number, maxEntries: number): Promise<void> {
	let left = maxEntries;
	const walk = async (folder: FileHandle, depth: number): Promise<void> => {
		if ((await folder.stat()).uid !== uid) await folder.chown(uid, uid);
		const here = `/proc/self/fd/${folder.fd}`;
		const entries = (await readdir(here, { withFileTypes: true })).slice(0, left);
		left -= entries.length;
		const files = entries.filter((entry) => entry.isFile()).map((entry) => `${here}/${entry.name}`);
		for (let at = 0; at < files.length; at += BATCH)
			await Promise.all(files.slice(at, at + BATCH).map((path) => giveFile(path, uid)));
		if (depth === MAX_OWNER_DEPTH) return;
		for (const entry of entries)
			if (entry.isDirectory()) await opened(`${here}/${entry.name}`, FOLDER, (inner) => walk(inner, depth + 1));
	};
	await opened(workspace, FOLDER, (folder) => walk(folder, 0), true);
}

async function giveFile(path: string, uid: number): Promise<void> {
	// Most belong to it already; whether this one does is asked again of what is opened.
	const seen = await lstat(path).catch(ignoreChanged);
	if (!seen || seen.uid === uid || seen.nlink > 1) return;
	await opened(path, FILE, async (file) => {
		const stat = await file.stat();
		if (stat.isFile() && stat.uid !== uid && stat.nlink === 1) await file.chown(uid, uid);
	});
}

function ignoreChanged(error: NodeJS.ErrnoException): null {
	if (CHANGED.has(error.code ?? '')) return null;
	throw error;
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

// Processes that outlived their server or left their group, found by a variable of their environment (FEATURES D10, D33).

/** One that starts others while it is ended is looked for again, so many times. */
const PASSES = 5;

/** First part of the markers of one start of a server with this data folder; `startId` is letters, digits, hyphens. */
export function ownerOf(dataDir: string, startId: string): string {
	return `${folderKey(dataDir)}-${startId}`;
}

/**
 * Ends what an earlier start of a server with this data folder left running, and says how many processes that were.
 * Only of this user, and only where /proc tells of them (Linux); elsewhere none are found.
 */
export async function sweepLeftovers(options: { dataDir: string; startId: string }): Promise<number> {
	const key = folderKey(options.dataDir);
	const own = ownerOf(options.dataDir, options.startId);
	return endMarked((marker) => marker.startsWith(`${key}-`) && !marker.startsWith(`${own}.`));
}

/** Ends every process of this user whose marker is one of those; returns how many there were. */
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
			// It has ended meanwhile, or is not ours to look into.
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

// The size of a folder while a program works in it (FEATURES D33): a bounded walk that follows no link.

const EVERY_MS = 500;
/** Looking may take this part of the time: a slow walk is made less often. */
const SHARE = 10;

/**
 * Calls `onOver` once when the folder holds more than it may, or folders nested too deep to be looked at; stop it with
 * the function that is returned. It never ends what runs for a look that failed: it looks again.
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

/** True as soon as it has seen too much; what disappears while it looks, or is closed to this user, is not counted. */
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

/** What it takes up on the disk, so that a file with holes counts for what is in it. */
function sizeOf(at: Buffer): Promise<number> {
	return lstat(at).then(
		({ blocks }) => blocks * 512,
		() => 0
	);
}
