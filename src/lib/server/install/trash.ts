/** Removes skills in a way that can be undone for thirty days, whoever put them there (FEATURES E4, E22). */
import { randomUUID } from 'node:crypto';
import { cp, lstat, mkdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { TrashedSkill } from '../../shared/install.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import type { InstallRecord, TrashRecord } from '../store/skills/installs.ts';
import { diskError } from './staging-folder.ts';
import {
	dropSecrets,
	inLibrary,
	installationsOf,
	removeQuietly,
	timeOf,
	type InstallContext
} from './install-context.ts';
import { isThere } from './placing.ts';

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

export function trashedOf({ stored: _stored, installId: _installId, ...rest }: TrashRecord): TrashedSkill {
	return { ...rest, expiresAt: new Date(Date.parse(rest.removedAt) + KEPT_MS).toISOString() };
}

/** @throws AppError `conflict` for a link or a root, `not_found` for what is not there any more */
export async function moveToTrash(context: InstallContext, skill: Skill | BrokenSkill): Promise<TrashedSkill> {
	const { store, places, modes } = context;
	await checkRemovable(skill);
	const rows = await store.skillInstalls.list(skillIdOf(skill));
	const row = rows.find(({ state, dir }) => state === 'active' && dir === skill.dir) ?? null;
	const id = randomUUID();
	const version = skill.status === 'ready' ? skill.version : (row?.version ?? null);
	const record: TrashRecord = {
		id,
		skillId: skillIdOf(skill),
		name: row?.name ?? skill.name,
		version,
		path: skill.dir,
		stored: places.trashedAt(id),
		installId: row?.id ?? null,
		removedAt: timeOf(context)
	};
	await store.skillTrash.add(record);
	try {
		await moveFolder(record.path, record.stored);
	} catch (error) {
		await store.skillTrash.remove(id);
		throw diskError(error);
	}
	if (row) await store.skillInstalls.move(row.id, { state: 'trashed', dir: record.stored }, timeOf(context));
	if (version !== null && modes.pinOf(record.skillId) === version) await modes.setPin(record.skillId, null);
	return trashedOf(record);
}

/** @throws AppError `not_found`, `conflict` where something stands there now */
export async function restoreFromTrash(context: InstallContext, id: string): Promise<TrashRecord> {
	const { store } = context;
	const record = await requireTrashed(context, id);
	const row = await installOf(context, record);
	const isTaken = row !== null && (await isActive(context, row));
	if (isTaken || (await isThere(record.path))) {
		throw new AppError('conflict', `Something else is already at ${record.path}.`, { hint: 'Remove it first.' });
	}
	try {
		await moveFolder(record.stored, record.path);
	} catch (error) {
		throw diskError(error);
	}
	if (row) await store.skillInstalls.move(row.id, { state: 'active', dir: record.path }, timeOf(context));
	await store.skillTrash.remove(id);
	return record;
}

/** Nothing is known any more of what is gone for good. @throws AppError `not_found` */
export async function purgeFromTrash(context: InstallContext, id: string): Promise<void> {
	const { store, places } = context;
	const record = await requireTrashed(context, id);
	const row = await installOf(context, record);
	const gone = join(places.staging, id);
	try {
		await mkdir(places.staging, { recursive: true });
		if (await isThere(record.stored)) await rename(record.stored, gone);
	} catch (error) {
		throw diskError(error);
	}
	if (row) await store.skillInstalls.remove(row.id);
	await store.skillTrash.remove(id);
	await forget(context, record, row);
	await removeQuietly(gone, context);
}

/** What cannot be removed now is tried again the next time: it keeps neither the server from starting nor the rest from its list. */
export async function purgeExpired(context: InstallContext): Promise<void> {
	for (const { id, removedAt } of await context.store.skillTrash.list()) {
		if (Date.parse(removedAt) + KEPT_MS > context.now()) continue;
		await purgeFromTrash(context, id).catch((error: unknown) => {
			context.log.error({ trashId: id, error: String(error) }, 'couldn’t permanently delete a removed skill');
		});
	}
}

/** As long as another version is there, or could be brought back, what is said of all of them stays. */
async function forget(context: InstallContext, record: TrashRecord, row: InstallRecord | null): Promise<void> {
	const { store, modes } = context;
	const { skillId, version } = record;
	const others = [
		...(await installationsOf(context, skillId)),
		...(await store.skillTrash.list()).filter((other) => other.skillId === skillId),
		...inLibrary(context, skillId)
	];
	if (others.length === 0) {
		await modes.forget(skillId);
		await store.trustedSkills.remove(skillId);
		await dropSecrets(context, skillId);
	} else if (version !== null && !others.some((other) => other.version === version)) {
		await modes.forget(skillId, version);
		if (row) await store.trustedSkills.remove(skillId, { version, digest: row.digest });
	}
}

/** Only a folder of its own, below its root and reached through no link: what is moved is what was looked at. */
async function checkRemovable({ name, dir, root }: Skill | BrokenSkill): Promise<void> {
	const refuse = (reason: string) => new AppError('conflict', `“${name}” can’t be removed here: ${reason}.`);
	if (dir === root) throw refuse('its folder holds other skills too');
	const entry = await lstat(dir).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== 'ENOENT') throw diskError(error);
		throw new AppError('not_found', `The folder of “${name}” no longer exists.`);
	});
	if (entry.isSymbolicLink()) throw refuse('its folder is a link. Remove the link itself');
	if (!entry.isDirectory()) throw refuse('it isn’t a folder');
	const between = relative(root, dir);
	if (between.startsWith('..') || (await realpath(dir)) !== join(await realpath(root), between)) {
		throw refuse('a link leads to its folder');
	}
}

/** To another file system it is copied: whole under another name first, and then what was copied is removed. */
async function moveFolder(from: string, to: string): Promise<void> {
	await mkdir(dirname(to), { recursive: true });
	try {
		return await rename(from, to);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
	}
	const partial = `${to}.partial`;
	try {
		await cp(from, partial, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
		await rename(partial, to);
	} catch (error) {
		await rm(partial, { recursive: true, force: true });
		throw error;
	}
	await rm(from, { recursive: true });
}

async function requireTrashed({ store }: InstallContext, id: string): Promise<TrashRecord> {
	const record = await store.skillTrash.get(id);
	if (!record) throw new AppError('not_found', 'The trash has nothing with this id.');
	return record;
}

async function installOf({ store }: InstallContext, { installId }: TrashRecord): Promise<InstallRecord | null> {
	return installId === null ? null : store.skillInstalls.get(installId);
}

async function isActive(context: InstallContext, { skillId, version }: InstallRecord): Promise<boolean> {
	const rows = await installationsOf(context, skillId);
	return rows.some((row) => row.state === 'active' && row.version === version);
}
