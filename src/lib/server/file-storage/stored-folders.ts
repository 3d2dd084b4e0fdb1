/**
 * Folders of the data folder whose files are in a bucket, so that every server can work on them. Programs use the local
 * copy: `bring` makes it as new as what is stored, `keep` stores what has changed in it.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { createEach } from '../../shared/in-turn.ts';
import { copyFolder, isThere, removeFolder } from '../foreign-folders.ts';
import { dropFolder, swapFolder } from '../install/folder-swap.ts';
import type { Log } from '../log.ts';
import { openSkillFolder } from '../safe-path.ts';
import type { FileChange, StoredFile, StoredFiles } from '../store/stored-files.ts';
import { asTold, type Bucket, BlobDamaged, BucketUnavailable } from './bucket.ts';
import { asWhole, type FolderKind, kindOf, localFolders } from './folder-kinds.ts';
import {
	findChanges,
	factsAt,
	hashAt,
	isSameFile,
	pathParts,
	placeFile,
	readAt,
	removeAt,
	stampsIn
} from './local-files.ts';
import { createLocalStates, type LocalState } from './local-state.ts';

export interface StoredFolders {
	/**
	 * Makes the local copy as new as what is stored; what has changed in it since stays. `toChange`: before something may
	 * change it, so that this isn't lost if the server stops. Returns the paths whose stored contents are damaged.
	 * @throws AppError `unavailable`, `storage_full`
	 */
	bring(folder: string, options?: { toChange?: boolean }): Promise<readonly string[]>;
	/** The same for all folders of these kinds, those that are deleted, too. Returns whether anything was news. @throws AppError as `bring`, after the others */
	bringAll(kinds: readonly FolderKind[]): Promise<boolean>;
	/** Local folders of these kinds, whether they are stored or not. */
	local(kinds: readonly FolderKind[]): Promise<string[]>;
	/** Stores what has changed. Returns why it couldn't, as sentences for people; it's tried again until it's stored. Never rejects. */
	keep(folder: string): Promise<string | null>;
	/** Deletes it here, and from what is stored; other servers delete theirs later. */
	remove(folder: string): Promise<void>;
	/** Deletes the local copy, unless something waits to be stored, or `isUsed` says no. Returns whether it did. */
	letGo(folder: string, isUsed: () => boolean): Promise<boolean>;
	/** Stores what waits, deletes local copies of what others have deleted, and contents that nothing has. Never rejects. */
	catchUp(): Promise<void>;
	close(): Promise<void>;
}

