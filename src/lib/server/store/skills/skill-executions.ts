/** Every run of a script or tool, with caller and result (E10, E12, E13). */
import { type Kysely, type Selectable, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import type { ExecutionQuery, SkillCase, SkillExecution } from '../../../shared/try-out.ts';
import type { SkillUsage } from '../../../shared/skills.ts';
import { BUILT_IN_MODEL, CASE_SESSION, EVAL_SESSION, isInLibrary, isTest } from '../../../shared/names.ts';
import type { ExecutionEnd, ExecutionStart } from '../../skills/run/execution-host.ts';
import { locked } from '../locks.ts';
import { type Database, hasEffect, isPostgres, type SkillCasesTable, type SkillExecutionsTable } from '../schema.ts';

/** As asked for, but its times are in UTC. */
export type ExecutionFilter = ExecutionQuery;

/** What a person ended is stored as an error of its own type (E12). */
const BY_PEOPLE = ['ApprovalDenied', 'Cancelled'];

export function createSkillExecutions(db: Kysely<Database>) {
	return {
		/** Adds a `pending` execution. False, and nothing is added, if it belongs to a run that another server start owns. */
		start: (execution: ExecutionStart, now: string, bootId: string | null = null): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				const { caller } = execution;
				if (caller.runId !== undefined && !(await mayRunIn(transaction, caller.runId, bootId))) return false;
				await transaction
					.insertInto('skill_executions')
					.values({
						id: execution.id,
						skill_id: execution.skillId,
						skill: execution.skill,
						version: execution.version,
						tool: execution.tool ?? null,
						script: execution.script ?? null,
						argv: JSON.stringify(execution.argv),
						input: execution.input ?? null,
						digest: execution.digest,
						sandbox: execution.sandbox,
						limits: JSON.stringify(execution.limits),
						status: 'pending',
						conversation_id: caller.conversationId ?? null,
						run_id: caller.runId ?? null,
						tool_call_id: caller.toolCallId ?? null,
						api_key_id: caller.apiKeyId ?? null,
						session_id: caller.sessionId ?? null,
						boot_id: bootId,
						created_at: now
					})
					.execute();
				return true;
			}),

		async setRunning(id: string): Promise<void> {
			await db
				.updateTable('skill_executions')
				.set({ status: 'running' })
				.where('id', '=', id)
				.where('status', '=', 'pending')
				.execute();
		},

		/** Does nothing if it has already ended. */
		async finish(id: string, end: ExecutionEnd, now: string): Promise<void> {
			await db.transaction().execute(async (transaction) => {
				const ended = await transaction
					.updateTable('skill_executions')
					.set({
						status: end.status,
						error_type: end.errorType ?? null,
						error_message: end.message ?? null,
						exit_code: end.exitCode,
						stdout_bytes: end.stdoutBytes,
						stderr_bytes: end.stderrBytes,
						output: end.output,
						duration_ms: Math.round(end.durationMs),
						files: JSON.stringify(end.files),
						refused: JSON.stringify(end.refused),
						missing: end.missing ? JSON.stringify(end.missing) : null,
						finished_at: now
					})
					.where('id', '=', id)
					.where('status', 'in', ['pending', 'running'])
					.returning(['skill_id', 'session_id', 'created_at'])
					.executeTakeFirst();
				// A denied call is no use of the skill.
				if (ended && end.errorType !== 'ApprovalDenied') await count(transaction, ended, end.status !== 'success');
			});
		},

		async get(id: string): Promise<SkillExecution | null> {
			const row = await db.selectFrom('skill_executions').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toExecution(row) : null;
		},

		/** Newest first. `page` counts from 1. */
		async list(
			filter: ExecutionFilter,
			{ page, limit }: { page: number; limit: number }
		): Promise<{ data: SkillExecution[]; total: number }> {
			const matching = () => narrow(db.selectFrom('skill_executions'), filter);
			const { total } = await matching()
				.select(({ fn }) => fn.countAll<number | string>().as('total'))
				.executeTakeFirstOrThrow();
			const rows = await matching()
				.selectAll()
				.orderBy('created_at', 'desc')
				.orderBy('id')
				.limit(limit)
				.offset((page - 1) * limit)
				.execute();
			return { data: rows.map(toExecution), total: Number(total) };
		},

		/** The next executions, newest first, after the last one of the previous page; for exports of any length. */
		async after(
			filter: ExecutionFilter,
			last: { createdAt: string; id: string } | null,
			limit: number
		): Promise<SkillExecution[]> {
			let query = narrow(db.selectFrom('skill_executions'), filter).selectAll();
			if (last) {
				const { createdAt, id } = last;
				query = query.where(({ or, and, eb }) =>
					or([eb('created_at', '<', createdAt), and([eb('created_at', '=', createdAt), eb('id', '>', id)])])
				);
			}
			return (await query.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute()).map(toExecution);
		},

		/** How often each skill ran, by `source/name`. */
		async usage(): Promise<Map<string, SkillUsage>> {
			const rows = await db.selectFrom('skill_usage').selectAll().execute();
			return new Map(
				rows.map(({ skill_id, executions, failures, last_used_at: lastUsedAt }) => [
					skill_id,
					{ executions, failures, lastUsedAt }
				])
			);
		},

		/**
		 * Runs of a skill (`source/name`) that ended, by day, and answers in which it ran: since a time (ISO 8601), without
		 * those that were denied and those of evals and test cases. Answers of Demo mode don't count: they cost nothing.
		 */
		async health(skillId: string, since: string) {
			const ended = db
				.selectFrom('skill_executions')
				.where('skill_id', '=', skillId)
				.where('status', 'in', ['success', 'error', 'timeout'])
				.where('created_at', '>=', since)
				.where(({ or, eb }) => or([eb('error_type', 'is', null), eb('error_type', '!=', 'ApprovalDenied')]))
				.where(({ or, and, eb }) =>
					or([
						eb('session_id', 'is', null),
						and([EVAL_SESSION, CASE_SESSION].map((start) => eb('session_id', 'not like', `${start}%`)))
					])
				);
			const day = sql<string>`substr(created_at, 1, 10)`;
			const days = await ended
				.select(({ fn }) => [day.as('day'), 'status', fn.countAll<number | string>().as('runs')])
				.groupBy([day, 'status'])
				.execute();
			const used = db
				.selectFrom('runs')
				.where('id', 'in', ended.select('run_id').where('run_id', 'is not', null))
				.where('model', '!=', BUILT_IN_MODEL)
				.select(['conversation_id', 'message_id'])
				.distinct();
			const answers = await db
				.selectFrom(used.as('used'))
				.innerJoin('messages', (join) =>
					join
						.onRef('messages.conversation_id', '=', 'used.conversation_id')
						.onRef('messages.id', '=', 'used.message_id')
				)
				.select(({ fn }) => [
					fn.countAll<number | string>().as('count'),
					fn.count<number | string>('cost').as('priced'),
					fn.sum<number | null>('cost').as('cost')
				])
				.executeTakeFirstOrThrow();
			return {
				days: days.map(({ runs, ...rest }) => ({ ...rest, runs: Number(runs) })),
				answers: { count: Number(answers.count), priced: Number(answers.priced), cost: answers.cost }
			};
		},

		/** Ends executions that a server start left unfinished as errors; by default those of all. Returns their number. */
		endUnfinished: (message: string, now: string, bootId?: string): Promise<number> =>
			db.transaction().execute((transaction) => {
				const narrow = (query: UnfinishedQuery) => (bootId === undefined ? query : query.where('boot_id', '=', bootId));
				return endExecutions(transaction, narrow, { message, now });
			})
	};
}

