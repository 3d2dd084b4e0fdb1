/** Where programs want to be told of their tasks (A2A), and the indexes of lists of tasks. */
import type { Kysely } from 'kysely';

export async function addTaskPushes(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('task_pushes')
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('conversations.id').onDelete('cascade')
		)
		.addColumn('message_id', 'text', (column) => column.notNull())
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('task_id', 'text', (column) => column.notNull())
		.addColumn('sealed', 'text', (column) => column.notNull())
		.addColumn('is_open', 'integer', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('task_pushes_place', ['conversation_id', 'message_id', 'id'])
		.execute();
	await db.schema.createIndex('task_pushes_by_open').on('task_pushes').column('is_open').execute();
	await db.schema.createIndex('runs_by_message').on('runs').columns(['conversation_id', 'message_id']).execute();
	await db.schema.createIndex('conversations_by_key').on('conversations').column('api_key_id').execute();
}
