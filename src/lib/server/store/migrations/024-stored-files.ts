/** Files in a bucket: each content once, and which folder has it under which path. */
import { type Kysely, sql } from 'kysely';

export async function addStoredFiles(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('blobs')
		.addColumn('object', 'text', (column) => column.primaryKey())
		.addColumn('sha256', 'text', (column) => column.unique())
		.addColumn('bytes', 'bigint', (column) => column.notNull())
		.addColumn('stored_at', 'text')
		.addColumn('used_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema.createIndex('blobs_used_at').on('blobs').column('used_at').execute();
	await db.schema
		.createTable('stored_folders')
		.addColumn('folder', 'text', (column) => column.primaryKey())
		.addColumn('version', 'integer', (column) => column.notNull())
		.addColumn('removed_at', 'text')
		.execute();
	await db.schema
		.createTable('stored_files')
		.addColumn('folder', 'text', (column) => column.notNull().references('stored_folders.folder'))
		.addColumn('path', 'text', (column) => column.notNull())
		.addColumn('sha256', 'text', (column) => column.references('blobs.sha256'))
		.addColumn('mode', 'integer', (column) => column.notNull())
		.addColumn('modified_at', 'text', (column) => column.notNull())
		.addColumn('version', 'integer', (column) => column.notNull())
		.addPrimaryKeyConstraint('stored_files_key', ['folder', 'path'])
		.execute();
	await db.schema.createIndex('stored_files_version').on('stored_files').columns(['folder', 'version']).execute();
	await sql`create index stored_files_sha256 on stored_files (sha256) where sha256 is not null`.execute(db);
}
