/** Runs and their event logs: at most one running run per conversation, and each run ends once. */
import type { Kysely } from 'kysely';
import type { TokenUsage } from '../../../shared/events.ts';
import { isDeleted } from './conversations.ts';
import {
	createRunEventWriter,
	type EventRange,
	findRun,
	type FoldedMessage,
	readRunEvents,
	RUN_COLUMNS,
	type RunAdvance,
	type RunRecord,
	type StoredEvent
} from './runs.ts';
import { choiceOf, type ModelChoice, type RunStart, type RunStartResult, startRun } from './run-start.ts';
import type { Database } from '../schema.ts';

/** How a run ended, and everything written with its end. */
export interface RunFinish {
	state: Exclude<RunRecord['state'], 'running'>;
	errorCode?: string;
	/** ISO 8601. */
	finishedAt: string;
	/** The last events, including the terminal one. */
	events: StoredEvent[];
	message?: FoldedMessage;
	used?: TokenUsage;
}

export interface Runs {
	/** Runs in one transaction. Idempotent for the same run. */
	start(start: RunStart): Promise<RunStartResult>;
	/** The conversation's model settings; nulls if not chosen or not found. */
	choiceOf(conversationId: string): Promise<Required<ModelChoice>>;
	/** null if not found or its conversation is deleted. */
	get(id: string): Promise<RunRecord | null>;
	/**
	 * Returns false and writes nothing if the run has ended or is gone (its conversation was deleted).
	 *
	 * @throws {Error} if the events don't follow the stored ones.
	 */
	appendEvents(runId: string, events: StoredEvent[]): Promise<boolean>;
	/** The same for several runs; returns the ids of those that have ended or are gone. */
	appendAll(advances: readonly RunAdvance[]): Promise<ReadonlySet<string>>;
	/** Appends events, stores the message and ends the run. True for the one call that did. */
	finish(runId: string, finish: RunFinish): Promise<boolean>;
	/** In order; empty if there are no more. */
	readEvents(runId: string, range: EventRange): Promise<StoredEvent[]>;
	/** Running runs of other server starts, which crashed or run elsewhere. */
	listRunning(bootId: string): Promise<RunRecord[]>;
}

export function createRuns(db: Kysely<Database>): Runs {
	const writer = createRunEventWriter(db);
	return {
		start: (start) => startRun(db, start),

		choiceOf: (conversationId) => choiceOf(db, conversationId),

		async get(id) {
			const run = await findRun(db, id);
			return run && !(await isDeleted(db, run.conversationId)) ? run : null;
		},

		appendEvents: async (runId, events) => !(await writer.advanceAll([{ runId, events }])).has(runId),

		appendAll: (advances) => writer.advanceAll(advances),

		finish: (runId, { state, errorCode, finishedAt, events, ...result }) =>
			writer.end({ runId, events }, { state, error_code: errorCode ?? null, finished_at: finishedAt }, result),

		readEvents: (runId, range) => readRunEvents(db, runId, range),

		async listRunning(bootId) {
			const rows = await db
				.selectFrom('runs')
				.select(RUN_COLUMNS)
				.where('state', '=', 'running')
				.where('boot_id', '!=', bootId)
				.orderBy('started_at')
				.execute();
			return rows.map((row) => ({ ...row }));
		}
	};
}
