/** Scripts that wait for workers, run there and come back (Postgres only). The queue itself is pg-boss. */
import { CompiledQuery, type Kysely, sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { parseJson } from '../../shared/json.ts';
import type { Database } from './schema.ts';
import { withStorageErrors } from './errors.ts';

export interface NewScriptJob {
	/** UUID. */
	id: string;
	serverId: string;
	/** null, or any id: only one in `runs` counts. */
	runId: string | null;
	owner: string;
	/** What to run; only workers can read it. */
	sealed: string;
}

export interface TakenScriptJob {
	id: string;
	serverId: string;
	sealed: string;
}

/** `gone`: nobody will run it, or it's unknown. */
export type ScriptJobState = 'queued' | 'running' | 'ended' | 'lost' | 'gone';

export interface ScriptJobNews {
	state: ScriptJobState;
	/** Batches of output, in order. */
	output: { n: number; texts: string }[];
	result: string | null;
}

/** What a worker says of itself; one of another version may say something else. */
const workerFacts = z.object({
	host: z.string(),
	pid: z.number(),
	/** Scripts at once. */
	slots: z.number(),
	sandbox: z.string(),
	/** See SandboxIsolation. */
	isolation: z.record(z.string(), z.boolean())
});

export type WorkerFacts = z.infer<typeof workerFacts>;

export interface WorkerCounts extends WorkerFacts {
	id: string;
	running: number;
}

export interface ScriptCounts {
	queued: number;
	running: number;
	/** Of the script that has waited longest, in milliseconds. */
	longestWaitMs: number;
	workers: WorkerCounts[];
}

const QUEUE = 'scripts';
/** Nothing runs twice. What is left by a crash goes by itself. */
const OPTIONS = { retryLimit: 0, expireInSeconds: 3600, retentionSeconds: 3600, deleteAfterSeconds: 60 };
/**
 * Owners take turns: each script of an owner that waits or runs puts the next one so far back in the queue. Whoever has
 * waited for longer comes first all the same, so nobody is overtaken for ever.
 */
const BACK_SECONDS = 60;
/** Priorities have 32 bits. */
const FIRST = sql`timestamptz '2026-01-01Z'`;
/** One server or worker at a time prepares the queue's tables; the others wait as long as it takes. */
const PREPARES = [sql`set local lock_timeout = 0`, sql`select pg_advisory_xact_lock(7, 0)`];

const LIVES = sql`exists (select 1 from replicas where replicas.id = script_jobs.server_id)`;
/** A run that another server has taken over, or that has ended, runs nothing. */
const IS_OWN = sql`(run_id is null or exists (select 1 from runs
	where runs.id = script_jobs.run_id and runs.state = 'running' and runs.epoch = script_jobs.epoch))`;

/** `isWorker`: it also looks after the queue. */
export async function openScriptJobs(db: Kysely<Database>, { isWorker = false } = {}) {
	const boss = await openBoss(db, isWorker);
	const forget = (on: Kysely<Database>, ids: readonly string[]) =>
		ids.length === 0 ? undefined : boss.deleteJob(QUEUE, [...ids], { db: databaseOf(on) });

	const jobs = {
		/** False if the run isn't the server's any more. */
		add: ({ id, serverId, runId, owner, sealed }: NewScriptJob): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				const { rows } = await sql<{ ahead: number; second: number }>`
					insert into script_jobs (id, server_id, run_id, epoch, owner, state, created_at)
					select ${id}, ${serverId}, run.id, run.epoch, ${owner}, 'queued', now()
					from (select 1) as one left join runs as run on run.id = ${runId}
					where run.id is null or (run.state = 'running' and run.boot_id = ${serverId})
					returning extract(epoch from now() - ${FIRST})::int as second,
						(select count(*)::int from script_jobs where owner = ${owner} and state in ('queued', 'running')) as ahead`.execute(
					transaction
				);
				const [added] = rows;
				if (!added) return false;
				const options = {
					...OPTIONS,
					id,
					priority: -(added.second + added.ahead * BACK_SECONDS),
					db: databaseOf(transaction)
				};
				await boss.send(QUEUE, { sealed }, options);
				return true;
			}),

		/** The next one for a worker; null if none waits. `except`: servers that have stopped. */
		async take(workerId: string, except: readonly string[] = []): Promise<TakenScriptJob | null> {
			for (;;) {
				const taken = await db.transaction().execute(async (transaction) => {
					// Others would wait for ever for a worker that nobody knows.
					const known = await sql`select 1 from replicas where id = ${workerId} for key share`.execute(transaction);
					if (known.rows.length === 0) return { job: null, isLast: true };
					const [next] = await boss.fetch<{ sealed?: unknown } | null>(QUEUE, { db: databaseOf(transaction) });
					if (!next) return { job: null, isLast: true };
					const { rows } = await sql<{ serverId: string }>`
						update script_jobs set state = 'running', worker_id = ${workerId}
						where id = ${next.id} and state = 'queued' and server_id <> all(${except}::text[]) and ${LIVES} and ${IS_OWN}
						returning server_id as "serverId"`.execute(transaction);
					const [row] = rows;
					// Whatever it is, it must not stay in front of the others.
					const sealed = String(next.data?.sealed ?? '');
					if (row) return { job: { id: next.id, serverId: row.serverId, sealed }, isLast: true };
					await forget(transaction, [next.id]);
					await sql`delete from script_jobs where id = ${next.id} and state = 'queued'`.execute(transaction);
					return { job: null, isLast: false };
				});
				if (taken.job || taken.isLast) return taken.job;
			}
		},

		/** Takes it out of the queue. False if it has begun, or isn't there. */
		withdraw: (id: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				// In the order of `take`.
				const waits = sql<{ id: string }>`select id from script_jobs where id = ${id} and state = 'queued'`;
				if ((await waits.execute(transaction)).rows.length === 0) return false;
				await forget(transaction, [id]);
				const { numAffectedRows = 0n } =
					await sql`delete from script_jobs where id = ${id} and state = 'queued'`.execute(transaction);
				return numAffectedRows > 0n;
			}),

		/** Leaves a wish for the worker that runs it; `kill` replaces `abort`. */
		async want(id: string, want: 'abort' | 'kill'): Promise<void> {
			await sql`
				update script_jobs set wants = ${want}
				where id = ${id} and state = 'running' and (wants is null or ${want} = 'kill')`.execute(db);
		},

		/** What has happened to jobs since the last batch of output that the server knows. */
		async news(known: ReadonlyMap<string, number>): Promise<Map<string, ScriptJobNews>> {
			const [ids, after] = [[...known.keys()], [...known.values()]];
			// The state first: output is complete when a job has ended.
			const states = await sql<{ id: string; state: ScriptJobState; result: string | null }>`
				select id, case when state = 'running' and not exists (select 1 from replicas where replicas.id = worker_id)
					then 'lost' else state end as state, result
				from script_jobs where id = any(${ids}::text[])`.execute(db);
			const { rows } = await sql<{ id: string; n: number; texts: string }>`
				select job_id as id, n, texts from script_output
				join unnest(${ids}::text[], ${after}::int[]) as known (id, after) on job_id = known.id and n > known.after
				order by job_id, n`.execute(db);
			const found = new Map<string, ScriptJobNews>(ids.map((id) => [id, { state: 'gone', output: [], result: null }]));
			for (const { id, state, result } of states.rows) found.set(id, { state, result, output: [] });
			for (const { id, n, texts } of rows) found.get(id)?.output.push({ n, texts });
			return found;
		},

		/** Once the server has its result. */
		async remove(ids: readonly string[]): Promise<void> {
			await sql`delete from script_jobs where id in (
				select id from script_jobs where id = any(${ids}::text[]) order by id for update)`.execute(db);
		},

		/** Output of jobs that are still the worker's. */
		async write(workerId: string, batches: readonly { id: string; n: number; texts: string }[]): Promise<void> {
			await sql`
				insert into script_output (job_id, n, texts)
				select batch.id, batch.n, batch.texts
				from unnest(${batches.map(({ id }) => id)}::text[], ${batches.map(({ n }) => n)}::int[],
					${batches.map(({ texts }) => texts)}::text[]) as batch (id, n, texts)
				join script_jobs on script_jobs.id = batch.id and worker_id = ${workerId} and state = 'running'
				order by batch.id for key share of script_jobs
				on conflict do nothing`.execute(db);
		},

		/** Ends a job of the worker. */
		finish: (id: string, workerId: string, result: string): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				await forget(transaction, [id]);
				await sql`
					update script_jobs set state = 'ended', result = ${result}
					where id = ${id} and worker_id = ${workerId} and state = 'running'`.execute(transaction);
			}),

		/**
		 * Jobs that are still the worker's: `null` goes on. Who has asked for it may be gone, or its run may be another server's:
		 * then `kill`.
		 */
		async ofWorker(workerId: string): Promise<Map<string, 'abort' | 'kill' | null>> {
			const { rows } = await sql<{ id: string; serverId: string; wants: 'abort' | 'kill' | null }>`
				select id, case when ${LIVES} and ${IS_OWN} then wants else 'kill' end as wants
				from script_jobs where worker_id = ${workerId} and state = 'running'`.execute(db);
			return new Map(rows.map(({ id, wants }) => [id, wants]));
		},

		/** Cleans up after a worker or server that has stopped. Returns ids of jobs whose servers have to know. */
		clear: (gone: string): Promise<string[]> =>
			db.transaction().execute(async (transaction) => {
				const { rows: left } = await sql<{ id: string }>`
					select id from script_jobs where server_id = ${gone} and state <> 'running' or worker_id = ${gone}`.execute(
					transaction
				);
				await forget(
					transaction,
					left.map(({ id }) => id)
				);
				const { rows: lost } = await sql<{ id: string }>`
					update script_jobs set state = 'lost' where id in (
						select id from script_jobs where worker_id = ${gone} and state = 'running' order by id for no key update)
					returning id`.execute(transaction);
				await sql`delete from script_jobs where id in (
					select id from script_jobs where state <> 'running' and not ${LIVES} order by id for update)`.execute(transaction);
				await sql`delete from script_workers where id = ${gone}`.execute(transaction);
				return lost.map(({ id }) => id);
			}),

		/** Says that the worker is there. */
		async present(id: string, facts: WorkerFacts): Promise<void> {
			await sql`
				insert into script_workers (id, facts, started_at) values (${id}, ${JSON.stringify(facts)}, now())
				on conflict (id) do nothing`.execute(db);
		},

		/** What there is to do, and who works. */
		async counts(): Promise<ScriptCounts> {
			const { rows } = await sql<{ queued: number; running: number; longestWaitMs: number }>`
				select count(*) filter (where state = 'queued') as queued, count(*) filter (where state = 'running') as running,
					coalesce(extract(epoch from now() - min(created_at) filter (where state = 'queued')) * 1000, 0)::float8
						as "longestWaitMs"
				from script_jobs`.execute(db);
			const { rows: workers } = await sql<{ id: string; facts: string; running: number }>`
				select script_workers.id, facts,
					(select count(*) from script_jobs where worker_id = script_workers.id and state = 'running') as running
				from script_workers join replicas on replicas.id = script_workers.id order by script_workers.started_at`.execute(db);
			const { queued = 0, running = 0, longestWaitMs = 0 } = rows[0] ?? {};
			return {
				...{ queued, running, longestWaitMs: Math.round(longestWaitMs) },
				workers: workers.flatMap(({ id, running: scripts, facts }) => {
					const { data } = workerFacts.safeParse(parseJson(facts));
					return data ? [{ ...data, id, running: scripts }] : [];
				})
			};
		}
	};
	return { ...withStorageErrors(jobs), close: () => boss.stop({ graceful: false, close: false }) };
}

export type ScriptJobs = Awaited<ReturnType<typeof openScriptJobs>>;

async function openBoss(db: Kysely<Database>, isWorker: boolean): Promise<PgBoss> {
	const { PgBoss } = await import('pg-boss');
	const boss = new PgBoss({ db: databaseOf(db), supervise: isWorker, schedule: false, reindex: false });
	// Its own chores; what we ask of it rejects.
	boss.on('error', () => undefined);
	await db.transaction().execute(async (transaction) => {
		for (const statement of PREPARES) await statement.execute(transaction);
		await boss.start();
		await boss.createQueue(QUEUE, OPTIONS);
	});
	return boss;
}

/** Its statements go through our connections. */
function databaseOf(on: Kysely<Database>) {
	return {
		async executeSql(text: string, values: readonly unknown[] = []) {
			const { rows } = await on.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...values]));
			return { rows: [...rows] };
		}
	};
}
