/**
 * Folders of the data folder whose files are in a bucket, so that every server can work on them. Programs use the local
 * copy: `bring` makes it as new as what is stored, `keep` stores what has changed in it.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { isThere, removeFolder } from '../foreign-folders.ts';
import type { Log } from '../log.ts';
import type { FileChange, StoredFile, StoredFiles } from '../store/stored-files.ts';
import { type Bucket, BlobDamaged, BucketUnavailable } from './bucket.ts';
import { findChanges, factsAt, hashAt, isSameFile, pathParts, placeFile, readAt, removeAt } from './local-files.ts';
import { createLocalStates, type LocalState } from './local-state.ts';

export interface StoredFolders {
	/**
	 * Makes the local copy as new as what is stored; what has changed in it since stays. `toChange`: before something may
	 * change it, so that this isn't lost if the server stops. Returns the paths whose stored contents are damaged.
	 * @throws AppError `unavailable`, `storage_full`
	 */
	bring(folder: string, options?: { toChange?: boolean }): Promise<readonly string[]>;
	/** Stores what has changed. Returns why it couldn't, as sentences for people; it's tried again until it's stored. Never rejects. */
	keep(folder: string): Promise<string | null>;
	/** Deletes it here, and from what is stored; other servers delete theirs later. */
	remove(folder: string): Promise<void>;
	/** Stores what waits, deletes local copies of what others have deleted, and contents that nothing has. Never rejects. */
	catchUp(): Promise<void>;
	close(): Promise<void>;
}

export interface StoredFoldersOptions {
	store: StoredFiles;
	bucket: Bucket;
	dataDir: string;
	log: Log;
	/** Kinds of folders: those in `DATA_DIR/<kind>/` are stored. */
	kinds: readonly string[];
	now?: () => number;
}

/** Objects that are sent or read at once, of all folders. */
const AT_ONCE = 8;
/** So many contents are written down as stored together. */
const STEP = 100;
/** A content that nothing has is kept this long: a server may be about to use it again. */
const GRACE_MS = 24 * 60 * 60_000;
const CATCH_UP_EVERY_MS = 30_000;
/** What waits at the end has this long. */
const LAST_MS = 5_000;
/** After it was found to be down, nothing waits for it. */
const QUIET_MS = 10_000;
const UNSTORED =
	'Changed files couldn’t be stored for other servers. They are on this server, which tries again until it can.';
/** Where both stay when two servers have changed the same file: what people see. */
const PEOPLES = 'workspaces/';

