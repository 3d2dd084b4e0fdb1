/** What somebody has removed from a conversation, for as long as that can be undone. */
import type { Kysely } from 'kysely';

export async function addRemovedMessages(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('removed_messages')
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('conversations.id').onDelete('cascade')
		)
		.addColumn('message_id', 'text', (column) => column.notNull())
		.addColumn('removed_at', 'text', (column) => column.notNull())
		.addColumn('head_id', 'text')
		.addColumn('last_position', 'integer', (column) => column.notNull())
		.addColumn('rows', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('removed_messages_place', ['conversation_id', 'message_id'])
		.execute();
	await db.schema.createIndex('removed_messages_by_time').on('removed_messages').column('removed_at').execute();
}
