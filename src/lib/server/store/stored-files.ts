/** Which files are in the bucket: contents by digest, folders by path and version. The bytes are the bucket's. */
import { randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { locked } from './locks.ts';
import type { Database } from './schema.ts';

/** A row's variables times this stay below what SQLite takes in one statement. */
const STEP = 500;

/** A content in the bucket. */
export interface Blob {
	/** Its name in the bucket. */
	object: string;
	sha256: string;
	isStored: boolean;
}

export interface StoredFile {
	/** Relative to the folder, with `/`. */
	path: string;
	/** null: the file was deleted. `object` is its name in the bucket. */
	content: { sha256: string; object: string; bytes: number } | null;
	mode: number;
	/** ISO 8601 in UTC. */
	modifiedAt: string;
	/** The folder's version in which it changed last. */
	version: number;
}

/** What a server has changed of a file. */
export interface FileChange {
	path: string;
	/** null: deleted. Other contents must have been claimed. */
	sha256: string | null;
	mode: number;
	modifiedAt: string;
	/** The version that it changed; 0: none. */
	base: number;
}

export interface Saved {
	/** The folder's version before; changes of others may be between it and what the server knew. */
	before: number;
	version: number;
	/** By path, the file's version now: ours, or the others' where they have the same content. */
	versions: Map<string, number>;
	/** Files of others were given other names. */
	hasOthers: boolean;
	/** Deletions that don't count: others have changed the file. */
	undeleted: number;
}

export function createStoredFiles(db: Kysely<Database>) {
	return {
		/** null if nothing of it was ever stored. */
		async folder(folder: string): Promise<{ version: number; isRemoved: boolean } | null> {
			const row = db.selectFrom('stored_folders').select(['version', 'removed_at']).where('folder', '=', folder);
			const found = await row.executeTakeFirst();
			return found ? { version: found.version, isRemoved: found.removed_at !== null } : null;
		},

		/** All that were ever stored in these folders of the data folder. */
		async folders(paths: readonly string[]): Promise<{ folder: string; version: number; isRemoved: boolean }[]> {
			const rows = await db
				.selectFrom('stored_folders')
				.selectAll()
				.where(({ or, eb }) => or(paths.map((path) => eb('folder', 'like', `${path}/%`))))
				.orderBy('folder')
				.execute();
			return rows.map(({ folder, version, removed_at }) => ({ folder, version, isRemoved: removed_at !== null }));
		},

		/** Files that changed after a version, by path. */
		async changesSince(folder: string, version: number): Promise<StoredFile[]> {
			const rows = await db
				.selectFrom('stored_files')
				.leftJoin('blobs', 'blobs.sha256', 'stored_files.sha256')
				.select(['path', 'blobs.sha256', 'object', 'bytes', 'mode', 'modified_at as modifiedAt', 'version'])
				.where('folder', '=', folder)
				.where('version', '>', version)
				.orderBy('path')
				.execute();
			return rows.map(({ sha256, object, bytes, ...file }) => ({
				...file,
				content: sha256 === null || object === null ? null : { sha256, object, bytes: Number(bytes) }
			}));
		},

		/** Takes contents, so that they stay for a while. Those that aren't stored yet must be put into the bucket. */
		async claim(contents: readonly { sha256: string; bytes: number }[], now: string): Promise<Blob[]> {
			const claimed: Blob[] = [];
			// In one order, or two servers wait for each other.
			const sorted = [...contents].sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1));
			for (const step of inSteps(sorted)) {
				const rows = await db
					.insertInto('blobs')
					.values(step.map((each) => ({ ...each, object: `${each.sha256}.${randomUUID()}`, used_at: now })))
					.onConflict((conflict) => conflict.column('sha256').doUpdateSet({ used_at: now }))
					.returning(['object', 'sha256', 'stored_at'])
					.execute();
				for (const { object, sha256, stored_at } of rows) {
					claimed.push({ object, sha256: sha256 ?? '', isStored: stored_at !== null });
				}
			}
			return claimed;
		},

		/** They are in the bucket now. */
		async markStored(objects: readonly string[], now: string): Promise<void> {
			for (const step of inSteps(objects)) {
				// Also the order of `claim`: an object's name begins with its digest.
				const waiting = db.selectFrom('blobs').select('object').where('object', 'in', step);
				const rows = waiting.where('stored_at', 'is', null).orderBy('object').modifyEnd(locked(db));
				await db.updateTable('blobs').set({ stored_at: now }).where('object', 'in', rows).execute();
			}
		},

		/**
		 * Stores a server's changes as one version. Where others changed the same file, ours gets the path, and theirs
		 * another name with `keepsBoth`. null if the folder was deleted; with `isNew`, it begins again.
		 */
		save: (
			folder: string,
			changes: readonly FileChange[],
			{ keepsBoth, isNew }: { keepsBoth: boolean; isNew: boolean }
		): Promise<Saved | null> =>
			db.transaction().execute(async (transaction) => {
				// The row is locked from here on: one server after the other.
				const { version, removed_at } = await transaction
					.insertInto('stored_folders')
					.values({ folder, version: 1 })
					.onConflict((conflict) =>
						conflict.column('folder').doUpdateSet({ version: sql<number>`stored_folders.version + 1` })
					)
					.returning(['version', 'removed_at'])
					.executeTakeFirstOrThrow();
				if (removed_at !== null && !isNew) return null;
				if (removed_at !== null) {
					const back = transaction.updateTable('stored_folders').set({ removed_at: null });
					await back.where('folder', '=', folder).execute();
				}
				const saved: Saved = { before: version - 1, version, versions: new Map(), hasOthers: false, undeleted: 0 };
				for (const step of inSteps(changes)) await saveStep(transaction, folder, step, { saved, keepsBoth });
				return saved;
			}),

		/** Its files are deleted everywhere. */
		remove: (folder: string, now: string): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				await transaction
					.insertInto('stored_folders')
					.values({ folder, version: 1, removed_at: now })
					.onConflict((conflict) =>
						conflict.column('folder').doUpdateSet({ version: sql<number>`stored_folders.version + 1`, removed_at: now })
					)
					.execute();
				await transaction.deleteFrom('stored_files').where('folder', '=', folder).execute();
			}),

		/** Those of these folders that were deleted. */
		async removed(folders: readonly string[]): Promise<string[]> {
			const found: string[] = [];
			for (const step of inSteps(folders)) {
				const rows = db.selectFrom('stored_folders').select('folder').where('folder', 'in', step);
				found.push(...(await rows.where('removed_at', 'is not', null).execute()).map(({ folder }) => folder));
			}
			return found;
		},

		/** Objects that no file has, and that none took since: the caller deletes them from the bucket, then `forget`s them. */
		async unused(since: string): Promise<string[]> {
			const old = db
				.selectFrom('blobs')
				.select('object')
				.where('used_at', '<', since)
				.where(({ not, exists, selectFrom }) =>
					not(exists(selectFrom('stored_files').select('path').whereRef('stored_files.sha256', '=', 'blobs.sha256')))
				)
				.orderBy('object')
				.limit(STEP)
				// Others may be taking theirs again, or store a file that has it.
				.modifyEnd(locked(db, 'free'));
			// Once its digest is gone, the same content is a new object.
			await db
				.updateTable('blobs')
				.set({ sha256: null })
				.where('object', 'in', old)
				.where('used_at', '<', since)
				.execute();
			const rows = db.selectFrom('blobs').select('object').where('sha256', 'is', null).limit(STEP);
			return (await rows.execute()).map(({ object }) => object);
		},

		async forget(objects: readonly string[]): Promise<void> {
			for (const step of inSteps(objects)) {
				const gone = db.selectFrom('blobs').select('object').where('sha256', 'is', null).where('object', 'in', step);
				const rows = gone.orderBy('object').modifyEnd(locked(db, 'update'));
				await db.deleteFrom('blobs').where('object', 'in', rows).execute();
			}
		}
	};
}

