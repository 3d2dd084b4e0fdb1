/** Kinds of folders that are stored: where they are, and how they change. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredFile } from '../store/stored-files.ts';
import type { LocalState } from './local-state.ts';

export interface FolderKind {
	/** In the data folder: `workspaces` has `workspaces/<name>`. */
	path: string;
	/** 2: `owned` has `owned/<name>/<name>`. Default: 1. */
	depth?: number;
	/** Default: any that isn't hidden. */
	names?: RegExp;
	/** What others have changed becomes visible at once, and a change beats the deletion of the folder. */
	isWhole?: boolean;
	/** Both stay when two servers have changed the same file: what people see. */
	keepsBoth?: boolean;
	/** What else changes such folders runs in it, too. */
	within?(work: () => Promise<unknown>): Promise<unknown>;
}

const NAME = /^[^./\\\0][^/\\\0]*$/;

/** undefined for a folder that must not be used. */
export function kindOf(kinds: readonly FolderKind[], folder: string): FolderKind | undefined {
	const [first, ...names] = folder.split('/');
	return kinds.find(
		({ path, depth = 1, names: allowed = NAME }) =>
			path === first &&
			names.length === depth &&
			names.every((name) => NAME.test(name) && Buffer.byteLength(name) <= 255) &&
			allowed.test(names.at(-1) ?? '')
	);
}

/** All files of a folder; what is known of it from before it was deleted and begun again is deleted. */
export function asWhole(files: readonly StoredFile[], known: LocalState, version: number): StoredFile[] {
	const paths = new Set(files.map(({ path }) => path));
	const gone = [...known.files.keys()].filter((path) => !paths.has(path));
	return [...files, ...gone.map((path) => ({ path, content: null, mode: 0, modifiedAt: '', version }))];
}

/** Those that there are, whether they are stored or not. */
export async function localFolders(dataDir: string, kinds: readonly FolderKind[]): Promise<string[]> {
	const folders: string[] = [];
	const look = async (path: string, depth: number): Promise<void> => {
		const entries = await readdir(join(dataDir, path), { withFileTypes: true }).catch(() => []);
		for (const entry of entries.filter((each) => each.isDirectory())) {
			const folder = `${path}/${entry.name}`;
			if (depth > 1) await look(folder, depth - 1);
			else if (kindOf(kinds, folder)) folders.push(folder);
		}
	};
	for (const { path, depth = 1 } of kinds) await look(path, depth);
	return folders;
}
