/**
 * Copies of skills that scripts run from: read-only, one for each digest, so that what was looked at is what runs, whatever
 * becomes of the skill's folder meanwhile (FEATURES D8, D9, F4).
 */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addOwnMark, type FileMarks } from './read/safe-read.ts';
import { copyTree, isAsMarked, MAX_BYTES, MAX_ENTRIES, TooLarge, type Tree } from './read/skill-tree.ts';
import { SkillError, type Skill } from './types.ts';

export interface SkillCopies {
	/**
	 * The files of a skill: those with the digest `allowed`, or as they are now without it. They stay until `release`.
	 * @throws SkillError `NotTrusted` when the files are others by now, `ScriptNotFound` when the folder is gone,
	 * `ExecutionFailed` when there is too much to copy or no room for it
	 */
	take(skill: CopiedSkill, allowed?: string): Promise<SkillCopy>;
	/** Removes all copies. */
	close(): Promise<void>;
}

export interface SkillCopy {
	/** Absolute real path. */
	dir: string;
	/** SHA-256 of all files: see `digestOfEntries`. */
	digest: string;
	release(): void;
}

export type CopiedSkill = Pick<Skill, 'dir' | 'name'>;

export interface SkillCopiesOptions {
	/** Absolute path of a folder that nobody else uses: what an earlier process left there is removed. A temporary one without it. */
	folder?: string;
	/** Bytes of all copies together. */
	maxBytes?: number;
	/** Milliseconds, of a clock that nobody sets. */
	now?: () => number;
}

/** A copy that nobody used for so long is removed. */
const UNUSED_MS = 60 * 60_000;
/** Sooner where its room is needed; but a Node that waits, for five minutes at most, has the copy that it was started with. */
const RESTING_MS = 10 * 60_000;
const MAX_SEEN = 1000;
const TEMPORARY = 'openrouter-skills-';
const MODULE_SETTINGS = 'package.json';

interface Copy {
	dir: string;
	digest: string;
	bytes: number;
	/** To see that nobody has changed it: absolute paths, and a mark of each. */
	paths: readonly string[];
	marks: FileMarks;
	users: number;
	usedAt: number;
}

export function createSkillCopies({
	folder,
	maxBytes = MAX_BYTES,
	now = () => performance.now()
}: SkillCopiesOptions = {}): SkillCopies {
	const copies = new Map<string, Copy>();
	/** By the real path of a skill's folder: what it held when it was copied last. */
	const seen = new Map<string, Pick<Tree, 'digest' | 'paths' | 'marks'>>();
	/** One at a time: the bytes of one are counted before the next begins. */
	let making: Promise<unknown> = Promise.resolve();
	let root: Promise<string> | null = null;
	let cleaning: Promise<unknown> = Promise.resolve();
	let sweeping: NodeJS.Timeout | undefined;
	let isClosed = false;

	const openRoot = async (): Promise<string> => {
		const { path, left } = folder === undefined ? await temporaryFolder() : await ownFolder(folder);
		// What cannot be removed now is tried again at the next start.
		cleaning = Promise.allSettled(left.map(removeTree));
		// Node looks above a script for what kind of modules there are: what lies around the copies is not to say it.
		await writeFile(join(path, MODULE_SETTINGS), '{}\n');
		sweeping = setInterval(() => void sweep(UNUSED_MS), RESTING_MS);
		sweeping.unref();
		return realpath(path);
	};
	const rootFolder = (): Promise<string> => {
		root ??= openRoot().catch((error: unknown) => {
			root = null;
			throw error;
		});
		return root;
	};
	// A start removes what the one before left, whether or not anything is run.
	if (folder !== undefined) rootFolder().catch(() => undefined);

	/** Nobody is given it any more; it goes when nobody uses it. */
	const drop = (copy: Copy): void => {
		if (copies.get(copy.digest) === copy) copies.delete(copy.digest);
		if (copy.users === 0) cleaning = Promise.allSettled([cleaning, removeTree(copy.dir)]);
	};
	const hold = (copy: Copy): SkillCopy => {
		copy.users += 1;
		let isHeld = true;
		return {
			dir: copy.dir,
			digest: copy.digest,
			release() {
				if (!isHeld) return;
				isHeld = false;
				copy.users -= 1;
				copy.usedAt = now();
				if (copies.get(copy.digest) !== copy) drop(copy);
			}
		};
	};
	const sweep = async (unusedMs: number): Promise<void> => {
		for (const copy of copies.values()) if (copy.users === 0 && now() - copy.usedAt >= unusedMs) drop(copy);
		await cleaning;
	};

	/** The one of this digest, if there is one as it was made. */
	const existing = async (digest: string): Promise<SkillCopy | null> => {
		const copy = copies.get(digest);
		if (!copy) return null;
		const held = hold(copy);
		if (await isAsMarked(copy.paths, copy.marks)) return held;
		// A script without walls for files may have written to it.
		drop(copy);
		held.release();
		return null;
	};
	/** Without reading a file. */
	const ready = async (source: string, allowed: string | undefined): Promise<SkillCopy | null> => {
		if (allowed !== undefined) return existing(allowed);
		const known = seen.get(source);
		if (!known?.marks || !(await isAsMarked(known.paths, known.marks))) return null;
		return existing(known.digest);
	};
	const make = async (skill: CopiedSkill, source: string, allowed: string | undefined): Promise<SkillCopy> => {
		const place = await rootFolder();
		const stage = join(place, `.staged-${randomUUID()}`);
		try {
			const room = maxBytes - [...copies.values()].reduce((sum, { bytes }) => sum + bytes, 0);
			const tree = await copyTree(source, stage, room);
			seen.delete(source);
			const [oldest] = seen.keys();
			if (oldest !== undefined && seen.size >= MAX_SEEN) seen.delete(oldest);
			seen.set(source, { digest: tree.digest, paths: tree.paths, marks: tree.marks });
			if (allowed !== undefined && tree.digest !== allowed) throw changedSince(skill);
			const known = await existing(tree.digest);
			if (known) return known;
			// A path of its own: who still runs from one that was changed keeps it until then.
			const dir = join(place, `${tree.digest.slice(0, 32)}-${randomUUID().slice(0, 8)}`);
			await rename(stage, dir);
			const paths = tree.copied.map((path) => join(dir, path));
			const marks: number[] = [];
			for (const path of paths) addOwnMark(marks, path);
			const copy = { dir, digest: tree.digest, bytes: tree.bytes, paths, marks, users: 0, usedAt: now() };
			copies.set(copy.digest, copy);
			return hold(copy);
		} finally {
			await removeTree(stage);
		}
	};
	const makeWithRoom = async (skill: CopiedSkill, source: string, allowed: string | undefined): Promise<SkillCopy> => {
		if (isClosed) throw new SkillError('ExecutionFailed', 'The skill library is closed.');
		try {
			return await make(skill, source, allowed);
		} catch (error) {
			if (!(error instanceof TooLarge)) throw error;
			await sweep(RESTING_MS);
			return make(skill, source, allowed);
		}
	};

	return {
		async take(skill, allowed) {
			try {
				const source = await folderOf(skill);
				const found = await ready(source, allowed);
				if (found) return found;
				// Whoever was before in the queue may have made it.
				const next = making.then(async () => (await ready(source, allowed)) ?? makeWithRoom(skill, source, allowed));
				making = next.catch(() => undefined);
				return await next;
			} catch (error) {
				throw asSkillError(error, skill, maxBytes);
			}
		},
		async close() {
			isClosed = true;
			clearInterval(sweeping);
			await making;
			copies.clear();
			const place = await root?.catch(() => null);
			await cleaning;
			if (place) await removeTree(place);
		}
	};
}

