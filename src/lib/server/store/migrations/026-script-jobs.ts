/** Scripts that workers run: what waits and runs, what it prints, and who works. */
import { type Kysely, sql } from 'kysely';

export async function addScriptJobs(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('script_jobs')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('server_id', 'text', (column) => column.notNull())
		.addColumn('run_id', 'text')
		.addColumn('epoch', 'integer')
		.addColumn('owner', 'text', (column) => column.notNull())
		.addColumn('state', 'text', (column) => column.notNull())
		.addColumn('worker_id', 'text')
		.addColumn('wants', 'text')
		.addColumn('result', 'text')
		.addColumn('created_at', sql`timestamptz`, (column) => column.notNull())
		.execute();
	await db.schema.createIndex('script_jobs_owner').on('script_jobs').columns(['owner', 'state']).execute();
	await db.schema
		.createTable('script_output')
		.addColumn('job_id', 'text', (column) => column.notNull().references('script_jobs.id').onDelete('cascade'))
		.addColumn('n', 'integer', (column) => column.notNull())
		.addColumn('texts', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('script_output_pk', ['job_id', 'n'])
		.execute();
	await db.schema
		.createTable('script_workers')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('facts', 'text', (column) => column.notNull())
		.addColumn('started_at', sql`timestamptz`, (column) => column.notNull())
		.execute();
}
