/** The shapes that go to the client: output items and streaming events of Open Responses. */

/** What was run here, on the item that tells of it (an extension of ours). */
export interface ExecutedCall {
	executed: true;
	call_id: string;
	name: string;
	arguments: string;
	/** What the model read; absent until there is a result. */
	output?: string;
	is_error?: boolean;
	skill?: string;
	script?: string;
	exit_code?: number | null;
	duration_ms?: number;
	files?: { path: string; bytes: number }[];
}

interface Extended {
	openrouter_skills?: ExecutedCall;
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export type MessageItem = {
	type: 'message';
	id: string;
	status: ItemStatus;
	role: 'assistant';
	content: Record<string, unknown>[];
	phase?: string;
};

export type ReasoningItem = Extended & {
	type: 'reasoning';
	id: string;
	summary: { type: 'summary_text'; text: string }[];
	encrypted_content?: string;
};

export type CallItem = Extended & {
	type: 'function_call';
	id: string;
	call_id: string;
	name: string;
	arguments: string;
	status: ItemStatus;
};

export type CallOutputItem = Extended & {
	type: 'function_call_output';
	id: string;
	call_id: string;
	output: string;
	status: ItemStatus;
};

export type OutputItem = MessageItem | ReasoningItem | CallItem | CallOutputItem;

/** An event without its number. */
export type BareEvent = { type: string } & Record<string, unknown>;

export type ResponseEvent = BareEvent & { sequence_number: number };
