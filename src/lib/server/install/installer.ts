/** The installer put together: every change through one queue, and the library, the lock file and the records in step after each (FEATURES E4–E9, E20, E28). */
import { AppError } from '../../shared/errors.ts';
import type { CustomSkill, InstallConfirm, InstallSource, SkillVersions } from '../../shared/install.ts';
import type { Fetch, Installer, InstallOutcome, InstallSubject } from './catalog-installer.ts';
import { placeStaged } from './confirming.ts';
import {
	inLibrary,
	type InstallContext,
	installedOf,
	type InstallModes,
	installPlaces,
	ownedRoots,
	removeQuietly
} from './install-context.ts';
import { writeLockFile } from './lock-file.ts';
import { recoverInstalls } from './placing.ts';
import type { SourceFetcher } from './sources/source.ts';
import { fetchCustom } from './sources/upload.ts';
import { diskError } from './staging-folder.ts';
import { createStagedInstalls, stageInstall } from './staging.ts';
import { moveToTrash, purgeExpired, purgeFromTrash, restoreFromTrash, trashedOf } from './trash.ts';
import { askSources, updateSourceOf } from './updates.ts';
import { deleteOldest, rollBack, useVersion, versionsOf } from './versions.ts';

/** The registry has been given the root of everybody's installed skills, and `ownedRoots`. */
export interface InstallerOptions extends Pick<InstallContext, 'store' | 'registry' | 'log'> {
	dataDir: string;
	modes: InstallModes;
	sources: SourceFetcher;
	/** Milliseconds since 1970. */
	now?: () => number;
	/** Milliseconds of a clock that is never set back. */
	uptime?: () => number;
}

