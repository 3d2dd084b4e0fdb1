/** Folders of installed packages, by the digest of their lock: whole or absent, shared, never changed (D46). */
import { hash, randomUUID } from 'node:crypto';
import { access, chmod, lstat, mkdir, readdir, rename, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackageLock, PackagesSpace } from '../../shared/packages.ts';
import { ignoring, removeFolder } from '../foreign-folders.ts';
import type { Package } from '../skills/needs/packages.ts';
import type { SkillPackages } from '../skills/run/execution-host.ts';
import { createNpm } from './npm.ts';
import { createPip, type PipOptions } from './pip.ts';
import {
	cancelled,
	environmentFor,
	PackagesError,
	type PackagesErrorType,
	type Progress,
	type Work
} from './program.ts';

export interface EnvironmentsOptions extends Pick<PipOptions, 'findPython' | 'target'> {
	/** `DATA_DIR/environments` */
	folder: string;
	/** Maximum size of all environments. */
	maxBytes: number;
	/** A mirror, or a `file:` folder of wheels; null for pip’s own configuration. */
	pipIndexUrl: string | null;
	/** null for npm’s own configuration. */
	npmRegistry: string | null;
	/** Hosts besides the indexes’ that packages may come from. */
	hosts: readonly string[];
	/** See `PipOptions`. Default: false. */
	mayBuild?: boolean;
	/** The environment that pip’s and npm’s settings are taken from. */
	environment: Readonly<Record<string, string | undefined>>;
	/** Silence after which an installer is given up, in milliseconds. */
	quietMs?: number;
	/** See `PipOptions`. */
	maxMemoryBytes?: number;
	/** Scripts run on workers, which have folders of their own and install there what isn’t here. */
	areElsewhere?: boolean;
	/** Called after each install, with the type of its error. */
	onInstalled?: (seconds: number, outcome: 'success' | PackagesErrorType) => void;
	/** This server among several with the same folder. Default: only processes of this machine use it. */
	server?: { id: string; live(): Promise<ReadonlySet<string>> } | undefined;
}

export interface How {
	signal?: AbortSignal;
	onProgress?: (progress: Progress) => void;
}

export interface Environments {
	/** Finds versions, hashes and sizes; installs nothing. @throws PackagesError */
	lookUp(wanted: readonly Package[], how?: How): Promise<PackageLock>;
	/** Does nothing if it’s installed. Two at once for one lock share the work; stopping one doesn’t stop the other. @throws PackagesError */
	install(lock: PackageLock, how?: How): Promise<void>;
	/** What a run needs of it; null unless it is ready. */
	open(lock: Pick<PackageLock, 'digest' | 'python' | 'javascript'>): Promise<SkillPackages | null>;
	/** See `skillPackages` in `shared/packages.ts`. */
	stateOf(lock: Pick<PackageLock, 'digest' | 'python' | 'javascript'>): Promise<'ready' | 'gone' | 'other-python'>;
	/** What all of them take, unfinished ones too, as it counts for `maxBytes`. */
	space(): Promise<PackagesSpace>;
	/** Removes those that nobody needs, and returns how many. */
	removeUnused(kept: ReadonlySet<string>): Promise<number>;
}

interface Installing {
	done: Promise<void>;
	stop: AbortController;
	waiting: number;
	listeners: Set<(progress: Progress) => void>;
}

const QUIET_MS = 60_000;
/** pip holds large packages in memory while it fetches them. */
const MEMORY_BYTES = 2 * 1024 ** 3;
const BLOCK_BYTES = 4096;
const COUNTED_AT_ONCE = 256;
/** `<digest>.<process or server>.<random>.part` */
const PART = /^[0-9a-f]{64}\.([0-9a-f-]+)\.[0-9a-f-]+\.part$/;

