/**
 * Folders of skills that are in the data folder, in a bucket for several servers: installed ones, earlier versions, the
 * trash, and what edits have replaced. Every server has all of them. The operator's own folders of skills aren't stored.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { createLine, Exclusively } from '../../shared/in-turn.ts';
import { isThere } from '../foreign-folders.ts';
import { recoverSwaps } from '../install/folder-swap.ts';
import { type FolderChanges, namesIn, ownFolders } from '../install/install-context.ts';
import type { Log } from '../log.ts';
import { type FolderKind, kindOf } from './folder-kinds.ts';
import type { StoredFolders } from './stored-folders.ts';

export interface StoredSkills extends FolderChanges {
	/** These folders may have changed. */
	noticed(dirs: readonly string[]): void;
	/** Fetches what other servers have changed, as far as that works. Never rejects. */
	bring(): Promise<void>;
	/** Called after something was fetched. */
	onNews(listener: () => Promise<unknown>): void;
	close(): Promise<void>;
}

export interface StoredSkillsOptions {
	storage: StoredFolders;
	dataDir: string;
	log: Log;
	exclusively: Exclusively;
	line: ReturnType<typeof createLine>;
	kinds: readonly FolderKind[];
	/** Where earlier contents of a skill's files are. */
	editsOf(dir: string): string;
	/** Other servers have to fetch something. */
	tell(): void;
}

/** `line`: for changes of their folders, one after the other. `tell`: after what couldn't be stored before was stored. */
export function skillKindsIn(line: ReturnType<typeof createLine>, tell: () => void): FolderKind[] {
	const within = (work: () => Promise<unknown>) => line(work).finally(tell);
	const kind = { isWhole: true, within };
	return [
		{ ...kind, path: 'skills', keepsBoth: true },
		{ ...kind, path: 'owned', depth: 2, keepsBoth: true },
		{ ...kind, path: 'kept', keepsBoth: true },
		{ ...kind, path: 'trash', names: /^(?!.*\.partial$)[^.]/, keepsBoth: true },
		// Edits of the operator's skills have other names.
		{ ...kind, path: 'skill-edits', names: /^[0-9a-f]{64}$/ }
	];
}

/** Without a bucket. */
export const localSkills: StoredSkills = {
	...ownFolders,
	noticed: () => undefined,
	bring: async () => undefined,
	onNews: () => undefined,
	close: async () => undefined
};

/** Name of the work that servers do one at a time. */
const CHANGES = 'skill-folders';
const LOOK_EVERY_MS = 30_000;
/** A start doesn't wait longer for what others have changed. */
const START_MS = 5_000;

/** First puts back what a killed server had moved away, and fetches what others have changed. */
export async function openStoredSkills(options: StoredSkillsOptions): Promise<StoredSkills> {
	const { storage, dataDir, log, exclusively, line, kinds, editsOf, tell } = options;
	/** There while a change is under way. */
	const mark = join(dataDir, 'stored-folders', 'changing');
	/** Deletions that the database didn't take yet. */
	const undeleted = new Set<string>();
	const listeners: (() => Promise<unknown>)[] = [];
	/** null for one that isn't stored. */
	const folderOf = (dir: string): string | null => {
		const folder = relative(dataDir, dir).replaceAll(sep, '/');
		return kindOf(kinds, folder) ? folder : null;
	};
	const remove = async (folder: string): Promise<void> => {
		undeleted.add(folder);
		try {
			await storage.remove(folder);
			undeleted.delete(folder);
		} catch (error) {
			log.error({ folder, error: String(error) }, 'Couldn’t delete a stored folder');
		}
	};
	/** What was moved is stored before it's deleted where it was. Returns why it couldn't. */
	const store = async (dirs: Iterable<string>): Promise<string | null> => {
		const gone: string[] = [];
		const unkept = new Set<string>();
		for (const dir of new Set(dirs)) {
			const folder = folderOf(dir);
			if (folder === null) continue;
			if (await isThere(dir)) unkept.add((await storage.keep(folder)) ?? '');
			else gone.push(folder);
		}
		for (const folder of gone) await remove(folder);
		tell();
		return [...unkept].filter(Boolean).join(' ') || null;
	};
	const bringNow = async (): Promise<void> => {
		for (const folder of undeleted) await remove(folder);
		let isNews = true;
		try {
			isNews = await storage.bringAll(kinds);
		} finally {
			if (isNews) for (const listener of listeners) await listener();
		}
	};
	const bring = (): Promise<void> =>
		line(bringNow).catch((error: unknown) => {
			log.info({ reason: String(error) }, 'Couldn’t fetch skills that other servers have changed');
		});
	/** `bring`, and then what was changed while nobody looked. */
	const begin = async (): Promise<void> => {
		const keepAll = async (): Promise<void> => {
			for (const folder of await storage.local(kinds)) await storage.keep(folder);
			tell();
		};
		const brought = bring();
		void brought.then(() => line(keepAll));
		await Promise.race([brought, delay(START_MS, undefined, { ref: false })]);
	};
	const touching: FolderChanges['change'] = async (work) => {
		const touched = new Set<string>();
		let unkept: string | null = null;
		const changed = (dir: string): void => {
			for (const each of [dir, editsOf(dir)]) touched.add(each);
		};
		await mkdir(dirname(mark), { recursive: true });
		await writeFile(mark, '');
		const result = await work(changed).finally(async () => {
			if (touched.size > 0) unkept = await store(touched);
			await rm(mark, { force: true });
		});
		return { result, unkept };
	};

	const wasKilled = await isThere(mark);
	for (const { path, depth = 1 } of kinds) {
		const above = join(dataDir, path);
		const roots = depth === 1 ? [above] : (await namesIn(above)).map((name) => join(above, name));
		for (const root of roots) await recoverSwaps(root, log);
	}
	// Otherwise it would look as if others had put back what was moved.
	if (!wasKilled) await begin();
	const timer = setInterval(() => void bring(), LOOK_EVERY_MS);
	timer.unref();

	return {
		isStored: true,
		async recover(work) {
			if (!wasKilled) return;
			await exclusively(CHANGES, () => line(() => touching(work)));
			await begin();
		},
		change: (work) =>
			exclusively(CHANGES, () =>
				line(async () => {
					await bringNow();
					return touching(work);
				})
			),
		noticed(dirs) {
			const stored = dirs.filter((dir) => folderOf(dir) !== null);
			if (stored.length === 0) return tell();
			void line(async () => {
				// One that is gone was moved by a change, or by hand: then it's fetched again.
				const there: string[] = [];
				for (const dir of stored.flatMap((each) => [each, editsOf(each)])) if (await isThere(dir)) there.push(dir);
				await store(there);
			});
		},
		bring,
		onNews(listener) {
			listeners.push(listener);
		},
		async close() {
			clearInterval(timer);
			await line(async () => undefined);
		}
	};
}
