/** The store in a SQLite file, through Node's `node:sqlite`. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import {
	CompiledQuery,
	type DatabaseConnection,
	type Driver,
	Kysely,
	type QueryResult,
	SqliteAdapter,
	SqliteIntrospector,
	SqliteQueryCompiler
} from 'kysely';
import { isBusy } from './errors.ts';
import { migrate } from './migrations.ts';
import type { Database } from './schema.ts';
import { createStore, type Store } from './store.ts';

export interface SqliteOptions {
	/** How long a query waits for another process that is writing, without blocking this one. Default 5,000. */
	busyTimeoutMs?: number;
}

/**
 * Opens and migrates the file. Creates it and its folder (private to the user) if needed.
 *
 * @throws {Error} naming the file, if it can't be opened, isn't a database, or was written by a newer version.
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

/** Opens the database without migrating it. */
export function openSqlite(path: string, { busyTimeoutMs = 5000 }: SqliteOptions = {}): Kysely<Database> {
	const database = openFile(path, busyTimeoutMs);
	return new Kysely<Database>({
		dialect: {
			createDriver: () => createDriver(database, busyTimeoutMs),
			createAdapter: () => new NodeSqliteAdapter(),
			createQueryCompiler: () => new SqliteQueryCompiler(),
			createIntrospector: (any) => new SqliteIntrospector(any)
		}
	});
}

function openFile(path: string, busyTimeoutMs: number): DatabaseSync {
	let database: DatabaseSync | undefined;
	try {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
		// From here on SQLite must not wait itself: that would block the process.
		database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 0;');
		// SQLite's own handles only ASCII: a search for "über" wouldn't find "Über".
		database.function('lower', { deterministic: true }, (text) =>
			typeof text === 'string' ? text.toLowerCase() : text
		);
		return database;
	} catch (error) {
		database?.close();
		const reason = error instanceof Error ? error.message : String(error);
		throw new Error(
			`Couldn’t open the database ${path}: ${reason}. Check the file and its folder, or choose another folder with DATA_DIR.`,
			{ cause: error }
		);
	}
}

// Kysely's SQLite dialect expects another library's statements, and its waits would block the process.

/** The store has a few dozen statements; inserts differ by their number of rows. */
const MAX_CACHED_STATEMENTS = 200;
/** Wait before retrying while another process writes; doubles up to `most`. */
const RETRY_MS = { first: 2, most: 50 };

class NodeSqliteAdapter extends SqliteAdapter {
	/** SQLite rolls back DDL, so a failed migration leaves nothing behind. */
	override get supportsTransactionalDdl(): boolean {
		return true;
	}

	/** There is only one connection, but the driver shares it: a query that waits for another process lets others run. */
	override get supportsMultipleConnections(): boolean {
		return true;
	}
}

/** Takes ownership of the database. */
function createDriver(database: DatabaseSync, busyTimeoutMs: number): Driver {
	const turns = new Turns();
	const prepared = createStatementCache(database);

	const execute = <Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> => {
		const { statement, hasRows } = prepared(sql);
		const values = parameters as SQLInputValue[];
		if (hasRows) return { rows: statement.all(...values) as Row[] };
		const { changes, lastInsertRowid } = statement.run(...values);
		return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] };
	};

	return {
		async init() {
			// Already open.
		},

		async acquireConnection(): Promise<DatabaseConnection> {
			// Counts from now rather than from its turn, so no query in a long queue waits longer.
			const triesUntil = performance.now() + busyTimeoutMs;
			await turns.take();
			const executeQuery = async <Row>(query: CompiledQuery): Promise<QueryResult<Row>> => {
				for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
					try {
						return execute(query);
					} catch (error) {
						// A statement that finds the database locked has changed nothing.
						if (!isBusy(error) || performance.now() >= triesUntil) throw error;
					}
					// Let readers pass: the lock concerns only writers.
					const isFree = !database.isTransaction;
					if (isFree) turns.give();
					await delay(waitMs);
					if (isFree) await turns.take();
				}
			};
			return {
				executeQuery,
				async *streamQuery<Row>(query: CompiledQuery) {
					yield await executeQuery<Row>(query);
				}
			};
		},

		/** `immediate`, because all our transactions write: one that reads first couldn't wait for another writer. */
		async beginTransaction(connection) {
			await connection.executeQuery(CompiledQuery.raw('begin immediate'));
		},

		async commitTransaction(connection) {
			await connection.executeQuery(CompiledQuery.raw('commit'));
		},

		/** On a full disk SQLite has already rolled back; a second rollback would fail and hide the reason. */
		async rollbackTransaction(connection) {
			if (database.isTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
		},

		releaseConnection: async () => turns.give(),

		destroy: async () => database.close()
	};
}

/** A lock that is granted in order of arrival. */
class Turns {
	#isTaken = false;
	readonly #waiting: (() => void)[] = [];

	async take(): Promise<void> {
		if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
		this.#isTaken = true;
	}

	give(): void {
		const next = this.#waiting.shift();
		if (next) next();
		else this.#isTaken = false;
	}
}

function createStatementCache(database: DatabaseSync) {
	const statements = new Map<string, { statement: StatementSync; hasRows: boolean }>();
	return (sql: string) => {
		const cached = statements.get(sql);
		if (cached) return cached;
		if (statements.size >= MAX_CACHED_STATEMENTS) statements.clear();
		const statement = database.prepare(sql);
		const prepared = { statement, hasRows: statement.columns().length > 0 };
		statements.set(sql, prepared);
		return prepared;
	};
}
