/** The tables, as Kysely types. Times are ISO 8601 text from the caller; JSON is text, so that both databases keep it byte for byte. */
import type { Generated } from 'kysely';
import type { RunState } from '../../shared/api.ts';

export interface ConversationsTable {
	id: string;
	title: string;
	/** The last message of the branch that is shown; null before the first message. */
	head_id: Generated<string | null>;
	/** JSON of a TokenUsage: what all its runs have used; null when none has said. */
	usage: Generated<string | null>;
	created_at: string;
	updated_at: string;
}

export interface MessagesTable {
	id: string;
	conversation_id: string;
	/** The message that it follows; null for a first one. Messages of one parent are each other’s alternatives. */
	parent_id: string | null;
	/** In the order of their making within the conversation, from 1; gaps mean nothing. */
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

/** Messages that wait for the end of a run. */
export interface QueuedMessagesTable {
	id: string;
	conversation_id: string;
	/** Order, from 1; gaps mean nothing. */
	position: number;
	text: string;
	/** JSON array of workspace paths. */
	files: string;
	created_at: string;
}

/** What people answered to the questions that ended a run (AG-UI interrupts). */
export interface DecisionsTable {
	interrupt_id: string;
	conversation_id: string;
	/** JSON: what approvals.ts says. */
	body: string;
	created_at: string;
}

/** Scripts that need no more asking, as long as the skill's files are the same. */
export interface GrantsTable {
	skill: string;
	/** Empty for every script of the skill. */
	script: string;
	digest: string;
	created_at: string;
}

/** What stands for the beginning of a branch when the model is asked. */
export interface CompactionsTable {
	conversation_id: string;
	/** The last message that the summary covers. */
	message_id: string;
	summary: string;
	created_at: string;
}

export interface Database {
	conversations: ConversationsTable;
	messages: MessagesTable;
	queued_messages: QueuedMessagesTable;
	decisions: DecisionsTable;
	grants: GrantsTable;
	compactions: CompactionsTable;
	runs: RunsTable;
	run_events: RunEventsTable;
}
