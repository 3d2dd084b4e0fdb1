/** Kysely's SQLite dialect over `node:sqlite`, whose statements it does not know. */
import type {
	DatabaseConnection,
	DatabaseIntrospector,
	Dialect,
	Kysely,
	SqliteDatabase,
	SqliteStatement
} from 'kysely';
import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** A store's own statements are a few dozen; inserts of many rows differ by their number of rows. */
const MAX_CACHED_STATEMENTS = 200;

/** Kysely owns the database from here: destroying the one closes the other. */
export class NodeSqliteDialect implements Dialect {
	readonly #database: DatabaseSync;

	constructor(database: DatabaseSync) {
		this.#database = database;
	}

	createDriver(): NodeSqliteDriver {
		return new NodeSqliteDriver(this.#database);
	}

	createAdapter(): TransactionalAdapter {
		return new TransactionalAdapter();
	}

	createQueryCompiler(): SqliteQueryCompiler {
		return new SqliteQueryCompiler();
	}

	createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
		return new SqliteIntrospector(db);
	}
}

/** SQLite does roll back DDL: a migration that fails, or a process that dies in it, leaves nothing. */
class TransactionalAdapter extends SqliteAdapter {
	override get supportsTransactionalDdl(): boolean {
		return true;
	}
}

class NodeSqliteDriver extends SqliteDriver {
	readonly #database: DatabaseSync;

	constructor(database: DatabaseSync) {
		super({ database: asKyselyDatabase(database) });
		this.#database = database;
	}

	/** All our transactions write: one that reads first, then finds another process writing, could only fail. */
	override async beginTransaction(connection: DatabaseConnection): Promise<void> {
		await connection.executeQuery(CompiledQuery.raw('begin immediate'));
	}

	/** A full disk makes SQLite roll back by itself; a second rollback would fail, and hide the reason. */
	override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
		if (this.#database.isTransaction) await super.rollbackTransaction(connection);
	}
}

function asKyselyDatabase(database: DatabaseSync): SqliteDatabase {
	const statements = new Map<string, SqliteStatement>();
	return {
		close: () => database.close(),
		prepare(sql) {
			const cached = statements.get(sql);
			if (cached) return cached;
			if (statements.size >= MAX_CACHED_STATEMENTS) statements.clear();
			const prepared = asKyselyStatement(database, sql);
			statements.set(sql, prepared);
			return prepared;
		}
	};
}

function asKyselyStatement(database: DatabaseSync, sql: string): SqliteStatement {
	const statement = database.prepare(sql);
	const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
	return {
		reader: statement.columns().length > 0,
		all: (parameters) => statement.all(...values(parameters)),
		run: (parameters) => statement.run(...values(parameters)),
		iterate: (parameters) => statement.iterate(...values(parameters))
	};
}
