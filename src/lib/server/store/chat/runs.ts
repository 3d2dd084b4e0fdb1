/** Runs and their numbered events: written in order, without gaps, only while the run is running. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { RunState } from '../../../shared/api.ts';
import type { ModelSpeed } from '../../../shared/models.ts';
import { type RunUsage, sumUsage, type TokenUsage } from '../../../shared/events.ts';
import type { Message } from '../../../shared/message.ts';
import { tokenUsage } from '../../../shared/message-schema.ts';
import { lockConversationOf } from '../locks.ts';
import { type Database, isPostgres, type RunsTable } from '../schema.ts';
import { type AnswerItems, appendItems, updateMessage } from './messages.ts';

/** `seq` counts from 1 without gaps; `data` is the JSON of a RunEvent. */
export interface StoredEvent {
	seq: number;
	data: string;
	/** The run's epoch in which it was written; absent: 1. */
	epoch?: number;
}

/** The run's answer, folded from all its events. */
export interface FoldedMessage {
	conversationId: string;
	message: Message;
}

export interface EventRange {
	/** Number of the last known event. */
	after: number;
	/** Maximum number of events. */
	limit: number;
	/** Maximum bytes of JSON, but at least one event. */
	maxBytes?: number;
}

export type RunEnd = Required<Pick<RunsTable, 'state' | 'error_code' | 'finished_at'>>;

/** New events of a run. */
export interface RunAdvance {
	runId: string;
	events: readonly StoredEvent[];
	items?: AnswerItems | undefined;
	/** In which the writer owns the run; default 1. */
	epoch?: number;
	/** Whether a question of a tool is open after these events. */
	isAsking?: boolean | undefined;
}

export interface RunResult {
	message?: FoldedMessage | undefined;
	used?: TokenUsage | undefined;
	speed?: RunUsage | undefined;
	/** The next message that waits is due. */
	sendsNext?: boolean | undefined;
}

/** Row counts of the prepared inserts: few statements are enough for any number of events. */
const ROWS = [128, 16, 4, 1] as const;

/** Compiles its statements once, because they run the most. */
export function createRunEventWriter(db: Kysely<Database>) {
	const addEvents = isPostgres(db) ? advanceAtOnce : createAdvance(db);
	const advance: Advance = async (transaction, advances) => {
		const gone = await addEvents(transaction, advances);
		for (const { runId, items } of advances) if (items && !gone.has(runId)) await appendItems(transaction, items);
		return gone;
	};
	const advanceOne = async (transaction: Transaction<Database>, one: RunAdvance): Promise<boolean> =>
		(await advance(transaction, [one])).size === 0;

	return {
		/**
		 * Writes events and items of several runs in one transaction, because one commit costs as much as many.
		 * Skips runs that aren't running or have another owner by now, and returns their ids.
		 *
		 * @throws {Error} if events don't follow the stored ones; then nothing is written.
		 */
		advanceAll: (advances: readonly RunAdvance[]): Promise<ReadonlySet<string>> =>
			db.transaction().execute((transaction) => advance(transaction, advances)),

		/** The same in a transaction that is under way. */
		advanceIn: advance,

		/** Writes the last events and items, the folded message and the end in one transaction, or nothing (false) if the run isn't running, or has another owner by now. */
		end: (last: RunAdvance, end: RunEnd, { message: folded, used, speed, sendsNext }: RunResult): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				await lockConversationOf(transaction, last.runId);
				// False if another writer has ended the run.
				if (!(await advanceOne(transaction, last))) return false;
				const ended = { ...end, ...speedColumns(speed) };
				await transaction.updateTable('runs').set(ended).where('id', '=', last.runId).execute();
				if (end.state !== 'cancelled') await markUnread(transaction, last.runId);
				const run = used && (await findRun(transaction, last.runId));
				if (run) await addUsage(transaction, run.conversationId, used);
				if (folded) await updateMessage(transaction, folded.conversationId, folded.message);
				if (sendsNext && folded) await markDue(transaction, folded.conversationId);
				return true;
			})
	};
}

/** Returns the ids of runs that it skipped. */
type Advance = (transaction: Transaction<Database>, advances: readonly RunAdvance[]) => Promise<ReadonlySet<string>>;

