/** What all parts of the installer share. */
import { hash } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import type { InstalledSkill, SkillOrigin } from '../../shared/install.ts';
import type { SkillNeeds } from '../../shared/skills.ts';
import { ignoring } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import { SKILL_FILES } from '../skills/read/folder-walk.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { ownerOf, SYSTEM } from '../skills/registry/visibility.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill, SkillRoot } from '../skills/types.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import { createSkillPlaces, LABEL, type SkillPlaces } from '../store/skills/places.ts';
import type { Store } from '../store/store.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';

export interface InstallContext {
	store: Pick<Store, 'skillInstalls' | 'skillTrash' | 'trustedSkills' | 'secrets' | 'networkGrants'>;
	registry: Pick<SkillRegistry, 'snapshot' | 'reload' | 'addRoot'>;
	modes: StoredSkillModes;
	places: InstallPlaces;
	log: Log;
	/** Other servers may have folders that aren't here. */
	isSpread: boolean;
	/** A folder may have changed, or is gone; rows of its folders say so by themselves. */
	touch(dir: string): void;
	/** Reads the skill's files. */
	needsOf(skill: Skill): Promise<SkillNeeds>;
	/** Other skills that it names; `beside`: names of those in the same download. */
	siblingsOf(skill: Skill, beside: readonly string[]): SkillNeeds['skills'];
	/** Milliseconds. */
	now(): number;
}

/** Changes of folders in the data folder, which other servers may have, too. */
export interface FolderChanges {
	/** False: only this server has them. */
	readonly isStored: boolean;
	/**
	 * Runs what changes such folders, after it has what other servers have left; one change at a time, of all servers. Then
	 * those that it names are stored for the others, or deleted if they aren't there any more. `unkept`: why others don't have
	 * them yet, as sentences; it's tried again. Folders that aren't stored may be named, too.
	 * @throws AppError `unavailable` before it begins, if others have changed something that can't be fetched
	 */
	change<Result>(
		work: (touch: (dir: string) => void) => Promise<Result>
	): Promise<{ result: Result; unkept: string | null }>;
	/**
	 * Once at the start: `work` finishes or undoes what was begun when this server was killed, and isn't run if nothing was.
	 * Other servers' work is left to them.
	 */
	recover(work: (touch: (dir: string) => void) => Promise<void>): Promise<void>;
}

export const ownFolders: FolderChanges = {
	isStored: false,
	change: async (work) => ({ result: await work(() => undefined), unkept: null }),
	recover: (work) => work(() => undefined)
};

/** The store, which names each folder whose row is changed. */
export function touchingStore(
	store: InstallContext['store'],
	touch: (dir: string) => void
): Pick<InstallContext['store'], 'skillInstalls' | 'skillTrash'> {
	const { skillInstalls, skillTrash } = store;
	const touchBoth = ({ path, stored }: { path: string; stored: string }) => [path, stored].forEach(touch);
	return {
		skillInstalls: {
			...skillInstalls,
			async add(record, now) {
				touch(record.dir);
				await skillInstalls.add(record, now);
			},
			async move(id, change, now) {
				const before = await skillInstalls.get(id);
				for (const { dir } of before ? [before, change] : [change]) touch(dir);
				await skillInstalls.move(id, change, now);
			},
			async remove(id) {
				const before = await skillInstalls.get(id);
				if (before) touch(before.dir);
				await skillInstalls.remove(id);
			}
		},
		skillTrash: {
			...skillTrash,
			async add(record) {
				touchBoth(record);
				await skillTrash.add(record);
			},
			async remove(id) {
				const before = await skillTrash.get(id);
				if (before) touchBoth(before);
				return skillTrash.remove(id);
			}
		}
	};
}

export function timeOf({ now }: Pick<InstallContext, 'now'>): string {
	return new Date(now()).toISOString();
}

/** The public form of a record; null while it is being placed. */
export function installedOf({ dir: _dir, computedHash: _hash, ...rest }: InstallRecord): InstalledSkill | null {
	return rest.state === 'placing' ? null : { ...rest, state: rest.state };
}

/** All versions of a skill in the library, from this source only. */
export function inLibrary({ registry }: Pick<InstallContext, 'registry'>, skillId: string): Skill[] {
	const { skills, shadowed } = registry.snapshot();
	return [...skills, ...shadowed].filter((skill) => skillIdOf(skill) === skillId);
}

