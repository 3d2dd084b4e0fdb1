/** Eval runs (FEATURES F16) and saved test runs of skills (FEATURES F6). */
import type { Kysely, Selectable } from 'kysely';
import type { EvalRun, SkillCase } from '../../../shared/try-out.ts';
import { type Database, hasEffect, type SkillCasesTable } from '../schema.ts';

export interface EvalRuns {
	/** Adds or updates the run. */
	put(run: EvalRun): Promise<void>;
	get(id: string): Promise<EvalRun | null>;
	/** Newest first. `skillId`: `source/name`. */
	list(skillId: string, limit: number): Promise<EvalRun[]>;
	/** Keeps only the newest `kept` runs of a skill. */
	removeOlder(skillId: string, kept: number): Promise<void>;
	/** Ends runs left running by an earlier server start. Returns their number. */
	endUnfinished(error: string, now: string): Promise<number>;
}

export function createEvalRuns(db: Kysely<Database>): EvalRuns {
	const put = async (run: EvalRun): Promise<void> => {
		const columns = { state: run.state, body: JSON.stringify(run) };
		await db
			.insertInto('eval_runs')
			.values({ id: run.id, skill_id: run.skillId, started_at: run.startedAt, ...columns })
			.onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
			.execute();
	};
	return {
		put,

		async get(id) {
			const row = await db.selectFrom('eval_runs').select('body').where('id', '=', id).executeTakeFirst();
			return row ? (JSON.parse(row.body) as EvalRun) : null;
		},

		async list(skillId, limit) {
			const rows = await db
				.selectFrom('eval_runs')
				.select('body')
				.where('skill_id', '=', skillId)
				.orderBy('started_at', 'desc')
				.orderBy('id')
				.limit(limit)
				.execute();
			return rows.map(({ body }) => JSON.parse(body) as EvalRun);
		},

		async removeOlder(skillId, kept) {
			const newest = db
				.selectFrom('eval_runs')
				.select('id')
				.where('skill_id', '=', skillId)
				.orderBy('started_at', 'desc')
				.orderBy('id')
				.limit(kept);
			await db.deleteFrom('eval_runs').where('skill_id', '=', skillId).where('id', 'not in', newest).execute();
		},

		async endUnfinished(error, now) {
			const rows = await db.selectFrom('eval_runs').select('body').where('state', '=', 'running').execute();
			for (const { body } of rows) {
				await put({ ...(JSON.parse(body) as EvalRun), state: 'failed', error, finishedAt: now });
			}
			return rows.length;
		}
	};
}

export interface SkillCases {
	add(entry: Omit<SkillCase, 'lastRun'>): Promise<void>;
	get(id: string): Promise<SkillCase | null>;
	/** Oldest first. `skillId`: `source/name`. */
	list(skillId: string): Promise<SkillCase[]>;
	setLastRun(id: string, lastRun: NonNullable<SkillCase['lastRun']>): Promise<void>;
	/** False if not found. */
	remove(id: string): Promise<boolean>;
}

export function createSkillCases(db: Kysely<Database>): SkillCases {
	return {
		async add({ id, skillId, createdAt, ...body }) {
			await db
				.insertInto('skill_cases')
				.values({ id, skill_id: skillId, body: JSON.stringify(body), created_at: createdAt })
				.execute();
		},

		async get(id) {
			const row = await db.selectFrom('skill_cases').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toCase(row) : null;
		},

		async list(skillId) {
			const rows = await db
				.selectFrom('skill_cases')
				.selectAll()
				.where('skill_id', '=', skillId)
				.orderBy('created_at')
				.orderBy('id')
				.execute();
			return rows.map(toCase);
		},

		async setLastRun(id, lastRun) {
			await db
				.updateTable('skill_cases')
				.set({ last_run: JSON.stringify(lastRun) })
				.where('id', '=', id)
				.execute();
		},

		remove: (id) => hasEffect(db.deleteFrom('skill_cases').where('id', '=', id))
	};
}

function toCase(row: Selectable<SkillCasesTable>): SkillCase {
	const body = JSON.parse(row.body) as Omit<SkillCase, 'id' | 'skillId' | 'createdAt' | 'lastRun'>;
	const lastRun = row.last_run === null ? null : (JSON.parse(row.last_run) as SkillCase['lastRun']);
	return { id: row.id, skillId: row.skill_id, ...body, createdAt: row.created_at, lastRun };
}
