/** Reviewed installs for all servers of a data folder: whoever confirms may come to another one than the one that fetched (E20). */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoring, isThere, removeFolder } from '../foreign-folders.ts';
import type { Staged } from './staging.ts';

/** As it lies beside the fetched files, in the folder of the server that fetched them; it goes with that. */
interface Laid extends Pick<Staged, 'shown'> {
	dir: string;
	inspections: [string, unknown][];
}

export interface StagedShelf {
	put(staged: Staged): Promise<void>;
	/** One that lies there; null if there is none. */
	find(id: string): Promise<Staged | null>;
	/** True for the one call that took it. */
	take(id: string): Promise<boolean>;
}

const ID = /^[0-9a-f-]{36}$/;

/** `servers`: the folder with the folders of all servers. */
export function createStagedShelf(servers: string): StagedShelf {
	const placeOf = async (id: string): Promise<string | null> => {
		if (!ID.test(id)) return null;
		for (const name of (await readdir(servers).catch(ignoring('ENOENT'))) ?? []) {
			const path = join(servers, name, 'staging', `${id}.json`);
			if (await isThere(path)) return path;
		}
		return null;
	};
	return {
		async put({ shown, folder, inspections }) {
			const laid: Laid = { shown, dir: folder.dir, inspections: [...inspections] };
			const path = join(dirname(folder.dir), `${shown.id}.json`);
			await writeFile(`${path}.new`, JSON.stringify(laid), { mode: 0o600 });
			await rename(`${path}.new`, path);
		},
		async find(id) {
			const path = await placeOf(id);
			const text = path === null ? null : await readFile(path, 'utf8').catch(ignoring('ENOENT'));
			if (text === null) return null;
			const { shown, dir, inspections } = JSON.parse(text) as Laid;
			return {
				shown,
				folder: { dir, remove: () => removeFolder(dir) },
				inspections: new Map(inspections) as Staged['inspections'],
				until: null
			};
		},
		async take(id) {
			const path = await placeOf(id);
			if (path === null) return false;
			return rm(path).then(
				() => true,
				(error: NodeJS.ErrnoException) => ignoring('ENOENT')(error) !== null
			);
		}
	};
}
