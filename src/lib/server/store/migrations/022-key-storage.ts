/** What each API key has stored in the Responses API, in bytes, so that it can have a limit. */
import { type Kysely, sql } from 'kysely';

export async function addKeyStorage(db: Kysely<unknown>): Promise<void> {
	for (const table of ['responses', 'response_conversations']) {
		await db.schema
			.alterTable(table)
			.addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
			.execute();
	}
	await sql`update responses set bytes = octet_length(items) + octet_length(body) + coalesce(
		(select sum(octet_length(data)) from response_events where response_id = responses.id), 0)`.execute(db);
	await sql`update response_conversations set bytes = 512 + octet_length(metadata) + coalesce(
		(select sum(octet_length(item)) from response_conversation_items
		where conversation_id = response_conversations.id), 0)`.execute(db);
	await db.schema
		.createIndex('responses_by_key')
		.on('responses')
		.columns(['api_key_id', 'created_at', 'id', 'is_running', 'bytes'])
		.execute();
	await db.schema
		.createIndex('response_conversations_by_key')
		.on('response_conversations')
		.columns(['api_key_id', 'bytes'])
		.execute();
}
