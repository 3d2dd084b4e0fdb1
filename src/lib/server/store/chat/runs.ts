/** The numbered events of a run: written in order, without gaps, only while the run is running. */
import { type Kysely, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import type { RunState } from '../../../shared/api.ts';
import { sumUsage, type TokenUsage } from '../../../shared/events.ts';
import type { Message } from '../../../shared/message.ts';
import type { Database, RunsTable } from '../schema.ts';
import { updateMessage } from './messages.ts';

/** `seq` counts from 1 without gaps; `data` is the JSON of a RunEvent. */
export interface StoredEvent {
	seq: number;
	data: string;
}

/** The run's answer as all its events make it. */
export interface FoldedMessage {
	conversationId: string;
	message: Message;
}

/** Which events of a run are read at once. */
export interface EventRange {
	/** The number of the last one that is known. */
	after: number;
	/** Events, at most. */
	limit: number;
	/** Bytes of their JSON, at most; but always one event. */
	maxBytes?: number;
}

/** What ends a run. */
export type RunEnd = Required<Pick<RunsTable, 'state' | 'error_code' | 'finished_at'>>;

/** What one run has to write. */
export interface RunAdvance {
	runId: string;
	events: readonly StoredEvent[];
}

/** What a run leaves besides its events. */
export interface RunResult {
	message?: FoldedMessage | undefined;
	/** What it has used. */
	used?: TokenUsage | undefined;
}

/** Rows of one statement: any number of events is written in few statements, of which there are only these. */
const ROWS = [128, 16, 4, 1] as const;

export interface RunEventWriter {
	/**
	 * Writes events of several runs and each run's last number, together: a commit costs as much for one as for all.
	 * Returns the runs of which nothing was written because they are not running.
	 *
	 * @throws {Error} when the events of one do not follow those that are stored; then nothing is written.
	 */
	advanceAll(advances: readonly RunAdvance[]): Promise<ReadonlySet<string>>;
	/** Writes the last events, the message that all events make, and the end, together. False, with nothing written, when the run is not running. */
	end(advance: RunAdvance, end: RunEnd, result: RunResult): Promise<boolean>;
}

/** The statements are compiled once: they are what the server does most. */
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

	/** The run's last number after the events; null when it is not running. The condition is the guard: an ended run takes nothing. */
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

		end: (last, end, { message: folded, used }) =>
			db.transaction().execute(async (transaction) => {
				// Of two writers that end a run, the second one finds it ended.
				if (!(await advanceOne(transaction, last))) return false;
				await transaction.updateTable('runs').set(end).where('id', '=', last.runId).execute();
				if (end.state !== 'cancelled') await markUnread(transaction, last.runId);
				if (used) await addUsage(transaction, last.runId, used);
				if (folded) await updateMessage(transaction, folded.conversationId, folded.message);
				return true;
			})
	};
}

/** Events of the range, in order. */
export async function readRunEvents(
	db: Kysely<Database>,
	runId: string,
	{ after, limit, maxBytes = Infinity }: EventRange
): Promise<StoredEvent[]> {
	const events = db
		.selectFrom('run_events')
		.where('run_id', '=', runId)
		.where('seq', '>', after)
		.orderBy('seq')
		.limit(limit);
	if (maxBytes === Infinity) return events.select(['seq', 'data']).execute();
	// Weighed before they are read: an event can be a few bytes or many thousands.
	const weighed = await events.select(['seq', sql<number>`octet_length(data)`.as('bytes')]).execute();
	let bytes = 0;
	const heavy = weighed.findIndex((event) => (bytes += event.bytes) > maxBytes);
	const count = heavy < 0 ? weighed.length : Math.max(1, heavy);
	const last = weighed[count - 1];
	return last ? events.select(['seq', 'data']).where('seq', '<=', last.seq).execute() : [];
}

/** Somebody who stopped the run has looked; of every other end nobody may know. */
async function markUnread(transaction: Transaction<Database>, runId: string): Promise<void> {
	await transaction
		.updateTable('conversations')
		.set({ is_unread: 1 })
		.where('id', '=', ({ selectFrom }) => selectFrom('runs').select('conversation_id').where('id', '=', runId))
		.execute();
}

/** Adds to what the conversation of the run has used. */
async function addUsage(transaction: Transaction<Database>, runId: string, used: TokenUsage): Promise<void> {
	const conversation = await transaction
		.selectFrom('conversations')
		.innerJoin('runs', 'runs.conversation_id', 'conversations.id')
		.select(['conversations.id', 'conversations.usage'])
		.where('runs.id', '=', runId)
		.executeTakeFirst();
	if (!conversation) return;
	const usage = JSON.stringify(sumUsage(readUsage(conversation.usage), used));
	await transaction.updateTable('conversations').set({ usage }).where('id', '=', conversation.id).execute();
}

/** What a column says; nothing where it cannot be read. */
export function readUsage(column: string | null): TokenUsage {
	const parsed = tokenUsage.safeParse(column === null ? null : JSON.parse(column));
	return parsed.success ? parsed.data : { inputTokens: 0, outputTokens: 0 };
}

const figure = z.number().optional();
const tokenUsage = z.object({
	inputTokens: z.number(),
	outputTokens: z.number(),
	cachedTokens: figure,
	reasoningTokens: figure,
	cost: figure
}) as z.ZodType<TokenUsage>;

/** Thrown inside the transaction, so nothing of the batch stays. */
function requireSuccession(runId: string, lastSeq: number, events: readonly StoredEvent[]): void {
	events.forEach(({ seq }, index) => {
		const expected = lastSeq + 1 + index;
		if (seq !== expected) throw new Error(`Run ${runId}: expected event ${expected} next, received ${seq}.`);
	});
}

// A run as the rest of the server sees its row.

export interface RunRecord extends RunState {
	/** The assistant's message that the run writes. */
	messageId: string;
	/** Which start of the server owns the run. */
	bootId: string;
	errorCode: string | null;
	/** Digest of what it was asked; null for a run of an older version. */
	task: string | null;
}

/** The columns that make a RunRecord. */
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

/** null when there is none. */
export async function findRun(db: Kysely<Database>, id: string): Promise<RunRecord | null> {
	const row = await db.selectFrom('runs').select(RUN_COLUMNS).where('id', '=', id).executeTakeFirst();
	return row ? { ...row } : null;
}
