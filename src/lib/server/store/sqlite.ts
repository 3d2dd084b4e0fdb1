/** The store in one SQLite file, through Node's own `node:sqlite`: no server, durable at every commit. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import {
	CompiledQuery,
	type DatabaseConnection,
	type DatabaseIntrospector,
	type Dialect,
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
			`Couldn’t open the database ${path}: ${reason}. Check the file and its folder, or choose another folder with DATA_DIR.`,
			{ cause: error }
		);
	}
}

// Kysely's SQLite dialect over `node:sqlite`, whose statements it does not know, and whose waits would stop the whole process.

/** A store's own statements are a few dozen; inserts of many rows differ by their number of rows. */
const MAX_CACHED_STATEMENTS = 200;
/** Before a statement is tried again that found another process writing; doubled each time, up to the most. */
const RETRY_MS = { first: 2, most: 50 };

/** Kysely owns the database from here: destroying the one closes the other. The database must not wait by itself. */
class NodeSqliteDialect implements Dialect {
	readonly #database: DatabaseSync;
	readonly #busyTimeoutMs: number;

	/** `busyTimeoutMs`: how long a query goes on trying while another process holds the database, from when it was asked. */
	constructor(database: DatabaseSync, { busyTimeoutMs }: { busyTimeoutMs: number }) {
		this.#database = database;
		this.#busyTimeoutMs = busyTimeoutMs;
	}

	createDriver(): NodeSqliteDriver {
		return new NodeSqliteDriver(this.#database, this.#busyTimeoutMs);
	}

	createAdapter(): NodeSqliteAdapter {
		return new NodeSqliteAdapter();
	}

	createQueryCompiler(): SqliteQueryCompiler {
		return new SqliteQueryCompiler();
	}

	createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
		return new SqliteIntrospector(db);
	}
}

class NodeSqliteAdapter extends SqliteAdapter {
	/** SQLite does roll back DDL: a migration that fails, or a process that dies in it, leaves nothing. */
	override get supportsTransactionalDdl(): boolean {
		return true;
	}

	/** There is one, and the driver says whose turn it is: whoever waits for another process lets others pass. */
	override get supportsMultipleConnections(): boolean {
		return true;
	}
}

class NodeSqliteDriver implements Driver {
	readonly #database: DatabaseSync;
	readonly #busyTimeoutMs: number;
	readonly #statements: StatementCache;
	readonly #turns = new Turns();

	constructor(database: DatabaseSync, busyTimeoutMs: number) {
		this.#database = database;
		this.#busyTimeoutMs = busyTimeoutMs;
		this.#statements = new StatementCache(database);
	}

	async init(): Promise<void> {
		// It is open.
	}

	async acquireConnection(): Promise<DatabaseConnection> {
		// From now, and not from its turn: of many who wait in a row none waits longer than this.
		const triesUntil = performance.now() + this.#busyTimeoutMs;
		await this.#turns.take();
		return new SqliteTurn(this.#database, this.#statements, { turns: this.#turns, triesUntil });
	}

	/** All our transactions write: one that reads first, then finds another process writing, could only fail. */
	async beginTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw('begin immediate'));
	}

	async commitTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw('commit'));
	}

	/** A full disk makes SQLite roll back by itself; a second rollback would fail, and hide the reason. */
	async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
		if (this.#database.isTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
	}

	async releaseConnection(): Promise<void> {
		this.#turns.give();
	}

	async destroy(): Promise<void> {
		this.#database.close();
	}
}

/** The one connection, for one query or one transaction. */
class SqliteTurn implements DatabaseConnection {
	readonly #database: DatabaseSync;
	readonly #statements: StatementCache;
	readonly #turns: Turns;
	readonly #triesUntil: number;

	constructor(
		database: DatabaseSync,
		statements: StatementCache,
		{ turns, triesUntil }: { turns: Turns; triesUntil: number }
	) {
		this.#database = database;
		this.#statements = statements;
		this.#turns = turns;
		this.#triesUntil = triesUntil;
	}

	async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
		for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
			try {
				return this.#execute(sql, parameters);
			} catch (error) {
				// A statement that finds the database locked has done nothing yet.
				if (!isBusy(error) || performance.now() >= this.#triesUntil) throw error;
			}
			// Whoever only reads is not kept waiting by a lock that concerns writers.
			const isFree = !this.#database.isTransaction;
			if (isFree) this.#turns.give();
			await delay(waitMs);
			if (isFree) await this.#turns.take();
		}
	}

	#execute<Row>(sql: string, parameters: readonly unknown[]): QueryResult<Row> {
		const statement = this.#statements.get(sql);
		if (statement.reader) return { rows: statement.all(parameters) as Row[] };
		const { changes, lastInsertRowid } = statement.run(parameters);
		return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] };
	}

	/** Nothing here reads so much that it must come in pieces. */
	async *streamQuery<Row>(query: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
		yield await this.executeQuery<Row>(query);
	}
}

/** One at a time, in the order in which they came. */
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

class StatementCache {
	readonly #database: DatabaseSync;
	readonly #statements = new Map<string, Statement>();

	constructor(database: DatabaseSync) {
		this.#database = database;
	}

	get(sql: string): Statement {
		const cached = this.#statements.get(sql);
		if (cached) return cached;
		if (this.#statements.size >= MAX_CACHED_STATEMENTS) this.#statements.clear();
		const prepared = prepare(this.#database, sql);
		this.#statements.set(sql, prepared);
		return prepared;
	}
}

interface Statement {
	/** It gives rows. */
	reader: boolean;
	all(parameters: readonly unknown[]): unknown[];
	run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

function prepare(database: DatabaseSync, sql: string): Statement {
	const statement = database.prepare(sql);
	const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
	return {
		reader: statement.columns().length > 0,
		all: (parameters) => statement.all(...values(parameters)),
		run: (parameters) => statement.run(...values(parameters))
	};
}
