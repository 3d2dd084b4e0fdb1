/** Answers to one question that are written at the same time and seen side by side. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';

export async function addComparisons(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('comparison', 'text').execute();
	await db.schema.dropIndex('runs_one_running').execute();
	await db.schema
		.createIndex('runs_one_running')
		.unique()
		.on('runs')
		.columns(['conversation_id', 'message_id'])
		.where(sql.ref('state'), '=', 'running')
		.execute();
}
