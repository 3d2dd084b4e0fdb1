/** What workspaces may hold, for whatever the server itself writes there: uploads, and files of the built-in skills (FEATURES D33). */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { AppError } from '../shared/errors.ts';
import { walkFolder } from './foreign-folders.ts';

/** Names of files that are still on their way begin with it, in the workspace's own folder. */
export const UPLOADING = '.upload-';

/** What all files of one workspace may come to. */
export interface WorkspaceLimits {
	workspaceBytes: number;
	workspaceFiles: number;
}

export interface WorkspaceRooms {
	/** Begins to write one file into the workspace in this folder, which need not exist. */
	enter(folder: string): Promise<WorkspaceEntry>;
}

/** One file on its way, or many. */
export interface WorkspaceEntry {
	/**
	 * Where it is to be. What is there counts no more, unless it is written to the end of.
	 * @throws AppError too_large
	 */
	place(target: string, way: 'replace' | 'append'): Promise<void>;
	/** More of its bytes, before they are written. @throws AppError too_large */
	take(bytes: number): void;
	/** One more file or folder, at a place where nothing is, of so many bytes. @throws AppError too_large */
	add(bytes: number): void;
	/** It is there. */
	keep(): void;
	/** To be called at the end, always. */
	leave(): void;
}

/** What is in a workspace, and what is on its way there. */
interface Room {
	bytes: number;
	files: number;
	entries: number;
}

const HINT = 'Delete files you don’t need, or raise SKILLS_WORKSPACE_MB and SKILLS_WORKSPACE_FILES.';

/** Counts what several writers at once come to: the folder is looked at when the first of them begins. No limits without them. */
export function createWorkspaceRooms(
	{ workspaceBytes, workspaceFiles }: WorkspaceLimits = { workspaceBytes: Infinity, workspaceFiles: Infinity }
): WorkspaceRooms {
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

/** Follows no link, and looks no further than at one file too many. */
async function measure(root: string | null, maxFiles: number): Promise<Room> {
	const room = { bytes: 0, files: 0, entries: 0 };
	if (root === null) return room;
	for await (const step of walkFolder(root)) {
		const counted = step.filter(({ names }) => names.length > 1 || !names[0]?.startsWith(UPLOADING));
		room.files += counted.length;
		// What is deleted meanwhile takes no room.
		const files = counted.filter(({ kind }) => kind !== 'folder');
		const sizes = files.map(({ at }) => lstat(at).then(sizeOf, () => 0));
		for (const size of await Promise.all(sizes)) room.bytes += size;
		if (room.files > maxFiles) break;
	}
	return room;
}

/** A file with holes counts for what is in it. */
function sizeOf({ size, blocks }: Stats): number {
	return Math.min(size, blocks * 512);
}
