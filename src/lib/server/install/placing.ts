/** Moves folders into the library, all or none; any failure restores the previous state (E20; SECURITY, archives). */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { isThere } from '../foreign-folders.ts';
import { openSkillFolder } from '../safe-path.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import {
	dropSecrets,
	type InstallContext,
	isSameSkill,
	moveEdits,
	namesIn,
	narrowNetwork,
	removeQuietly,
	timeOf
} from './install-context.ts';
import { diskError } from './staging-folder.ts';

export interface Placement {
	/** The final record; `dir` is its place in the library. */
	record: InstallRecord;
	/** Where the folder is now, on the same file system. */
	from: string;
	/** Its previous record; null if new. */
	before: InstallRecord | null;
	/** The installation at `record.dir` now. */
	replaced: InstallRecord | null;
	/** The version in use; null without one. */
	used: InstallRecord | null;
	/** Of a draft: the hosts that it still wants. */
	hosts?: readonly string[];
}

type Undo = () => Promise<unknown>;

/** @throws AppError with nothing changed */
export async function placeAll(context: InstallContext, placements: readonly Placement[]): Promise<void> {
	const undo: Undo[] = [];
	try {
		for (const placement of placements) await moveIn(context, placement, undo);
		for (const { record, used, hosts } of placements) {
			if (!used || !isSameSkill(record, used)) await dropSecrets(context, record.skillId);
			else if (hosts) await narrowNetwork(context, record.skillId, hosts);
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

/**
 * Records the intent before each step, so that the next start can finish or undo it. It finishes once the folder is in its place,
 * which comes after all that is done to the replaced one.
 */
async function moveIn(context: InstallContext, placement: Placement, undo: Undo[]): Promise<void> {
	const { record, from, before, replaced } = placement;
	const { store, places } = context;
	const now = timeOf(context);
	// Before it's recorded: a start takes what is in the place of a recorded one for it.
	if (!replaced && (await isThere(record.dir))) {
		const hint = 'Remove it, then try again.';
		throw new AppError('conflict', `The folder ${record.dir} is in the way. It wasn’t installed here.`, { hint });
	}
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
		const keptAt = places.keptAt(replaced.id);
		await rename(replaced.dir, keptAt);
		undo.push(() => rename(keptAt, replaced.dir));
		await moveEdits(context, replaced.dir, keptAt);
		undo.push(() => moveEdits(context, keptAt, replaced.dir));
	}
	await rename(from, record.dir);
	undo.push(() => rename(record.dir, from));
	await moveEdits(context, from, record.dir);
	undo.push(() => moveEdits(context, record.dir, from));
	// Staging is private to this process.
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
	// Undone before the replaced one becomes active again: only one row per version may be active.
	undo.push(() => store.skillInstalls.move(made.id, { state: 'placing', dir: made.dir }, time));
}

/** Makes a rename survive a power failure. Windows neither can nor needs to. */
async function syncFolder(path: string): Promise<void> {
	if (process.platform === 'win32') return;
	const folder = await open(path, 'r');
	await folder.sync().finally(() => folder.close());
}

/** At startup: what was staged is of no use any more. */
export async function emptyStaging({ places }: InstallContext): Promise<void> {
	await rm(places.staging, { recursive: true, force: true, maxRetries: 3 });
}

/** At startup, finishes or undoes what a crashed process left, so that records and folders match (E20, E28). Nothing else may run. */
export async function recoverInstalls(context: InstallContext): Promise<void> {
	const { store } = context;
	await recoverTrash(context);
	for (const row of await store.skillInstalls.list()) {
		if (row.state === 'placing') await recoverPlacing(context, row);
	}
	for (const row of await store.skillInstalls.list()) await recoverFolder(context, row);
	await removeStrays(context);
}

/** The crash was before or after the rename into place. */
async function recoverPlacing(context: InstallContext, row: InstallRecord): Promise<void> {
	const { store, places } = context;
	const others = (await store.skillInstalls.list(row.skillId)).filter(({ id }) => id !== row.id);
	const replaced = others.find(({ state, dir }) => state === 'active' && dir === row.dir);
	const isReplaced = replaced !== undefined && (await isThere(places.keptAt(replaced.id)));
	const keptAt = places.keptAt(row.id);
	// Not by its files: a kept one may have been edited since it was installed.
	const isPlaced = (!replaced || isReplaced) && !(await isThere(keptAt)) && (await isThere(row.dir));
	if (isPlaced) {
		await finishEdits(context, keptAt, row.dir);
		const before = others.find(({ state }) => state === 'active');
		if (!before || !isSameSkill(row, before)) await dropSecrets(context, row.skillId);
		if (replaced) {
			await store.skillInstalls.move(replaced.id, { state: 'kept', dir: places.keptAt(replaced.id) }, timeOf(context));
		}
		await store.skillInstalls.move(row.id, { state: 'active', dir: row.dir }, timeOf(context));
	} else if (await isThere(keptAt)) {
		await store.skillInstalls.move(row.id, { state: 'kept', dir: keptAt }, timeOf(context));
	} else if (!context.isSpread || (await isThere(row.dir))) {
		await store.skillInstalls.remove(row.id);
	}
}

/** Puts back an installation that was moved aside for a new one that never came; forgets a missing one. */
async function recoverFolder(context: InstallContext, row: InstallRecord): Promise<void> {
	const { store, places, isSpread } = context;
	const keptAt = places.keptAt(row.id);
	if (row.state === 'active' && !(await isThere(row.dir)) && (await isThere(keptAt))) await rename(keptAt, row.dir);
	if (row.state === 'active') await finishEdits(context, keptAt, row.dir);
	if (!isSpread && !(await isThere(row.dir))) await store.skillInstalls.remove(row.id);
}

/** After the folder was moved. */
async function finishEdits(context: InstallContext, from: string, to: string): Promise<void> {
	if (await isThere(context.places.editsOf(from))) await moveEdits(context, from, to);
}

async function recoverTrash(context: InstallContext): Promise<void> {
	const { store, places } = context;
	for (const record of await store.skillTrash.list()) {
		const row = record.installId === null ? null : await store.skillInstalls.get(record.installId);
		if (await isThere(record.stored)) {
			if (!(await isThere(record.path))) await finishEdits(context, record.path, record.stored);
			if (row && row.state !== 'trashed') {
				await store.skillInstalls.move(row.id, { state: 'trashed', dir: record.stored }, timeOf(context));
			}
			continue;
		}
		// Not moved yet, or already restored.
		const isBack = places.isPlace(record.path) && (await isThere(record.path));
		if (isBack) await finishEdits(context, record.stored, record.path);
		if (row && isBack) {
			await store.skillInstalls.move(row.id, { state: 'active', dir: record.path }, timeOf(context));
		}
		if (isBack || !context.isSpread) await store.skillTrash.remove(record.id);
	}
}

/** Deletes replaced installations without a record, and unfinished copies. */
async function removeStrays(context: InstallContext): Promise<void> {
	const { store, places } = context;
	const known = new Set((await store.skillInstalls.list()).map(({ id }) => id));
	for (const name of await namesIn(places.kept)) {
		if (known.has(name)) continue;
		await removeQuietly(places.keptAt(name), context);
		context.touch(places.keptAt(name));
	}
	for (const name of await namesIn(places.trash)) {
		if (name.endsWith('.partial')) await removeQuietly(join(places.trash, name), context);
	}
}
