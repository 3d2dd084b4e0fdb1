/** Access to workspace files by relative paths that stay inside, without following links (SECURITY `safePath`). */
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdir, readdir, stat, type FileHandle } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AppError } from '../shared/errors.ts';
import { ignoring, openFile, openFolder, type OpenFolder } from './foreign-folders.ts';

/** An open folder: `path` stays valid until `close`, even if the folder is moved. */
export interface HeldFolder {
	path: string;
	/** Path of the file, through the open folder. */
	target: string;
	/** Gives a new file the folder’s owner and permissions. */
	adopt(file: FileHandle): Promise<void>;
	close(): Promise<void>;
}

const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d) *(\.|$)/i;
const WINDOWS_CHARACTER = /[<>:"|?*]/;

/** Why Windows would refuse or change a name; null if it is fine. */
export function problemOnWindows(segment: string): string | null {
	if (WINDOWS_CHARACTER.test(segment)) return 'its name has one of < > : " | ? *, which Windows doesn’t allow';
	if (/[. ]$/.test(segment)) return 'its name ends with a dot or space, which Windows doesn’t allow';
	// A system that normalises names may turn lookalikes into device names.
	if (WINDOWS_DEVICE.test(segment.normalize('NFKC'))) return 'its name is reserved on Windows';
	return null;
}

/** Splits a relative path. @throws AppError invalid_input */
export function safeSegments(path: string, platform: NodeJS.Platform = process.platform): string[] {
	const segments = path.split('/');
	const isBad = (segment: string) =>
		segment === '' ||
		segment === '.' ||
		segment === '..' ||
		segment.length > 255 ||
		/[\p{Cc}\p{Cs}\\]/u.test(segment) ||
		(platform === 'win32' && problemOnWindows(segment) !== null);
	if (path.length > 1024 || segments.length > 8 || isAbsolute(path) || segments.some(isBad)) {
		throw new AppError('invalid_input', `“${path.slice(0, 100)}” isn’t a valid file name.`);
	}
	return segments;
}

const FORBIDDEN: ReadonlySet<string> = new Set(['.env', '.git', '.ssh', '.omniroute', '.codex', 'secrets']);

/** Whether a tool of the model may not use this part of a path: it stands for secrets, or for files that others run. */
export function isForbidden(segment: string): boolean {
	return FORBIDDEN.has(plain(segment));
}

/** Normalised like file systems that ignore case, invisible characters, and trailing dots and spaces. */
function plain(segment: string): string {
	const visible = segment.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
	return visible
		.toLowerCase()
		.replace(/:.*$/, '')
		.replace(/[. ]+$/, '');
}

/**
 * Opens the folder of `path` below `root` without following links; `make` creates it and `root`.
 * @throws AppError invalid_input if a part isn’t a folder; the system’s error if one is missing
 */
export function holdFolder(root: string, path: string, options: { make?: boolean } = {}): Promise<HeldFolder> {
	return holdSegments(root, safeSegments(path), options);
}

/** The same for parts that are checked already: none is empty, `.` or `..`, or has a slash. */
export async function holdSegments(root: string, path: readonly string[], { make = false } = {}): Promise<HeldFolder> {
	const segments = path.slice(0, -1);
	const name = path.at(-1) ?? '';
	if (make) await mkdir(root, { recursive: true });
	let held = await enter(root, true);
	try {
		for (const segment of segments) {
			const next = join(held.path, segment);
			const isMade = make && (await mkdir(next).then(() => true, ignoring('EEXIST')));
			const folder = await enter(next);
			if (isMade && folder.handle) await adoptInto(held, folder.handle);
			await held.close();
			held = folder;
		}
	} catch (error) {
		await held.close();
		throw error;
	}
	const folder = held;
	return {
		path: folder.path,
		target: join(folder.path, name),
		adopt: (file) => adoptInto(folder, file),
		close: () => folder.close()
	};
}

/** Opens a regular file below `root` for reading; checks the descriptor, so that a replaced link is refused. @throws AppError not_found */
export async function openInside(root: string, path: string): Promise<{ file: FileHandle; bytes: number }> {
	const missing = (cause?: unknown) => new AppError('not_found', `This conversation has no file “${path}”.`, { cause });
	const orMissing = (error: unknown) => {
		throw error instanceof AppError ? error : missing(error);
	};
	const folder = await holdFolder(root, path).catch(orMissing);
	try {
		const opened = await openFile(root, folder.target).catch(orMissing);
		if (!opened) throw missing();
		return { file: opened.file, bytes: opened.facts.size };
	} finally {
		await folder.close();
	}
}

/** Only the root may be a link. */
function enter(path: string, isRoot = false): Promise<OpenFolder> {
	return openFolder(path, { mayBeLink: isRoot }).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== 'ENOTDIR') throw error;
		throw new AppError('invalid_input', 'Part of the path isn’t a folder.', { cause: error });
	});
}

/** New files belong to this process and are private, but a script may run as another user. */
async function adoptInto(folder: OpenFolder, file: FileHandle): Promise<void> {
	const { mode, uid, gid } = await (folder.handle?.stat() ?? stat(folder.path));
	const made = await file.stat();
	await file.chmod(asOpenAs(mode, made));
	if (process.getuid?.() === 0 && uid !== made.uid) await file.chown(uid, gid);
}

/** Permissions of an entry in a folder of this mode, never more open than the folder. */
function asOpenAs(mode: number, made: Stats): number {
	const most = made.isDirectory() || made.mode & 0o100 ? 0o755 : 0o644;
	return most & (0o700 | mode);
}

/**
 * Gives a new skill the permissions of its root folder. If the server is root, the skill is readable by all, because
 * scripts run as another user; the data folder around it is private.
 */
export async function openSkillFolder(dir: string, root: string): Promise<void> {
	const mode = process.getuid?.() === 0 ? 0o755 : (await stat(root)).mode;
	for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
		const path = join(entry.parentPath, entry.name);
		if (entry.isDirectory() || entry.isFile()) await chmod(path, asOpenAs(mode, await lstat(path)));
	}
	await chmod(dir, asOpenAs(mode, await lstat(dir)));
}