type UnfinishedQuery = SelectQueryBuilder<Database, 'skill_executions', { id: string }>;

/** Ends those of the unfinished executions that `narrow` leaves. Returns their number. */
export async function endExecutions(
	transaction: Transaction<Database>,
	narrow: (query: UnfinishedQuery) => UnfinishedQuery,
	{ message, now }: { message: string; now: string }
): Promise<number> {
	const unfinished = transaction
		.selectFrom('skill_executions')
		.select('id')
		.where('status', 'in', ['pending', 'running']);
	const ended = await transaction
		.updateTable('skill_executions')
		.set({ status: 'error', error_type: 'Cancelled', error_message: message, finished_at: now })
		.where('id', 'in', narrow(unfinished).orderBy('id').modifyEnd(locked(transaction)))
		.returning(['skill_id', 'session_id', 'created_at'])
		.execute();
	// In one order, so that two that count the same skills don't wait for each other.
	ended.sort((a, b) => (a.skill_id < b.skill_id ? -1 : 1));
	for (const row of ended) await count(transaction, row, true);
	return ended.length;
}

export type SkillExecutions = ReturnType<typeof createSkillExecutions>;

/** Unless another server start has taken the run over. Keeps it from doing so until the transaction ends. */
async function mayRunIn(transaction: Transaction<Database>, runId: string, bootId: string | null): Promise<boolean> {
	const query = transaction.selectFrom('runs').select('boot_id').where('id', '=', runId);
	const run = await (isPostgres(transaction) ? query.forShare() : query).executeTakeFirst();
	return run === undefined || bootId === null || run.boot_id === bootId;
}

