/** Responses in the background: their events, so that a client can go on where it was; how many items were input; uploaded files; conversations. */
import type { Kysely } from 'kysely';

export async function addResponsesApi(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.alterTable('responses')
		.addColumn('is_running', 'integer', (column) => column.notNull().defaultTo(0))
		.execute();
	await db.schema.alterTable('responses').addColumn('input_count', 'integer').execute();
	await db.schema.createIndex('responses_running').on('responses').column('is_running').execute();
	await db.schema
		.createTable('response_events')
		.addColumn('response_id', 'text', (column) => column.notNull().references('responses.id').onDelete('cascade'))
		.addColumn('seq', 'integer', (column) => column.notNull())
		.addColumn('data', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('response_events_key', ['response_id', 'seq'])
		.execute();

	await db.schema
		.createTable('uploaded_files')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('api_key_id', 'text')
		.addColumn('filename', 'text', (column) => column.notNull())
		.addColumn('purpose', 'text', (column) => column.notNull())
		.addColumn('bytes', 'integer', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('expires_at', 'text')
		.execute();

	await db.schema
		.createTable('response_conversations')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('api_key_id', 'text')
		.addColumn('metadata', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema
		.createTable('response_conversation_items')
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('response_conversations.id').onDelete('cascade')
		)
		.addColumn('position', 'integer', (column) => column.notNull())
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('model', 'text', (column) => column.notNull())
		.addColumn('item', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('response_conversation_items_key', ['conversation_id', 'position'])
		.execute();
}
