/** A run as the rest of the server sees its row. */
import type { Kysely } from 'kysely';
import type { RunState } from '../../shared/api.ts';
import type { Database } from './schema.ts';

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