async function count(
	transaction: Transaction<Database>,
	{ skill_id, session_id, created_at }: { skill_id: string; session_id: string | null; created_at: string },
	hasFailed: boolean
): Promise<void> {
	// Trying a draft is no use of a skill, nor are evals and test cases.
	if (!isInLibrary(skill_id) || isTest(session_id)) return;
	const failures = hasFailed ? 1 : 0;
	await transaction
		.insertInto('skill_usage')
		.values({ skill_id, executions: 1, failures, last_used_at: created_at })
		.onConflict((conflict) =>
			conflict.column('skill_id').doUpdateSet((eb) => ({
				executions: eb('skill_usage.executions', '+', 1),
				failures: eb('skill_usage.failures', '+', failures),
				// Executions can end in another order than they started.
				last_used_at: eb
					.case()
					.when('skill_usage.last_used_at', '>', created_at)
					.then(eb.ref('skill_usage.last_used_at'))
					.else(created_at)
					.end()
			}))
		)
		.execute();
}

/** Characters of each text that a search looks through. */
const SOUGHT = sql.lit(2000);
/** Of output: at its end, programs say why they failed. */
const END_OF_OUTPUT = sql`substr(output, case when length(output) > ${SOUGHT} then length(output) - ${SOUGHT} + 1 else 1 end)`;

function narrow<Selected>(
	query: SelectQueryBuilder<Database, 'skill_executions', Selected>,
	{ skill, status, apiKeyId, conversationId, text, since, until }: ExecutionFilter
) {
	let found = query;
	if (skill !== undefined)
		found = found.where(({ or, eb }) => or([eb('skill_id', '=', skill), eb('skill', '=', skill)]));
	if (status === 'denied') found = found.where('error_type', '=', 'ApprovalDenied');
	else if (status === 'failed')
		found = found
			.where('status', '=', 'error')
			.where(({ or, eb }) => or([eb('error_type', 'is', null), eb('error_type', 'not in', BY_PEOPLE)]));
	else if (status !== undefined) found = found.where('status', '=', status);
	if (apiKeyId !== undefined) found = found.where('api_key_id', '=', apiKeyId);
	if (conversationId !== undefined) found = found.where('conversation_id', '=', conversationId);
	if (text !== undefined) {
		// Arguments and inputs are stored as JSON.
		const written = [text, JSON.stringify(text).slice(1, -1)];
		const [plain, inJson] = written.map((each) => `%${each.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`);
		// Their beginning: a pattern takes long on what repeats itself, and arguments may have megabytes.
		found = found.where(
			sql<boolean>`(lower(skill) like ${plain} escape '!' or lower(substr(coalesce(script, ''), 1, ${SOUGHT})) like ${plain} escape '!'
				or lower(substr(coalesce(tool, ''), 1, ${SOUGHT})) like ${plain} escape '!' or lower(substr(argv, 1, ${SOUGHT})) like ${inJson} escape '!'
				or lower(substr(coalesce(input, ''), 1, ${SOUGHT})) like ${inJson} escape '!'
				or lower(substr(coalesce(error_message, ''), 1, ${SOUGHT})) like ${plain} escape '!'
				or (status = 'error' and lower(${END_OF_OUTPUT}) like ${plain} escape '!'))`
		);
	}
	if (since !== undefined) found = found.where('created_at', '>=', since);
	if (until !== undefined) found = found.where('created_at', '<', until);
	return found;
}

