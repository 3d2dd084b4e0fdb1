/** What each run was asked: the same run id with another question is not the same run. */
import type { Kysely } from 'kysely';

export async function addRunTasks(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('runs').addColumn('task', 'text').execute();
}
