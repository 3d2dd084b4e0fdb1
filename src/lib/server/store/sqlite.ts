/** The store in one SQLite file, through Node's own `node:sqlite`: no server, durable at every commit. */
import { Kysely } from 'kysely';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from './migrations.ts';
import { NodeSqliteDialect } from './node-sqlite-dialect.ts';
import type { Database } from './schema.ts';
import type { Store } from './store.ts';
import { createStore } from './store.ts';

export interface SqliteOptions {
	/** How long a statement waits for another process that is writing; the process does not wait. 5,000 without it. */
	busyTimeoutMs?: number;
}

/**
 * Opens the file, creating it and its folder (for its owner only) where they do not exist, and migrates it.
 *
 * @throws {Error} naming the file, when it cannot be opened, is no database, or is a newer version's.
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<Store> {
	const db = openSqlite(path, options);
	try {
		await migrate(db);
	} catch (error) {
		await db.destroy();
		throw error;
	}
	return createStore(db);
}

/** The database as it is, not migrated. */
export function openSqlite(path: string, { busyTimeoutMs = 5000 }: SqliteOptions = {}): Kysely<Database> {
	const database = openFile(path, busyTimeoutMs);
	return new Kysely<Database>({ dialect: new NodeSqliteDialect(database, { busyTimeoutMs }) });
}

function openFile(path: string, busyTimeoutMs: number): DatabaseSync {
	let database: DatabaseSync | undefined;
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
		// From here on nobody waits inside of SQLite: that would stop the whole process.
		database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 0;');
		// SQLite's own knows ASCII only: a search for "über" would not find "Über".
		database.function('lower', { deterministic: true }, (text) =>
			typeof text === 'string' ? text.toLowerCase() : text
		);
		return database;
	} catch (error) {
		database?.close();
		const reason = error instanceof Error ? error.message : String(error);
		throw new Error(
			`The database ${path} cannot be opened: ${reason}. Check the file and its folder, or choose another folder with DATA_DIR.`,
			{ cause: error }
		);
	}
}
