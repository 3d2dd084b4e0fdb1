/** The installer: changes run one at a time, each updating library, records and lock file (E4–E9, E20, E28). */
import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { createLines, type Exclusively } from '../../shared/in-turn.ts';
import type {
	CustomSkill,
	InstallConfirm,
	InstallOutcome,
	InstallSource,
	OutdatedSkill,
	SkillOrigin,
	SkillVersions
} from '../../shared/install.ts';
import { SYSTEM } from '../skills/registry/visibility.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import type { SkillPlaces } from '../store/skills/places.ts';
import type { StoredSkillModes } from '../trust/skill-modes.ts';
import type { Fetch, Installer, InstallSubject, SourceFetcher } from './catalog-installer.ts';
import { placeStaged } from './confirming.ts';
import {
	type FolderChanges,
	inLibrary,
	installationsOf,
	type InstallContext,
	installedOf,
	installPlaces,
	ownedRoots,
	ownFolders,
	removeQuietly,
	touchingStore
} from './install-context.ts';
import { emptyStaging, recoverInstalls } from './placing.ts';
import { fetchCustom } from './sources/upload.ts';
import { inParallel } from './sources/outbound.ts';
import { onDisk } from './staging-folder.ts';
import { comparedAgain, createStagedInstalls, createStagedShelf, stageInstall } from './staging.ts';
import { hasExpired, moveToTrash, purgeExpired, purgeFromTrash, restoreFromTrash, trashedOf } from './trash.ts';
import { compareVersions, deleteOldest, rollBack, usedInstallation, useVersion, versionsOf } from './versions.ts';

/** The registry already has the shared root of installed skills, and `ownedRoots`. */
export interface InstallerOptions extends Pick<
	InstallContext,
	'store' | 'registry' | 'log' | 'needsOf' | 'siblingsOf'
> {
	dataDir: string;
	/** Default: no other server has folders that this one needs. */
	folders?: FolderChanges;
	/** Where folders of skills are. Default: none but those in the data folder. */
	skillPlaces?: SkillPlaces;
	/** A folder that no other server uses. Default: the data folder. */
	ownDir?: string;
	/** Default: this server is alone. */
	exclusively?: Exclusively;
	modes: StoredSkillModes;
	sources: SourceFetcher;
	/** Milliseconds since 1970. */
	now?: () => number;
	/** Monotonic clock, in milliseconds. */
	uptime?: () => number;
}

