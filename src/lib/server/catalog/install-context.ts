/** What all parts of the installer work on. */
import { rm } from 'node:fs/promises';
import type { InstalledSkill, SkillOrigin } from '../../shared/install.ts';
import type { Log } from '../log.ts';
import { skillIdOf } from '../skills/execution-host.ts';
import type { SkillRegistry } from '../skills/registry.ts';
import type { Skill } from '../skills/types.ts';
import type { SkillMode } from '../skills/visibility.ts';
import type { InstallRecord } from '../store/skill-installs.ts';
import type { Store } from '../store/store.ts';
import type { InstallPlaces } from './install-places.ts';

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
		log.error({ error: String(error) }, 'A folder could not be removed.');
	});
}
