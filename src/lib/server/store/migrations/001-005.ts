/** Migrations 001 to 005. They landed, so they never change (`old-databases.test.ts`). */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { MESSAGE_COLUMNS, messageFromRow } from '../chat/message-row.ts';
import { foldText, indexMessages, searchOf } from '../chat/search.ts';
import type { Database } from '../schema.ts';

export const migrations001to005: Record<string, Migration> = {
	'001_conversations': { up: createConversations },
	'002_branches': { up: addBranches },
	'003_executions': { up: addExecutions },
	'004_registry': { up: addRegistry },
	'005_chat': { up: addChat }
};

/** Conversations, their messages, runs and events. */
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

/** Messages as a tree; what waits: messages, questions; summaries. */
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

/** Executions, and what they need: modes, trust, network, secrets; logins. */
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

/** Installed skills, their versions and trash; how often skills ran; settings, cases and evals. */
async function addRegistry(db: Kysely<unknown>): Promise<void> {
	/** A table of texts, the first of which is its key. */
	const texts = (table: string, [key = 'id', ...required]: readonly string[], optional: readonly string[] = []) => {
		let made = db.schema.createTable(table).addColumn(key, 'text', (column) => column.primaryKey().notNull());
		for (const name of required) made = made.addColumn(name, 'text', (column) => column.notNull());
		for (const name of optional) made = made.addColumn(name, 'text');
		return made;
	};
	await texts('skill_installs', [
		...['id', 'owner', 'skill_id', 'name', 'version', 'state', 'dir', 'origin', 'digest', 'files', 'computed_hash'],
		...['installed_at', 'changed_at']
	])
		.addCheckConstraint('skill_installs_states', sql`state in ('placing', 'active', 'kept', 'trashed')`)
		.execute();
	await db.schema
		.createIndex('skill_installs_by_skill')
		.on('skill_installs')
		.columns(['skill_id', 'installed_at'])
		.execute();
	await db.schema
		.createIndex('skill_installs_one_active')
		.unique()
		.on('skill_installs')
		.columns(['skill_id', 'version'])
		.where(sql.ref('state'), '=', 'active')
		.execute();
	await texts(
		'skill_trash',
		['id', 'skill_id', 'name', 'path', 'stored', 'removed_at'],
		['version', 'install_id']
	).execute();
	await texts('skill_pins', ['skill_id', 'version', 'updated_at']).execute();
	await texts('skill_usage', ['skill_id'], ['last_used_at'])
		.addColumn('executions', 'integer', (column) => column.notNull())
		.addColumn('failures', 'integer', (column) => column.notNull())
		.execute();
	await texts('settings', ['key', 'value', 'updated_at']).execute();
	await texts('skill_cases', ['id', 'skill_id', 'body', 'created_at'], ['last_run']).execute();
	await db.schema.createIndex('skill_cases_by_skill').on('skill_cases').columns(['skill_id', 'created_at']).execute();
	await texts('eval_runs', ['id', 'skill_id', 'state', 'body', 'started_at']).execute();
	await db.schema.createIndex('eval_runs_by_skill').on('eval_runs').columns(['skill_id', 'started_at']).execute();
	await countExecutions(db);
	await trustVersions(db);
}

/** What ended before there were counts counts as well; what is unfinished counts when the server ends it. */
async function countExecutions(db: Kysely<unknown>): Promise<void> {
	await sql`insert into skill_usage (skill_id, executions, failures, last_used_at)
		select skill_id, count(*), sum(case when status in ('error', 'timeout') then 1 else 0 end), max(created_at)
		from skill_executions where finished_at is not null group by skill_id`.execute(db);
	await db.schema.dropIndex('skill_executions_by_key').execute();
	await db.schema
		.createIndex('skill_executions_by_owner')
		.on('skill_executions')
		.columns(['api_key_id', 'created_at'])
		.execute();
	await db.schema
		.createIndex('skill_executions_by_name')
		.on('skill_executions')
		.columns(['skill', 'created_at'])
		.execute();
}

/** Each version of a skill is trusted by itself. Neither database can change a primary key, so the table is made anew. */
async function trustVersions(db: Kysely<unknown>): Promise<void> {
	const column = (name: string) => sql`${sql.ref(name)} text not null`;
	const columns = ['skill_id', 'version', 'digest', 'files', 'trusted_at'].map(column);
	await sql`create table trusted_versions (${sql.join(columns)}, primary key (skill_id, version))`.execute(db);
	// Which version it was nobody noted; trust goes by the digest of the files.
	await sql`insert into trusted_versions (skill_id, version, digest, files, trusted_at)
		select skill_id, '', digest, files, trusted_at from trusted_skills`.execute(db);
	await db.schema.dropTable('trusted_skills').execute();
}

/** What people do with conversations: pinned, archived, deleted with a way back, not yet read; their model and their skills. */
async function addChat(db: Kysely<unknown>): Promise<void> {
	// One column a statement: SQLite adds no more at once.
	for (const name of ['pinned_at', 'archived_at', 'deleted_at', 'model', 'effort']) {
		await db.schema.alterTable('conversations').addColumn(name, 'text').execute();
	}
	await db.schema
		.alterTable('conversations')
		.addColumn('is_unread', 'integer', (column) => column.notNull().defaultTo(0))
		.execute();
	await db.schema.createIndex('conversations_deleted').on('conversations').column('deleted_at').execute();

	await addSearch(db as Kysely<Database>);

	await db.schema
		.createTable('conversation_skills')
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('conversations.id').onDelete('cascade')
		)
		.addColumn('skill', 'text', (column) => column.notNull())
		.addColumn('state', 'text', (column) => column.notNull())
		.addColumn('changed_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('conversation_skills_key', ['conversation_id', 'skill'])
		.addCheckConstraint('conversation_skills_state_known', sql`state in ('pinned', 'unloaded')`)
		.execute();
}

/** The indexes of `runs`, which a later migration makes anew. */
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

const PAGE = 500;

/** The index of what was said so far, and of titles; filled a page at a time. */
export async function addSearch(db: Kysely<Database>): Promise<void> {
	await sql`alter table conversations add column folded_title text not null default ''`.execute(db);
	await searchOf(db).createTables(db);
	await foldTitles(db);
	await fillIndex(db);
}

async function foldTitles(db: Kysely<Database>): Promise<void> {
	for (let after = ''; ;) {
		const page = db.selectFrom('conversations').select(['id', 'title']).where('id', '>', after);
		const rows = await page.orderBy('id').limit(PAGE).execute();
		for (const { id, title } of rows) {
			await db
				.updateTable('conversations')
				.set({ folded_title: foldText(title) })
				.where('id', '=', id)
				.execute();
			after = id;
		}
		if (rows.length < PAGE) return;
	}
}

async function fillIndex(db: Kysely<Database>): Promise<void> {
	const conversations = await db.selectFrom('conversations').select('id').execute();
	for (const { id } of conversations) {
		for (let after = 0; ;) {
			const page = db
				.selectFrom('messages')
				.select([...MESSAGE_COLUMNS, 'position'])
				.where('conversation_id', '=', id);
			const rows = await page.where('position', '>', after).orderBy('position').limit(PAGE).execute();
			await indexMessages(db, id, rows.map(messageFromRow));
			after = rows.at(-1)?.position ?? after;
			if (rows.length < PAGE) break;
		}
	}
}
