/** What a chat has chosen besides its model: instructions and the like. */
import type { Kysely } from 'kysely';

export async function addChoices(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('choices', 'text').execute();
}
