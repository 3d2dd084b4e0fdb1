/** Migrates a database (SQLite or Postgres) to the newest schema. Released migrations never change. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { migrations001to005 } from './migrations/001-005.ts';
import { migrations006to019 } from './migrations/006-019.ts';
import { migrations020to028 } from './migrations/020-028.ts';
import { addRemovedMessages } from './migrations/029-removed-messages.ts';
import type { Database } from './schema.ts';

/** Applied in the order of their names. A new one gets a file of its own, `migrations/NNN-name.ts`, and a line here. */
const MIGRATIONS: Record<string, Migration> = {
	...migrations001to005,
	...migrations006to019,
	...migrations020to028,
	'029_removed_messages': { up: addRemovedMessages }
};

/**
 * Applies missing migrations.
 *
 * @throws {Error} if a newer version has written the database, or a migration fails.
 */
export async function migrate(db: Kysely<Database>): Promise<void> {
	const unknown = (await appliedMigrations(db)).filter((name) => !Object.hasOwn(MIGRATIONS, name));
	if (unknown.length > 0) {
		throw new Error(
			`The database was written by a newer version of this app (it has the migration ${unknown.join(', ')}). ` +
				'Start that version or a later one, or choose another database with DATA_DIR or DATABASE_URL. ' +
				'To go back to this version, restore a backup from before the update.'
		);
	}
	const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
	const { error } = await migrator.migrateToLatest();
	const reason = error instanceof Error ? error.message : String(error);
	if (error) throw new Error(`Couldn’t update the database: ${reason}`, { cause: error });
}

async function appliedMigrations(db: Kysely<Database>): Promise<string[]> {
	const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
	if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return [];
	const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
	return rows.map((row) => row.name);
}
