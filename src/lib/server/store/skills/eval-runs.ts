/** Runs of skills' evals and their answers (F16). */
import type { Kysely } from 'kysely';
import type { EvalAnswer, EvalRun, EvalRunSummary } from '../../../shared/try-out.ts';
import { locked } from '../locks.ts';
import { type Database, hasEffect } from '../schema.ts';

export function createEvalRuns(db: Kysely<Database>) {
	const put = async (run: EvalRun, on: Kysely<Database> = db, bootId?: string): Promise<void> => {
		const results = run.results.map((result) => ({ ...result, answers: undefined }));
		const columns = { state: run.state, body: JSON.stringify({ ...run, results }) };
		await on
			.insertInto('eval_runs')
			.values({ id: run.id, skill_id: run.skillId, started_at: run.startedAt, boot_id: bootId ?? null, ...columns })
			.onConflict((conflict) =>
				conflict
					.column('id')
					.doUpdateSet({ ...columns, ...(bootId !== undefined && { boot_id: bootId, stop_wanted: 0 }) })
			)
			.execute();
	};
	return {
		/** Adds or updates the run without its answers. `bootId`: the server start that goes on with it. */
		put: (run: EvalRun, bootId?: string): Promise<void> => put(run, db, bootId),

		/** Adds a run with all its answers, which are never used again. Twice is once. */
		async putWhole(run: EvalRun, now: string): Promise<void> {
			const rows = run.results.flatMap(({ id, answers }) =>
				answers.map((answer) => ({
					...{ run_id: run.id, case_id: id, side: answer.side, round: answer.round, key: null },
					...{ body: JSON.stringify(answer), created_at: now }
				}))
			);
			await db.transaction().execute(async (transaction) => {
				await put(run, transaction);
				await transaction.deleteFrom('eval_answers').where('run_id', '=', run.id).execute();
				for (const row of rows) await transaction.insertInto('eval_answers').values(row).execute();
			});
		},

		/** Adds an answer, or replaces the one in its place, and updates the run. `key`: what it answers; null never to reuse it. */
		async putAnswer(
			run: EvalRun,
			{ caseId, answer, key, now }: { caseId: string; answer: EvalAnswer; key: string | null; now: string }
		): Promise<void> {
			const { side, round } = answer;
			const columns = { key, body: JSON.stringify(answer), created_at: now };
			await db.transaction().execute(async (transaction) => {
				// First, as elsewhere: it locks the run.
				await put(run, transaction);
				await transaction
					.insertInto('eval_answers')
					.values({ run_id: run.id, case_id: caseId, side, round, ...columns })
					.onConflict((conflict) => conflict.columns(['run_id', 'case_id', 'side', 'round']).doUpdateSet(columns))
					.execute();
			});
		},

		/** The newest answer with this key, of any run. */
		async findAnswer(key: string): Promise<EvalAnswer | null> {
			const row = await db
				.selectFrom('eval_answers')
				.select('body')
				.where('key', '=', key)
				.orderBy('created_at', 'desc')
				.limit(1)
				.executeTakeFirst();
			return row ? (JSON.parse(row.body) as EvalAnswer) : null;
		},

		async get(id: string): Promise<EvalRun | null> {
			const row = await db.selectFrom('eval_runs').select('body').where('id', '=', id).executeTakeFirst();
			if (!row) return null;
			const run = JSON.parse(row.body) as EvalRun;
			const rows = await db
				.selectFrom('eval_answers')
				.select(['case_id', 'body'])
				.where('run_id', '=', id)
				.orderBy('case_id')
				.orderBy('round')
				.orderBy('side')
				.execute();
			const answers = Map.groupBy(rows, ({ case_id }) => case_id);
			const results = run.results.map((result) => ({
				...result,
				answers: (answers.get(result.id) ?? []).map(({ body }) => JSON.parse(body) as EvalAnswer)
			}));
			return { ...run, results };
		},

		/** Newest first. `skillId`: `source/name`. */
		async list(skillId: string, limit: number): Promise<EvalRunSummary[]> {
			const rows = await db
				.selectFrom('eval_runs')
				.select('body')
				.where('skill_id', '=', skillId)
				.orderBy('started_at', 'desc')
				.orderBy('id')
				.limit(limit)
				.execute();
			return rows.map(({ body }) => {
				const { results: _, ...summary } = JSON.parse(body) as EvalRun;
				return summary;
			});
		},

		/** Keeps only the newest `kept` runs of a skill. */
		async removeOlder(skillId: string, kept: number): Promise<void> {
			const newest = db
				.selectFrom('eval_runs')
				.select('id')
				.where('skill_id', '=', skillId)
				.orderBy('started_at', 'desc')
				.orderBy('id')
				.limit(kept);
			await db.transaction().execute(async (transaction) => {
				const all = transaction.selectFrom('eval_runs').select('id').where('skill_id', '=', skillId);
				const older = all.where('id', 'not in', newest).orderBy('id').modifyEnd(locked(transaction, 'update'));
				const removed = await transaction.deleteFrom('eval_runs').where('id', 'in', older).returning('id').execute();
				const ids = removed.map(({ id }) => id);
				if (ids.length > 0) await transaction.deleteFrom('eval_answers').where('run_id', 'in', ids).execute();
			});
		},

		/** Whether another server start is running evals of the skill. */
		async isRunningElsewhere(skillId: string, bootId: string): Promise<boolean> {
			const running = db.selectFrom('eval_runs').select('id').where('skill_id', '=', skillId);
			const others = running.where('state', '=', 'running').where('boot_id', '!=', bootId);
			return (await others.executeTakeFirst()) !== undefined;
		},

		async isRunning(id: string): Promise<boolean> {
			const run = db.selectFrom('eval_runs').select('id').where('id', '=', id).where('state', '=', 'running');
			return (await run.executeTakeFirst()) !== undefined;
		},

		/** Asks the server start that runs it to stop. False if it isn't running. */
		wantStop: (id: string): Promise<boolean> =>
			hasEffect(
				db.updateTable('eval_runs').set({ stop_wanted: 1 }).where('id', '=', id).where('state', '=', 'running')
			),

		/** Ids of the runs that this server start is asked to stop. */
		async stopsWanted(bootId: string): Promise<string[]> {
			const wanted = db.selectFrom('eval_runs').select('id').where('boot_id', '=', bootId).where('stop_wanted', '=', 1);
			return (await wanted.where('state', '=', 'running').execute()).map(({ id }) => id);
		},

		/** Ends runs that a server start left running; by default those of all. Returns their number. */
		endUnfinished: (error: string, now: string, bootId?: string): Promise<number> =>
			db.transaction().execute(async (transaction) => {
				const all = transaction.selectFrom('eval_runs').select('body').where('state', '=', 'running').orderBy('id');
				const running = bootId === undefined ? all : all.where('boot_id', '=', bootId);
				const rows = await running.modifyEnd(locked(transaction)).execute();
				for (const { body } of rows) {
					await put({ ...(JSON.parse(body) as EvalRun), state: 'failed', error, finishedAt: now }, transaction);
				}
				return rows.length;
			})
	};
}

export type EvalRuns = ReturnType<typeof createEvalRuns>;
