/** Output items, events and the response resource of Open Responses. */
import { z } from 'zod';
import type { RunUsage } from '../../../shared/events.ts';
import type { MissingNeed } from '../../../shared/skills.ts';
import type { ResponseItem } from '../../agent/model.ts';
import type { ResponseRequest } from './request.ts';
import { listed } from './tools.ts';

/** Our extension on items: a call that ran on this server. */
export interface ExecutedCall {
	executed: true;
	call_id: string;
	name: string;
	arguments: string;
	/** What the model read; absent while running. */
	output?: string;
	is_error?: boolean;
	skill?: string;
	script?: string;
	exit_code?: number | null;
	duration_ms?: number;
	files?: { path: string; bytes: number }[];
	/** What a failed script lacked. */
	missing?: MissingNeed;
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
	/** Of the caller's tool. */
	namespace?: string;
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

/** A call of the caller's tool that takes a text. */
export type CustomCallItem = {
	type: 'custom_tool_call';
	id: string;
	call_id: string;
	name: string;
	namespace?: string;
	input: string;
	status: ItemStatus;
};

/** The caller searches its tools. */
export type SearchCallItem = {
	type: 'tool_search_call';
	id: string;
	call_id: string;
	execution: 'client';
	arguments: unknown;
	status: ItemStatus;
};

/** Of the model's server, unchanged. */
export type ForeignItem = { type: 'foreign' } & ResponseItem & { id: string };

export type OutputItem =
	MessageItem | ReasoningItem | CallItem | CallOutputItem | CustomCallItem | SearchCallItem | ForeignItem;

/** An event without its sequence number. */
export type BareEvent = { type: string } & Record<string, unknown>;

export type ResponseEvent = BareEvent & { sequence_number: number };

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

export type ResponseResource = {
	id: string;
	object: 'response';
	status: ResponseStatus;
	model: string;
	output: OutputItem[];
	error: { code: string; message: string } | null;
	incomplete_details: { reason: string } | null;
} & Record<string, unknown>;

export interface ResponseFacts {
	id: string;
	model: string;
	/** Unix time in seconds. */
	createdAt: number;
}

/** A new `ResponseResource`, with every field Open Responses requires. */
export function newResource(request: ResponseRequest, { id, model, createdAt }: ResponseFacts): ResponseResource {
	const { reasoning, text, tool_choice: choice, conversation } = request;
	return {
		id,
		object: 'response',
		created_at: createdAt,
		completed_at: null,
		status: request.background ? 'queued' : 'in_progress',
		incomplete_details: null,
		model,
		previous_response_id: request.previous_response_id ?? null,
		...(conversation && { conversation: { id: typeof conversation === 'string' ? conversation : conversation.id } }),
		instructions: request.instructions ?? null,
		output: [],
		error: null,
		tools: (request.tools ?? []).map(listed),
		tool_choice: typeof choice === 'object' && choice?.type === 'hosted' ? choice.tool : (choice ?? 'auto'),
		truncation: request.truncation ?? 'disabled',
		parallel_tool_calls: request.parallel_tool_calls ?? true,
		text: { format: formatOf(text?.format), verbosity: text?.verbosity ?? undefined },
		top_p: request.top_p ?? 1,
		presence_penalty: request.presence_penalty ?? 0,
		frequency_penalty: request.frequency_penalty ?? 0,
		top_logprobs: request.top_logprobs ?? 0,
		temperature: request.temperature ?? 1,
		reasoning: reasoning ? { effort: effortOf(reasoning.effort), summary: reasoning.summary ?? null } : null,
		usage: null,
		max_output_tokens: request.max_output_tokens ?? null,
		max_tool_calls: request.max_tool_calls ?? null,
		store: request.store ?? true,
		background: request.background ?? false,
		service_tier: request.service_tier ?? 'default',
		metadata: request.metadata ?? {},
		safety_identifier: request.safety_identifier ?? null,
		prompt_cache_key: request.prompt_cache_key ?? null
	};
}

export function usageOf(usage: RunUsage | null): Record<string, unknown> | null {
	if (!usage) return null;
	return {
		input_tokens: usage.inputTokens,
		output_tokens: usage.outputTokens,
		total_tokens: usage.inputTokens + usage.outputTokens,
		input_tokens_details: { cached_tokens: usage.cachedTokens ?? 0 },
		output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
		cost: usage.cost,
		saved: usage.saved
	};
}

/** Our extension on a response: what it went without; null if nothing. */
export function remarksOf(
	usage: RunUsage | null,
	before: readonly string[]
): { left_out?: string[]; not_asked?: string[] } | null {
	const { leftOut = [], notAsked } = usage ?? {};
	const all = [...before, ...leftOut];
	return all.length > 0 || notAsked ? { left_out: all.length > 0 ? all : undefined, not_asked: notAsked } : null;
}

type Format = NonNullable<NonNullable<ResponseRequest['text']>['format']>;

/** The specification doesn't return the schema itself. */
function formatOf(format: Format | null | undefined): Record<string, unknown> {
	if (format?.type !== 'json_schema') return { type: format?.type ?? 'text' };
	const { name = 'response', description = null, strict } = format as Extract<Format, { schema?: unknown }>;
	return { type: 'json_schema', name, description, schema: null, strict: strict ?? false };
}

type Effort = NonNullable<ResponseRequest['reasoning']>['effort'];

/** The specification has neither our lowest nor our highest effort. */
function effortOf(effort: Effort): string | null {
	if (effort === 'minimal') return 'low';
	return effort === 'max' ? 'xhigh' : (effort ?? null);
}

const token = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()) };
const logprob = z.object({ ...token, top_logprobs: z.array(z.object(token)) });
const finalMessage = z.object({
	phase: z.enum(['commentary', 'final_answer']).optional().catch(undefined),
	content: z.array(
		z.looseObject({
			text: z.string().optional(),
			refusal: z.string().optional(),
			logprobs: z.array(z.unknown()).optional().catch(undefined)
		})
	)
});

export interface FinishedMessage {
	part: {
		type: 'output_text';
		text: string;
		annotations: Record<string, unknown>[];
		logprobs: Record<string, unknown>[];
	};
	phase: string | undefined;
	/** Whether the item has the same text. */
	isSame: boolean;
}

/**
 * Completes a streamed text with phase and logprobs from its final item. Leaves out logprobs if the item has several parts.
 */
export function finishedMessage(
	text: string,
	final: ResponseItem | null,
	annotations: Record<string, unknown>[] = []
): FinishedMessage {
	const plain = { type: 'output_text' as const, text, annotations, logprobs: [] };
	const { data } = finalMessage.safeParse(final);
	if (!data) return { part: plain, phase: undefined, isSame: false };
	const whole = data.content.map((part) => part.text ?? part.refusal ?? '').join('');
	if (whole !== text) return { part: plain, phase: undefined, isSame: false };
	const [first] = data.content;
	if (!first || data.content.length > 1) return { part: plain, phase: data.phase, isSame: true };
	const valid = <Value>(schema: z.ZodType<Value>, values: unknown[] = []) =>
		values.flatMap((value) => schema.safeParse(value).data ?? []);
	return { part: { ...plain, logprobs: valid(logprob, first.logprobs) }, phase: data.phase, isSame: true };
}

/** The one event that ends a response. */
export function isLast({ type }: ResponseEvent): boolean {
	return type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
}
