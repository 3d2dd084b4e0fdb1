/** Runs and their numbered events: written in order, without gaps, only while the run is running. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { RunState } from '../../../shared/api.ts';
import type { ModelSpeed } from '../../../shared/models.ts';
import { type RunUsage, sumUsage, type TokenUsage } from '../../../shared/events.ts';
import type { Message } from '../../../shared/message.ts';
import { tokenUsage } from '../../../shared/message-schema.ts';
import { lockConversationOf } from '../locks.ts';
import type { Database, RunsTable } from '../schema.ts';
import { updateMessage } from './messages.ts';

/** `seq` counts from 1 without gaps; `data` is the JSON of a RunEvent. */
export interface StoredEvent {
	seq: number;
	data: string;
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
}

export interface RunResult {
	message?: FoldedMessage | undefined;
	used?: TokenUsage | undefined;
	speed?: RunUsage | undefined;
}

/** Row counts of the prepared inserts: few statements are enough for any number of events. */
const ROWS = [128, 16, 4, 1] as const;

export interface RunEventWriter {
	/**
	 * Writes events of several runs in one transaction, because one commit costs as much as many.
	 * Skips runs that aren't running, and returns their ids.
	 *
	 * @throws {Error} if events don't follow the stored ones; then nothing is written.
	 */
	advanceAll(advances: readonly RunAdvance[]): Promise<ReadonlySet<string>>;
	/** Writes the last events, the folded message and the end in one transaction, or nothing (false) if the run isn't running. */
	end(advance: RunAdvance, end: RunEnd, result: RunResult): Promise<boolean>;
}

/** Compiles its statements once, because they run the most. */
export function createRunEventWriter(db: Kysely<Database>): RunEventWriter {
	const advance = db
		.updateTable('runs')
		.set((runs) => ({ last_seq: runs('last_seq', '+', 0) }))
		.where('id', '=', '')
		.where('state', '=', 'running')
		.returning('last_seq')
		.compile();
	const inserts = ROWS.map((count) => {
		const rows = Array.from({ length: count }, () => ({ run_id: '', seq: 0, data: '' }));
		return { count, query: db.insertInto('run_events').values(rows).compile() };
	});

	/** False if the run isn't running. */
	const advanceOne = async (transaction: Transaction<Database>, { runId, events }: RunAdvance): Promise<boolean> => {
		const parameters = [events.length, runId, 'running'];
		const { rows } = await transaction.executeQuery<{ last_seq: number }>({ ...advance, parameters });
		const [run] = rows;
		if (!run) return false;
		requireSuccession(runId, run.last_seq - events.length, events);
		let at = 0;
		for (const { count, query } of inserts) {
			for (; events.length - at >= count; at += count) {
				const values = events.slice(at, at + count).flatMap(({ seq, data }) => [runId, seq, data]);
				await transaction.executeQuery({ ...query, parameters: values });
			}
		}
		return true;
	};

	return {
		advanceAll: (advances) =>
			db.transaction().execute(async (transaction) => {
				const gone = new Set<string>();
				for (const each of advances) if (!(await advanceOne(transaction, each))) gone.add(each.runId);
				return gone;
			}),

		end: (last, end, { message: folded, used, speed }) =>
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
				return true;
			})
	};
}

/** The tables of logs, and whose each event is. */
const LOGS = { run_events: 'run_id', response_events: 'response_id' } as const;

export async function readLogEvents(
	db: Kysely<Database>,
	{ log, id }: { log: keyof typeof LOGS; id: string },
	{ after, limit, maxBytes = Infinity }: EventRange
): Promise<StoredEvent[]> {
	const rest = sql`from ${sql.table(log)} where ${sql.ref(LOGS[log])} = ${id} and seq > ${after}`;
	const read = async (until: ReturnType<typeof sql>): Promise<StoredEvent[]> =>
		(await sql<StoredEvent>`select seq, data ${rest} ${until}`.execute(db)).rows;
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
