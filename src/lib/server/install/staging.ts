/** Fetches skills into a staging folder and describes them for review: files, scripts, warnings, changes (E20; SECURITY, archives). */
import { randomUUID } from 'node:crypto';
import { join, dirname } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { StagedInstall, StagedSkill } from '../../shared/install.ts';
import type { TrustedFile } from '../store/skills/choices.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { changesOf } from '../trust/trust.ts';
import type { Fetch, FetchedSkills } from './catalog-installer.ts';
import { currentFiles, findSkillFolders, type Inspection, inspectSkill } from './inspection.ts';
import { hasSecrets, inLibrary, installationsOf, type InstallContext, isSameOrigin } from './install-context.ts';
import { createStagingFolder, diskError, onDisk, type StagingFolder } from './staging-folder.ts';
import { usedInstallation } from './versions.ts';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { ignoring, isThere, removeFolder } from '../foreign-folders.ts';

/** Also the maximum that can be confirmed at once. */
const MAX_SKILLS = 100;
/** Characters of all texts shown; they stay in memory for an hour. */
const MAX_TEXT = 4 * 1024 * 1024;

export interface StageRequest {
	fetch: Fetch;
	owner: string;
	signal: AbortSignal;
	/** Whether the user reviews it now. Otherwise it is installed at once, and reviewed before it is trusted. */
	isShown?: boolean;
	/** Default: all skills of the source. */
	isWanted?: (skill: Pick<StagedSkill, 'name' | 'path'>) => boolean;
}

/** Leaves nothing on disk after an error. @throws AppError as `Installer.stage` */
export async function stageInstall(
	context: InstallContext,
	stagedInstalls: StagedInstalls,
	{ fetch, owner, signal, isShown = true, isWanted = () => true }: StageRequest
): Promise<StagedInstall> {
	const folder = await createStagingFolder(context.places.staging);
	try {
		const fetched = await fetch(folder, signal);
		const found = await foldersOf(fetched, folder);
		const notes = [...fetched.notes];
		if (found.length > MAX_SKILLS) notes.push(`Found ${found.length} skills. Showing the first ${MAX_SKILLS}.`);
		const inspections = new Map<string, Inspection>();
		const skills: StagedSkill[] = [];
		let room = MAX_TEXT;
		for (const path of found.slice(0, MAX_SKILLS)) {
			signal.throwIfAborted();
			const inspection = await inspectSkill(join(folder.dir, path), { scans: isShown });
			const name = inspection.shown.name || path.split('/').at(-1) || 'SKILL.md';
			if (!isWanted({ name, path })) continue;
			const skill = await describe(inspection, { path, name }, { context, owner, fetched, isShown });
			const { shown, left } = fitted(skill, room);
			room = left;
			inspections.set(path, { ...inspection, kept: [] });
			skills.push(shown);
			notes.push(...(await warningsFor(context, owner, shown)));
		}
		const beside = skills.filter(({ status }) => status === 'ready').map(({ name }) => name);
		for (const { path, needs } of skills) {
			const skill = inspections.get(path)?.skill;
			if (needs && skill) needs.skills = context.siblingsOf(skill, beside);
		}
		if (skills.length === 0) {
			throw new AppError('invalid_input', 'No skill found. A skill is a folder with a SKILL.md.');
		}
		const id = randomUUID();
		const made = (times: Pick<StagedInstall, 'createdAt' | 'expiresAt'>) => {
			return { shown: { id, ...times, skills, notes: [...new Set(notes)] }, folder, inspections };
		};
		return await stagedInstalls.add(id, made, { isShown });
	} catch (error) {
		await folder.remove().catch((failure: unknown) => {
			context.log.error({ error: String(failure) }, 'couldn’t remove a staging folder; the next start will');
		});
		throw diskError(error);
	}
}

/** Skill folders without those inside another skill. */
async function foldersOf({ folders }: FetchedSkills, { dir }: StagingFolder): Promise<string[]> {
	const all = [...new Set(folders ?? (await findSkillFolders(dir)))].sort();
	return all.filter((path) => !all.some((above) => above !== path && (above === '' || path.startsWith(`${above}/`))));
}

async function describe(
	{ shown, kept, skill }: Inspection,
	{ path, name }: Pick<StagedSkill, 'path' | 'name'>,
	{
		context,
		owner,
		fetched,
		isShown
	}: Pick<StageRequest, 'owner' | 'isShown'> & { context: InstallContext; fetched: FetchedSkills }
): Promise<StagedSkill> {
	const origin = fetched.originOf(path);
	const { source } = context.places.rootOf(owner);
	return {
		...shown,
		path,
		name,
		origin,
		...(await comparedWith(context, `${source}/${name}`, { ...shown, origin }, kept)),
		audit: fetched.audits?.get(path) ?? null,
		needs: isShown && skill ? await context.needsOf(skill) : null
	};
}

