/** Several servers on one Postgres: who owns a run and for how long, who goes on with it, and what others ask of its owner. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { RunEvent } from '../../../shared/events.ts';
import type { Message } from '../../../shared/message.ts';
import { type Database, hasEffect } from '../schema.ts';
import { endExecutions } from '../skills/skill-executions.ts';
import { appendItems, findMessage, setItems } from './messages.ts';
import {
	createRunEventWriter,
	findRun,
	readLogEvents,
	RUN_COLUMNS,
	type RunRecord,
	type StoredEvent,
	toStoredEvent
} from './runs.ts';

/** How long a run stays its owner's without a renewal. */
export const LEASE_MS = 5000;
/** By the database's clock, the only one that counts. */
export const LEASED = sql<string>`now() + make_interval(secs => ${sql.lit(LEASE_MS / 1000)})`;

/** Ends the leases of a server's runs. Returns their number. */
export async function endLeases(db: Kysely<Database>, bootId: string, and = sql``): Promise<number> {
	const ended = await sql`update runs set lease_until = '-infinity' ${and} where id in (${ownRuns(bootId)})`.execute(
		db
	);
	return Number(ended.numAffectedRows ?? 0);
}

/** A server's runs, which are locked in one order: others change several, too. */
function ownRuns(bootId: string, which = sql``) {
	return sql`select id from runs where state = 'running' and boot_id = ${bootId} ${which} order by id for no key update`;
}

/** What another server asks of a run's owner. */
export type RunWant = { kind: 'stop' } | { kind: 'yield' } | { kind: 'reply'; id: string; reply: unknown };

/** A run whose owner is gone, for the one that goes on with it. */
export interface LapsedRun extends RunRecord {
	/** JSON of the RunRequest. */
	request: string | null;
	/** How often its owner has changed before. */
	takeovers: number;
	/** The answer as it was stored when the run began. */
	answer: Message | null;
	/** The model's items so far. */
	items: readonly unknown[];
	/** All its events. */
	events: AsyncIterable<RunEvent>;
}

/** What is written when a run is taken over. */
export interface TakenRun {
	/** After the last stored ones. */
	events: readonly RunEvent[];
	/** `replace` forgets those that were there. */
	items: { items: readonly unknown[]; mode: 'append' | 'replace' };
}

/** Events of a run that came after a known one, and whether there will be more. */
export interface RunNews {
	events: StoredEvent[];
	isRunning: boolean;
	/** The last stored event. */
	lastSeq: number;
}

const EVENTS_PER_READ = { limit: 1000, maxBytes: 1024 * 1024 };

