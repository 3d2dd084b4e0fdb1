/** Puts folders where the library finds them: all of them or none, and whatever fails, what was there before is there again (FEATURES E20; SECURITY, archives). */
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { openSkillFolder } from '../safe-path.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { hashFolder } from './inspection.ts';
import { dropSecrets, type InstallContext, isSameOrigin, removeQuietly, timeOf } from './install-context.ts';
import { diskError } from './staging-folder.ts';

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
				context.log.error({ error: String(failure) }, 'couldn’t undo an installation; the next start will');
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
		throw new AppError('conflict', `The folder ${record.dir} is in the way. It wasn’t installed here.`, {
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

// At the start: what a process that died has left half done is finished or taken back, so that records and folders say the same (FEATURES E20, E28).

/** Nothing else changes anything meanwhile. */
export async function recoverInstalls(context: InstallContext): Promise<void> {
	const { store, places } = context;
	await rm(places.staging, { recursive: true, force: true, maxRetries: 3 });
	await recoverTrash(context);
	for (const row of await store.skillInstalls.list()) {
		if (row.state === 'placing') await recoverPlacing(context, row);
	}
	for (const row of await store.skillInstalls.list()) await recoverFolder(context, row);
	await removeStrays(context);
}

/** Its folder was renamed into place, or it was not. */
async function recoverPlacing(context: InstallContext, row: InstallRecord): Promise<void> {
	const { store, places } = context;
	const others = (await store.skillInstalls.list(row.skillId)).filter(({ id }) => id !== row.id);
	const replaced = others.find(({ state, dir }) => state === 'active' && dir === row.dir);
	const isReplaced = replaced !== undefined && (await isThere(places.keptAt(replaced.id)));
	const isPlaced = (!replaced || isReplaced) && (await holds(row.dir, row));
	if (isPlaced) {
		const before = others.find(({ state }) => state === 'active');
		if (!before || !isSameOrigin(row.origin, before.origin)) await dropSecrets(context, row.skillId);
		if (replaced) {
			await store.skillInstalls.move(replaced.id, { state: 'kept', dir: places.keptAt(replaced.id) }, timeOf(context));
		}
		await store.skillInstalls.move(row.id, { state: 'active', dir: row.dir }, timeOf(context));
	} else if (await isThere(places.keptAt(row.id))) {
		await store.skillInstalls.move(row.id, { state: 'kept', dir: places.keptAt(row.id) }, timeOf(context));
	} else {
		await store.skillInstalls.remove(row.id);
	}
}

/** One that was put aside for another that never came is put back; one that is nowhere is forgotten. */
async function recoverFolder({ store, places }: InstallContext, row: InstallRecord): Promise<void> {
	if (await isThere(row.dir)) return;
	if (row.state === 'active' && (await isThere(places.keptAt(row.id)))) {
		await rename(places.keptAt(row.id), row.dir);
	} else {
		await store.skillInstalls.remove(row.id);
	}
}

async function recoverTrash(context: InstallContext): Promise<void> {
	const { store } = context;
	for (const record of await store.skillTrash.list()) {
		const row = record.installId === null ? null : await store.skillInstalls.get(record.installId);
		if (await isThere(record.stored)) {
			if (row && row.state !== 'trashed') {
				await store.skillInstalls.move(row.id, { state: 'trashed', dir: record.stored }, timeOf(context));
			}
			continue;
		}
		// It was not removed yet, or it was restored already.
		if (row && (await isThere(record.path))) {
			await store.skillInstalls.move(row.id, { state: 'active', dir: record.path }, timeOf(context));
		}
		await store.skillTrash.remove(record.id);
	}
}

/** Replaced installations that no record knows of, and copies that were not finished. */
async function removeStrays(context: InstallContext): Promise<void> {
	const { store, places } = context;
	const known = new Set((await store.skillInstalls.list()).map(({ dir }) => dir));
	for (const name of await namesIn(places.kept)) {
		if (!known.has(places.keptAt(name))) await removeQuietly(places.keptAt(name), context);
	}
	for (const name of await namesIn(places.trash)) {
		if (name.endsWith('.partial')) await removeQuietly(join(places.trash, name), context);
	}
}

async function holds(dir: string, { computedHash }: InstallRecord): Promise<boolean> {
	return (await isThere(dir)) && (await hashFolder(dir)).computedHash === computedHash;
}

async function namesIn(dir: string): Promise<string[]> {
	return readdir(dir).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return [];
		throw error;
	});
}
