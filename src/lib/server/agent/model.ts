/** The interface of a model: one request, one stream of events. Items are Responses API items with their wire names. */
import type { Citation, ProducedFile } from '../../shared/message-schema.ts';
import type { ModelRouting } from '../../shared/models.ts';
import type { ReasoningEffort, WebTool } from '../../shared/names.ts';

/** An item of the Responses API (`message`, `reasoning`, `function_call`, `function_call_output`, …), kept verbatim. */
export type ResponseItem = { type: string } & Record<string, unknown>;

/** A flat Responses API function tool. */
export interface FunctionTool {
	type: 'function';
	name: string;
	description: string;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	/** Whether the server enforces the schema; default: the server's. */
	strict?: boolean;
	/** It takes a text, its argument `input`: what a server that has such tools is given instead of `parameters`. */
	custom?: { description: string; format?: Record<string, unknown> };
}

/** A tool that the model's server runs, or knows by its type: `web_search`, `file_search`, `mcp`, … As a program has sent it. */
export type HostedTool = { type: string } & Record<string, unknown>;

export interface ModelRequest {
	/** The system prompt. */
	instructions: string;
	/** The whole history: OpenRouter stores none. */
	input: ResponseItem[];
	tools: FunctionTool[];
	/** Tools of the model's server, if it has them. */
	web?: readonly WebTool[] | undefined;
	/** A program's tools of the model's server. What that doesn't offer is left out. `choice`: the one it must use. */
	hosted?: { tools: readonly HostedTool[]; choice: HostedTool | null; include: readonly string[] } | undefined;
	toolChoice: ToolChoice;
	/** The conversation's id, for sticky routing and caching (`session_id`); '' for a request that nothing will follow. */
	sessionId: string;
	/** Default: the model's. */
	effort?: ReasoningEffort;
	/** For titles, summaries and verdicts: a model that makes pictures would else make one, which costs more. */
	textOnly?: boolean;
	/** Other parameters (`max_output_tokens`, `temperature`, `text`, …), sent unchanged under their wire names. */
	options?: ModelOptions;
}

/** `required`: must call some tool; an object: must call this tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; name: string };

export type ModelOptions = Readonly<Record<string, unknown>>;

export interface ModelUsage {
	inputTokens: number;
	outputTokens: number;
	cachedTokens?: number;
	reasoningTokens?: number;
	/** USD. */
	cost?: number;
	/** USD that the cached tokens saved, where prices are known. */
	saved?: number;
}

/** What a request went without: sentences for people. */
export interface ModelRemarks {
	/** Files, addresses and tools that the model wasn't given. */
	leftOut?: string[];
	/** Fallbacks that couldn't have answered. */
	notAsked?: string[];
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
	/** For people: what happened and what to do. */
	message: string;
	/** HTTP status, if any. */
	status?: number;
	retryAfterMs?: number;
	/** Ids of models that may answer instead. */
	fallbacks?: string[];
}

export interface ServerCall {
	callId: string;
	name: string;
	/** JSON. */
	arguments: string;
	/** What is known of what it gave, as text. */
	result: string;
	isError: boolean;
	/** Base64 of a picture that it made. */
	picture?: string;
	/** Files of the conversation that it made. */
	files?: ProducedFile[];
}

/**
 * Grammar: (`retrying`)*, then any deltas and calls, then exactly one `completed` or `failed`.
 * Deltas of one key that arrive in one chunk are merged. A call may only run after its `call.done`.
 * A model never throws: a failure is its last event.
 */
export type ModelEvent =
	| { type: 'retrying'; attempt: number; delayMs: number; message: string }
	| { type: 'reasoning.delta'; key: string; delta: string }
	| { type: 'text.delta'; key: string; delta: string }
	/** `start` and `end` are places in the whole text of its key, which has arrived by then. */
	| { type: 'text.citation'; key: string; citation: Citation }
	/** `headline`: the model's own description of the call, one line of plain text. */
	| { type: 'call.started'; callId: string; name: string; headline?: string }
	| { type: 'call.delta'; callId: string; delta: string }
	| { type: 'call.done'; callId: string; name: string; arguments: string }
	/** A tool that the model's server runs itself. */
	| { type: 'server.started'; callId: string; name: string }
	| { type: 'server.done'; call: ServerCall }
	/** Any other finished item of the model's server, also of such a tool. */
	| { type: 'item'; item: ResponseItem }
	/** `answeredBy`: the id of the model that answered, if it's another one than was asked. */
	| ({
			type: 'completed';
			items: ResponseItem[];
			usage: ModelUsage | null;
			incompleteReason: string | null;
			answeredBy?: string;
	  } & ModelRemarks)
	| { type: 'failed'; error: ModelError; items: ResponseItem[] };

export interface Model {
	/** The id in requests, e.g. `openrouter/auto`; also shown to people. */
	readonly id: string;
	/** Context length; null if unknown. Never rejects. */
	contextTokens?(): Promise<number | null>;
	/** Whether it takes pictures, or PDFs as files; null if unknown. Never rejects. */
	takes?(input: 'image' | 'file'): Promise<boolean | null>;
	/** Ends promptly, with `failed` and code `aborted`, when the signal aborts. */
	stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** A message of the user with one text. */
export function userItem(text: string): ResponseItem {
	return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

export function assistantItem(text: string): ResponseItem {
	return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

export interface TextAnswer {
	/** As far as it came. */
	text: string;
	usage: ModelUsage | null;
	/** Null if the answer is complete. */
	error: ModelError | null;
	/** Ended at the maximum length. */
	isCut: boolean;
	/** Id of the model that answered. */
	answeredBy: string;
}

/**
 * Asks for a text alone, without tools: for a title, a verdict and the like. Keeps `most` characters. `onText` gets the
 * number of characters so far, and may throw to end it.
 */
export async function askForText(
	model: Model,
	{ sessionId = '', ...request }: Pick<ModelRequest, 'instructions' | 'input' | 'options'> & { sessionId?: string },
	{ signal, most = Infinity, onText }: { signal: AbortSignal; most?: number; onText?: (characters: number) => void }
): Promise<TextAnswer> {
	const answer: TextAnswer = { text: '', usage: null, error: null, isCut: false, answeredBy: model.id };
	const asked = { ...request, tools: [], toolChoice: 'none' as const, textOnly: true, sessionId };
	for await (const event of model.stream(asked, signal)) {
		if (event.type === 'text.delta' && answer.text.length < most) {
			answer.text += event.delta;
			onText?.(answer.text.length);
		}
		if (event.type === 'failed') answer.error = event.error;
		if (event.type !== 'completed') continue;
		answer.usage = event.usage;
		answer.isCut = event.incompleteReason !== null;
		answer.answeredBy = event.answeredBy ?? model.id;
	}
	return answer;
}

/** Provides models to runs. The settings can change between two runs. */
export interface ModelSource {
	/** The model with this id (default: from the settings) on the current server, or Demo mode. `routing` adds to that of the settings. */
	modelFor(choice: { id?: string | null; routing?: ModelRouting | null }): Model;
	/** The default from the settings. */
	effort(): ReasoningEffort | null;
}
