/** The numbered events of a run: written in order, without gaps, only while the run is running. */
import type { Kysely, Transaction } from 'kysely';
import type { Message } from '../../shared/message.ts';
import { updateMessage } from './messages.ts';
import type { Database, RunsTable } from './schema.ts';

/** `seq` counts from 1 without gaps; `data` is the JSON of a RunEvent. */
export interface StoredEvent {
	seq: number;
	data: string;
}

/** The run's answer as it is after the events that it comes with. */
export interface FoldedMessage {
	conversationId: string;
	message: Message;
}

/** What ends a run. */
export type RunEnd = Required<Pick<RunsTable, 'state' | 'error_code' | 'finished_at'>>;

/** Three values a row: 1,500 variables, well under SQLite's 32,766 and Postgres' 65,535. */
const ROWS_PER_INSERT = 500;

/**
 * Writes events, the message they fold into, and the run's last number (and its end) together. False, with nothing written, when
 * the run is not running.
 *
 * @throws {Error} when the events do not follow those that are stored.
 */
export function advanceRun(
	db: Kysely<Database>,
	runId: string,
	changes: { events: StoredEvent[]; folded?: FoldedMessage; end?: RunEnd }
): Promise<boolean> {
	const { events, folded, end = {} } = changes;
	return db.transaction().execute(async (transaction) => {
		// The condition is the guard: of two writers that end a run, the second one updates nothing.
		const run = await transaction
			.updateTable('runs')
			.set((runs) => ({ last_seq: runs('last_seq', '+', events.length), ...end }))
			.where('id', '=', runId)
			.where('state', '=', 'running')
			.returning('last_seq')
			.executeTakeFirst();
		if (!run) return false;
		requireSuccession(runId, run.last_seq - events.length, events);
		await insertEvents(transaction, runId, events);
		if (folded) await updateMessage(transaction, folded.conversationId, folded.message);
		return true;
	});
}

/** Events after number `after`, in order, at most `limit`. */
export function readRunEvents(
	db: Kysely<Database>,
	runId: string,
	{ after, limit }: { after: number; limit: number }
): Promise<StoredEvent[]> {
	return db
		.selectFrom('run_events')
		.select(['seq', 'data'])
		.where('run_id', '=', runId)
		.where('seq', '>', after)
		.orderBy('seq')
		.limit(limit)
		.execute();
}

async function insertEvents(transaction: Transaction<Database>, runId: string, events: StoredEvent[]): Promise<void> {
	for (let start = 0; start < events.length; start += ROWS_PER_INSERT) {
		const rows = events.slice(start, start + ROWS_PER_INSERT).map(({ seq, data }) => ({ run_id: runId, seq, data }));
		await transaction.insertInto('run_events').values(rows).execute();
	}
}

/** Thrown inside the transaction, so nothing of the batch stays. */
function requireSuccession(runId: string, lastSeq: number, events: StoredEvent[]): void {
	events.forEach(({ seq }, index) => {
		const expected = lastSeq + 1 + index;
		if (seq !== expected) throw new Error(`Run ${runId}: expected event ${expected} next, received ${seq}.`);
	});
}