/** First finishes or undoes what a crashed process left half done. */
export async function createInstaller(options: InstallerOptions): Promise<Installer> {
	const {
		dataDir,
		ownDir = dataDir,
		skillPlaces,
		folders = ownFolders,
		exclusively = createLines(),
		sources,
		now = Date.now,
		uptime = () => performance.now(),
		registry,
		modes,
		log,
		needsOf,
		siblingsOf
	} = options;
	const places = installPlaces(dataDir, { ownDir, ...(skillPlaces && { skillPlaces }) });
	/** Of the change that is under way. */
	let touched: (dir: string) => void = () => undefined;
	const touch = (dir: string) => touched(dir);
	const store = { ...options.store, ...touchingStore(options.store, touch) };
	const context: InstallContext = {
		...{ store, registry, modes, log, needsOf, siblingsOf, places, now },
		isSpread: folders.isStored,
		touch
	};
	const shelf = ownDir === dataDir ? null : createStagedShelf(dirname(ownDir));
	const remove = ({ dir }: { dir: string }) => removeQuietly(dir, context);
	const staged = createStagedInstalls({ now, uptime, remove, shelf });
	const knownRoots = new Set<string>();

	const inTurn = <T>(work: () => Promise<T>): Promise<T> => exclusively('installs', work);
	/** Runs changes one at a time: of two at once, neither would know what it replaces. */
	const changeFolders = <T>(work: () => Promise<T>) => inTurn(() => onDisk(folders.change(named(work))));
	const change = async <T>(work: () => Promise<T>): Promise<T> => (await changeFolders(work)).result;
	const named =
		<T>(work: () => Promise<T>) =>
		(name: (dir: string) => void): Promise<T> => {
			touched = name;
			return work();
		};
	const purge = async (): Promise<void> => {
		if (await hasExpired(context)) await folders.change(named(() => purgeExpired(context)));
	};
	const addRoots = async (owners: Iterable<string>): Promise<void> => {
		for (const owner of owners) {
			const root = places.rootOf(owner);
			if (root.owner === undefined || knownRoots.has(root.path)) continue;
			await registry.addRoot(root);
			knownRoots.add(root.path);
		}
	};
	/** Every change ends with it, so that the library is current when its caller is answered. */
	const settle = async (): Promise<void> => {
		await registry.reload();
		await writeLockFile(context);
	};
	const fetchOf = (what: InstallSource | Fetch): Fetch =>
		typeof what === 'function' ? what : (into, signal) => sources.fetch(what, into, signal);
	const stage: Installer['stage'] = (what, { apiKeyId = 'system', signal }) =>
		stageInstall(context, staged, { fetch: fetchOf(what), owner: apiKeyId, signal });

	const confirm = async (id: string, choice: InstallConfirm): Promise<InstallOutcome> => {
		const { result, unkept } = await changeFolders(async () => {
			const taken = await staged.take(id);
			const { records, skipped } = await placeStaged(context, taken, choice).catch(async (error: unknown) => {
				// The user may choose differently.
				await staged.putBack(taken);
				throw error;
			});
			await staged.drop(taken);
			await addRoots(records.map(({ owner }) => owner));
			await registry.reload();
			for (const skillId of new Set(records.map((record) => record.skillId))) {
				await deleteOldest(context, skillId).catch((error: unknown) => {
					log.error({ skillId, error: String(error) }, 'couldn’t remove old versions of skills');
				});
			}
			await settle();
			return { installed: records.flatMap((record) => installedOf(record) ?? []), skipped };
		});
		return unkept === null ? result : { ...result, hint: unkept };
	};

	const install: Installer['install'] = async (what, choice, signal) => {
		const owner = choice.apiKeyId;
		const { id } = await stageInstall(context, staged, { fetch: fetchOf(what), owner, signal, isShown: false });
		try {
			return await confirm(id, choice);
		} catch (error) {
			await staged.drop(await staged.take(id));
			throw error;
		}
	};

	const switched = (work: () => Promise<void>, skill: InstallSubject): Promise<SkillVersions> =>
		change(async () => {
			await work().catch(async (error: unknown) => {
				// A reload meanwhile may have seen the skill half moved.
				await registry.reload();
				throw error;
			});
			await settle();
			return versionsOf(context, skill);
		});

	for (const { path } of await ownedRoots(dataDir)) knownRoots.add(path);
	// What others are just placing isn't left behind.
	await inTurn(async () => {
		await emptyStaging(context);
		await folders.recover(named(() => recoverInstalls(context)));
		await purge().catch((error: unknown) => {
			if (!(error instanceof AppError)) throw error;
			log.info({ reason: error.message }, 'Couldn’t look for what has been in the trash for too long');
		});
		await settle();
	});

	return {
		stage,
		staged: async (id) => comparedAgain(context, await staged.get(id)),
		async discard(id) {
			await staged.drop(await staged.take(id));
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
			// Nothing was installed if the same content is already there.
			const rows = await store.skillInstalls.list(skillId);
			const row = rows.find((each) => each.state === 'active' && each.version === version);
			const made = installed[0] ?? (replace && row ? installedOf(row) : null);
			if (!made) throw identityTaken(skill);
			return made;
		},

		versions: (skill) => versionsOf(context, skill),
		compare: (skill, wanted) => compareVersions(context, skill, wanted),
		use: (skill, wanted) => switched(() => useVersion(context, skill, wanted), skill),
		rollback: (skill) => switched(() => rollBack(context, skill), skill),
		outdated: (signal) => findOutdated(context, sources, signal),
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
				return trashed;
			}),
		trash: () =>
			inTurn(async () => {
				await onDisk(purge());
				return (await store.skillTrash.list()).map(trashedOf);
			}),
		restore: (id) =>
			change(async () => {
				const { skillId, name, version } = await restoreFromTrash(context, id);
				await settle();
				return { skillId, name, version };
			}),
		purge: (id) => change(() => purgeFromTrash(context, id)),

		async readAgain() {
			for (const root of await ownedRoots(dataDir)) {
				if (!knownRoots.has(root.path)) await registry.addRoot(root);
				knownRoots.add(root.path);
			}
			await settle();
		},
		async list() {
			const rows = await store.skillInstalls.list();
			return rows.flatMap((row) => installedOf(row) ?? []).filter(({ state }) => state !== 'trashed');
		},
		async close() {
			await inTurn(async () => undefined);
			await staged.close();
		}
	};
}

function identityTaken({ name, version }: CustomSkill): AppError {
	return new AppError('conflict', `“${name}@${version}” is already installed.`, {
		hint: 'Choose another version, or send replace: true.',
		details: { identities: [`${name}@${version}`] }
	});
}

// skills-lock.json: the sources of shared skills in use, in the format of the `skills` command line (E28).

interface LockEntry {
	source: string;
	ref?: string;
	sourceType: string;
	skillPath?: string;
	computedHash: string;
}

/** Rewrites the file atomically from the records. Logs a failure: the next change writes it again. */
async function writeLockFile(context: InstallContext): Promise<void> {
	const { places, log } = context;
	const temporary = `${places.lockFile}.${randomUUID()}`;
	try {
		const text = `${JSON.stringify({ version: 1, skills: await entriesOf(context) }, null, 2)}\n`;
		await writeFile(temporary, text);
		await rename(temporary, places.lockFile);
	} catch (error) {
		log.error({ error: String(error) }, 'couldn’t write skills-lock.json');
		await rm(temporary, { force: true });
	}
}

