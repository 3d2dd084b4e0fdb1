/** Size limits for what the server writes to workspaces: uploads, and files of built-in skills (D33). */
import type { Stats } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import { AppError } from '../shared/errors.ts';
import { type FolderEntry, walkFolder } from './foreign-folders.ts';

/** Prefix of unfinished uploads in the workspace. */
export const UPLOADING = '.upload-';

export interface WorkspaceRooms {
	/** Starts a write to the workspace in this folder, which may not exist. */
	enter(folder: string): Promise<WorkspaceEntry>;
}

export interface WorkspaceEntry {
	/** Sets the target. A file to be replaced no longer counts. @throws AppError too_large */
	place(target: string, way: 'replace' | 'append'): Promise<void>;
	/** Counts bytes before they are written. @throws AppError too_large */
	take(bytes: number): void;
	/** Counts a new file or folder of this size. @throws AppError too_large */
	add(bytes: number): void;
	/** Marks the write as done. */
	keep(): void;
	/** Must always be called at the end. */
	leave(): void;
}

interface Room {
	bytes: number;
	files: number;
	entries: number;
}

const HINT = 'Delete files you don’t need, or raise SKILLS_WORKSPACE_MB and SKILLS_WORKSPACE_FILES.';
const UNLIMITED = { workspaceBytes: Infinity, workspaceFiles: Infinity };

/** Counts concurrent writes together; the first one measures the folder. Default: no limits. */
export function createWorkspaceRooms({ workspaceBytes, workspaceFiles } = UNLIMITED): WorkspaceRooms {
	const rooms = new Map<string, Promise<Room>>();
	const isLimited = workspaceBytes < Infinity || workspaceFiles < Infinity;

	return {
		async enter(folder) {
			const known = rooms.get(folder) ?? measure(isLimited ? folder : null, workspaceFiles);
			rooms.set(folder, known);
			const room = await known;
			room.entries += 1;
			const mine = { bytes: 0, files: 0 };
			let replaced = { bytes: 0, files: 0 };
			let isKept = false;
			const add = (bytes: number, files: number) => {
				mine.bytes += bytes;
				mine.files += files;
				room.bytes += bytes;
				room.files += files;
				if (room.bytes - replaced.bytes > workspaceBytes) {
					const most = Math.floor(workspaceBytes / 1024 / 1024);
					throw new AppError('too_large', `The files of a conversation may total ${most} MB.`, { hint: HINT });
				}
				if (room.files - replaced.files > workspaceFiles) {
					throw new AppError('too_large', `A conversation may have ${workspaceFiles} files.`, { hint: HINT });
				}
			};
			return {
				async place(target, way) {
					const old = await lstat(target).catch(() => null);
					if (old?.isFile()) replaced = { bytes: way === 'append' ? 0 : sizeOf(old), files: 1 };
					add(0, 1);
				},
				take: (bytes) => add(bytes, 0),
				add: (bytes) => add(bytes, 1),
				keep: () => void (isKept = true),
				leave() {
					const gone = isKept ? replaced : mine;
					room.bytes -= gone.bytes;
					room.files -= gone.files;
					room.entries -= 1;
					if (room.entries === 0) rooms.delete(folder);
				}
			};
		}
	};
}

/** Follows no links, and stops at the first file too many. */
async function measure(root: string | null, maxFiles: number): Promise<Room> {
	const room = { bytes: 0, files: 0, entries: 0 };
	if (root === null) return room;
	for await (const step of walkFolder(root)) {
		for (const size of await Promise.all(step.map(weigh))) {
			if (size === null) continue;
			room.files += 1;
			room.bytes += size;
		}
		if (room.files > maxFiles) break;
	}
	return room;
}

/** Null for an upload that ended with an earlier process: it's removed. Deleted files count as empty. */
async function weigh({ kind, at, names }: FolderEntry): Promise<number | null> {
	if (kind === 'folder') return 0;
	const facts = await lstat(at).catch(() => null);
	if (!facts) return 0;
	const isLeftOver = isUpload(names.join('/')) && kind === 'file' && facts.mtimeMs < performance.timeOrigin;
	const isRemoved =
		isLeftOver &&
		(await unlink(at).then(
			() => true,
			() => false
		));
	return isRemoved ? null : sizeOf(facts);
}

/** Whether it's the place of an unfinished upload. No file of a client may have such a name. */
export function isUpload(path: string): boolean {
	return path.startsWith(UPLOADING) && !path.includes('/');
}

/** Size on disk, because of sparse files. */
function sizeOf({ size, blocks }: Stats): number {
	return Math.min(size, blocks * 512);
}
