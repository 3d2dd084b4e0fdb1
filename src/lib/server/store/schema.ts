/** The tables, as Kysely types. Times are ISO 8601 text from the caller; JSON is text, so that both databases keep it byte for byte. */
import type { Generated } from 'kysely';
import type { RunState } from '../../shared/api.ts';

export interface ConversationsTable {
	id: string;
	title: string;
	created_at: string;
	updated_at: string;
}

export interface MessagesTable {
	id: string;
	conversation_id: string;
	/** Order within the conversation, from 1; gaps mean nothing. */
	position: number;
	role: string;
	status: string;
	/** JSON: what message-row.ts says. */
	body: string;
	/** JSON array of Responses API items that the model is shown again; null where the parts say all. */
	items: string | null;
	model: string | null;
	run_id: string | null;
	created_at: string;
}

export interface RunsTable {
	id: string;
	conversation_id: string;
	/** The assistant's message that the run writes. */
	message_id: string;
	state: RunState['state'];
	model: string;
	/** Which start of the server owns the run. */
	boot_id: string;
	started_at: string;
	finished_at: string | null;
	last_seq: Generated<number>;
	error_code: string | null;
}

export interface RunEventsTable {
	run_id: string;
	/** Contiguous from 1. */
	seq: number;
	/** JSON of one RunEvent. */
	data: string;
}

export interface Database {
	conversations: ConversationsTable;
	messages: MessagesTable;
	runs: RunsTable;
	run_events: RunEventsTable;
}