async function entriesOf(context: InstallContext): Promise<Record<string, LockEntry>> {
	const rows = (await context.store.skillInstalls.list()).filter(
		({ owner, state }) => owner === SYSTEM && state === 'active'
	);
	const byName = [...Map.groupBy(rows, ({ name }) => name)].sort(([a], [b]) => (a < b ? -1 : 1));
	return Object.fromEntries(
		byName.flatMap(([name, versions]) => {
			const used = usedInstallation(context, versions);
			return used ? [[name, entryOf(used, context)]] : [];
		})
	);
}

function entryOf({ origin, computedHash, dir }: InstallRecord, { places }: InstallContext): LockEntry {
	const path = origin.path ? { skillPath: `${origin.path}/SKILL.md` } : {};
	const repository = repositoryOf(origin);
	if (repository !== null) {
		return { source: repository, ref: origin.commit ?? undefined, sourceType: 'github', ...path, computedHash };
	}
	if (origin.source?.type === 'well-known') {
		return { source: origin.source.url, sourceType: 'well-known', ...path, computedHash };
	}
	// An upload has no other source.
	const folder = relative(places.lockFile, dir)
		.replaceAll('\\', '/')
		.replace(/^\.\.\//, './');
	return { source: folder, sourceType: 'local', computedHash };
}

/** `owner/repository`; null if it isn’t on GitHub. */
function repositoryOf({ source }: SkillOrigin): string | null {
	if (source?.type === 'skillssh') return source.source;
	const address = source?.type === 'github' ? source.repository : source?.type === 'skillsmp' ? source.sourceUrl : null;
	if (address === null) return null;
	const [, owner, repository] = /^(?:https?:\/\/[^/]+\/)?([^/]+)\/([^/#?]+)/.exec(address) ?? [];
	return owner && repository ? `${owner}/${repository.replace(/\.git$/, '')}` : null;
}

// Checks for updates (E28).

const AT_ONCE = 4;

/** One answer per installed skill, sorted by id. A failing source affects only its own skills. */
async function findOutdated(
	context: InstallContext,
	sources: Pick<SourceFetcher, 'revisionOf'>,
	signal: AbortSignal
): Promise<OutdatedSkill[]> {
	const active = (await context.store.skillInstalls.list()).filter(({ state }) => state === 'active');
	const bySkill = [...Map.groupBy(active, ({ skillId }) => skillId)].sort(([a], [b]) => (a < b ? -1 : 1));
	const used = bySkill.flatMap(([, rows]) => usedInstallation(context, rows) ?? []);
	const answers: OutdatedSkill[] = [];
	await inParallel(used.entries(), AT_ONCE, signal, async ([index, row], either) => {
		either.throwIfAborted();
		const { skillId, name, version } = row;
		answers[index] = { skillId, name, version, ...(await stateOf(row, sources, context.log, either)) };
	});
	return answers;
}

async function stateOf(
	{ skillId, origin }: InstallRecord,
	sources: Pick<SourceFetcher, 'revisionOf'>,
	log: InstallContext['log'],
	signal: AbortSignal
): Promise<Pick<OutdatedSkill, 'state' | 'message'>> {
	if (origin.source === null) return { state: 'uploaded', message: 'Uploaded. To update it, install a newer copy.' };
	try {
		const revision = await sources.revisionOf(origin, signal);
		if (revision === null || origin.revision === null) {
			return { state: 'unknown', message: 'Its source doesn’t say what changed.' };
		}
		if (revision === origin.revision) return { state: 'current', message: 'Up to date' };
		return { state: 'outdated', message: 'Its source has a newer version.' };
	} catch (error) {
		signal.throwIfAborted();
		if (error instanceof AppError) return { state: 'unknown', message: error.message };
		log.error({ skillId, error: String(error) }, 'couldn’t check a source for updates');
		return { state: 'unknown', message: 'Couldn’t check its source for updates.' };
	}
}

/** The source to fetch an update from. @throws AppError `conflict` if there is none */
async function updateSourceOf(
	context: InstallContext,
	skill: InstallSubject
): Promise<{ source: InstallSource; row: InstallRecord }> {
	const rows = await installationsOf(context, skillIdOf(skill));
	const row = rows.find(({ state, version }) => state === 'active' && version === skill.version);
	if (!row) throw new AppError('conflict', `“${skill.name}” wasn’t installed here, so it can’t be updated.`);
	if (row.origin.source === null) {
		const hint = 'Upload the new version instead.';
		throw new AppError('conflict', `“${skill.name}” was uploaded, so it can’t be updated from a source.`, { hint });
	}
	return { source: row.origin.source, row };
}