export function createStoredFolders(options: StoredFoldersOptions): StoredFolders {
	const { store, bucket, dataDir, log, kinds, now = Date.now } = options;
	const states = createLocalStates(join(dataDir, 'stored-folders'));
	const rootOf = (folder: string) => join(dataDir, ...folder.split('/'));
	const closing = new AbortController();
	const room = createRoom(AT_ONCE);
	const lanes = new Map<string, Promise<unknown>>();
	/** When it was last found to be down. */
	let downAt: number | null = null;
	let caughtUp: Promise<void> = Promise.resolve();
	/** One after the other for each folder. */
	const inTurn = <Result>(folder: string, work: () => Promise<Result>): Promise<Result> => {
		const turn = (lanes.get(folder) ?? Promise.resolve()).then(work);
		const settled = turn
			.catch(() => undefined)
			.then(() => {
				if (lanes.get(folder) === settled) lanes.delete(folder);
			});
		lanes.set(folder, settled);
		return turn;
	};
	const drop = async (folder: string): Promise<void> => {
		await removeFolder(rootOf(folder));
		await states.remove(folder);
	};
	const heard = (error: unknown): void => {
		if (!(error instanceof BucketUnavailable)) return;
		if (downAt === null) log.error({ reason: error.message }, 'The file storage can’t be used');
		downAt = performance.now();
	};
	const works = (): void => {
		if (downAt !== null) log.info({}, 'The file storage works again');
		downAt = null;
	};
	/** All of them, so many at once; after the first error, no more. */
	const each = async <Item>(
		items: readonly Item[],
		work: (item: Item, signal: AbortSignal) => Promise<void>
	): Promise<void> => {
		const stop = new AbortController();
		const signal = AbortSignal.any([closing.signal, stop.signal]);
		const errors: unknown[] = [];
		await Promise.all(
			items.map((item) =>
				room(async () => {
					if (signal.aborted) return;
					await work(item, signal);
				}).catch((error: unknown) => {
					errors.push(error);
					stop.abort();
				})
			)
		);
		if (errors.length > 0) throw errors[0];
		closing.signal.throwIfAborted();
	};

	/** What is known of a folder that is there; a copy that somebody removed by hand is brought again, not deleted everywhere. */
	const stateOf = async (folder: string): Promise<LocalState> => {
		const state = await states.read(folder);
		const isLost = state.files.size > 0 && !(await isThere(rootOf(folder)));
		return isLost ? { ...state, version: 0, files: new Map() } : state;
	};

	/** `left`: it changed here, too, and the next `keep` decides; it isn't this version yet. */
	const bringFile = async (
		root: string,
		file: StoredFile,
		state: LocalState,
		{ signal, tell }: { signal: AbortSignal; tell: (problem: string) => void }
	): Promise<'done' | 'left' | 'damaged'> => {
		const { path, content, version } = file;
		const known = state.files.get(path);
		if (known && known.version >= version) return 'done';
		const parts = pathParts(path);
		if (parts === null) {
			tell('A stored file has no valid path');
			return 'done';
		}
		const here = await factsAt(root, parts);
		// A link, which is never stored, gives way.
		const isFile = here?.isFile() === true;
		if (!known || !here || !isSameFile(known, here)) {
			const digest = isFile ? await hashAt(root, parts) : null;
			if (digest !== null && digest === content?.sha256) {
				state.files.set(path, { sha256: digest, stamp: '', mode: -1, version });
				return 'done';
			}
			if (known ? digest !== known.sha256 : isFile) return 'left';
		}
		if (!content) {
			if (here) await removeAt(root, parts);
			state.files.delete(path);
			return 'done';
		}
		try {
			const placed = await placeFile(root, parts, bucket.get(content.object, content, signal), file);
			if (placed) state.files.set(path, { ...placed, sha256: content.sha256, version });
			else tell('A stored file has no place, because a file and a folder have the same name');
			return 'done';
		} catch (error) {
			if (!(error instanceof BlobDamaged)) throw error;
			tell('A stored file is damaged');
			return 'damaged';
		}
	};
	const bringNow = async (folder: string, toChange: boolean): Promise<readonly string[]> => {
		const there = await store.folder(folder);
		const state = await stateOf(folder);
		if (there?.isRemoved && (state.version > 0 || state.files.size > 0)) await drop(folder);
		if (toChange) await states.mark(folder);
		if (!there || there.isRemoved || there.version === state.version) return [];
		const root = rootOf(folder);
		const files = await store.changesSince(folder, state.version);
		const damaged: string[] = [];
		let isWhole = true;
		// Once for all files: a folder may have thousands, and what they're called is nobody's business.
		const problems = new Map<string, number>();
		const tell = (problem: string) => void problems.set(problem, (problems.get(problem) ?? 0) + 1);
		try {
			// What is deleted may make room for a folder of its name.
			for (const isDeleted of [true, false]) {
				const some = files.filter(({ content }) => (content === null) === isDeleted);
				await each(some, async (file, signal) => {
					const outcome = await bringFile(root, file, state, { signal, tell });
					if (outcome === 'damaged') damaged.push(file.path);
					if (outcome !== 'done') isWhole = false;
				});
			}
			if (isWhole) state.version = there.version;
			works();
		} finally {
			for (const [problem, count] of problems) log.error({ folder, files: count }, problem);
			await states.write(folder, state);
		}
		return damaged;
	};

	const upload = async (root: string, contents: Map<string, { path: string; bytes: number }>): Promise<Set<string>> => {
		const claimed = await store.claim(
			[...contents].map(([sha256, { bytes }]) => ({ sha256, bytes })),
			new Date(now()).toISOString()
		);
		const missing = claimed.filter(({ isStored }) => !isStored);
		const changed = new Set<string>();
		for (let at = 0; at < missing.length; at += STEP) {
			const done: string[] = [];
			try {
				await each(missing.slice(at, at + STEP), async ({ object, sha256 }, signal) => {
					const { path = '', bytes = 0 } = contents.get(sha256) ?? {};
					const read = () => readAt(root, pathParts(path) ?? [], bytes);
					if (await bucket.put(object, { sha256, bytes, read }, signal)) done.push(object);
					else changed.add(sha256);
				});
			} finally {
				await store.markStored(done, new Date(now()).toISOString());
			}
		}
		return changed;
	};
	/** Returns what can never be stored. */
	const keepNow = async (folder: string): Promise<string[]> => {
		const root = rootOf(folder);
		const state = await stateOf(folder);
		const found = await findChanges(root, state.files);
		const contents = new Map(found.changed.map(({ path, sha256, bytes }) => [sha256, { path, bytes }]));
		const isNew = state.version === 0 && state.files.size === 0;
		const waiting = await upload(root, contents);
		const stored = found.changed.filter(({ sha256 }) => !waiting.has(sha256));
		const baseOf = (path: string) => state.files.get(path)?.version ?? 0;
		const changes: FileChange[] = [
			...stored
				.filter(({ path, sha256, mode }) => {
					const known = state.files.get(path);
					return known?.sha256 !== sha256 || (known.mode !== mode && known.mode !== -1);
				})
				.map(({ path, sha256, mode, modifiedAt }) => ({ path, sha256, mode, modifiedAt, base: baseOf(path) })),
			...found.deleted.map((path) => ({
				...{ path, sha256: null, mode: 0, base: baseOf(path) },
				modifiedAt: new Date(now()).toISOString()
			}))
		];
		const saved =
			changes.length === 0 ? undefined : await store.save(folder, changes, { keepsBoth: isPeoples(folder), isNew });
		if (saved === null) {
			await drop(folder);
			return [];
		}
		for (const { path, sha256, stamp, mode } of stored) {
			state.files.set(path, { sha256, stamp, mode, version: saved?.versions.get(path) ?? baseOf(path) });
		}
		for (const path of found.deleted) state.files.delete(path);
		if (saved) {
			// Otherwise the next `bring` looks at everything once more.
			const isAlone = saved.before === state.version && !saved.hasOthers && saved.undeleted === 0;
			state.version = isAlone ? saved.version : 0;
		}
		const refused = found.refused.filter((path) => !state.refused.includes(path));
		state.refused = found.refused;
		if (stored.length > 0 || saved || refused.length > 0) await states.write(folder, state);
		if (waiting.size === 0) await states.unmark(folder);
		works();
		return refused;
	};

	const keep = (folder: string, { isPatient = false } = {}): Promise<string | null> =>
		inTurn(folder, async () => {
			try {
				await states.mark(folder);
				// A script after the other would wait for a server that doesn't answer.
				if (!isPatient && downAt !== null && performance.now() - downAt < QUIET_MS) return UNSTORED;
				const refused = await keepNow(folder);
				if (refused.length === 0) return null;
				const names = refused.slice(0, 3).join(', ');
				return `Files whose paths are longer than 1,000 characters stay on this server only: ${names.slice(0, 300)}.`;
			} catch (error) {
				heard(error);
				if (!closing.signal.aborted && !(error instanceof BucketUnavailable)) {
					log.error({ folder, error: String(error) }, 'Couldn’t store files');
				}
				return UNSTORED;
			}
		});

	const collect = async (): Promise<void> => {
		const objects = await store.unused(new Date(now() - GRACE_MS).toISOString());
		const gone: string[] = [];
		await each(objects, async (object, signal) => {
			await bucket.remove(object, signal);
			gone.push(object);
		}).finally(() => store.forget(gone));
	};
	const catchUpNow = async (): Promise<void> => {
		const known = await states.list();
		for (const folder of await store.removed(known.folders)) await inTurn(folder, () => drop(folder));
		for (const kind of kinds) {
			// From before there was a bucket.
			for (const name of await readdir(join(dataDir, kind)).catch(() => [])) {
				const folder = `${kind}/${name}`;
				const isNew = !known.folders.includes(folder) && !known.marked.includes(folder);
				if (isNew && (await lstat(rootOf(folder))).isDirectory()) known.marked.push(folder);
			}
		}
		for (const folder of known.marked) {
			if (closing.signal.aborted) return;
			await keep(folder, { isPatient: true });
			// The others would only wait, too.
			if (downAt !== null) return;
		}
		await collect();
	};
	const catchUp = (): Promise<void> => {
		caughtUp = caughtUp.then(catchUpNow).catch((error: unknown) => {
			heard(error);
			if (closing.signal.aborted || error instanceof BucketUnavailable) return;
			log.error({ error: String(error) }, 'Couldn’t look after stored files');
		});
		return caughtUp;
	};
	const timer = setInterval(() => void catchUp(), CATCH_UP_EVERY_MS);
	timer.unref();

	return {
		bring: (folder, { toChange = false } = {}) =>
			inTurn(folder, () => bringNow(folder, toChange)).catch((error: unknown) => {
				heard(error);
				throw asAppError(error);
			}),
		keep: (folder) => keep(folder),
		remove: (folder) =>
			inTurn(folder, async () => {
				await store.remove(folder, new Date(now()).toISOString());
				await drop(folder);
			}),
		catchUp,
		async close() {
			clearInterval(timer);
			const limit = setTimeout(() => closing.abort(), LAST_MS);
			await catchUp();
			clearTimeout(limit);
			closing.abort();
			await caughtUp;
			await Promise.all(lanes.values());
		}
	};
}

function isPeoples(folder: string): boolean {
	return folder.startsWith(PEOPLES);
}

function asAppError(error: unknown): unknown {
	if (error instanceof BucketUnavailable) {
		const message = `The files can’t be fetched, because the file storage can’t be used (${error.message}). Try again later.`;
		return new AppError('unavailable', message, { cause: error });
	}
	if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
		return new AppError('storage_full', 'The disk is full. Free some space and try again.', { cause: error });
	}
	return error;
}

/** Runs so many at once, and the others when one ends. */
function createRoom(size: number) {
	let free = size;
	const waiting: (() => void)[] = [];
	return async <Result>(work: () => Promise<Result>): Promise<Result> => {
		if (free > 0) free -= 1;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else free += 1;
		}
	};
}
