/** What other programs bring: their keys, the responses that they can go on from, the MCP servers that add tools. */
import type { Kysely } from 'kysely';

export async function addProtocols(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('api_keys')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('name', 'text', (column) => column.notNull())
		.addColumn('prefix', 'text', (column) => column.notNull())
		.addColumn('scopes', 'text', (column) => column.notNull())
		.addColumn('hash', 'text', (column) => column.notNull().unique())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('last_used_at', 'text')
		.addColumn('revoked_at', 'text')
		.execute();
	await db.schema.alterTable('conversations').addColumn('api_key_id', 'text').execute();

	await db.schema
		.createTable('responses')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('api_key_id', 'text')
		.addColumn('previous_id', 'text')
		.addColumn('session_id', 'text', (column) => column.notNull())
		.addColumn('items', 'text', (column) => column.notNull())
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema.createIndex('responses_created').on('responses').column('created_at').execute();

	await db.schema
		.createTable('mcp_servers')
		.addColumn('name', 'text', (column) => column.primaryKey())
		.addColumn('config', 'text', (column) => column.notNull())
		.addColumn('is_enabled', 'integer', (column) => column.notNull().defaultTo(1))
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.execute();
}
