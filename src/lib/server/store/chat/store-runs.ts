/** Runs and their event logs: at most one running run in a conversation, and each run ends once. */
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

/** How a run ended, with what is to be written together with its end. */
export interface RunFinish {
	state: Exclude<RunRecord['state'], 'running'>;
	errorCode?: string;
	/** ISO 8601. */
	finishedAt: string;
	/** The last events, the terminal one included. */
	events: StoredEvent[];
	message?: FoldedMessage;
	/** What this run has used. */
	used?: TokenUsage;
}

export interface Runs {
	/** In one transaction, and the same run once however often it is called. */
	start(start: RunStart): Promise<RunStartResult>;
	/** What is to answer in a conversation; nulls where nothing was chosen, or for one that is not there. */
	choiceOf(conversationId: string): Promise<Required<ModelChoice>>;
	/** null when there is none, or its conversation is deleted. */
	get(id: string): Promise<RunRecord | null>;
	/**
	 * False, with nothing written, when the run has ended or is gone: its conversation was deleted, or another process
	 * has closed it.
	 *
	 * @throws {Error} when the events do not follow those that are stored.
	 */
	appendEvents(runId: string, events: StoredEvent[]): Promise<boolean>;
	/** The same for several runs at once; returns those that have ended or are gone. */
	appendAll(advances: readonly RunAdvance[]): Promise<ReadonlySet<string>>;
	/** Like `appendEvents`, and ends the run, with its message. True for the one call that did. */
	finish(runId: string, finish: RunFinish): Promise<boolean>;
	/** In order; none when there are no more. */
	readEvents(runId: string, range: EventRange): Promise<StoredEvent[]>;
	/** Runs that are `running` though another start of the server owned them: it died, or still lives elsewhere. */
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
