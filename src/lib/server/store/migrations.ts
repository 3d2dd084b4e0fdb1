/** Brings a database to the newest schema, whichever of the two databases it is. A migration that was released never changes. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import type { Database } from './schema.ts';

/** Names sort in the order of their application. */
const MIGRATIONS: Record<string, Migration> = {
	'001_conversations': { up: createConversations },
	'002_branches': { up: addBranches },
	'003_executions': { up: addExecutions }
};

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
	await indexRuns(db);

	await db.schema
		.createTable('run_events')
		.addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
		.addColumn('seq', 'integer', (column) => column.notNull())
		.addColumn('data', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('run_events_key', ['run_id', 'seq'])
		.execute();
}

async function addBranches(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('head_id', 'text').execute();
	await db.schema.alterTable('conversations').addColumn('usage', 'text').execute();
	await db.schema.alterTable('messages').addColumn('parent_id', 'text').execute();
	await db.schema.createIndex('messages_by_parent').on('messages').columns(['conversation_id', 'parent_id']).execute();
	// What there is so far is one branch: each message follows the one before it.
	await sql`update messages set parent_id = (
		select before.id from messages as before
		where before.conversation_id = messages.conversation_id and before.position < messages.position
		order by before.position desc limit 1)`.execute(db);
	await sql`update conversations set head_id = (
		select last.id from messages as last
		where last.conversation_id = conversations.id order by last.position desc limit 1)`.execute(db);

	await allowWaiting(db);

	const conversationOf = (table: string) =>
		db.schema
			.createTable(table)
			.addColumn('conversation_id', 'text', (column) =>
				column.notNull().references('conversations.id').onDelete('cascade')
			);
	await conversationOf('queued_messages')
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('position', 'integer', (column) => column.notNull())
		.addColumn('text', 'text', (column) => column.notNull())
		.addColumn('files', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('queued_messages_key', ['conversation_id', 'id'])
		.execute();
	await conversationOf('decisions')
		.addColumn('interrupt_id', 'text', (column) => column.notNull())
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('decisions_key', ['conversation_id', 'interrupt_id'])
		.execute();
	await conversationOf('compactions')
		.addColumn('message_id', 'text', (column) => column.notNull())
		.addColumn('summary', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('compactions_key', ['conversation_id', 'message_id'])
		.execute();
	await db.schema
		.createTable('grants')
		.addColumn('skill', 'text', (column) => column.notNull())
		.addColumn('script', 'text', (column) => column.notNull())
		.addColumn('digest', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('grants_key', ['skill', 'script', 'digest'])
		.execute();
}

/** A run may be `waiting`. Neither database can change a check, so the tables are made anew, the events first. */
async function allowWaiting(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('runs_new')
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
		.addCheckConstraint(
			'runs_states',
			sql`state in ('running', 'waiting', 'success', 'cancelled', 'failed', 'interrupted')`
		)
		.execute();
	const columns = sql.raw(
		'id, conversation_id, message_id, state, model, boot_id, started_at, finished_at, last_seq, error_code'
	);
	await sql`insert into runs_new (${columns}) select ${columns} from runs`.execute(db);
	await db.schema
		.createTable('run_events_new')
		.addColumn('run_id', 'text', (column) => column.notNull().references('runs_new.id').onDelete('cascade'))
		.addColumn('seq', 'integer', (column) => column.notNull())
		.addColumn('data', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('run_events_seq', ['run_id', 'seq'])
		.execute();
	await sql`insert into run_events_new (run_id, seq, data) select run_id, seq, data from run_events`.execute(db);
	await db.schema.dropTable('run_events').execute();
	await db.schema.dropTable('runs').execute();
	await db.schema.alterTable('runs_new').renameTo('runs').execute();
	await db.schema.alterTable('run_events_new').renameTo('run_events').execute();
	await indexRuns(db);
}

async function indexRuns(db: Kysely<unknown>): Promise<void> {
	await db.schema.createIndex('runs_by_conversation').on('runs').columns(['conversation_id', 'state']).execute();
	await db.schema.createIndex('runs_by_state').on('runs').column('state').execute();
	await db.schema
		.createIndex('runs_one_running')
		.unique()
		.on('runs')
		.column('conversation_id')
		.where(sql.ref('state'), '=', 'running')
		.execute();
}

async function addExecutions(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('skill_settings')
		.addColumn('skill_id', 'text', (column) => column.primaryKey().notNull())
		.addColumn('mode', 'text', (column) => column.notNull())
		.addColumn('mode_before', 'text')
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.addCheckConstraint('skill_settings_modes', sql`mode in ('on', 'off', 'auto')`)
		.execute();
	await db.schema
		.createTable('trusted_skills')
		.addColumn('skill_id', 'text', (column) => column.primaryKey().notNull())
		.addColumn('digest', 'text', (column) => column.notNull())
		.addColumn('files', 'text', (column) => column.notNull())
		.addColumn('trusted_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema
		.createTable('network_grants')
		.addColumn('skill_id', 'text', (column) => column.notNull())
		.addColumn('domain', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('network_grants_key', ['skill_id', 'domain'])
		.execute();
	await db.schema
		.createTable('secrets')
		.addColumn('skill_id', 'text', (column) => column.notNull())
		.addColumn('name', 'text', (column) => column.notNull())
		.addColumn('iv', 'text', (column) => column.notNull())
		.addColumn('tag', 'text', (column) => column.notNull())
		.addColumn('ciphertext', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('secrets_key', ['skill_id', 'name'])
		.execute();
	await db.schema
		.createTable('login_sessions')
		.addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('expires_at', 'text', (column) => column.notNull())
		.execute();
	let executions = db.schema
		.createTable('skill_executions')
		.addColumn('id', 'text', (column) => column.primaryKey().notNull());
	for (const name of ['skill_id', 'skill', 'version', 'argv', 'digest', 'sandbox', 'limits', 'status', 'created_at'])
		executions = executions.addColumn(name, 'text', (column) => column.notNull());
	for (const name of ['tool', 'script', 'input', 'error_type', 'error_message', 'output', 'files', 'refused'])
		executions = executions.addColumn(name, 'text');
	for (const name of ['conversation_id', 'run_id', 'tool_call_id', 'api_key_id', 'session_id', 'finished_at'])
		executions = executions.addColumn(name, 'text');
	for (const name of ['exit_code', 'stdout_bytes', 'stderr_bytes', 'duration_ms'])
		executions = executions.addColumn(name, 'integer');
	await executions
		.addCheckConstraint('skill_executions_states', sql`status in ('pending', 'running', 'success', 'error', 'timeout')`)
		.execute();
	const indexOn = (name: string, columns: string[]) =>
		db.schema.createIndex(name).on('skill_executions').columns(columns).execute();
	await indexOn('skill_executions_by_skill', ['skill_id', 'status', 'created_at']);
	await indexOn('skill_executions_by_key', ['api_key_id', 'skill_id']);
	await indexOn('skill_executions_by_time', ['created_at']);
}
