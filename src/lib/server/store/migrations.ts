/** Brings a database to the newest schema, whichever of the two databases it is. A migration that was released never changes. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import type { Database } from './schema.ts';

/** Names sort in the order of their application. */
const MIGRATIONS: Record<string, Migration> = { '001_conversations': { up: createConversations } };

/**
 * Applies what is missing; does nothing on a database that is up to date.
 *
 * @throws {Error} when a newer version has written the database, or a migration fails.
 */
export async function migrate(db: Kysely<Database>): Promise<void> {
	const unknown = (await appliedMigrations(db)).filter((name) => !Object.hasOwn(MIGRATIONS, name));
	if (unknown.length > 0) {
		throw new Error(
			`The database was written by a newer version of this server (it has the migration ${unknown.join(', ')}). ` +
				'Start that version or a later one, or choose another database with DATA_DIR or DATABASE_URL.'
		);
	}
	const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
	const { error } = await migrator.migrateToLatest();
	if (error) throw new Error(`The database cannot be brought up to date: ${reasonOf(error)}`, { cause: error });
}

async function appliedMigrations(db: Kysely<Database>): Promise<string[]> {
	const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
	if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return [];
	const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
	return rows.map((row) => row.name);
}

function reasonOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

async function createConversations(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('conversations')
		.addColumn('id', 'text', (column) => column.primaryKey().notNull())
		.addColumn('title', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema.createIndex('conversations_by_update').on('conversations').column('updated_at').execute();

	await db.schema
		.createTable('messages')
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('conversations.id').onDelete('cascade')
		)
		.addColumn('position', 'integer', (column) => column.notNull())
		.addColumn('role', 'text', (column) => column.notNull())
		.addColumn('status', 'text', (column) => column.notNull())
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('items', 'text')
		.addColumn('model', 'text')
		.addColumn('run_id', 'text')
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('messages_key', ['conversation_id', 'id'])
		.addUniqueConstraint('messages_order', ['conversation_id', 'position'])
		.execute();

	await db.schema
		.createTable('runs')
		.addColumn('id', 'text', (column) => column.primaryKey().notNull())
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('conversations.id').onDelete('cascade')
		)
		.addColumn('message_id', 'text', (column) => column.notNull())
		.addColumn('state', 'text', (column) => column.notNull())
		.addColumn('model', 'text', (column) => column.notNull())
		.addColumn('boot_id', 'text', (column) => column.notNull())
		.addColumn('started_at', 'text', (column) => column.notNull())
		.addColumn('finished_at', 'text')
		.addColumn('last_seq', 'integer', (column) => column.notNull().defaultTo(0))
		.addColumn('error_code', 'text')
		.addCheckConstraint('runs_state_known', sql`state in ('running', 'success', 'cancelled', 'failed', 'interrupted')`)
		.execute();
	await db.schema.createIndex('runs_by_conversation').on('runs').columns(['conversation_id', 'state']).execute();
	await db.schema.createIndex('runs_by_state').on('runs').column('state').execute();
	await db.schema
		.createIndex('runs_one_running')
		.unique()
		.on('runs')
		.column('conversation_id')
		.where(sql.ref('state'), '=', 'running')
		.execute();

	await db.schema
		.createTable('run_events')
		.addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
		.addColumn('seq', 'integer', (column) => column.notNull())
		.addColumn('data', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('run_events_key', ['run_id', 'seq'])
		.execute();
}
