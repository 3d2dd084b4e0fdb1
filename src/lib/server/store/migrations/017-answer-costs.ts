/** What each answer cost, to sum it up without reading what they say. */
import type { Kysely } from 'kysely';

export async function addAnswerCosts(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('messages').addColumn('cost', 'real').execute();
}
