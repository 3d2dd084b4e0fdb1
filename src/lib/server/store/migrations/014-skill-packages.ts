/** Which packages were installed for a skill. */
import type { Kysely } from 'kysely';

export async function addSkillPackages(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('skill_packages')
		.addColumn('skill_id', 'text', (column) => column.primaryKey())
		.addColumn('lock', 'text', (column) => column.notNull())
		.addColumn('installed_at', 'text', (column) => column.notNull())
		.execute();
}
