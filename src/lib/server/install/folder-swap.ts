/** Changes a folder as a whole: what it will be is made beside it and takes its place by renames, so that a crash leaves one or the other (F8, E28). */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { ignoring, isThere, removeFolder } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import { isInside } from '../skills/read/files.ts';
import { namesIn } from './install-context.ts';

/** Hidden, so that it isn’t read as a skill. */
const MARK = '.swap-';
/** Name of the work that servers with the same folders do one at a time: swaps, and what puts them back. */
export const SWAPS = 'folder-swaps';

/**
 * `within` holds the folder, on the same file system; `recoverSwaps` looks there. The folder may not exist yet.
 * `make` creates the new one at the path that it’s given; if it throws, nothing has changed.
 * @throws the system’s error, with the folder as it was
 */
export async function swapFolder(within: string, dir: string, make: (at: string) => Promise<void>): Promise<void> {
	const place = join(within, `${MARK}${randomUUID()}`);
	const [made, old] = [join(place, 'new'), join(place, 'old')];
	await mkdir(place, { recursive: true });
	try {
		await writeFile(join(place, 'of'), relative(within, dir));
		await make(made);
		await rename(dir, old).catch(ignoring('ENOENT'));
		await rename(made, dir);
	} catch (error) {
		await putBack(old, dir);
		await removeFolder(place).catch(() => undefined);
		throw error;
	}
	// What stays behind goes with the next start.
	await removeFolder(place).catch(() => undefined);
}

/** Removes a folder at once; what a crash leaves of it goes with the next start. */
export async function dropFolder(within: string, dir: string): Promise<void> {
	const place = join(within, `${MARK}${randomUUID()}`);
	if (!(await isThere(dir))) return;
	await mkdir(place);
	await rename(dir, join(place, 'old'));
	await removeFolder(place);
}

async function putBack(old: string, dir: string): Promise<void> {
	if ((await isThere(old)) && !(await isThere(dir))) await rename(old, dir);
}

/** At a start, before anything reads the folders in it: puts back what a crashed process had moved away, and removes what it left. */
export async function recoverSwaps(within: string, log: Log): Promise<void> {
	const names = await namesIn(within).catch(ignoring('ENOTDIR', 'EACCES'));
	for (const name of names ?? []) {
		if (!name.startsWith(MARK)) continue;
		const place = join(within, name);
		try {
			const of = (await readFile(join(place, 'of'), 'utf8').catch(ignoring('ENOENT'))) ?? '';
			const dir = resolve(within, of);
			if (of !== '' && isInside(within, dir)) await putBack(join(place, 'old'), dir);
			await removeFolder(place);
		} catch (error) {
			log.error({ error: String(error), folder: place }, 'couldn’t put back a folder that was being changed');
		}
	}
}
