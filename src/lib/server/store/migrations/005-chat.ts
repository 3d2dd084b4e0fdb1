/** What people do with conversations: pinned, archived, deleted with a way back, not yet read; their model and their skills. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Database } from '../schema.ts';
import { addSearch } from './search-tables.ts';

export async function addChat(db: Kysely<unknown>): Promise<void> {
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
