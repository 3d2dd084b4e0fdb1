/** Puts folders where the library finds them: all of them or none, and whatever fails, what was there before is there again (FEATURES E20; SECURITY, archives). */
import { lstat, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { openSkillFolder } from '../safe-path.ts';
import type { InstallRecord } from '../store/skill-installs.ts';
import { diskError } from './disk-errors.ts';
import { dropSecrets, isSameOrigin, timeOf, type InstallContext } from './install-context.ts';

export interface Placement {
	/** As it is to be: `dir` is its place. */
	record: InstallRecord;
	/** Where it lies now; on the same file system. */
	from: string;
	/** What it was before; null for a new one. */
	before: InstallRecord | null;
	/** What lies in its place now. */
	replaced: InstallRecord | null;
	/** Where the version in use came from; null where there is none. */
	usedOrigin: InstallRecord['origin'] | null;
}

type Undo = () => Promise<unknown>;

/** @throws AppError; then nothing has changed */
export async function placeAll(context: InstallContext, placements: readonly Placement[]): Promise<void> {
	const undo: Undo[] = [];
	try {
		for (const placement of placements) await moveIn(context, placement, undo);
		for (const { record, usedOrigin } of placements) {
			if (!usedOrigin || !isSameOrigin(record.origin, usedOrigin)) await dropSecrets(context, record.skillId);
		}
		for (const placement of placements) await record(context, placement, undo);
	} catch (error) {
		for (const step of undo.reverse()) {
			await step().catch((failure: unknown) => {
				context.log.error(
					{ error: String(failure) },
					'An installation could not be taken back; the next start does it.'
				);
			});
		}
		throw diskError(error);
	}
}

/** A row that says what is meant comes before each step, so that a start knows what one before it did not finish. */
async function moveIn(context: InstallContext, placement: Placement, undo: Undo[]): Promise<void> {
	const { record, from, before, replaced } = placement;
	const { store, places } = context;
	const now = timeOf(context);
	await mkdir(dirname(record.dir), { recursive: true });
	if (before) {
		undo.push(() => store.skillInstalls.move(before.id, before, now));
		await store.skillInstalls.move(before.id, { state: 'placing', dir: record.dir }, now);
	} else {
		undo.push(() => store.skillInstalls.remove(record.id));
		await store.skillInstalls.add({ ...record, state: 'placing' }, now);
	}
	if (replaced) {
		await mkdir(places.kept, { recursive: true });
		await rename(replaced.dir, places.keptAt(replaced.id));
		undo.push(() => rename(places.keptAt(replaced.id), replaced.dir));
	} else if (await isThere(record.dir)) {
		throw new AppError('conflict', `There is a folder ${record.dir} that was not installed here.`, {
			hint: 'Remove it, then try again.'
		});
	}
	await rename(from, record.dir);
	undo.push(() => rename(record.dir, from));
	// While it was fetched it was nobody's but ours.
	await openSkillFolder(record.dir, dirname(record.dir));
	await syncFolder(dirname(record.dir));
}

async function record({ store, places, now }: InstallContext, placement: Placement, undo: Undo[]): Promise<void> {
	const { record: made, replaced } = placement;
	const time = timeOf({ now });
	if (replaced) {
		await store.skillInstalls.move(replaced.id, { state: 'kept', dir: places.keptAt(replaced.id) }, time);
		undo.push(() => store.skillInstalls.move(replaced.id, replaced, time));
	}
	await store.skillInstalls.move(made.id, { state: 'active', dir: made.dir }, time);
	// Taken back before the one that it replaced is active again: of one version there is one.
	undo.push(() => store.skillInstalls.move(made.id, { state: 'placing', dir: made.dir }, time));
}

export async function isThere(path: string): Promise<boolean> {
	return lstat(path).then(
		() => true,
		(error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return false;
			throw error;
		}
	);
}

/** So that a name outlasts a loss of power; Windows cannot, and need not. */
async function syncFolder(path: string): Promise<void> {
	if (process.platform === 'win32') return;
	const folder = await open(path, 'r');
	await folder.sync().finally(() => folder.close());
}