/** Finishes or takes back what a process before this one left half done. */
export async function createInstaller(options: InstallerOptions): Promise<Installer> {
	const { dataDir, sources, now = Date.now, uptime = () => performance.now(), store, registry, modes, log } = options;
	const context: InstallContext = { store, registry, modes, log, places: installPlaces(dataDir), now };
	const { places } = context;
	const queue = createInstallQueue();
	const staged = createStagedInstalls({ now, uptime, remove: ({ dir }) => removeQuietly(dir, context) });
	const knownRoots = new Set<string>();

	const change = <T>(work: () => Promise<T>): Promise<T> =>
		queue.run(async () => {
			try {
				return await work();
			} catch (error) {
				throw diskError(error);
			}
		});
	/** What was changed is in the library when whoever changed it is answered. */
	const settle = async (owners: Iterable<string> = []): Promise<void> => {
		for (const owner of owners) {
			const root = places.rootOf(owner);
			if (root.owner === undefined || knownRoots.has(root.path)) continue;
			await registry.addRoot(root);
			knownRoots.add(root.path);
		}
		await registry.reload();
	};
	const fetchOf = (what: InstallSource | Fetch): Fetch =>
		typeof what === 'function' ? what : (into, signal) => sources.fetch(what, into, signal);
	const stage: Installer['stage'] = (what, { apiKeyId = 'system', signal }) =>
		stageInstall(context, staged, { fetch: fetchOf(what), owner: apiKeyId, signal });

	const confirm = (id: string, choice: InstallConfirm): Promise<InstallOutcome> =>
		change(async () => {
			const taken = staged.take(id);
			let placed: Awaited<ReturnType<typeof placeStaged>>;
			try {
				placed = await placeStaged(context, taken, choice);
			} catch (error) {
				// Somebody may choose otherwise.
				staged.putBack(taken);
				throw error;
			}
			await staged.drop(taken);
			const { records, skipped } = placed;
			await settle(records.map(({ owner }) => owner));
			for (const skillId of new Set(records.map((record) => record.skillId))) {
				await deleteOldest(context, skillId).catch((error: unknown) => {
					log.error({ skillId, error: String(error) }, 'Old installations could not be removed.');
				});
			}
			await settle();
			await writeLockFile(context);
			return { installed: records.flatMap((record) => installedOf(record) ?? []), skipped };
		});

	const install: Installer['install'] = async (what, choice, signal) => {
		const owner = choice.apiKeyId;
		const { id } = await stageInstall(context, staged, { fetch: fetchOf(what), owner, signal, isShown: false });
		try {
			return await confirm(id, choice);
		} catch (error) {
			await staged.drop(staged.take(id));
			throw error;
		}
	};

	const versions: Installer['versions'] = (skill) => versionsOf(context, skill);
	const switched = (work: () => Promise<void>, skill: InstallSubject): Promise<SkillVersions> =>
		change(async () => {
			await work();
			await settle();
			await writeLockFile(context);
			return versionsOf(context, skill);
		});

	await queue.run(async () => {
		for (const { path } of await ownedRoots(dataDir)) knownRoots.add(path);
		await recoverInstalls(context);
		await purgeExpired(context);
		await settle();
		await writeLockFile(context);
	});

	return {
		stage,
		staged: (id) => staged.get(id).shown,
		async discard(id) {
			await staged.drop(staged.take(id));
		},
		confirm,
		install,
		async installCustom(skill) {
			const { name, version, apiKeyId, replace = false } = skill;
			const fetch = fetchCustom(skill);
			const skillId = `${places.rootOf(apiKeyId).source}/${name}`;
			const choice = { conflict: replace ? ('overwrite' as const) : ('fail' as const), apiKeyId, enabled: false };
			const isThere = () => inLibrary(context, skillId).some((other) => other.version === version);
			if (!replace && isThere()) throw identityTaken(skill);
			const { installed } = await install(fetch, choice, new AbortController().signal);
			// Nothing was to be done: it is there as it is.
			const rows = await store.skillInstalls.list(skillId);
			const row = rows.find((each) => each.state === 'active' && each.version === version);
			const made = installed[0] ?? (replace && row ? installedOf(row) : null);
			if (!made) throw identityTaken(skill);
			return made;
		},

		versions,
		use: (skill, wanted) => switched(() => useVersion(context, skill, wanted), skill),
		rollback: (skill) => switched(() => rollBack(context, skill), skill),
		outdated: (signal) => askSources(context, sources, signal),
		async stageUpdate(skill, signal) {
			const { source, row } = await updateSourceOf(context, skill);
			return stageInstall(context, staged, {
				fetch: fetchOf(source),
				owner: row.owner,
				signal,
				isWanted: ({ name }) => name === row.name
			});
		},

		remove: (skill) =>
			change(async () => {
				const trashed = await moveToTrash(context, skill);
				await settle();
				await writeLockFile(context);
				return trashed;
			}),
		trash: () =>
			change(async () => {
				await purgeExpired(context);
				return (await store.skillTrash.list()).map(trashedOf);
			}),
		restore: (id) =>
			change(async () => {
				const { skillId, name, version } = await restoreFromTrash(context, id);
				await settle();
				await writeLockFile(context);
				return { skillId, name, version };
			}),
		purge: (id) => change(() => purgeFromTrash(context, id)),

		async list() {
			const rows = await store.skillInstalls.list();
			return rows.flatMap((row) => installedOf(row) ?? []).filter(({ state }) => state !== 'trashed');
		},
		async close() {
			await queue.idle();
			await staged.close();
		}
	};
}

function identityTaken({ name, version }: CustomSkill): AppError {
	return new AppError('conflict', `“${name}@${version}” is installed already.`, {
		hint: 'Choose another version, or send replace: true.',
		details: { identities: [`${name}@${version}`] }
	});
}

// Changes of disk and database one after the other: of two at once, neither would know what it replaces.

export interface InstallQueue {
	/** Runs when all before it have ended, however they ended. */
	run<T>(change: () => Promise<T>): Promise<T>;
	/** Resolves when nothing is left to be done. */
	idle(): Promise<void>;
}

function createInstallQueue(): InstallQueue {
	let last: Promise<unknown> = Promise.resolve();
	return {
		run(change) {
			const done = last.then(change);
			last = done.catch(() => undefined);
			return done;
		},
		async idle() {
			await last;
		}
	};
}
