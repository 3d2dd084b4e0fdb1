/** Executions, and what they need: modes, trust, network, secrets; logins. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';

export async function addExecutions(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('skill_settings')
		.addColumn('skill_id', 'text', (column) => column.primaryKey().notNull())
		.addColumn('mode', 'text', (column) => column.notNull())
		.addColumn('mode_before', 'text')
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.addCheckConstraint('skill_settings_modes', sql`mode in ('on', 'off', 'auto')`)
		.execute();
	await db.schema
		.createTable('trusted_skills')
		.addColumn('skill_id', 'text', (column) => column.primaryKey().notNull())
		.addColumn('digest', 'text', (column) => column.notNull())
		.addColumn('files', 'text', (column) => column.notNull())
		.addColumn('trusted_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema
		.createTable('network_grants')
		.addColumn('skill_id', 'text', (column) => column.notNull())
		.addColumn('domain', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('network_grants_key', ['skill_id', 'domain'])
		.execute();
	await db.schema
		.createTable('secrets')
		.addColumn('skill_id', 'text', (column) => column.notNull())
		.addColumn('name', 'text', (column) => column.notNull())
		.addColumn('iv', 'text', (column) => column.notNull())
		.addColumn('tag', 'text', (column) => column.notNull())
		.addColumn('ciphertext', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('secrets_key', ['skill_id', 'name'])
		.execute();
	await db.schema
		.createTable('login_sessions')
		.addColumn('token_hash', 'text', (column) => column.primaryKey().notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('expires_at', 'text', (column) => column.notNull())
		.execute();
	let executions = db.schema
		.createTable('skill_executions')
		.addColumn('id', 'text', (column) => column.primaryKey().notNull());
	for (const name of ['skill_id', 'skill', 'version', 'argv', 'digest', 'sandbox', 'limits', 'status', 'created_at'])
		executions = executions.addColumn(name, 'text', (column) => column.notNull());
	for (const name of ['tool', 'script', 'input', 'error_type', 'error_message', 'output', 'files', 'refused'])
		executions = executions.addColumn(name, 'text');
	for (const name of ['conversation_id', 'run_id', 'tool_call_id', 'api_key_id', 'session_id', 'finished_at'])
		executions = executions.addColumn(name, 'text');
	for (const name of ['exit_code', 'stdout_bytes', 'stderr_bytes', 'duration_ms'])
		executions = executions.addColumn(name, 'integer');
	await executions
		.addCheckConstraint('skill_executions_states', sql`status in ('pending', 'running', 'success', 'error', 'timeout')`)
		.execute();
	const indexOn = (name: string, columns: string[]) =>
		db.schema.createIndex(name).on('skill_executions').columns(columns).execute();
	await indexOn('skill_executions_by_skill', ['skill_id', 'status', 'created_at']);
	await indexOn('skill_executions_by_key', ['api_key_id', 'skill_id']);
	await indexOn('skill_executions_by_time', ['created_at']);
}
