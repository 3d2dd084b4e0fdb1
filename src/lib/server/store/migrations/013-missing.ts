/** What a failed run lacked. */
import type { Kysely } from 'kysely';

export async function addMissing(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('skill_executions').addColumn('missing', 'text').execute();
}
