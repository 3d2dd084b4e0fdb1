/** The indexes of `runs`, which a later migration makes anew. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';

export async function indexRuns(db: Kysely<unknown>): Promise<void> {
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
