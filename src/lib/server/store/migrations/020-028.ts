/** Migrations 020 to 028. They landed, so they never change (`old-databases.test.ts`). */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { type Database, isPostgres } from '../schema.ts';

export const migrations020to028: Record<string, Migration> = {
	'020_replicas': { up: addReplicas },
	'021_wide_numbers': { up: widenNumbers },
	'022_key_storage': { up: addKeyStorage },
	'023_wishes': { up: addWishes },
	'024_stored_files': { up: addStoredFiles },
	'026_script_jobs': { up: addScriptJobs },
	'027_relative_paths': { up: makePathsRelative },
	'028_shared_state': { up: addSharedState }
};

/** Several servers on one database: who owns a run, and since when; what belongs to which server start. */
async function addReplicas(db: Kysely<unknown>): Promise<void> {
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

/** In Postgres, numbers as large and as exact as SQLite has them in any column: bytes beyond 2 GB, costs to the last digit. */
async function widenNumbers(db: Kysely<Database>): Promise<void> {
	if (!isPostgres(db)) return;
	await sql`alter table messages alter column cost type double precision`.execute(db);
	await sql`alter table runs alter column tokens_per_s type double precision`.execute(db);
	await sql`alter table uploaded_files alter column bytes type bigint`.execute(db);
	await sql`alter table skill_executions alter column stdout_bytes type bigint,
		alter column stderr_bytes type bigint`.execute(db);
}

/** What each API key has stored in the Responses API, in bytes, so that it can have a limit. */
async function addKeyStorage(db: Kysely<unknown>): Promise<void> {
	for (const table of ['responses', 'response_conversations']) {
		await db.schema
			.alterTable(table)
			.addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
			.execute();
	}
	await sql`update responses set bytes = octet_length(items) + octet_length(body) + coalesce(
		(select sum(octet_length(data)) from response_events where response_id = responses.id), 0)`.execute(db);
	await sql`update response_conversations set bytes = 512 + octet_length(metadata) + coalesce(
		(select sum(octet_length(item)) from response_conversation_items
		where conversation_id = response_conversations.id), 0)`.execute(db);
	await db.schema
		.createIndex('responses_by_key')
		.on('responses')
		.columns(['api_key_id', 'created_at', 'id', 'is_running', 'bytes'])
		.execute();
	await db.schema
		.createIndex('response_conversations_by_key')
		.on('response_conversations')
		.columns(['api_key_id', 'bytes'])
		.execute();
}

/** Several servers on one database: what one asks of another, and which of them tells a program of its task. */
async function addWishes(db: Kysely<unknown>): Promise<void> {
	for (const table of ['eval_runs', 'responses']) {
		await db.schema
			.alterTable(table)
			.addColumn('stop_wanted', 'integer', (column) => column.notNull().defaultTo(0))
			.execute();
	}
	await db.schema.alterTable('task_pushes').addColumn('boot_id', 'text').execute();
}

/** Files in a bucket: each content once, and which folder has it under which path. */
async function addStoredFiles(db: Kysely<unknown>): Promise<void> {
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

/** Scripts that workers run: what waits and runs, what it prints, and who works. */
async function addScriptJobs(db: Kysely<unknown>): Promise<void> {
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

/** The end of a path that the installer made. The data folder may have been moved since, so what is before doesn't count. */
const INSTALLED = /(?:^|\/)((?:skills|owned\/key\.[0-9a-f]{24}|kept|trash)\/[^/]+)$/;
const TRASHED = /^(.*)\/(trash\/[^/]+)$/s;

/** Paths of skills’ folders, which were absolute: relative to the data folder, so that it can be moved. */
async function makePathsRelative(db: Kysely<unknown>): Promise<void> {
	const installs = await sql<{ id: string; dir: string }>`select id, dir from skill_installs`.execute(db);
	for (const { id, dir } of installs.rows) {
		await sql`update skill_installs set dir = ${relativeOf(dir)} where id = ${id}`.execute(db);
	}
	const trash = await sql<{
		id: string;
		path: string;
		stored: string;
		install_id: string | null;
	}>`select id, path, stored, install_id from skill_trash`.execute(db);
	for (const { id, path, stored, install_id } of trash.rows) {
		const [, dataDir, within] = TRASHED.exec(withSlashes(stored)) ?? [];
		if (dataDir === undefined || within === undefined) continue;
		const isInside = withSlashes(path).startsWith(`${dataDir}/`);
		const before = isInside ? withSlashes(path).slice(dataDir.length + 1) : install_id ? relativeOf(path) : path;
		await sql`update skill_trash set path = ${before}, stored = ${within} where id = ${id}`.execute(db);
	}
}

function relativeOf(path: string): string {
	return INSTALLED.exec(withSlashes(path))?.[1] ?? path;
}

/** As Windows writes them. */
function withSlashes(path: string): string {
	return /^[a-z]:\\|^\\\\/i.test(path) ? path.replaceAll('\\', '/') : path;
}

/** Several servers on one database: what waits or asks in a chat, wrong logins, other work, and the database's own id. */
async function addSharedState(db: Kysely<unknown>): Promise<void> {
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
