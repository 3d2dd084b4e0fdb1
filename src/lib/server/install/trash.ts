/** The trash of skills: removed ones can be restored for 30 days, wherever they came from (E4, E22). */
import { randomUUID } from 'node:crypto';
import { cp, lstat, mkdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { TrashedSkill } from '../../shared/install.ts';
import { isThere } from '../foreign-folders.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import type { InstallRecord, TrashRecord } from '../store/skills/installs.ts';
import { diskError, onDisk } from './staging-folder.ts';
import {
	dropSecrets,
	inLibrary,
	installationsOf,
	moveEdits,
	removeQuietly,
	timeOf,
	type InstallContext
} from './install-context.ts';

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

export function trashedOf({ stored: _stored, installId: _installId, ...rest }: TrashRecord): TrashedSkill {
	return { ...rest, expiresAt: new Date(Date.parse(rest.removedAt) + KEPT_MS).toISOString() };
}

/** @throws AppError `conflict` for a link or a root, `not_found` if the folder is gone */
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
	await onDisk(moveFolder(record.path, record.stored)).catch(async (error: unknown) => {
		await store.skillTrash.remove(id);
		throw error;
	});
	await moveEdits(context, record.path, record.stored);
	if (row) await store.skillInstalls.move(row.id, { state: 'trashed', dir: record.stored }, timeOf(context));
	if (version !== null && modes.pinOf(record.skillId) === version) await modes.setPin(record.skillId, null);
	return trashedOf(record);
}

/** @throws AppError `not_found`, `conflict` if its place is taken */
export async function restoreFromTrash(context: InstallContext, id: string): Promise<TrashRecord> {
	const { store, places } = context;
	const { record, row } = await findTrashed(context, id);
	if (!places.isPlace(record.path)) {
		const hint = 'Add its folder to SKILLS_DIRS, then try again.';
		throw new AppError('conflict', `“${record.name}” was in ${record.path}, which is no folder of skills now.`, {
			hint
		});
	}
	const rows = row === null ? [] : await installationsOf(context, row.skillId);
	const isTaken = rows.some(({ state, version }) => state === 'active' && version === row?.version);
	if (isTaken || (await isThere(record.path))) {
		throw new AppError('conflict', `Something else is already at ${record.path}.`, { hint: 'Remove it first.' });
	}
	if (context.isSpread && !(await isThere(record.stored))) {
		throw new AppError('unavailable', `The files of “${record.name}” aren’t on this server yet. Try again later.`);
	}
	await onDisk(moveFolder(record.stored, record.path));
	await moveEdits(context, record.stored, record.path);
	if (row) await store.skillInstalls.move(row.id, { state: 'active', dir: record.path }, timeOf(context));
	await store.skillTrash.remove(id);
	return record;
}

/** Deletes it and everything recorded about it. @throws AppError `not_found` */
export async function purgeFromTrash(context: InstallContext, id: string): Promise<void> {
	const { store, places } = context;
	const { record, row } = await findTrashed(context, id);
	const gone = join(places.staging, id);
	await onDisk(mkdir(places.staging, { recursive: true }));
	if (await onDisk(isThere(record.stored))) await onDisk(rename(record.stored, gone));
	if (row) await store.skillInstalls.remove(row.id);
	await store.skillTrash.remove(id);
	await forget(context, record, row);
	await removeQuietly(gone, context);
	await removeQuietly(places.editsOf(record.stored), context);
}

export async function hasExpired(context: InstallContext): Promise<boolean> {
	return (await expired(context)).length > 0;
}

async function expired({ store, now }: InstallContext): Promise<TrashRecord[]> {
	return (await store.skillTrash.list()).filter(({ removedAt }) => Date.parse(removedAt) + KEPT_MS <= now());
}

/** Logs what can’t be deleted now and tries it again next time: it must stop neither startup nor the list. */
export async function purgeExpired(context: InstallContext): Promise<void> {
	for (const { id } of await expired(context)) {
		await purgeFromTrash(context, id).catch((error: unknown) => {
			context.log.error({ trashId: id, error: String(error) }, 'couldn’t permanently delete a removed skill');
		});
	}
}

/** Keeps what is recorded for all versions while another one is installed or can be restored. */
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

/** Only a folder below its root, not reached through a link, may be moved. */
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

/** Across file systems: copies to a temporary name, renames it, then deletes the original. */
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

async function findTrashed(
	{ store }: InstallContext,
	id: string
): Promise<{ record: TrashRecord; row: InstallRecord | null }> {
	const record = await store.skillTrash.get(id);
	if (!record) throw new AppError('not_found', 'The trash has nothing with this id.');
	return { record, row: record.installId === null ? null : await store.skillInstalls.get(record.installId) };
}
