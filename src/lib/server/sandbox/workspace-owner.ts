/** Gives a workspace to the user that scripts run as, where the server is root (SANDBOX, pitfalls 2 and 4). */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';

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
const MAX_DEPTH = 64;
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
		if (depth === MAX_DEPTH) return;
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
