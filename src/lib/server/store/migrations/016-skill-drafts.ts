/** Drafts of skills, which are nowhere else until they are saved. */
import type { Kysely } from 'kysely';

export async function addSkillDrafts(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('skill_drafts')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('revision', 'integer', (column) => column.notNull())
		.addColumn('content', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.execute();
}
