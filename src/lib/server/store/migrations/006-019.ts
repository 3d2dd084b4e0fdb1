/** Migrations 006 to 019. They landed, so they never change (`old-databases.test.ts`). */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../schema.ts';
import { addSearch } from './001-005.ts';

export const migrations006to019: Record<string, Migration> = {
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
	'019_task_pushes': { up: addTaskPushes }
};

/** What other programs bring: their keys, the responses that they can go on from, the MCP servers that add tools. */
async function addProtocols(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('api_keys')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('name', 'text', (column) => column.notNull())
		.addColumn('prefix', 'text', (column) => column.notNull())
		.addColumn('scopes', 'text', (column) => column.notNull())
		.addColumn('hash', 'text', (column) => column.notNull().unique())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('last_used_at', 'text')
		.addColumn('revoked_at', 'text')
		.execute();
	await db.schema.alterTable('conversations').addColumn('api_key_id', 'text').execute();

	await db.schema
		.createTable('responses')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('api_key_id', 'text')
		.addColumn('previous_id', 'text')
		.addColumn('session_id', 'text', (column) => column.notNull())
		.addColumn('items', 'text', (column) => column.notNull())
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema.createIndex('responses_created').on('responses').column('created_at').execute();

	await db.schema
		.createTable('mcp_servers')
		.addColumn('name', 'text', (column) => column.primaryKey())
		.addColumn('config', 'text', (column) => column.notNull())
		.addColumn('is_enabled', 'integer', (column) => column.notNull().defaultTo(1))
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.execute();
}

/** What each run was asked: the same run id with another question is not the same run. */
async function addRunTasks(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('runs').addColumn('task', 'text').execute();
}

/** What two migrations were given after they had been released, for the databases that were made in between. */
async function mendEarlyDatabases(db: Kysely<Database>): Promise<void> {
	const tables = await db.introspection.getTables();
	const columns = tables.find(({ name }) => name === 'conversations')?.columns.map(({ name }) => name) ?? [];
	// Of 002, and of 005.
	if (!columns.includes('usage')) await db.schema.alterTable('conversations').addColumn('usage', 'text').execute();
	if (!columns.includes('folded_title')) await addSearch(db);
}

/** Gives chats without a title the name they have now, so that their first message still names them. */
async function renameUntitled(db: Kysely<Database>): Promise<void> {
	const untitled = { title: 'New chat', folded_title: 'new chat' };
	await db.updateTable('conversations').set(untitled).where('title', '=', 'New conversation').execute();
}

/** What a chat has chosen besides its model: instructions and the like. */
async function addChoices(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('choices', 'text').execute();
}

/** A line about each chat, which the search finds, and how fast a run's model was. */
async function addSummariesAndSpeed(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('summary', 'text').execute();
	const folded = db.schema.alterTable('conversations');
	await folded.addColumn('folded_summary', 'text', (column) => column.notNull().defaultTo('')).execute();
	await db.schema.alterTable('runs').addColumn('answered_by', 'text').execute();
	await db.schema.alterTable('runs').addColumn('first_token_ms', 'integer').execute();
	await db.schema.alterTable('runs').addColumn('tokens_per_s', 'real').execute();
	await db.schema
		.createIndex('runs_with_speed')
		.on('runs')
		.column('started_at')
		.where(sql.ref('answered_by'), 'is not', null)
		.execute();
}

/** Answers to one question that are written at the same time and seen side by side. */
async function addComparisons(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('conversations').addColumn('comparison', 'text').execute();
	await db.schema.dropIndex('runs_one_running').execute();
	await db.schema
		.createIndex('runs_one_running')
		.unique()
		.on('runs')
		.columns(['conversation_id', 'message_id'])
		.where(sql.ref('state'), '=', 'running')
		.execute();
}

/** What a failed run lacked. */
async function addMissing(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('skill_executions').addColumn('missing', 'text').execute();
}

