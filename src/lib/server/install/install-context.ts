/** What all parts of the installer work on. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstalledSkill, SkillOrigin } from '../../shared/install.ts';
import type { Log } from '../log.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { ownerOf, type SkillMode, SYSTEM } from '../skills/registry/visibility.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { Skill, SkillRoot } from '../skills/types.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import type { Store } from '../store/store.ts';

/** The modes of skills, and the versions that bare names mean: as `runs/skill-modes.ts` has them. */
export interface InstallModes {
	modeOf(skill: Version): SkillMode;
	setMode(skill: Version, mode: SkillMode): Promise<void>;
	setEnabled(skill: Version, isEnabled: boolean): Promise<void>;
	pinOf(skillId: string): string | null;
	setPin(skillId: string, version: string | null): Promise<void>;
	/** Of one version, or of all. */
	forget(skillId: string, version?: string): Promise<void>;
}

type Version = Pick<Skill, 'source' | 'name' | 'version'>;

export interface InstallContext {
	store: Pick<Store, 'skillInstalls' | 'skillTrash' | 'trustedSkills' | 'secrets' | 'networkGrants'>;
	registry: Pick<SkillRegistry, 'snapshot' | 'reload' | 'addRoot'>;
	modes: InstallModes;
	places: InstallPlaces;
	log: Log;
	/** Milliseconds. */
	now(): number;
}

export function timeOf({ now }: Pick<InstallContext, 'now'>): string {
	return new Date(now()).toISOString();
}

/** As people see it; null for one that is just being placed. */
export function installedOf({ dir: _dir, computedHash: _hash, ...rest }: InstallRecord): InstalledSkill | null {
	return rest.state === 'placing' ? null : { ...rest, state: rest.state };
}

/** All versions of a skill that the library has, of this source alone. */
export function inLibrary({ registry }: Pick<InstallContext, 'registry'>, skillId: string): Skill[] {
	const { skills, shadowed } = registry.snapshot();
	return [...skills, ...shadowed].filter((skill) => skillIdOf(skill) === skillId);
}

/** Installations that count as there: in the library, or kept. The newest first. */
export async function installationsOf(
	{ store }: Pick<InstallContext, 'store'>,
	skillId: string
): Promise<InstallRecord[]> {
	return (await store.skillInstalls.list(skillId)).filter(({ state }) => state === 'active' || state === 'kept');
}

/** Nothing says that two uploads are of one hand; of what is fetched, the branch does not matter. */
export function isSameOrigin(one: SkillOrigin, other: SkillOrigin): boolean {
	if (one.source === null || other.source === null) return false;
	const keyOf = ({ provider, source, path }: SkillOrigin) =>
		JSON.stringify([provider, { ...source, ref: undefined }, path]).toLowerCase();
	return keyOf(one) === keyOf(other);
}

/** Whatever was entered or granted for this skill was for another one. */
export async function dropSecrets({ store, now }: InstallContext, skillId: string): Promise<void> {
	for (const { name } of await store.secrets.list(skillId)) await store.secrets.remove(skillId, name);
	await store.networkGrants.replace(skillId, [], timeOf({ now }));
}

export async function hasSecrets({ store }: InstallContext, skillId: string): Promise<boolean> {
	const [secrets, grants] = [await store.secrets.list(skillId), await store.networkGrants.list(skillId)];
	return secrets.length + grants.length > 0;
}

/** Nobody waits for it, and what is left is removed at the next start. */
export async function removeQuietly(dir: string, { log }: Pick<InstallContext, 'log'>): Promise<void> {
	await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
		log.error({ error: String(error) }, 'couldn’t remove a folder');
	});
}

// Where installed skills lie in the data folder: one folder a version, in a root of the library for each owner (FEATURES A38, A41).

/** Label of the root that everybody's installed skills lie in. */
const INSTALLED = 'installed';
const KEY_FOLDER = /^key\.[0-9a-f]{24}$/;

export interface InstallPlaces {
	/** What is fetched lies there until it is placed; emptied at the start. */
	staging: string;
	lockFile: string;
	/** The root of this owner's skills; its label is the `source` in their ids. */
	rootOf(owner: string): SkillRoot;
	/** Of an active installation. Name and version have been checked. */
	placeOf(owner: string, name: string, version: string): string;
	/** Of all that were replaced, of all that were removed; and of one of them. */
	kept: string;
	trash: string;
	keptAt(installId: string): string;
	trashedAt(trashId: string): string;
}

export function installPlaces(dataDir: string): InstallPlaces {
	const [kept, trash] = [join(dataDir, 'kept'), join(dataDir, 'trash')];
	const rootOf = (owner: string): SkillRoot => {
		const label = owner === SYSTEM ? undefined : ownerOf(owner);
		return label === undefined ? { path: join(dataDir, 'skills'), source: INSTALLED } : ownedRoot(dataDir, label);
	};
	return {
		staging: join(dataDir, 'staging'),
		lockFile: join(dataDir, 'skills-lock.json'),
		rootOf,
		placeOf: (owner, name, version) => join(rootOf(owner).path, `${name}@${version}`),
		kept,
		trash,
		keptAt: (id) => join(kept, id),
		trashedAt: (id) => join(trash, id)
	};
}

/** The roots of all API keys that have skills; to be given to the library beside the configured ones. */
export async function ownedRoots(dataDir: string): Promise<SkillRoot[]> {
	const names = await readdir(join(dataDir, 'owned')).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return [];
		throw error;
	});
	return names.filter((name) => KEY_FOLDER.test(name)).map((label) => ownedRoot(dataDir, label));
}

function ownedRoot(dataDir: string, label: string): SkillRoot {
	return { path: join(dataDir, 'owned', label), source: label, owner: label, listsCopies: true };
}

// Which folders of a repository or an archive are skills, told from the names of its files alone (FEATURES E20).

const SKILL_FILES = ['SKILL.md', 'skill.md'];
/** Folders that hold copies of what others wrote, or nothing at all. */
const SKIPPED = new Set(['.git', 'node_modules', '__MACOSX', '__pycache__']);
/** Where skills lie by convention, the surest first. */
const CONVENTIONS = [/^(plugins\/[^/]+\/)?skills\//, /^(plugins\/[^/]+\/)?\.[^/]+\/skills\//];

/**
 * The folders to install, sorted, with `/`; empty for the top. Where there are any in `skills/` or `plugins/<name>/skills/`,
 * those alone (templates and examples lie elsewhere); else those in `.<tool>/skills/`; else all.
 * `paths` are those of files, with `/`; one folder around everything (as archives have it) is looked into.
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

/** Every folder with a skill file, wherever it lies; what lies inside a skill belongs to it. */
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

/** Does the file lie in the folder, or below it? */
export function isInFolder(path: string, folder: string): boolean {
	return folder === '' || path.startsWith(`${folder}/`);
}

/** `a/b/c` → `a`, `a/b`. */
function ancestorsOf(folder: string): string[] {
	const segments = folder.split('/');
	return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
}

/** The one folder that holds everything, with `/` at its end, unless it has a meaning of its own; else nothing. */
function commonFolder(paths: readonly string[]): string {
	const own = paths.filter((path) => !path.startsWith('__MACOSX/'));
	const [first = ''] = own[0]?.split('/') ?? [];
	const around = `${first}/`;
	const isMeaningful = first === '' || first === 'skills' || first === 'plugins' || first.startsWith('.');
	return isMeaningful || !own.every((path) => path.startsWith(around)) ? '' : around;
}