/** Active and kept installations, newest first. */
export async function installationsOf(
	{ store }: Pick<InstallContext, 'store'>,
	skillId: string
): Promise<InstallRecord[]> {
	return (await store.skillInstalls.list(skillId)).filter(({ state }) => state === 'active' || state === 'kept');
}

/** Uploads have no comparable origin. Branches of a repository count as the same. */
export function isSameOrigin(one: SkillOrigin, other: SkillOrigin): boolean {
	if (one.source === null || other.source === null) return false;
	const keyOf = ({ provider, source, path }: SkillOrigin) =>
		JSON.stringify([provider, { ...source, ref: undefined }, path]).toLowerCase();
	return keyOf(one) === keyOf(other);
}

type Placed = Pick<InstallRecord, 'id' | 'origin'>;

/** Whether secrets that `used` has are for `record`, too: both come from the same place, or one is a draft made from the other. */
export function isSameSkill(record: Placed, used: Placed): boolean {
	const isDraftOf = (draft: Placed, other: Placed) => draft.origin.base === other.id;
	return isSameOrigin(record.origin, used.origin) || isDraftOf(record, used) || isDraftOf(used, record);
}

/** Takes network access away from all hosts but these. */
export async function narrowNetwork(
	{ store, now }: InstallContext,
	skillId: string,
	hosts: readonly string[]
): Promise<void> {
	const granted = await store.networkGrants.list(skillId);
	const left = granted.filter((host) => hosts.includes(host));
	if (left.length < granted.length) await store.networkGrants.replace(skillId, left, timeOf({ now }));
}

/** Deletes secrets and network access that were given to another skill of this id. */
export async function dropSecrets({ store, now }: InstallContext, skillId: string): Promise<void> {
	for (const { name } of await store.secrets.list(skillId)) await store.secrets.remove(skillId, name);
	await store.networkGrants.replace(skillId, [], timeOf({ now }));
}

export async function hasSecrets({ store }: InstallContext, skillId: string): Promise<boolean> {
	const [secrets, grants] = [await store.secrets.list(skillId), await store.networkGrants.list(skillId)];
	return secrets.length + grants.length > 0;
}

/** Logs a failure; the next start deletes the rest. */
export async function removeQuietly(dir: string, { log }: Pick<InstallContext, 'log'>): Promise<void> {
	await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
		log.error({ error: String(error) }, 'couldn’t remove a folder');
	});
}

/** What files said before edits goes with the skill: another one in its place must not have it. */
export async function moveEdits({ places, log }: InstallContext, from: string, to: string): Promise<void> {
	await rm(places.editsOf(to), { recursive: true, force: true });
	await rename(places.editsOf(from), places.editsOf(to)).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== 'ENOENT') log.error({ error: String(error) }, 'couldn’t move the versions of a skill');
	});
}

// Folders of installed skills in the data folder: one per version, below one library root per owner (A38, A41).

const INSTALLED = 'installed';
const KEY_FOLDER = /^key\.[0-9a-f]{24}$/;

export interface InstallPlaces {
	/** Downloads until they are placed. Emptied at startup. */
	staging: string;
	lockFile: string;
	/** Its label is the `source` in the skills’ ids. */
	rootOf(owner: string): SkillRoot;
	/** Folder of an active installation. Name and version must be checked before. */
	placeOf(owner: string, name: string, version: string): string;
	/** Replaced installations. */
	kept: string;
	trash: string;
	keptAt(installId: string): string;
	trashedAt(trashId: string): string;
	/** What files of the skill in this folder said before they were edited. */
	editsOf(dir: string): string;
	/** Whether a skill may be put there: below a folder of skills or in the data folder. */
	isPlace(path: string): boolean;
}

/** `ownDir`: on the same file system. `skillPlaces`: knows the folders of skills. */
export function installPlaces(
	dataDir: string,
	{ ownDir = dataDir, skillPlaces = createSkillPlaces(dataDir) }: { ownDir?: string; skillPlaces?: SkillPlaces } = {}
): InstallPlaces {
	const [kept, trash] = [join(dataDir, 'kept'), join(dataDir, 'trash')];
	const rootOf = (owner: string): SkillRoot => {
		const label = owner === SYSTEM ? undefined : ownerOf(owner);
		return label === undefined ? { path: join(dataDir, 'skills'), source: INSTALLED } : ownedRoot(dataDir, label);
	};
	return {
		staging: join(ownDir, 'staging'),
		lockFile: join(dataDir, 'skills-lock.json'),
		rootOf,
		placeOf: (owner, name, version) => join(rootOf(owner).path, `${name}@${version}`),
		kept,
		trash,
		keptAt: (id) => join(kept, id),
		trashedAt: (id) => join(trash, id),
		// Relative, as in rows: both folders may be moved.
		editsOf(dir) {
			const row = skillPlaces.toRow(dir);
			const isOwn = !isAbsolute(row) && !row.startsWith(LABEL);
			return join(dataDir, EDITS, `${isOwn ? '' : 'local.'}${hash('sha256', row)}`);
		},
		isPlace: (path) => isAbsolute(path) && skillPlaces.fromRow(path) !== null
	};
}

