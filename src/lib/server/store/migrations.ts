/** Migrates a database (SQLite or Postgres) to the newest schema. Released migrations never change. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { createConversations } from './migrations/001-conversations.ts';
import { addBranches } from './migrations/002-branches.ts';
import { addExecutions } from './migrations/003-executions.ts';
import { addRegistry } from './migrations/004-registry.ts';
import { addChat } from './migrations/005-chat.ts';
import { addProtocols } from './migrations/006-protocols.ts';
import { addRunTasks } from './migrations/007-run-tasks.ts';
import { mendEarlyDatabases } from './migrations/008-early-databases.ts';
import { renameUntitled } from './migrations/009-untitled.ts';
import { addChoices } from './migrations/010-choices.ts';
import { addSummariesAndSpeed } from './migrations/011-summaries-and-speed.ts';
import { addComparisons } from './migrations/012-comparisons.ts';
import { addMissing } from './migrations/013-missing.ts';
import { addSkillPackages } from './migrations/014-skill-packages.ts';
import { addEvalAnswers } from './migrations/015-eval-answers.ts';
import { addSkillDrafts } from './migrations/016-skill-drafts.ts';
import { addAnswerCosts } from './migrations/017-answer-costs.ts';
import { addResponsesApi } from './migrations/018-responses-api.ts';
import { addTaskPushes } from './migrations/019-task-pushes.ts';
import { addReplicas } from './migrations/020-replicas.ts';
import { widenNumbers } from './migrations/021-wide-numbers.ts';
import { addKeyStorage } from './migrations/022-key-storage.ts';
import { addWishes } from './migrations/023-wishes.ts';
import { addStoredFiles } from './migrations/024-stored-files.ts';
import { addScriptJobs } from './migrations/026-script-jobs.ts';
import { makePathsRelative } from './migrations/027-relative-paths.ts';
import { addSharedState } from './migrations/028-shared-state.ts';
import { addRemovedMessages } from './migrations/029-removed-messages.ts';
import type { Database } from './schema.ts';

/** Applied in the order of their names. */
const MIGRATIONS: Record<string, Migration> = {
	'001_conversations': { up: createConversations },
	'002_branches': { up: addBranches },
	'003_executions': { up: addExecutions },
	'004_registry': { up: addRegistry },
	'005_chat': { up: addChat },
	'006_protocols': { up: addProtocols },
	'007_run_tasks': { up: addRunTasks },
	'008_early_databases': { up: mendEarlyDatabases },
	'009_untitled': { up: renameUntitled },
	'010_choices': { up: addChoices },
	'011_summaries_and_speed': { up: addSummariesAndSpeed },
	'012_comparisons': { up: addComparisons },
	'013_missing': { up: addMissing },
	'014_skill_packages': { up: addSkillPackages },
	'015_eval_answers': { up: addEvalAnswers },
	'016_skill_drafts': { up: addSkillDrafts },
	'017_answer_costs': { up: addAnswerCosts },
	'018_responses_api': { up: addResponsesApi },
	'019_task_pushes': { up: addTaskPushes },
	'020_replicas': { up: addReplicas },
	'021_wide_numbers': { up: widenNumbers },
	'022_key_storage': { up: addKeyStorage },
	'023_wishes': { up: addWishes },
	'024_stored_files': { up: addStoredFiles },
	'026_script_jobs': { up: addScriptJobs },
	'027_relative_paths': { up: makePathsRelative },
	'028_shared_state': { up: addSharedState },
	'029_removed_messages': { up: addRemovedMessages }
};

/**
 * Applies missing migrations.
 *
 * @throws {Error} if a newer version has written the database, or a migration fails.
 */
export async function migrate(db: Kysely<Database>): Promise<void> {
	const unknown = (await appliedMigrations(db)).filter((name) => !Object.hasOwn(MIGRATIONS, name));
	if (unknown.length > 0) {
		throw new Error(
			`The database was written by a newer version of this app (it has the migration ${unknown.join(', ')}). ` +
				'Start that version or a later one, or choose another database with DATA_DIR or DATABASE_URL. ' +
				'To go back to this version, restore a backup from before the update.'
		);
	}
	const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
	const { error } = await migrator.migrateToLatest();
	const reason = error instanceof Error ? error.message : String(error);
	if (error) throw new Error(`Couldn’t update the database: ${reason}`, { cause: error });
}

async function appliedMigrations(db: Kysely<Database>): Promise<string[]> {
	const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
	if (!tables.some((table) => table.name === DEFAULT_MIGRATION_TABLE)) return [];
	const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
	return rows.map((row) => row.name);
}
