/** Several servers on one database: who owns a run, and since when; what belongs to which server start. */
import { type Kysely, sql } from 'kysely';

export async function addReplicas(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('replicas')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('lock_key', 'integer', (column) => column.notNull().unique())
		.addColumn('started_at', sql`timestamptz`, (column) => column.notNull())
		.addColumn('beat_at', sql`timestamptz`, (column) => column.notNull())
		.execute();
	const count = (table: string, name: string, value: number) =>
		db.schema
			.alterTable(table)
			.addColumn(name, 'integer', (column) => column.notNull().defaultTo(value))
			.execute();
	await count('runs', 'epoch', 1);
	await count('runs', 'takeovers', 0);
	await db.schema
		.alterTable('runs')
		.addColumn('lease_until', sql`timestamptz`)
		.execute();
	await db.schema.alterTable('runs').addColumn('request', 'text').execute();
	await db.schema.alterTable('runs').addColumn('wants', 'text').execute();
	await count('run_events', 'epoch', 1);
	for (const table of ['skill_executions', 'eval_runs', 'responses']) {
		await db.schema.alterTable(table).addColumn('boot_id', 'text').execute();
	}
}
