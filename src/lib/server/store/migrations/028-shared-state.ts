/** Several servers on one database: what waits or asks in a chat, wrong logins, and the database's own id. */
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
		.createTable('database_identity')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.execute();
	await sql`insert into database_identity (id) values (${randomUUID()})`.execute(db);
}
