/** A response as it is answered: `ResponseResource` of Open Responses, with every field that it requires. */
import type { RunUsage } from '../../../shared/events.ts';
import type { ResponseRequest } from './request.ts';
import type { OutputItem } from './wire.ts';

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

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
	/** Seconds. */
	createdAt: number;
}

/** What stays the same from the first event to the last. */
export function newResource(request: ResponseRequest, { id, model, createdAt }: ResponseFacts): ResponseResource {
	const { reasoning, text, tool_choice: choice } = request;
	return {
		id,
		object: 'response',
		created_at: createdAt,
		completed_at: null,
		status: 'in_progress',
		incomplete_details: null,
		model,
		previous_response_id: request.previous_response_id ?? null,
		instructions: request.instructions ?? null,
		output: [],
		error: null,
		tools: (request.tools ?? []).map(({ name, description = null, parameters = null, strict = null }) => {
			return { type: 'function', name, description, parameters, strict };
		}),
		tool_choice: choice ?? 'auto',
		truncation: request.truncation ?? 'disabled',
		parallel_tool_calls: request.parallel_tool_calls ?? true,
		text: { format: formatOf(text?.format), ...(text?.verbosity ? { verbosity: text.verbosity } : {}) },
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
		background: false,
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
		...(usage.cost === undefined ? {} : { cost: usage.cost })
	};
}

type Format = NonNullable<NonNullable<ResponseRequest['text']>['format']>;

/** The document has no room for the schema itself in an answer. */
function formatOf(format: Format | null | undefined): Record<string, unknown> {
	if (format?.type !== 'json_schema') return { type: format?.type ?? 'text' };
	const { name = 'response', description = null, strict } = format;
	return { type: 'json_schema', name, description, schema: null, strict: strict ?? false };
}

type Effort = NonNullable<ResponseRequest['reasoning']>['effort'];

/** The document knows neither the least nor the most that models can be told. */
function effortOf(effort: Effort): string | null {
	if (effort === 'minimal') return 'low';
	return effort === 'max' ? 'xhigh' : (effort ?? null);
}
