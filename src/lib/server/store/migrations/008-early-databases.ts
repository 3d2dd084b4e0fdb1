/** What two migrations were given after they had been released, for the databases that were made in between. */
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { addSearch } from './search-tables.ts';

export async function mendEarlyDatabases(db: Kysely<Database>): Promise<void> {
	const tables = await db.introspection.getTables();
	const columns = tables.find(({ name }) => name === 'conversations')?.columns.map(({ name }) => name) ?? [];
	// Of 002, and of 005.
	if (!columns.includes('usage')) await db.schema.alterTable('conversations').addColumn('usage', 'text').execute();
	if (!columns.includes('folded_title')) await addSearch(db);
}