/** One run after the other: in SQLite, a statement costs nothing but its work. */
function createAdvance(db: Kysely<Database>): Advance {
	const step = db
		.updateTable('runs')
		.set((runs) => ({ last_seq: runs('last_seq', '+', 0), asks: 0 }))
		.where('id', '=', '')
		.where('state', '=', 'running')
		.where('epoch', '=', 0)
		.returning('last_seq')
		.compile();
	const inserts = ROWS.map((count) => {
		const rows = Array.from({ length: count }, () => ({ run_id: '', seq: 0, data: '', epoch: 0 }));
		return { count, query: db.insertInto('run_events').values(rows).compile() };
	});
	return async (transaction, advances) => {
		const gone = new Set<string>();
		for (const { runId, events, epoch = 1, isAsking = false } of advances) {
			const parameters = [events.length, Number(isAsking), runId, 'running', epoch];
			const { rows } = await transaction.executeQuery<{ last_seq: number }>({ ...step, parameters });
			const [run] = rows;
			if (!run) {
				gone.add(runId);
				continue;
			}
			requireSuccession(runId, run.last_seq - events.length, events);
			let at = 0;
			for (const { count, query } of inserts) {
				for (; events.length - at >= count; at += count) {
					const values = events.slice(at, at + count).flatMap(({ seq, data }) => [runId, seq, data, epoch]);
					await transaction.executeQuery({ ...query, parameters: values });
				}
			}
		}
		return gone;
	};
}

/** All runs in one statement: in Postgres, each one costs a trip over the network. */
const advanceAtOnce: Advance = async (transaction, advances) => {
	const all = advances.flatMap(({ runId, events, epoch = 1 }) => events.map((event) => ({ runId, epoch, ...event })));
	const given = sql`unnest(
		${advances.map(({ runId }) => runId)}::text[], ${advances.map(({ epoch = 1 }) => epoch)}::int[],
		${advances.map(({ events }) => events[0]?.seq ?? 0)}::int[], ${advances.map(({ events }) => events.length)}::int[],
		${advances.map(({ isAsking = false }) => Number(isAsking))}::int[]
	) as given(id, epoch, first, count, asks)`;
	const isOwn = sql`runs.id = given.id and runs.state = 'running' and runs.epoch = given.epoch`;
	const { rows } = await sql<{ id: string }>`
		with own as (
			select runs.id, given.count, given.asks from runs, ${given}
			where ${isOwn} and (given.count = 0 or runs.last_seq = given.first - 1) order by runs.id for no key update of runs
		), advanced as (
			update runs set last_seq = last_seq + own.count, asks = own.asks from own where runs.id = own.id returning runs.id
		), added as (
			insert into run_events (run_id, seq, data, epoch)
			select event.id, event.seq, event.data, event.epoch from unnest(
				${all.map(({ runId }) => runId)}::text[], ${all.map(({ seq }) => seq)}::int[],
				${all.map(({ data }) => data)}::text[], ${all.map(({ epoch }) => epoch)}::int[]
			) as event(id, seq, data, epoch) join advanced on advanced.id = event.id
		)
		select id from advanced`.execute(transaction);
	const advanced = new Set(rows.map(({ id }) => id));
	const rest = advances.filter(({ runId }) => !advanced.has(runId));
	if (rest.length > 0) {
		// Its own, but not advanced: the events don't follow.
		const own = await sql<{ id: string; last_seq: number }>`
			select runs.id, runs.last_seq from runs, ${given} where ${isOwn}`.execute(transaction);
		const lasts = new Map(own.rows.map(({ id, last_seq }) => [id, last_seq]));
		for (const { runId, events } of rest) {
			const last = lasts.get(runId);
			if (last !== undefined) requireSuccession(runId, last, events);
		}
	}
	for (const { runId, events } of advances) requireSuccession(runId, (events[0]?.seq ?? 1) - 1, events);
	return new Set(rest.map(({ runId }) => runId));
};

/** The tables of logs, and whose each event is. */
const LOGS = {
	run_events: { owner: sql`run_id`, columns: sql`seq, data, epoch` },
	response_events: { owner: sql`response_id`, columns: sql`seq, data` }
} as const;

export async function readLogEvents(
	db: Kysely<Database>,
	{ log, id }: { log: keyof typeof LOGS; id: string },
	{ after, limit, maxBytes = Infinity }: EventRange
): Promise<StoredEvent[]> {
	const { owner, columns } = LOGS[log];
	const rest = sql`from ${sql.table(log)} where ${owner} = ${id} and seq > ${after}`;
	const read = async (until: ReturnType<typeof sql>): Promise<StoredEvent[]> =>
		(await sql<StoredEvent>`select ${columns} ${rest} ${until}`.execute(db)).rows.map(toStoredEvent);
	if (maxBytes === Infinity) return read(sql`order by seq limit ${limit}`);
	// Read the sizes first: an event can have a few bytes or many thousands.
	const weighing = sql<{ seq: number; bytes: number }>`select seq, octet_length(data) as bytes ${rest}
		order by seq limit ${limit}`;
	const { rows: weighed } = await weighing.execute(db);
	let bytes = 0;
	const heavy = weighed.findIndex((event) => (bytes += event.bytes) > maxBytes);
	const count = heavy < 0 ? weighed.length : Math.max(1, heavy);
	const last = weighed[count - 1];
	return last ? read(sql`and seq <= ${last.seq} order by seq`) : [];
}