function toExecution(row: Selectable<SkillExecutionsTable>): SkillExecution {
	return {
		id: row.id,
		skillId: row.skill_id,
		skill: row.skill,
		version: row.version,
		tool: row.tool,
		script: row.script,
		argv: JSON.parse(row.argv) as string[],
		input: row.input,
		digest: row.digest,
		sandbox: row.sandbox,
		limits: JSON.parse(row.limits) as Record<string, number>,
		status: row.status,
		errorType: row.error_type,
		errorMessage: row.error_message,
		exitCode: row.exit_code,
		stdoutBytes: row.stdout_bytes,
		stderrBytes: row.stderr_bytes,
		output: row.output,
		durationMs: row.duration_ms,
		files: row.files ? (JSON.parse(row.files) as SkillExecution['files']) : [],
		refused: row.refused ? (JSON.parse(row.refused) as string[]) : [],
		missing: row.missing ? (JSON.parse(row.missing) as SkillExecution['missing']) : null,
		conversationId: row.conversation_id,
		runId: row.run_id,
		toolCallId: row.tool_call_id,
		apiKeyId: row.api_key_id,
		sessionId: row.session_id,
		createdAt: row.created_at,
		finishedAt: row.finished_at
	};
}

// Saved test runs of skills (F6).

export function createSkillCases(db: Kysely<Database>) {
	return {
		async add({ id, skillId, createdAt, ...body }: Omit<SkillCase, 'lastRun'>): Promise<void> {
			await db
				.insertInto('skill_cases')
				.values({ id, skill_id: skillId, body: JSON.stringify(body), created_at: createdAt })
				.execute();
		},

		async get(id: string): Promise<SkillCase | null> {
			const row = await db.selectFrom('skill_cases').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toCase(row) : null;
		},

		/** Oldest first. `skillId`: `source/name`. */
		async list(skillId: string): Promise<SkillCase[]> {
			const rows = await db
				.selectFrom('skill_cases')
				.selectAll()
				.where('skill_id', '=', skillId)
				.orderBy('created_at')
				.orderBy('id')
				.execute();
			return rows.map(toCase);
		},

		async setLastRun(id: string, lastRun: NonNullable<SkillCase['lastRun']>): Promise<void> {
			await db
				.updateTable('skill_cases')
				.set({ last_run: JSON.stringify(lastRun) })
				.where('id', '=', id)
				.execute();
		},

		/** False if not found. */
		remove: (id: string): Promise<boolean> => hasEffect(db.deleteFrom('skill_cases').where('id', '=', id))
	};
}

export type SkillCases = ReturnType<typeof createSkillCases>;

function toCase(row: Selectable<SkillCasesTable>): SkillCase {
	type Body = Omit<SkillCase, 'id' | 'skillId' | 'createdAt' | 'lastRun' | 'files'> & Partial<Pick<SkillCase, 'files'>>;
	const body = JSON.parse(row.body) as Body;
	const lastRun = row.last_run === null ? null : (JSON.parse(row.last_run) as SkillCase['lastRun']);
	const { files = [] } = body;
	return { id: row.id, skillId: row.skill_id, ...body, files, createdAt: row.created_at, lastRun };
}
