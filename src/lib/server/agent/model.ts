/** What the agent asks of a model: one request, one stream of events. Items are Responses API items, wire names kept. */

import type { ReasoningEffort } from '../../shared/names.ts';

/** An item of the Responses API (`message`, `reasoning`, `function_call`, `function_call_output`, …), kept verbatim. */
export type ResponseItem = { type: string } & Record<string, unknown>;

/** A flat Responses API function tool. */
export interface FunctionTool {
	type: 'function';
	name: string;
	description: string;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	/** Whether the model's server is to hold the model to the schema; its own measure without it. */
	strict?: boolean;
}

export interface ModelRequest {
	/** The system prompt. */
	instructions: string;
	/** The whole history: OpenRouter keeps none. */
	input: ResponseItem[];
	tools: FunctionTool[];
	toolChoice: ToolChoice;
	/** The conversation's id: sticky routing and cache hits (`session_id`). */
	sessionId: string;
	/** How long it is to think; the model's own measure without it. */
	effort?: ReasoningEffort;
	/** What a caller said beside all this (`max_output_tokens`, `temperature`, `text`, …): wire names, sent as it is. */
	options?: ModelOptions;
}

/** `required`: it must call something; an object: this very tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; name: string };

export type ModelOptions = Readonly<Record<string, unknown>>;

export interface ModelUsage {
	inputTokens: number;
	outputTokens: number;
	cachedTokens?: number;
	reasoningTokens?: number;
	/** USD. */
	cost?: number;
}

export type ModelErrorCode =
	| 'unauthorized'
	| 'insufficient_credits'
	| 'moderation'
	| 'model_not_found'
	| 'context_length_exceeded'
	| 'rate_limited'
	| 'provider_error'
	| 'timeout'
	| 'unreachable'
	| 'stream_truncated'
	| 'empty_response'
	| 'aborted';

export interface ModelError {
	code: ModelErrorCode;
	/** A sentence for people: what happened and what to do. */
	message: string;
	/** HTTP status, where there was one. */
	status?: number;
	retryAfterMs?: number;
}

/**
 * Grammar: (`retrying`)* then any of the deltas and calls, then exactly one `completed` or `failed`.
 * Adjacent deltas that arrived in one chunk of the upstream are one event. A call may only be run after its
 * `call.done`. A model never throws: a failure is its last event.
 */
export type ModelEvent =
	| { type: 'retrying'; attempt: number; delayMs: number; message: string }
	| { type: 'reasoning.delta'; key: string; delta: string }
	| { type: 'text.delta'; key: string; delta: string }
	/** `headline`: what the call is about, in the model's words; plain text on one line. */
	| { type: 'call.started'; callId: string; name: string; headline?: string }
	| { type: 'call.delta'; callId: string; delta: string }
	| { type: 'call.done'; callId: string; name: string; arguments: string }
	| { type: 'completed'; items: ResponseItem[]; usage: ModelUsage | null; incompleteReason: string | null }
	| { type: 'failed'; error: ModelError; items: ResponseItem[] };

export interface Model {
	/** What the request names, e.g. `openrouter/auto`; shown to people. */
	readonly id: string;
	/** Its context length; null where its server does not say. Never rejects. */
	contextTokens?(): Promise<number | null>;
	/** Ends promptly, with `failed` and code `aborted`, when the signal fires. */
	stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** Where runs get their models: what is set may change between two of them. */
export interface ModelSource {
	/** What answers for this conversation: the model of that id at the server that is set now, or Demo mode. */
	modelFor(choice: { id?: string | null }): Model;
	/** What the settings say for those who have chosen nothing. */
	effort(): ReasoningEffort | null;
}