/** The epoch is said where there is more than one. */
export function toStoredEvent({ seq, data, epoch = 1 }: StoredEvent): StoredEvent {
	return epoch === 1 ? { seq, data } : { seq, data, epoch };
}

/** What waits beside a comparison follows the answer that somebody chooses. */
async function markDue(transaction: Transaction<Database>, conversationId: string): Promise<void> {
	await transaction
		.updateTable('queued_messages')
		.set({ is_due: 1 })
		.where('conversation_id', '=', conversationId)
		.where(({ not, exists, selectFrom }) =>
			not(
				exists(
					selectFrom('conversations').select('id').where('id', '=', conversationId).where('comparison', 'is not', null)
				)
			)
		)
		.execute();
}

/** Not for cancelled runs: whoever stopped one has seen it. */
async function markUnread(transaction: Transaction<Database>, runId: string): Promise<void> {
	await transaction
		.updateTable('conversations')
		.set({ is_unread: 1 })
		.where('id', '=', ({ selectFrom }) => selectFrom('runs').select('conversation_id').where('id', '=', runId))
		.execute();
}

/** Adds to the conversation's total usage. */
export async function addUsage(transaction: Transaction<Database>, id: string, used: TokenUsage): Promise<void> {
	const row = await transaction.selectFrom('conversations').select('usage').where('id', '=', id).executeTakeFirst();
	if (!row) return;
	const usage = JSON.stringify(sumUsage(readUsage(row.usage), used));
	await transaction.updateTable('conversations').set({ usage }).where('id', '=', id).execute();
}

/** Zero if the column is empty or can't be read. */
export function readUsage(column: string | null): TokenUsage {
	const parsed = tokenUsage.safeParse(column === null ? null : JSON.parse(column));
	return parsed.success ? parsed.data : { inputTokens: 0, outputTokens: 0 };
}

function speedColumns({ model, answeredBy, firstTokenMs, tokensPerSecond }: Partial<RunUsage> = {}) {
	if (firstTokenMs === undefined) return {};
	return { answered_by: answeredBy ?? model, first_token_ms: firstTokenMs, tokens_per_s: tokensPerSecond ?? null };
}

/** Runs that are looked at, and of one model. */
const RECENT = { all: 500, each: 20 };

export async function readSpeeds(db: Kysely<Database>): Promise<Map<string, ModelSpeed>> {
	const rows = await db
		.selectFrom('runs')
		.select(['answered_by', 'first_token_ms', 'tokens_per_s'])
		.where('answered_by', 'is not', null)
		.orderBy('started_at', 'desc')
		.limit(RECENT.all)
		.execute();
	const speeds = new Map<string, ModelSpeed>();
	for (const [model, all] of Map.groupBy(rows, (row) => row.answered_by ?? '')) {
		const last = all.slice(0, RECENT.each);
		const firstTokenMs = median(last.map((row) => row.first_token_ms));
		if (firstTokenMs === null) continue;
		const tokensPerSecond = median(last.map((row) => row.tokens_per_s));
		speeds.set(model, { answers: last.length, firstTokenMs, tokensPerSecond });
	}
	return speeds;
}

/** Without nulls; null if nothing is left. */
function median(values: readonly (number | null)[]): number | null {
	const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? null;
}

/** Throws inside the transaction, which rolls the batch back. */
function requireSuccession(runId: string, lastSeq: number, events: readonly StoredEvent[]): void {
	events.forEach(({ seq }, index) => {
		const expected = lastSeq + 1 + index;
		if (seq !== expected) throw new Error(`Run ${runId}: expected event ${expected} next, received ${seq}.`);
	});
}

export interface RunRecord extends RunState {
	/** The assistant's message that the run writes. */
	messageId: string;
	/** The server start that owns the run. */
	bootId: string;
	/** Counts its owners. */
	epoch: number;
	errorCode: string | null;
	/** Digest of the request; null for runs of older versions. */
	task: string | null;
}

/** The columns of a RunRecord. */
export const RUN_COLUMNS = [
	'id',
	'conversation_id as conversationId',
	'message_id as messageId',
	'state',
	'model',
	'boot_id as bootId',
	'epoch',
	'started_at as startedAt',
	'finished_at as finishedAt',
	'last_seq as lastSeq',
	'error_code as errorCode',
	'task'
] as const;

export async function findRun(db: Kysely<Database>, id: string): Promise<RunRecord | null> {
	const row = await db.selectFrom('runs').select(RUN_COLUMNS).where('id', '=', id).executeTakeFirst();
	return row ? { ...row } : null;
}
