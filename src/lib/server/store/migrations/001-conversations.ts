/** Conversations, their messages, runs and events. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { indexRuns } from './index-runs.ts';

export async function createConversations(db: Kysely<unknown>): Promise<void> {
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
