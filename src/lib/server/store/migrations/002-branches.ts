/** Messages as a tree; what waits: messages, questions; summaries. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { indexRuns } from './index-runs.ts';

export async function addBranches(db: Kysely<unknown>): Promise<void> {
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
