/** In Postgres, numbers as large and as exact as SQLite has them in any column: bytes beyond 2 GB, costs to the last digit. */
import { type Kysely, sql } from 'kysely';
import { type Database, isPostgres } from '../schema.ts';

export async function widenNumbers(db: Kysely<Database>): Promise<void> {
	if (!isPostgres(db)) return;
	await sql`alter table messages alter column cost type double precision`.execute(db);
	await sql`alter table runs alter column tokens_per_s type double precision`.execute(db);
	await sql`alter table uploaded_files alter column bytes type bigint`.execute(db);
	await sql`alter table skill_executions alter column stdout_bytes type bigint,
		alter column stderr_bytes type bigint`.execute(db);
}