export function createEnvironments(options: EnvironmentsOptions): Environments {
	const {
		folder,
		maxBytes,
		environment,
		hosts,
		mayBuild = false,
		areElsewhere = false,
		onInstalled = () => undefined,
		quietMs = QUIET_MS,
		maxMemoryBytes = MEMORY_BYTES
	} = options;
	const common = { ...options, env: environmentFor(environment), hosts, mayBuild, quietMs, maxMemoryBytes };
	const pip = createPip({ ...common, indexUrl: options.pipIndexUrl });
	const npm = createNpm({ ...common, registry: options.npmRegistry, ownNpm: environment.npm_execpath });
	/** Parts. A killed server may have had this process’s number: in a container, it always has. */
	const making = new Set<string>();
	const partOf = (name: string) => `${name}.${options.server?.id ?? process.pid}.${randomUUID()}.part`;
	const installing = new Map<string, Installing>();
	let swept: Promise<void> | undefined;
	/** Removes what killed servers left; another server may be installing at the same time. */
	const sweep = () =>
		(swept ??= (async () => {
			await mkdir(folder, { recursive: true });
			const names = (await readdir(folder)).filter((name) => !making.has(name));
			// Asked afterwards: a server lives before it makes a part.
			const live = await options.server?.live();
			const isLeft = (maker: string | undefined) => (live ? maker !== undefined && !live.has(maker) : isDead(maker));
			const left = names.filter((name) => isLeft(PART.exec(name)?.[1]));
			for (const name of left) await removeFolder(join(folder, name));
		})());

	/** A folder that is removed at the end, unless it was renamed. */
	const withFolder = async <Result>(name: string, use: (path: string) => Promise<Result>): Promise<Result> => {
		await sweep();
		const part = partOf(name);
		const path = join(folder, part);
		making.add(part);
		try {
			await mkdir(path);
			return await use(path);
		} catch (error) {
			const isFull = (error as NodeJS.ErrnoException | null)?.code === 'ENOSPC';
			throw isFull ? new PackagesError('DiskFull', 'The disk is full.', 'Free some space, then try again.') : error;
		} finally {
			await removeFolder(path).catch(() => undefined);
			making.delete(part);
		}
	};
	/** What others take is counted once: it doesn’t grow much meanwhile. */
	const measureIn = async (path: string): Promise<Work['measure']> => {
		const room = maxBytes - (await sizeOf(folder)) + (await sizeOf(path));
		let last = { bytes: 0, free: 0, endedAt: -Infinity, tookMs: 0 };
		return async () => {
			const startedAt = performance.now();
			const free = await freeIn(path);
			// Counting many files shouldn’t take more than a fifth of the time, unless the disk fills.
			const isRecent = startedAt - last.endedAt < 4 * last.tookMs;
			if (isRecent && last.free - free <= room - last.bytes) return last.bytes;
			const bytes = await sizeOf(path);
			if (bytes > room) throw tooLarge();
			const endedAt = performance.now();
			last = { bytes, free, endedAt, tookMs: endedAt - startedAt };
			return bytes;
		};
	};
	const tooLarge = () =>
		new PackagesError(
			'TooLarge',
			`All skills’ packages together would take more than ${Math.round(maxBytes / 1024 ** 2)} MB.`,
			'Nothing was installed. Remove packages of other skills, or allow more with SKILLS_PACKAGES_MB.'
		);

	const build = (lock: PackageLock, signal: AbortSignal, onProgress: (progress: Progress) => void) =>
		withFolder(lock.digest, async (path) => {
			const measureAll = await measureIn(path);
			let last: Progress | undefined;
			const tell = (progress: Progress) => onProgress((last = progress));
			const measure = async () => {
				const bytes = await measureAll();
				if (last) tell({ ...last, bytes });
				return bytes;
			};
			const work = { signal, onProgress: tell, measure };
			const python = lock.packages.filter(({ ecosystem }) => ecosystem === 'python');
			if (python.length > 0) await pip.install(python, path, work);
			if (lock.javascript) await npm.install(lock.javascript, path, work);
			await (
				await measureIn(path)
			)();
			await makeReadable(path);
			if (signal.aborted) throw cancelled();
			await rename(path, join(folder, lock.digest)).catch(async (error: unknown) => {
				// Another server has just installed the same.
				if (!(await exists(join(folder, lock.digest)))) throw error;
			});
		});

	/** Whether packages made for this run here. */
	const fits = async ({ python, javascript }: Pick<PackageLock, 'python' | 'javascript'>): Promise<boolean> => {
		if (javascript && javascript.system !== (await npm.system())) return false;
		if (!python) return true;
		const here = await pip.python();
		return here?.version === python.version && here.system === python.system;
	};
	const stateOf: Environments['stateOf'] = async (lock) => {
		const isHere = /^[0-9a-f]{64}$/.test(lock.digest) && (areElsewhere || (await exists(join(folder, lock.digest))));
		if (!isHere) return 'gone';
		return (await fits(lock)) ? 'ready' : 'other-python';
	};

	return {
		async lookUp(wanted, { signal = new AbortController().signal, onProgress = () => undefined } = {}) {
			const ask = (ecosystem: Package['ecosystem'], installer: Pick<typeof pip, 'lookUp'>) => {
				const some = wanted.filter((each) => each.ecosystem === ecosystem);
				if (some.length === 0) return null;
				return withFolder('0'.repeat(64), async (path) =>
					installer.lookUp(some, path, { signal, onProgress, measure: await measureIn(path) })
				);
			};
			const fromPip = await ask('python', pip);
			const fromNpm = await ask('javascript', npm);
			const packages = [...(fromPip?.packages ?? []), ...(fromNpm?.packages ?? [])];
			packages.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
			const [python, javascript] = [fromPip?.python ?? null, fromNpm?.javascript ?? null];
			const requested = wanted.map(({ ecosystem, requirement }) => ({ ecosystem, requirement }));
			const found = { python, javascript, packages };
			return { digest: digestOf(found), ...found, requested };
		},
		async install(lock, { signal, onProgress = () => undefined } = {}) {
			if (await exists(join(folder, lock.digest))) return;
			if (digestOf(lock) !== lock.digest) throw changedLock();
			// Without Python, the installer says so.
			if (!(await fits(lock)) && (!lock.python || (await pip.python()))) throw notForHere(lock);
			if (signal?.aborted) throw cancelled();
			let job = installing.get(lock.digest);
			if (!job) {
				const stop = new AbortController();
				const listeners: Installing['listeners'] = new Set();
				const done = build(lock, stop.signal, (progress) => listeners.forEach((tell) => tell(progress)));
				job = { done, stop, waiting: 0, listeners };
				installing.set(lock.digest, job);
				const startedAt = performance.now();
				const end = (error?: unknown) => {
					installing.delete(lock.digest);
					const type = error instanceof PackagesError ? error.type : 'Failed';
					onInstalled((performance.now() - startedAt) / 1000, error === undefined ? 'success' : type);
				};
				done.then(() => end(), end);
			}
			const { done, stop, listeners } = job;
			job.waiting += 1;
			listeners.add(onProgress);
			const left = Promise.withResolvers<never>();
			const onAbort = () => left.reject(cancelled());
			signal?.addEventListener('abort', onAbort, { once: true });
			try {
				await Promise.race([done, left.promise]);
			} finally {
				signal?.removeEventListener('abort', onAbort);
				listeners.delete(onProgress);
				job.waiting -= 1;
				if (job.waiting === 0) stop.abort();
				// The last one leaves when nothing is left behind.
				if (signal?.aborted && job.waiting === 0) await done.catch(() => undefined);
			}
		},
		stateOf,
		space: async () => ({ bytes: await sizeOf(folder), maxBytes }),
		async open(lock) {
			const path = join(folder, lock.digest);
			if ((await stateOf(lock)) !== 'ready') return null;
			const python = lock.python ? join(path, 'python') : null;
			const node = lock.javascript ? join(path, 'node_modules') : null;
			return {
				folder: path,
				bin: [...(python ? [join(python, 'bin')] : []), ...(node ? [join(node, '.bin')] : [])],
				python,
				register: node ? join(path, 'register.cjs') : null
			};
		},
		async removeUnused(kept) {
			await sweep();
			const names = (await readdir(folder)).filter(
				(name) => /^[0-9a-f]{64}$/.test(name) && !kept.has(name) && !installing.has(name)
			);
			for (const name of names) {
				// Absent at once, even if removing takes a while.
				const path = join(folder, partOf(name));
				await rename(join(folder, name), path).catch(ignoring('ENOENT'));
				await removeFolder(path);
			}
			return names.length;
		}
	};
}

