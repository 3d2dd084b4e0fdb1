/** Read-only copies that scripts run from, one per digest: what was checked is what runs (D8, D9, F4). */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addOwnMark, type FileMarks } from './read/safe-read.ts';
import { copyTree, isAsMarked, MAX_BYTES, MAX_ENTRIES, TooLarge, type Tree } from './read/skill-tree.ts';
import { SkillError, type Skill } from './types.ts';

export interface SkillCopies {
	/**
	 * A copy of the skill's files, now or with the digest `allowed`. Kept until `release`.
	 * @throws SkillError `NotTrusted` if they changed, `ScriptNotFound` if they are gone, `ExecutionFailed` without room
	 */
	take(skill: CopiedSkill, allowed?: string): Promise<SkillCopy>;
	/** Removes all copies. */
	close(): Promise<void>;
}

export interface SkillCopy {
	/** Absolute real path. */
	dir: string;
	/** SHA-256 of all files; see `digestOfEntries`. */
	digest: string;
	release(): void;
}

export type CopiedSkill = Pick<Skill, 'dir' | 'name'>;

export interface SkillCopiesOptions {
	/** Absolute path of a folder used only for this; leftovers in it are deleted. A temporary folder by default. */
	folder?: string;
	/** Bytes of all copies together. */
	maxBytes?: number;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

/** Unused copies are deleted after this time. */
const UNUSED_MS = 60 * 60_000;
/** Earlier if space is needed, but not before an idle Node process started from the copy ends (five minutes at most). */
const RESTING_MS = 10 * 60_000;
const MAX_SEEN = 1000;
const TEMPORARY = 'openrouter-skills-';
const MODULE_SETTINGS = 'package.json';

interface Copy {
	dir: string;
	digest: string;
	bytes: number;
	/** Absolute paths and their marks, to detect changes. */
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
	/** Contents at the last copy, by the real path of a skill's folder. */
	const seen = new Map<string, Pick<Tree, 'digest' | 'paths' | 'marks'>>();
	/** One at a time, so that the bytes of one are counted before the next starts. */
	let making: Promise<unknown> = Promise.resolve();
	let root: Promise<string> | null = null;
	let cleaning: Promise<unknown> = Promise.resolve();
	let sweeping: NodeJS.Timeout | undefined;
	let isClosed = false;

	const openRoot = async (): Promise<string> => {
		const { path, left } = folder === undefined ? await temporaryFolder() : await ownFolder(folder);
		// Anything that can't be deleted now is retried at the next start.
		cleaning = Promise.allSettled(left.map(removeTree));
		// Node looks in parent folders for the module type: nothing outside the copies may decide it.
		await writeFile(join(path, MODULE_SETTINGS), '{}\n');
		clearInterval(sweeping);
		sweeping = setInterval(() => void sweep(UNUSED_MS), RESTING_MS);
		sweeping.unref();
		return realpath(path);
	};
	const rootFolder = async (): Promise<string> => {
		// Other servers remove it if they take this one for gone, because it was paused.
		if (root && !(await lstat(await root).catch(() => null))) root = null;
		root ??= openRoot().catch((error: unknown) => {
			root = null;
			throw error;
		});
		return root;
	};
	// Delete leftovers at the start, even if nothing runs.
	if (folder !== undefined) rootFolder().catch(() => undefined);

	/** Stops handing out the copy and deletes it once unused. */
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

	/** The copy with this digest, if it's unchanged. */
	const existing = async (digest: string): Promise<SkillCopy | null> => {
		const copy = copies.get(digest);
		if (!copy) return null;
		const held = hold(copy);
		if (await isAsMarked(copy.paths, copy.marks)) return held;
		// A script without file isolation may have written to it.
		drop(copy);
		held.release();
		return null;
	};
	/** Finds a copy without reading files. */
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
			// A new path, so that scripts still running from the old copy keep it.
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
				// An earlier call in the queue may have made it.
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

/** The folder and its leftovers. */
async function ownFolder(path: string): Promise<{ path: string; left: string[] }> {
	await mkdir(path, { recursive: true, mode: 0o700 });
	const names = await readdir(path);
	return { path, left: names.filter((name) => name !== MODULE_SETTINGS).map((name) => join(path, name)) };
}

/** A new temporary folder, and leftovers of this user's processes that have ended. */
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
		// EPERM: the process belongs to another user.
		return (error as NodeJS.ErrnoException).code !== 'ESRCH';
	}
}

/** Makes the read-only folders of a copy writable, then deletes it. */
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

/** Error for files that changed since they were checked. */
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