/** The folder, and what an earlier process left in it. */
async function ownFolder(path: string): Promise<{ path: string; left: string[] }> {
	await mkdir(path, { recursive: true, mode: 0o700 });
	const names = await readdir(path);
	return { path, left: names.filter((name) => name !== MODULE_SETTINGS).map((name) => join(path, name)) };
}

/** A new one of this process, and those of this user's that have ended. */
async function temporaryFolder(): Promise<{ path: string; left: string[] }> {
	const parent = tmpdir();
	const left: string[] = [];
	for (const name of await readdir(parent)) {
		const pid = name.startsWith(TEMPORARY) ? Number(name.slice(TEMPORARY.length).split('-')[0]) : NaN;
		if (!Number.isInteger(pid) || pid <= 0 || isAlive(pid)) continue;
		const stats = await lstat(join(parent, name)).catch(() => null);
		if (stats?.isDirectory() && stats.uid === (process.getuid?.() ?? stats.uid)) left.push(join(parent, name));
	}
	return { path: await mkdtemp(join(parent, `${TEMPORARY}${process.pid}-`)), left };
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// EPERM: it is somebody else's.
		return (error as NodeJS.ErrnoException).code !== 'ESRCH';
	}
}

/** Folders of a copy are read-only, so nothing in them could be removed. */
async function removeTree(path: string): Promise<void> {
	const stats = await lstat(path).catch(() => null);
	if (!stats) return;
	const pending = stats.isDirectory() ? [path] : [];
	for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
		await chmod(folder, 0o700);
		for (const entry of await readdir(folder, { withFileTypes: true })) {
			if (entry.isDirectory()) pending.push(join(folder, entry.name));
		}
	}
	await rm(path, { recursive: true, force: true });
}

async function folderOf({ dir }: CopiedSkill): Promise<string> {
	return realpath(dir).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
		throw new SkillError('ScriptNotFound', 'The folder of this skill is gone.', 'Use another skill.');
	});
}

/** What was looked at is there no more. */
export function changedSince({ name }: Pick<Skill, 'name'>): SkillError {
	return new SkillError(
		'NotTrusted',
		`The files of “${name}” just changed, so nothing was run.`,
		'Try again to use the new files.'
	);
}

function asSkillError(error: unknown, { name }: CopiedSkill, maxBytes: number): SkillError {
	if (error instanceof SkillError) return error;
	const { code, message } = error as NodeJS.ErrnoException;
	if (error instanceof TooLarge) {
		const size = `${Math.round(maxBytes / 1024 ** 2)} MB`;
		return new SkillError(
			'ExecutionFailed',
			`Can’t run “${name}”: its folder has more than ${MAX_ENTRIES} files, or is too large for the ${size} kept for copies of skills.`,
			'Delete files that its scripts don’t need, or raise SKILLS_COPIES_MB.'
		);
	}
	const hint = code === 'ENOSPC' ? 'Free some disk space and try again.' : undefined;
	return new SkillError('ExecutionFailed', `Couldn’t copy the files of “${name}” to run them: ${message}`, hint);
}