export type StoredFiles = ReturnType<typeof createStoredFiles>;

type Row = Selectable<Database['stored_files']>;

async function saveStep(
	transaction: Transaction<Database>,
	folder: string,
	changes: readonly FileChange[],
	{ saved, keepsBoth }: { saved: Saved; keepsBoth: boolean }
): Promise<void> {
	const paths = changes.map(({ path }) => path);
	const known = await rowsAt(transaction, folder, paths);
	const { version } = saved;
	const ours: Row[] = [];
	const theirs: Row[] = [];
	for (const { base, modifiedAt, ...change } of changes) {
		const row = known.get(change.path);
		const isConflict = row !== undefined && row.version !== base;
		if (isConflict && row.sha256 === change.sha256) {
			saved.versions.set(change.path, row.version);
			continue;
		}
		if (isConflict && change.sha256 === null) {
			saved.undeleted += 1;
			continue;
		}
		if (isConflict && row.sha256 !== null && keepsBoth) theirs.push(row);
		saved.versions.set(change.path, version);
		ours.push({ ...change, folder, modified_at: modifiedAt, version });
	}
	const taken = new Set(paths);
	for (const row of theirs) {
		const path = await freeName(transaction, row, taken);
		taken.add(path);
		ours.push({ ...row, path, version });
		saved.hasOthers = true;
	}
	if (ours.length === 0) return;
	await transaction
		.insertInto('stored_files')
		.values(ours)
		.onConflict((conflict) =>
			conflict.columns(['folder', 'path']).doUpdateSet(({ ref }) => ({
				sha256: ref('excluded.sha256'),
				mode: ref('excluded.mode'),
				modified_at: ref('excluded.modified_at'),
				version: ref('excluded.version')
			}))
		)
		.execute();
}

async function rowsAt(
	transaction: Transaction<Database>,
	folder: string,
	paths: readonly string[]
): Promise<Map<string, Row>> {
	const rows = transaction.selectFrom('stored_files').selectAll().where('folder', '=', folder);
	return new Map((await rows.where('path', 'in', paths).execute()).map((row) => [row.path, row]));
}

/** “report (2).txt” */
async function freeName(
	transaction: Transaction<Database>,
	{ folder, path }: Row,
	taken: ReadonlySet<string>
): Promise<string> {
	const [, stem = path, ending = ''] = /^(.*[^/])(\.[^./]+)$/.exec(path) ?? [];
	for (let count = 2; ; count += 1) {
		const name = `${stem} (${count})${ending}`;
		if (!taken.has(name) && !(await rowsAt(transaction, folder, [name])).has(name)) return name;
	}
}

function* inSteps<Item>(items: readonly Item[]): Generator<Item[]> {
	for (let at = 0; at < items.length; at += STEP) yield items.slice(at, at + STEP);
}
