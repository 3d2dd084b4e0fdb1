/** Staged installs that wait for confirmation: at most 20 for each server, for an hour (E20). */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { StagedInstall } from '../../shared/install.ts';
import { ignoring, isThere, removeFolder } from '../foreign-folders.ts';
import type { Inspection } from './inspection.ts';
import type { StagingFolder } from './staging-folder.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_STAGED = 20;

export interface Staged {
	shown: StagedInstall;
	folder: Pick<StagingFolder, 'dir' | 'remove'>;
	inspections: ReadonlyMap<string, Inspection>;
	/** Expiry, in milliseconds of the monotonic clock; null if another server fetched it. */
	until: number | null;
}

export type StagedInstalls = ReturnType<typeof createStagedInstalls>;

export function createStagedInstalls(options: {
	/** Milliseconds since 1970. */
	now(): number;
	/** Monotonic clock, in milliseconds. */
	uptime(): number;
	remove(folder: Staged['folder']): Promise<void>;
	/** Among several servers. */
	shelf?: StagedShelf | null;
}) {
	const { now, uptime, remove, shelf = null } = options;
	const kept = new Map<string, Staged>();
	/** Nobody else asks for what is installed at once. */
	const own = new Set<string>();
	let timer: NodeJS.Timeout | undefined;

	const isOver = ({ until, shown }: Staged) =>
		until === null ? Date.parse(shown.expiresAt) <= now() : until <= uptime();
	const drop = async ({ shown, folder }: Staged): Promise<void> => {
		kept.delete(shown.id);
		if (!own.delete(shown.id)) await shelf?.take(shown.id);
		await remove(folder);
	};
	const sweep = async () => {
		await Promise.all([...kept.values()].filter(isOver).map(drop));
	};
	/** @throws AppError `not_found`, also once expired */
	const get = async (id: string): Promise<Staged> => {
		const staged = shelf && !own.has(id) ? await shelf.find(id) : kept.get(id);
		if (!staged || isOver(staged)) throw expired();
		return staged;
	};
	return {
		/** Drops the oldest if there are too many. */
		async add(
			id: string,
			make: (times: Pick<StagedInstall, 'createdAt' | 'expiresAt'>) => Omit<Staged, 'until'>,
			{ isShown = true } = {}
		): Promise<StagedInstall> {
			await sweep();
			const createdAt = now();
			const made = make({
				createdAt: new Date(createdAt).toISOString(),
				expiresAt: new Date(createdAt + LIFETIME_MS).toISOString()
			});
			const staged = { ...made, until: uptime() + LIFETIME_MS };
			kept.set(id, staged);
			if (shelf && isShown) await shelf.put(staged);
			else own.add(id);
			const [oldest] = kept.values();
			if (oldest && kept.size > MAX_STAGED) await drop(oldest);
			clearTimeout(timer);
			timer = setTimeout(() => void sweep(), LIFETIME_MS + 1000).unref();
			return staged.shown;
		},
		get,
		/** Removes it from the list. @throws AppError `not_found` */
		async take(id: string): Promise<Staged> {
			const staged = await get(id);
			kept.delete(id);
			if (shelf && !own.has(id) && !(await shelf.take(id))) throw expired();
			return staged;
		},
		/** Undoes `take`. */
		async putBack(staged: Staged): Promise<void> {
			if (staged.until !== null) kept.set(staged.shown.id, staged);
			if (shelf && !own.has(staged.shown.id)) await shelf.put(staged);
		},
		/** Deletes its folder, if still there. */
		async drop({ shown, folder }: Staged): Promise<void> {
			own.delete(shown.id);
			await remove(folder);
		},
		async close() {
			clearTimeout(timer);
			await Promise.all([...kept.values()].map(drop));
		}
	};
}

function expired(): AppError {
	return new AppError('not_found', 'This installation has expired or doesn’t exist.', { hint: 'Start it again.' });
}

// For all servers of a data folder: whoever confirms may come to another one than the one that fetched.

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