/** Of exactly these packages. */
function digestOf({ python, javascript, packages }: Pick<PackageLock, 'python' | 'javascript' | 'packages'>): string {
	const facts = packages.map(({ ecosystem, name, version, hash: own }) => [ecosystem, name, version, own]);
	return hash('sha256', JSON.stringify([python, javascript, facts]));
}

function changedLock(): PackagesError {
	const message = 'The list of packages isn’t the one that was looked up.';
	return new PackagesError('Failed', message, 'Nothing was installed. Look the packages up again.');
}

function notForHere({ python }: Pick<PackageLock, 'python'>): PackagesError {
	const wanted = python ? `Python ${python.version} (${python.system})` : 'another system';
	const message = `The packages were looked up for ${wanted}, but scripts run here with another one.`;
	return new PackagesError('Failed', message, 'Nothing was installed. Servers and workers need the same Python.');
}

/** Environments of a worker, whose scripts hold them. Without room, those that no script holds give way: they can be installed again. */
export function holdEnvironments(environments: Environments) {
	const holders = new Map<string, number>();
	const hold = (digest: string, more: 1 | -1): void => {
		const now = (holders.get(digest) ?? 0) + more;
		if (now > 0) holders.set(digest, now);
		else holders.delete(digest);
	};
	const install = async (lock: PackageLock, signal: AbortSignal): Promise<void> => {
		try {
			await environments.install(lock, { signal });
		} catch (error) {
			const isFull = error instanceof PackagesError && (error.type === 'TooLarge' || error.type === 'DiskFull');
			if (!isFull || (await environments.removeUnused(new Set(holders.keys()))) === 0) throw error;
			await environments.install(lock, { signal });
		}
	};
	return {
		/** Installs what isn’t there: `onInstall` says so. @throws PackagesError */
		async take(
			lock: PackageLock,
			{ signal, onInstall }: { signal: AbortSignal; onInstall(): void }
		): Promise<{ folder: string; release(): void }> {
			hold(lock.digest, 1);
			try {
				if ((await environments.stateOf(lock)) === 'gone') {
					onInstall();
					await install(lock, signal);
				}
				const packages = await environments.open(lock);
				if (!packages) throw notForHere(lock);
				return { folder: packages.folder, release: () => hold(lock.digest, -1) };
			} catch (error) {
				hold(lock.digest, -1);
				throw error;
			}
		}
	};
}