export interface StoredFoldersOptions {
	store: StoredFiles;
	bucket: Bucket;
	dataDir: string;
	log: Log;
	/** Those that are stored. */
	kinds: readonly FolderKind[];
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
export const UNSTORED =
	'Changed files couldn’t be stored for other servers. They are on this server, which tries again until it can.';

export function createStoredFolders(options: StoredFoldersOptions): StoredFolders {
	const { store, bucket, dataDir, log, kinds, now = Date.now } = options;
	const states = createLocalStates(join(dataDir, 'stored-folders'));
	const rootOf = (folder: string) => join(dataDir, ...folder.split('/'));
	const closing = new AbortController();
	const each = createEach(AT_ONCE, closing.signal);
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
	const isWhole = (folder: string): boolean => kindOf(kinds, folder)?.isWhole === true;
	const drop = async (folder: string): Promise<void> => {
		const root = rootOf(folder);
		await (isWhole(folder) ? dropFolder(dirname(root), root) : removeFolder(root));
		await states.remove(folder);
	};
	/** Whether something is here that isn't stored. */
	const isChanged = async (folder: string, { files }: LocalState): Promise<boolean> => {
		const { changed, deleted } = await findChanges(rootOf(folder), files);
		return deleted.length > 0 || changed.some(({ path, sha256 }) => files.get(path)?.sha256 !== sha256);
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
		const isKnown = state.version > 0 || state.files.size > 0;
		// Of a folder as a whole, a change beats a deletion.
		const goes = there?.isRemoved && isKnown && !(isWhole(folder) && (await isChanged(folder, state)));
		if (goes) await drop(folder);
		if (toChange) await states.mark(folder);
		if (!there || there.isRemoved || there.version === state.version) return [];
		if (isWhole(folder)) return bringWhole(folder, there.version, state);
		const files = await store.changesSince(folder, state.version);
		try {
			const { damaged, left } = await bringFiles({ folder, root: rootOf(folder) }, files, state);
			if (damaged.length + left.length === 0) state.version = there.version;
			works();
			return damaged;
		} finally {
			await states.write(folder, state);
		}
	};
	const bringFiles = async (
		{ folder, root }: { folder: string; root: string },
		files: readonly StoredFile[],
		state: LocalState
	): Promise<{ damaged: string[]; left: string[] }> => {
		const paths = { done: [] as string[], left: [] as string[], damaged: [] as string[] };
		// Once for all files: a folder may have thousands, and what they're called is nobody's business.
		const problems = new Map<string, number>();
		const tell = (problem: string) => void problems.set(problem, (problems.get(problem) ?? 0) + 1);
		try {
			// What is deleted may make room for a folder of its name.
			for (const isDeleted of [true, false]) {
				const some = files.filter(({ content }) => (content === null) === isDeleted);
				await each(some, async (file, signal) => {
					paths[await bringFile(root, file, state, { signal, tell })].push(file.path);
				});
			}
		} finally {
			for (const [problem, count] of problems) log.error({ folder, files: count }, problem);
		}
		return paths;
	};
	/** What it will be is made beside it. If that fails, or it's changed meanwhile, it stays as it is. */
	const bringWhole = async (folder: string, version: number, before: LocalState): Promise<readonly string[]> => {
		const root = rootOf(folder);
		const files = asWhole(await store.changesSince(folder, 0), before, version);
		const state: LocalState = { ...before, version, files: new Map(before.files) };
		const isNews = files.some((file) => (state.files.get(file.path)?.version ?? 0) < file.version);
		let damaged: string[] = [];
		const make = async (made: string): Promise<void> => {
			const stamps = await stampsIn(root);
			await mkdir(made);
			await copyFolder(root, made, () => undefined);
			const brought = await bringFiles({ folder, root: made }, files, state);
			damaged = brought.damaged;
			if (damaged.length > 0) throw new BlobDamaged(damaged.join(', '));
			if (brought.left.length > 0) {
				await states.mark(folder);
				state.version = before.version;
			}
			await openSkillFolder(made, dirname(root));
			if ((await stampsIn(root)) !== stamps) throw new AppError('unavailable', 'Files are being changed. Try again.');
		};
		if (isNews) {
			await mkdir(dirname(root), { recursive: true });
			await swapFolder(dirname(root), root, make).catch((error: unknown) => {
				if (!(error instanceof BlobDamaged)) throw error;
			});
			if (damaged.length > 0) return damaged;
			// They have other times and permissions than those they were brought with.
			for (const [path, known] of state.files) state.files.set(path, { ...known, stamp: '', mode: -1 });
			works();
		}
		await states.write(folder, state);
		return [];
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
		let state = await stateOf(folder);
		if (isWhole(folder) && state.files.size > 0 && (await store.folder(folder))?.isRemoved) {
			if (!(await isChanged(folder, state))) {
				await drop(folder);
				return [];
			}
			// All of it is stored again.
			state = { ...state, version: 0, files: new Map() };
		}
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
		const keepsBoth = kindOf(kinds, folder)?.keepsBoth === true;
		const saved = changes.length === 0 ? undefined : await store.save(folder, changes, { keepsBoth, isNew });
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

	/** Returns whether there was news. */
	const refresh = async ({ folder, version, isRemoved }: { folder: string; version: number; isRemoved: boolean }) => {
		const state = await stateOf(folder);
		const isCurrent = isRemoved ? state.version === 0 && state.files.size === 0 : state.version === version;
		if (isCurrent) return false;
		await bringNow(folder, false);
		return true;
	};

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
		for (const folder of await store.removed(known.folders.filter((each) => !isWhole(each)))) {
			await inTurn(folder, () => drop(folder));
		}
		// From before there was a bucket.
		const seen = new Set([...known.folders, ...known.marked]);
		const marked = [...known.marked, ...(await localFolders(dataDir, kinds)).filter((folder) => !seen.has(folder))];
		for (const folder of marked) {
			if (closing.signal.aborted) return;
			const again = () => keep(folder, { isPatient: true });
			const kind = kindOf(kinds, folder);
			await (kind?.within ? kind.within(again) : again());
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
				throw asTold(error);
			}),
		async bringAll(some) {
			const errors: unknown[] = [];
			let isNews = false;
			const folders = await store.folders(some.map(({ path }) => path));
			// What was moved is there before it's gone elsewhere.
			for (const each of folders.sort((one, other) => Number(one.isRemoved) - Number(other.isRemoved))) {
				const { folder } = each;
				if (!kindOf(some, folder)) {
					log.error({ folder: folder.slice(0, 200) }, 'A stored folder has no valid name');
					continue;
				}
				try {
					if (await inTurn(folder, () => refresh(each))) isNews = true;
				} catch (error) {
					heard(error);
					errors.push(error);
					if (error instanceof BucketUnavailable || closing.signal.aborted) break;
				}
			}
			if (errors.length > 0) throw asTold(errors[0]);
			return isNews;
		},
		local: (some) => localFolders(dataDir, some),
		keep: (folder) => keep(folder),
		remove: (folder) =>
			inTurn(folder, async () => {
				// Of workspaces, others may have copies that aren't stored.
				const isStored = !isWhole(folder) || (await store.folder(folder))?.isRemoved === false;
				if (isStored) await store.remove(folder, new Date(now()).toISOString());
				await drop(folder);
			}),
		letGo: (folder, isUsed) =>
			inTurn(folder, async () => {
				if (isUsed() || (await states.isMarked(folder))) return false;
				await drop(folder);
				return true;
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