const EDITS = 'skill-edits';

/** Earlier versions named edits of skills that aren't in the data folder by their absolute paths. */
export async function renameOldEdits(dataDir: string, places: InstallPlaces, dirs: readonly string[]): Promise<void> {
	const names = new Set(await namesIn(join(dataDir, EDITS)));
	for (const dir of dirs) {
		const old = hash('sha256', dir);
		const now = places.editsOf(dir);
		if (!names.has(old) || names.has(basename(now))) continue;
		await rename(join(dataDir, EDITS, old), now).catch(ignoring('ENOENT', 'ENOTEMPTY', 'EEXIST'));
	}
}

/** The roots of all API keys that have skills, for the library. */
export async function ownedRoots(dataDir: string): Promise<SkillRoot[]> {
	const names = await namesIn(join(dataDir, 'owned'));
	return names.filter((name) => KEY_FOLDER.test(name)).map((label) => ownedRoot(dataDir, label));
}

/** Names in a folder; none if it doesn’t exist. */
export async function namesIn(dir: string): Promise<string[]> {
	return (await readdir(dir).catch(ignoring('ENOENT'))) ?? [];
}

function ownedRoot(dataDir: string, label: string): SkillRoot {
	return { path: join(dataDir, 'owned', label), source: label, owner: label, listsCopies: true };
}

// Finds skill folders in a repository or an archive by file names only (E20).

/** Folders of dependencies, caches and version control. */
const SKIPPED = new Set(['.git', 'node_modules', '__MACOSX', '__pycache__']);
/** Conventional places of skills, in order of preference. */
const CONVENTIONS = [/^(plugins\/[^/]+\/)?skills\//, /^(plugins\/[^/]+\/)?\.[^/]+\/skills\//];

/**
 * The folders to install, sorted, with `/`; empty for the top. Prefers `skills/` and `plugins/<name>/skills/` (others
 * may be templates or examples), then `.<tool>/skills/`, then all.
 * `paths` are of files, with `/`; a single folder around everything, as in archives, is ignored.
 */
export function skillFoldersIn(paths: readonly string[]): string[] {
	const folders = allSkillFoldersIn(paths);
	const around = commonFolder(paths);
	for (const convention of CONVENTIONS) {
		const usual = folders.filter((folder) => convention.test(`${folder.slice(around.length)}/`));
		if (usual.length > 0) return usual;
	}
	return folders;
}

/** Every folder with a skill file. Folders inside a skill belong to it. */
export function allSkillFoldersIn(paths: readonly string[]): string[] {
	const folders = new Set<string>();
	for (const path of paths) {
		const segments = path.split('/');
		const name = segments.pop() ?? '';
		if (!SKILL_FILES.includes(name) || segments.some((segment) => SKIPPED.has(segment))) continue;
		folders.add(segments.join('/'));
	}
	if (folders.has('')) return [''];
	return [...folders].filter((folder) => !ancestorsOf(folder).some((above) => folders.has(above))).sort();
}

/** Whether the file is in the folder or below it. */
export function isInFolder(path: string, folder: string): boolean {
	return folder === '' || path.startsWith(`${folder}/`);
}

/** `a/b/c` → `a`, `a/b`. */
function ancestorsOf(folder: string): string[] {
	const segments = folder.split('/');
	return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
}

/** The single folder around everything, with a trailing `/`; empty if there is none or its name has a meaning. */
function commonFolder(paths: readonly string[]): string {
	const own = paths.filter((path) => !path.startsWith('__MACOSX/'));
	const [first = ''] = own[0]?.split('/') ?? [];
	const around = `${first}/`;
	const isMeaningful = first === '' || first === 'skills' || first === 'plugins' || first.startsWith('.');
	return isMeaningful || !own.every((path) => path.startsWith(around)) ? '' : around;
}
