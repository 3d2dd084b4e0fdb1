/** Several servers on one database: what one asks of another, and which of them tells a program of its task. */
import type { Kysely } from 'kysely';

export async function addWishes(db: Kysely<unknown>): Promise<void> {
	for (const table of ['eval_runs', 'responses']) {
		await db.schema
			.alterTable(table)
			.addColumn('stop_wanted', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
	}
	await db.schema.alterTable('task_pushes').addColumn('boot_id', 'text').execute();
}