/** Which packages were installed for a skill. */
async function addSkillPackages(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('skill_packages')
		.addColumn('skill_id', 'text', (column) => column.primaryKey())
		.addColumn('lock', 'text', (column) => column.notNull())
		.addColumn('installed_at', 'text', (column) => column.notNull())
		.execute();
}

/** Answers to evals, each in a row of its own, by side; before, they were in their run. */
async function addEvalAnswers(db: Kysely<Database>): Promise<void> {
	await db.schema
		.createTable('eval_answers')
		.addColumn('run_id', 'text', (column) => column.notNull())
		.addColumn('case_id', 'text', (column) => column.notNull())
		.addColumn('side', 'text', (column) => column.notNull())
		.addColumn('round', 'integer', (column) => column.notNull())
		.addColumn('key', 'text')
		.addColumn('body', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('eval_answers_place', ['run_id', 'case_id', 'side', 'round'])
		.execute();
	await db.schema.createIndex('eval_answers_by_key').on('eval_answers').columns(['key', 'created_at']).execute();
	const runs = await db.selectFrom('eval_runs').select(['id', 'body']).execute();
	for (const { id, body } of runs) {
		const run = oldRun(body);
		if (!run) continue;
		const { results, passRate, model, ...kept } = run;
		for (const result of results) {
			for (const { id: side, key } of SIDES) {
				for (const [index, answer] of result[key].entries()) {
					const place = { run_id: id, case_id: result.id, side, round: index + 1 };
					const whole = { ...answer, side, round: index + 1, files: [], steps: 1, costUsd: null, isCached: false };
					const values = { ...place, key: null, body: JSON.stringify(whole), created_at: kept.startedAt };
					await db.insertInto('eval_answers').values(values).execute();
				}
			}
		}
		const sides = SIDES.map(({ id: side, kind, key }) => {
			const answers = results.flatMap((result) => result[key]);
			const version = kind === 'with' ? kept.version : null;
			return { id: side, kind, version, digest: null, model, figures: figuresOf(answers, passRate[key]) };
		});
		const rounds = Math.max(1, ...results.map(({ withSkill }) => withSkill.length));
		const cases = results.map((result) => {
			return { id: result.id, prompt: result.prompt, expected: result.expected, shouldTrigger: null };
		});
		const options = { kind: 'answers', rounds, maxCostUsd: null, isFresh: false, costUsd: null };
		const changed = JSON.stringify({ ...kept, ...options, sides, results: cases });
		await db.updateTable('eval_runs').set({ body: changed }).where('id', '=', id).execute();
	}
}

const SIDES = [
	{ id: '1', kind: 'with', key: 'withSkill' },
	{ id: '2', kind: 'without', key: 'withoutSkill' }
] as const;

interface OldAnswer {
	status: string;
	durationMs: number;
	tokens: number | null;
	expectations: { isMet: boolean | null }[];
}

interface OldRun {
	version: string;
	model: string;
	startedAt: string;
	passRate: Record<'withSkill' | 'withoutSkill', number | null>;
	results: ({ id: string; prompt: string; expected: string | null } & Record<
		'withSkill' | 'withoutSkill',
		OldAnswer[]
	>)[];
}

function oldRun(body: string): OldRun | null {
	try {
		const run = JSON.parse(body) as OldRun;
		return Array.isArray(run.results) && typeof run.passRate === 'object' ? run : null;
	} catch {
		return null;
	}
}

function figuresOf(answers: readonly OldAnswer[], rate: number | null) {
	const came = answers.filter(({ status }) => status === 'success');
	const judged = came.flatMap(({ expectations }) => expectations).filter(({ isMet }) => isMet !== null);
	const tokens = came.flatMap((answer) => answer.tokens ?? []);
	const mean = (values: readonly number[]) =>
		values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
	return {
		answers: answers.filter(({ status }) => status !== 'cancelled').length,
		failed: answers.filter(({ status }) => status === 'failed').length,
		met: judged.filter(({ isMet }) => isMet).length,
		judged: judged.length,
		passRate: rate === null ? null : { value: rate, ...wilson(rate, came.length) },
		costUsd: null,
		tokens: mean(tokens),
		durationMs: mean(came.map(({ durationMs }) => durationMs)),
		steps: null,
		trigger: null
	};
}

/** For 95 %. */
function wilson(share: number, count: number): { low: number; high: number } {
	const [z, n] = [1.959964, Math.max(1, count)];
	const margin = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
	const bounded = (bound: number) => Math.min(1, Math.max(0, bound / (1 + z ** 2 / n)));
	return { low: bounded(share + z ** 2 / (2 * n) - margin), high: bounded(share + z ** 2 / (2 * n) + margin) };
}

/** Drafts of skills, which are nowhere else until they are saved. */
async function addSkillDrafts(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('skill_drafts')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('revision', 'integer', (column) => column.notNull())
		.addColumn('content', 'text', (column) => column.notNull())
		.addColumn('updated_at', 'text', (column) => column.notNull())
		.execute();
}

/** What each answer cost, to sum it up without reading what they say. */
async function addAnswerCosts(db: Kysely<unknown>): Promise<void> {
	await db.schema.alterTable('messages').addColumn('cost', 'real').execute();
}

/** Responses in the background: their events, so that a client can go on where it was; how many items were input; uploaded files; conversations. */
async function addResponsesApi(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.alterTable('responses')
		.addColumn('is_running', 'integer', (column) => column.notNull().defaultTo(0))
		.execute();
	await db.schema.alterTable('responses').addColumn('input_count', 'integer').execute();
	await db.schema.createIndex('responses_running').on('responses').column('is_running').execute();
	await db.schema
		.createTable('response_events')
		.addColumn('response_id', 'text', (column) => column.notNull().references('responses.id').onDelete('cascade'))
		.addColumn('seq', 'integer', (column) => column.notNull())
		.addColumn('data', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('response_events_key', ['response_id', 'seq'])
		.execute();

	await db.schema
		.createTable('uploaded_files')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('api_key_id', 'text')
		.addColumn('filename', 'text', (column) => column.notNull())
		.addColumn('purpose', 'text', (column) => column.notNull())
		.addColumn('bytes', 'integer', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addColumn('expires_at', 'text')
		.execute();

	await db.schema
		.createTable('response_conversations')
		.addColumn('id', 'text', (column) => column.primaryKey())
		.addColumn('api_key_id', 'text')
		.addColumn('metadata', 'text', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.execute();
	await db.schema
		.createTable('response_conversation_items')
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('response_conversations.id').onDelete('cascade')
		)
		.addColumn('position', 'integer', (column) => column.notNull())
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('model', 'text', (column) => column.notNull())
		.addColumn('item', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('response_conversation_items_key', ['conversation_id', 'position'])
		.execute();
}

/** Where programs want to be told of their tasks (A2A), and the indexes of lists of tasks. */
async function addTaskPushes(db: Kysely<unknown>): Promise<void> {
	await db.schema
		.createTable('task_pushes')
		.addColumn('conversation_id', 'text', (column) =>
			column.notNull().references('conversations.id').onDelete('cascade')
		)
		.addColumn('message_id', 'text', (column) => column.notNull())
		.addColumn('id', 'text', (column) => column.notNull())
		.addColumn('task_id', 'text', (column) => column.notNull())
		.addColumn('sealed', 'text', (column) => column.notNull())
		.addColumn('is_open', 'integer', (column) => column.notNull())
		.addColumn('created_at', 'text', (column) => column.notNull())
		.addPrimaryKeyConstraint('task_pushes_place', ['conversation_id', 'message_id', 'id'])
		.execute();
	await db.schema.createIndex('task_pushes_by_open').on('task_pushes').column('is_open').execute();
	await db.schema.createIndex('runs_by_message').on('runs').columns(['conversation_id', 'message_id']).execute();
	await db.schema.createIndex('conversations_by_key').on('conversations').column('api_key_id').execute();
}