function keyOf({ ecosystem, name, version, hash: own }: PackageLock['packages'][number]): string {
	return [ecosystem, name, version, own].join('\n');
}

function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false
	);
}

/** Unless this process made it. */
function isDead(pid: string | undefined): boolean {
	if (pid === undefined) return false;
	// Of one of several servers, which don't use the folder together with this one.
	if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return true;
	try {
		process.kill(Number(pid), 0);
		return false;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'ESRCH';
	}
}

/** Bytes that all files and folders take, empty ones too; what vanishes meanwhile counts nothing. */
async function sizeOf(path: string): Promise<number> {
	let bytes = 0;
	const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
	for (let at = 0; at < entries.length; at += COUNTED_AT_ONCE) {
		const some = entries.slice(at, at + COUNTED_AT_ONCE).map(({ parentPath, name }) => join(parentPath, name));
		const found = await Promise.all(some.map((each) => lstat(each).catch(() => null)));
		for (const each of found) bytes += each ? Math.ceil(Math.max(each.size, 1) / BLOCK_BYTES) * BLOCK_BYTES : 0;
	}
	return bytes;
}

async function freeIn(path: string): Promise<number> {
	const { bfree, bsize } = await statfs(path);
	return bfree * bsize;
}

/** Everybody may read, as sandboxes have other users; nobody may write. */
async function makeReadable(path: string): Promise<void> {
	for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
		const at = join(entry.parentPath, entry.name);
		if (entry.isFile()) await chmod(at, ((await lstat(at)).mode & 0o111) === 0 ? 0o444 : 0o555);
		else if (entry.isDirectory()) await chmod(at, 0o555);
	}
	await chmod(path, 0o555);
}
