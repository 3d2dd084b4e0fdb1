/** Several servers on one database: what waits or asks in a chat, wrong logins, other work, and the database's own id. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

export async function addSharedState(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.alterTable('queued_messages')
		.addColumn('is_due', 'integer', (column) => column.notNull().defaultTo(0))
		.execute();
	await db.schema
		.alterTable('runs')
		.addColumn('asks', 'integer', (column) => column.notNull().defaultTo(0))
		.execute();
	await db.schema
		.createTable('login_failures')
		.addColumn('client', 'text', (column) => column.primaryKey())
		.addColumn('since', 'text', (column) => column.notNull())
		.addColumn('count', 'integer', (column) => column.notNull())
		.execute();
	await db.schema
		.createTable('shown_work')
		.addColumn('kind', 'text', (column) => column.notNull())
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('boot_id', 'text', (column) => column.notNull())
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('is_running', 'integer', (column) => column.notNull())
		.addColumn('stop_wanted', 'integer', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('shown_work_pk', ['kind', 'id'])
		.execute();
	await db.schema
		.createTable('database_identity')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.execute();
	await sql`insert into database_identity (id) values (${randomUUID()})`.execute(db);
}
