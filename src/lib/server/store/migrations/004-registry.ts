/** Installed skills, their versions and trash; how often skills ran; settings, cases and evals. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';

export async function addRegistry(db: Kysely<unknown>): Promise<void> {
	/** A table of texts, the first of which is its key. */
	const texts = (table: string, [key = 'id', ...required]: readonly string[], optional: readonly string[] = []) => {
		let made = db.schema.createTable(table).addColumn(key, 'text', (column) => column.primaryKey().notNull());
		for (const name of required) made = made.addColumn(name, 'text', (column) => column.notNull());
		for (const name of optional) made = made.addColumn(name, 'text');
		return made;
	};
	await texts('skill_installs', [
		...['id', 'owner', 'skill_id', 'name', 'version', 'state', 'dir', 'origin', 'digest', 'files', 'computed_hash'],
		...['installed_at', 'changed_at']
	])
		.addCheckConstraint('skill_installs_states', sql`state in ('placing', 'active', 'kept', 'trashed')`)
		.execute();
	await db.schema
		.createIndex('skill_installs_by_skill')
		.on('skill_installs')
		.columns(['skill_id', 'installed_at'])
		.execute();
	await db.schema
		.createIndex('skill_installs_one_active')
		.unique()
		.on('skill_installs')
		.columns(['skill_id', 'version'])
		.where(sql.ref('state'), '=', 'active')
		.execute();
	await texts(
		'skill_trash',
		['id', 'skill_id', 'name', 'path', 'stored', 'removed_at'],
		['version', 'install_id']
	).execute();
	await texts('skill_pins', ['skill_id', 'version', 'updated_at']).execute();
	await texts('skill_usage', ['skill_id'], ['last_used_at'])
		.addColumn('executions', 'integer', (column) => column.notNull())
		.addColumn('failures', 'integer', (column) => column.notNull())
		.execute();
	await texts('settings', ['key', 'value', 'updated_at']).execute();
	await texts('skill_cases', ['id', 'skill_id', 'body', 'created_at'], ['last_run']).execute();
	await db.schema.createIndex('skill_cases_by_skill').on('skill_cases').columns(['skill_id', 'created_at']).execute();
	await texts('eval_runs', ['id', 'skill_id', 'state', 'body', 'started_at']).execute();
	await db.schema.createIndex('eval_runs_by_skill').on('eval_runs').columns(['skill_id', 'started_at']).execute();
	await countExecutions(db);
	await trustVersions(db);
}

/** What ended before there were counts counts as well; what is unfinished counts when the server ends it. */
async function countExecutions(db: Kysely<unknown>): Promise<void> {
	await sql`insert into skill_usage (skill_id, executions, failures, last_used_at)
		select skill_id, count(*), sum(case when status in ('error', 'timeout') then 1 else 0 end), max(created_at)
		from skill_executions where finished_at is not null group by skill_id`.execute(db);
	await db.schema.dropIndex('skill_executions_by_key').execute();
	await db.schema
		.createIndex('skill_executions_by_owner')
		.on('skill_executions')
		.columns(['api_key_id', 'created_at'])
		.execute();
	await db.schema
		.createIndex('skill_executions_by_name')
		.on('skill_executions')
		.columns(['skill', 'created_at'])
		.execute();
}

/** Each version of a skill is trusted by itself. Neither database can change a primary key, so the table is made anew. */
async function trustVersions(db: Kysely<unknown>): Promise<void> {
	const column = (name: string) => sql`${sql.ref(name)} text not null`;
	const columns = ['skill_id', 'version', 'digest', 'files', 'trusted_at'].map(column);
	await sql`create table trusted_versions (${sql.join(columns)}, primary key (skill_id, version))`.execute(db);
	// Which version it was nobody noted; trust goes by the digest of the files.
	await sql`insert into trusted_versions (skill_id, version, digest, files, trusted_at)
		select skill_id, '', digest, files, trusted_at from trusted_skills`.execute(db);
	await db.schema.dropTable('trusted_skills').execute();
}
