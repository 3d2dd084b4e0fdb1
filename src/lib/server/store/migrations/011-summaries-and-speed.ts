/** A line about each chat, which the search finds, and how fast a run's model was. */
import { type Kysely, sql } from 'kysely';

export async function addSummariesAndSpeed(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('summary', 'text').execute();
	const folded = db.schema.alterTable('conversations');
	await folded.addColumn('folded_summary', 'text', (column) => column.notNull().defaultTo('')).execute();
	await db.schema.alterTable('runs').addColumn('answered_by', 'text').execute();
	await db.schema.alterTable('runs').addColumn('first_token_ms', 'integer').execute();
	await db.schema.alterTable('runs').addColumn('tokens_per_s', 'real').execute();
	await db.schema
		.createIndex('runs_with_speed')
		.on('runs')
		.column('started_at')
		.where(sql.ref('answered_by'), 'is not', null)
		.execute();
}
