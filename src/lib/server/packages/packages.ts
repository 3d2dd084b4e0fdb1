/** Installs the packages of skills: look up, show, install what a person allowed (D46). */
import type { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import { createLines, type Exclusively } from '../../shared/in-turn.ts';
import {
	packageLock,
	type PackagesRemoved,
	type PackageLock,
	skillPackages,
	type SkillPackagesState
} from '../../shared/packages.ts';
import type { SkillNeeds } from '../../shared/skills.ts';
import { type Ecosystem, type Package, packageNamed } from '../skills/needs/packages.ts';
import { skillIdOf, type SkillPackages } from '../skills/run/execution-host.ts';
import type { Skill } from '../skills/types.ts';
import { openShownWork, type ShownWorkParts } from '../stop-wishes.ts';
import type { SkillPackagesStore } from '../store/skills/choices.ts';
import type { Environments } from './environments.ts';
import { PackagesError, type Progress } from './program.ts';

export interface PackagesParts {
	store: SkillPackagesStore;
	environments: Environments;
	needsOf(skill: Skill): Promise<Pick<SkillNeeds, 'packages'>>;
	/** Ids of the skills there are; packages of others are removed. */
	skillIds(): Iterable<string>;
	/** Called when packages were installed or removed. */
	onChange?(): void;
	/** Default: this server is alone. */
	exclusively?: Exclusively;
	/** What goes on at other servers. */
	elsewhere?: ShownWorkParts;
	now?: () => Date;
}

export interface Packages {
	stateOf(skill: Skill): Promise<SkillPackagesState>;
	/** Starts to find versions, hashes and sizes of what the skill needs. @throws AppError `conflict` | `invalid_input` */
	lookUp(skill: Skill, also: readonly { ecosystem: Ecosystem; name: string }[]): Promise<void>;
	/** Starts to install what was looked up and shown, or what was installed before. @throws AppError `conflict` */
	install(skill: Skill, digest: string): Promise<void>;
	/** Stops what goes on; else removes the skill’s packages. `only`: see `packagesRemoved`. @throws AppError `conflict` */
	remove(skill: Skill, only?: PackagesRemoved): Promise<void>;
	/** Resolves when nothing goes on for the skill. */
	settled(skill: Skill): Promise<void>;
	/** For an execution. */
	packagesOf(skill: Pick<Skill, 'source' | 'name'>): Promise<SkillPackages | null>;
	/** Whether a package is installed for the skill. */
	installed(skill: Skill): Promise<(ecosystem: Ecosystem, name: string) => boolean>;
	/** Removes environments that no skill uses. */
	cleanUp(): Promise<number>;
	close(): Promise<void>;
}

/** What goes on for a skill, or how it ended. */
interface Entry {
	work: NonNullable<SkillPackagesState['work']> | null;
	stop: AbortController;
	done: Promise<void>;
	proposal: PackageLock | null;
	problem: SkillPackagesState['problem'];
	/** The environment being installed, which no record names yet. */
	digest: string | null;
}

/** What other servers show of it. */
const shownEntry = skillPackages.pick({ work: true, problem: true }).extend({
	proposal: packageLock.nullable()
});
type ShownEntry = z.infer<typeof shownEntry>;
const shownOf = ({ work, proposal, problem }: ShownEntry): ShownEntry => ({ work, proposal, problem });
const LOST: ShownEntry['problem'] = {
	...{ type: 'Failed', message: 'The server that did this has stopped.', hint: 'Nothing was installed. Try again.' },
	from: []
};

/** Packages that a script seems to import but no index has are left out, up to this many. */
const MAX_NOT_FOUND = 10;
/** Recording what is installed, and removing what no record names. */
const RECORDS = 'packages';

export function createPackages({
	store,
	environments,
	needsOf,
	skillIds,
	onChange = () => undefined,
	exclusively = createLines(),
	elsewhere,
	now = () => new Date()
}: PackagesParts): Packages {
	const entries = new Map<string, Entry>();
	const progress = openShownWork(elsewhere ?? null, 'packages', {
		schema: shownEntry,
		hasWork: () => [...entries.values()].some(({ work }) => work !== null),
		stop: (id) => entries.get(id)?.stop.abort()
	});
	/** What goes on, on whichever server, or how it ended. */
	const current = async (id: string): Promise<ShownEntry | null> => {
		const found = await progress.read(id);
		if (found === 'own') return entries.get(id) ?? null;
		return found?.isLost ? { ...found.body, work: null, problem: LOST } : (found?.body ?? null);
	};

	/** @throws AppError `conflict` */
	const begin = async (
		id: string,
		kind: NonNullable<Entry['work']>['kind'],
		work: (how: { signal: AbortSignal; onProgress: (progress: Progress) => void }) => Promise<PackageLock | null>,
		digest: string | null = null
	): Promise<void> => {
		const isBusy = () =>
			new AppError('conflict', 'Packages of this skill are being installed.', { hint: 'Wait for it, or stop it.' });
		const before = entries.get(id);
		if (before?.work) throw isBusy();
		const stop = new AbortController();
		const text = kind === 'looking-up' ? 'Looking up packages' : 'Downloading packages';
		const entry: Entry = {
			work: { kind, text },
			stop,
			done: Promise.resolve(),
			proposal: before?.proposal ?? null,
			problem: null,
			digest
		};
		const onProgress = (made: Progress) => {
			if (entry.work) entry.work = { kind, ...made };
			progress.show(id, shownOf(entry));
		};
		// Before anything is waited for, so that nobody else begins here.
		entries.set(id, entry);
		let isMine = false;
		try {
			entry.proposal = (await current(id))?.proposal ?? null;
			isMine = await progress.begin(id, shownOf(entry));
		} finally {
			if (!isMine) {
				entries.delete(id);
				if (before) entries.set(id, before);
			}
		}
		if (!isMine) throw isBusy();
		entry.done = work({ signal: stop.signal, onProgress })
			.then(
				(proposal) => void (entry.proposal = proposal),
				(error: unknown) => void (entry.problem = stop.signal.aborted ? null : problemOf(error))
			)
			.finally(() => {
				entry.work = null;
				return progress.end(id, shownOf(entry));
			});
	};

	/** What the skill needs, what is asked for, and what was installed before: that a script needs may only show as it fails. */
	const wantedBy = async (skill: Skill, also: readonly Package[]): Promise<Package[]> => {
		const [{ packages }, record] = await Promise.all([needsOf(skill), store.get(skillIdOf(skill))]);
		const before = (record?.lock.requested ?? []).flatMap(
			({ ecosystem, requirement }) => packageNamed(ecosystem, requirement) ?? []
		);
		const had = new Set(before.map(keyOf));
		const needed = packages.filter((need) => need.isDeclared || !need.isFound || had.has(keyOf(need)));
		const wanted = new Map<string, Package>();
		for (const each of [...needed, ...also, ...before]) if (!wanted.has(keyOf(each))) wanted.set(keyOf(each), each);
		return [...wanted.values()];
	};

	const lookUpAll = async (skill: Skill, also: readonly Package[], how: Parameters<Environments['lookUp']>[1]) => {
		const notFound: string[] = [];
		const needs = await needsOf(skill);
		let wanted = await wantedBy(skill, also);
		for (;;) {
			try {
				const lock = await environments.lookUp(wanted, how);
				return notFound.length > 0 ? { ...lock, notFound } : lock;
			} catch (error) {
				const missing = error instanceof PackagesError && error.type === 'NotFound' ? error.missing : null;
				const isGuess = (each: Package) =>
					each.name === missing && needs.packages.some((need) => need.name === missing && !need.isDeclared);
				const rest = wanted.filter((each) => !isGuess(each));
				if (missing === null || rest.length === wanted.length || rest.length === 0) {
					const from = needs.packages.find(({ name }) => name === missing)?.from ?? [];
					throw error instanceof PackagesError ? Object.assign(error, { from }) : error;
				}
				notFound.push(missing);
				if (notFound.length > MAX_NOT_FOUND) throw error;
				wanted = rest;
			}
		}
	};

	let cleaning: Promise<unknown> = Promise.resolve();
	const cleanUp = (): Promise<number> => {
		const clean = async () => {
			const [records, ids] = [await store.list(), new Set(skillIds())];
			const kept = [...records].filter(([id]) => ids.has(id)).map(([, { lock }]) => lock.digest);
			const coming = [...entries.values()].flatMap(({ work, digest }) => (work && digest ? [digest] : []));
			return environments.removeUnused(new Set([...kept, ...coming]));
		};
		const cleaned = exclusively(RECORDS, clean);
		cleaning = Promise.allSettled([cleaning, cleaned]);
		return cleaned;
	};

	return {
		cleanUp,
		async stateOf(skill) {
			const id = skillIdOf(skill);
			const record = await store.get(id);
			const { work = null, problem = null, proposal = null } = (await current(id)) ?? {};
			const installed = record && {
				...shown(record.lock),
				state: await environments.stateOf(record.lock),
				installedAt: record.installedAt
			};
			const isAsked = !work && (proposal !== null || installed?.state === 'gone');
			return {
				installed,
				proposed: proposal && shown(proposal),
				// Counting takes a while, so only for somebody who decides.
				...(isAsked && { space: await environments.space() }),
				work,
				problem
			};
		},
		async lookUp(skill, names) {
			const also = names.map(({ ecosystem, name }) => {
				const found = packageNamed(ecosystem, name);
				if (found) return found;
				throw new AppError('invalid_input', `“${name.slice(0, 100)}” isn’t the name of a package.`, {
					hint: 'Use its name in the index.'
				});
			});
			if ((await wantedBy(skill, also)).length === 0)
				throw new AppError('invalid_input', 'This skill needs no packages.', { hint: 'Name packages with “also”.' });
			const id = skillIdOf(skill);
			await begin(id, 'looking-up', async (how) => {
				const lock = await lookUpAll(skill, also, how);
				const record = await store.get(id);
				const isThere = record?.lock.digest === lock.digest && (await environments.stateOf(lock)) === 'ready';
				if (!isThere) return lock;
				// Nothing to ask for, but it may have been looked up for more.
				await store.put(id, { lock, installedAt: record.installedAt });
				return null;
			});
		},
		async install(skill, digest) {
			const id = skillIdOf(skill);
			const known = [(await current(id))?.proposal, (await store.get(id))?.lock];
			const lock = known.find((each) => each?.digest === digest);
			if (!lock)
				throw new AppError('conflict', 'These packages weren’t looked up for this skill.', {
					hint: 'Look them up again.'
				});
			const work = async (how: Parameters<Environments['install']>[1]) => {
				const record = async () => {
					await store.put(id, { lock, installedAt: now().toISOString() });
					return environments.stateOf(lock);
				};
				do await environments.install(lock, how);
				while (
					// Before it was recorded, another server may have removed what no record named.
					(await exclusively(RECORDS, record)) === 'gone'
				);
				onChange();
				await cleanUp();
				return null;
			};
			await begin(id, 'installing', work, digest);
		},
		async remove(skill, only) {
			const id = skillIdOf(skill);
			const [entry, now] = [entries.get(id), await current(id)];
			const isPending = now?.work || now?.proposal;
			if (only === 'installed' && now?.work) {
				throw new AppError('conflict', 'Packages of this skill are being installed. Nothing was removed.', {
					hint: 'Wait for it, or stop it.'
				});
			}
			entries.delete(id);
			if (only === 'pending' || (only === undefined && isPending)) {
				entry?.stop.abort();
				await entry?.done;
				await progress.stop(id);
				await progress.remove(id);
				return;
			}
			await progress.remove(id);
			await store.remove(id);
			onChange();
			await cleanUp();
		},
		settled: async (skill) => entries.get(skillIdOf(skill))?.done,
		async packagesOf(skill) {
			const record = await store.get(skillIdOf(skill as Skill));
			return record && environments.open(record.lock);
		},
		async installed(skill) {
			const record = await store.get(skillIdOf(skill));
			const isReady = record !== null && (await environments.stateOf(record.lock)) === 'ready';
			const names = new Set(isReady ? record.lock.packages.map(keyOf) : []);
			return (ecosystem, name) => names.has(keyOf({ ecosystem, name }));
		},
		async close() {
			const open = [...entries.values()];
			for (const { stop } of open) stop.abort();
			await Promise.all([cleaning, ...open.map(({ done }) => done)]);
			await progress.close();
		}
	};
}

function shown({ digest, packages, notFound }: PackageLock): Pick<PackageLock, 'digest' | 'packages' | 'notFound'> {
	return { digest, packages, notFound };
}

function keyOf({ ecosystem, name }: Pick<Package, 'ecosystem' | 'name'>): string {
	return `${ecosystem} ${name}`;
}

function problemOf(error: unknown): NonNullable<SkillPackagesState['problem']> {
	if (error instanceof PackagesError)
		return { type: error.type, message: error.message, hint: error.hint, from: [...error.from] };
	const reason = error instanceof Error ? error.message : String(error);
	return {
		type: 'Failed',
		message: `The packages couldn’t be installed: ${reason}`,
		hint: 'Nothing was installed. Try again.'
	};
}