export function createOwnership(db: Kysely<Database>) {
	const writer = createRunEventWriter(db);

	/** Reads the log in pages. */
	async function* logOf(transaction: Transaction<Database>, { id, lastSeq }: RunRecord): AsyncGenerator<RunEvent> {
		for (let after = 0; after < lastSeq;) {
			const page = await readLogEvents(transaction, { log: 'run_events', id }, { after, ...EVENTS_PER_READ });
			for (const { data } of page) yield JSON.parse(data) as RunEvent;
			after = page.at(-1)?.seq ?? lastSeq;
		}
	}

	return {
		/** Renews the leases of these runs. Returns the ids of those that are still the server’s own. */
		async renew(bootId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
			const { rows } = await sql<{ id: string }>`
				update runs set lease_until = ${LEASED}
				where id in (${ownRuns(bootId, sql`and id = any(${ids}::text[])`)}) returning id`.execute(db);
			return new Set(rows.map(({ id }) => id));
		},

		/**
		 * Hands a server’s runs over: the first server that sees it goes on, and no run is to blame for the stop. Returns
		 * their number.
		 */
		release: (bootId: string): Promise<number> =>
			// Whoever claims one counts up again.
			endLeases(db, bootId, sql`, takeovers = takeovers - 1`),

		/**
		 * Takes over one run whose lease has ended, and writes in the same transaction what `take` says. Executions of its scripts
		 * end as cancelled. `except`: ids of runs to leave. Null if there is none.
		 */
		claim: (
			bootId: string,
			{ except, now, take }: { except: readonly string[]; now: string; take(run: LapsedRun): Promise<TakenRun> }
		): Promise<{ run: RunRecord; request: string | null; takeovers: number } | null> =>
			db.transaction().execute(async (transaction) => {
				const lapsed = await transaction
					.selectFrom('runs')
					.select([...RUN_COLUMNS, 'request', 'takeovers'])
					.where('state', '=', 'running')
					.where('lease_until', '<', sql<string>`now()`)
					.$if(except.length > 0, (query) => query.where('id', 'not in', except))
					.orderBy('lease_until')
					.limit(1)
					.forUpdate()
					.skipLocked()
					.executeTakeFirst();
				if (!lapsed) return null;
				const { id, conversationId, messageId, request, takeovers } = lapsed;
				const epoch = lapsed.epoch + 1;
				await transaction
					.updateTable('runs')
					.set({ epoch, boot_id: bootId, takeovers: takeovers + 1, lease_until: LEASED })
					.where('id', '=', id)
					.execute();
				const answer = await findMessage(transaction, conversationId, messageId);
				const items = await setItems(transaction, conversationId, messageId);
				const taken = await take({ ...lapsed, answer, items: items.stored, events: logOf(transaction, lapsed) });
				const events = taken.events.map((event, index) => ({
					seq: lapsed.lastSeq + 1 + index,
					data: JSON.stringify(event)
				}));
				await writer.advanceIn(transaction, [{ runId: id, events, epoch }]);
				if (taken.items.mode === 'replace') await items.replace(taken.items.items);
				else await appendItems(transaction, { conversationId, messageId, items: taken.items.items });
				const message = 'The server stopped while this was running.';
				await endExecutions(transaction, (query) => query.where('run_id', '=', id), { message, now });
				const run = await findRun(transaction, id);
				return run && { run, request, takeovers: takeovers + 1 };
			}),

		/** Leaves a wish for the run’s owner. False if it isn’t running. */
		async want(runId: string, want: RunWant): Promise<boolean> {
			return hasEffect(
				db
					.updateTable('runs')
					.set({ wants: sql<string>`(coalesce(wants, '[]')::jsonb || ${JSON.stringify([want])}::jsonb)::text` })
					.where('id', '=', runId)
					.where('state', '=', 'running')
			);
		},

		/** The wishes of others about a server’s runs, each once. */
		async takeWants(bootId: string): Promise<Map<string, RunWant[]>> {
			const { rows } = await sql<{ id: string; wants: string }>`
				with asked as (
					select id, wants from runs
					where state = 'running' and boot_id = ${bootId} and wants is not null order by id for no key update
				)
				update runs set wants = null from asked where runs.id = asked.id returning asked.id, asked.wants`.execute(db);
			return new Map(rows.map(({ id, wants }) => [id, JSON.parse(wants) as RunWant[]]));
		},

		/** Events of several runs after a known one each, in one statement; without an entry for runs that are gone. */
		async readNews(cursors: readonly { id: string; after: number }[], limit: number): Promise<Map<string, RunNews>> {
			const { rows } = await sql<StoredEvent & { id: string; state: string; lastSeq: number }>`
				select runs.id, runs.state, runs.last_seq as "lastSeq", event.seq, event.data, event.epoch
				from unnest(${cursors.map(({ id }) => id)}::text[], ${cursors.map(({ after }) => after)}::int[]) as known(id, after)
				join runs on runs.id = known.id
				left join lateral (
					select seq, data, epoch from run_events
					where run_id = known.id and seq > known.after order by seq limit ${limit}
				) as event on true
				order by runs.id, event.seq`.execute(db);
			const news = new Map<string, RunNews>();
			for (const { id, state, lastSeq, ...event } of rows) {
				const one = news.get(id) ?? { events: [], isRunning: state === 'running', lastSeq };
				news.set(id, one);
				// A run without new events has a row, too.
				if (event.seq !== null) one.events.push(toStoredEvent(event));
			}
			return news;
		},

		/** The last stored event that was written up to this epoch; 0 if there is none. */
		async lastSeqIn(runId: string, epoch: number): Promise<number> {
			const row = await db
				.selectFrom('run_events')
				.select('seq')
				.where('run_id', '=', runId)
				.where('epoch', '<=', epoch)
				.orderBy('seq', 'desc')
				.limit(1)
				.executeTakeFirst();
			return row?.seq ?? 0;
		}
	};
}

export type RunOwnership = ReturnType<typeof createOwnership>;
