/** Where installed skills lie in the data folder: one folder a version, in a root of the library for each owner (FEATURES A38, A41). */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerOf, SYSTEM } from '../skills/owners.ts';
import type { SkillRoot } from '../skills/types.ts';

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