/** With the installed skill as it is now. */
async function comparedWith(
	context: InstallContext,
	skillId: string,
	{ version, digest, origin }: Pick<StagedSkill, 'version' | 'digest' | 'origin'>,
	kept: readonly TrustedFile[]
): Promise<Pick<StagedSkill, 'installed' | 'changes'>> {
	const other = await installedLike(context, skillId, version);
	if (!other) return { installed: null, changes: null };
	const now = await onDisk(currentFiles(other.dir));
	return {
		installed: {
			skillId: other.skillId,
			version: other.version,
			isSameVersion: other.version === version,
			isSameOrigin: isSameOrigin(origin, other.origin),
			digest: now.digest,
			isEdited: now.digest !== other.digest
		},
		changes: now.digest === digest ? null : await changesOf(now.kept, kept)
	};
}

/** What waits, compared again: a skill may have been edited since. */
export async function comparedAgain(context: InstallContext, { shown, folder }: Staged): Promise<StagedInstall> {
	const skills: StagedSkill[] = [];
	let room = MAX_TEXT;
	for (const skill of shown.skills) {
		const { installed } = skill;
		const files = installed && (await onDisk(currentFiles(join(folder.dir, skill.path))));
		const now = installed && files && (await comparedWith(context, installed.skillId, skill, files.kept));
		const fits = fitted({ ...skill, ...now }, room);
		room = fits.left;
		skills.push(fits.shown);
	}
	return { ...shown, skills };
}

/** The same version, else the one in use, else the newest; none whose folder was deleted by hand. */
async function installedLike(
	context: InstallContext,
	skillId: string,
	version: string | null
): Promise<InstallRecord | null> {
	const rows: InstallRecord[] = [];
	for (const row of await installationsOf(context, skillId)) {
		if (row.state === 'active' && (await isThere(row.dir))) rows.push(row);
	}
	return rows.find((row) => row.version === version) ?? usedInstallation(context, rows) ?? null;
}

async function warningsFor(context: InstallContext, owner: string, skill: StagedSkill): Promise<string[]> {
	const { name, version, installed, status, changes } = skill;
	if (status === 'broken') return [];
	const { source } = context.places.rootOf(owner);
	const skillId = `${source}/${name}`;
	const notes: string[] = [];
	const other = await installedLike(context, skillId, version);
	const areUploads = skill.origin.source === null && other?.origin.source === null;
	// The same files are the same skill, wherever they come from; of uploads nothing is known.
	if (installed && !installed.isSameOrigin && !areUploads && changes !== null) {
		notes.push(`“${name}” is installed from another source. This may be a different skill with the same name.`);
	}
	if (!installed?.isSameOrigin && (await hasSecrets(context, skillId))) {
		notes.push(
			`Secrets and network access of the installed “${name}” will be removed, because they were given to a different skill.`
		);
	}
	if (!installed && inLibrary(context, skillId).some((other) => other.version === version)) {
		notes.push(
			`“${name}” ${version ?? ''} is already in the folder of installed skills. Someone put it there by hand.`
		);
	}
	return notes;
}

/** Drops texts beyond `room` characters. */
function fitted(skill: StagedSkill, room: number): { shown: StagedSkill; left: number } {
	let left = room;
	const take = (text: string | null) => {
		if (text === null || text.length > left) return null;
		left -= text.length;
		return text;
	};
	const files = skill.files.map((file) => ({ ...file, text: take(file.text) }));
	const changes = skill.changes?.map((change) => ({ ...change, diff: take(change.diff) })) ?? null;
	return { shown: { ...skill, files, changes }, left };
}

// What waits for confirmation: at most 20 for each server, for an hour.

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

const ID = /^[0-9a-f-]{36}$/;

/** `servers`: the folder with the folders of all servers. */
export function createStagedShelf(servers: string) {
	const placeOf = async (id: string): Promise<string | null> => {
		if (!ID.test(id)) return null;
		for (const name of (await readdir(servers).catch(ignoring('ENOENT'))) ?? []) {
			const path = join(servers, name, 'staging', `${id}.json`);
			if (await isThere(path)) return path;
		}
		return null;
	};
	return {
		async put({ shown, folder, inspections }: Staged): Promise<void> {
			const laid: Laid = { shown, dir: folder.dir, inspections: [...inspections] };
			const path = join(dirname(folder.dir), `${shown.id}.json`);
			await writeFile(`${path}.new`, JSON.stringify(laid), { mode: 0o600 });
			await rename(`${path}.new`, path);
		},
		/** One that lies there; null if there is none. */
		async find(id: string): Promise<Staged | null> {
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
		/** True for the one call that took it. */
		async take(id: string): Promise<boolean> {
			const path = await placeOf(id);
			if (path === null) return false;
			return rm(path).then(
				() => true,
				(error: NodeJS.ErrnoException) => ignoring('ENOENT')(error) !== null
			);
		}
	};
}

type StagedShelf = ReturnType<typeof createStagedShelf>;
