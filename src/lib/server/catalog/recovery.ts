/** At the start: what a process that died has left half done is finished or taken back, so that records and folders say the same (FEATURES E20, E28). */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstallRecord } from '../store/skill-installs.ts';
import { hashFolder } from './folder-hash.ts';
import { dropSecrets, isSameOrigin, removeQuietly, timeOf, type InstallContext } from './install-context.ts';
import { isThere } from './placing.ts';

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
