/** Reads the body of `POST /v1/chat/completions` and says the same as a request of the Responses API (F12). */
import { z } from 'zod';
import { asObject, isObject, type JsonObject } from '../../../shared/json.ts';
import { isReasoningEffort } from '../../../shared/names.ts';
import { ApiError, badParameter } from '../responses/errors.ts';
import { checkBody } from '../responses/request.ts';
import { chatMessages, type ChatMessage } from './messages.ts';

/** The smallest limit that model servers accept. */
const MIN_OUTPUT_TOKENS = 16;
/** Of `safety_identifier` and `prompt_cache_key`. */
const MAX_LABEL = 64;
const MAX_STOPS = 4;
const MAX_STOP = 1000;
const MAX_SESSION = 256;

const stopText = z.string().max(MAX_STOP);
const flag = z.boolean().nullish();
const number = z.number().nullish();
/** Left out if it isn’t this: other servers’ extras of the same name must not fail the request. */
const ifFits = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

/** Unknown fields are ignored. What both APIs have is checked as a request of the Responses API. */
const chatBody = z.object({
	model: z.string().nullish(),
	messages: chatMessages,
	n: z.number().int().nullish(),
	stream: flag,
	stream_options: ifFits(z.object({ include_usage: ifFits(z.boolean()) })),
	/** OpenRouter’s. */
	usage: ifFits(z.object({ include: ifFits(z.boolean()) })),
	stop: z.union([stopText, z.array(stopText).max(MAX_STOPS)]).nullish(),
	max_tokens: number,
	max_completion_tokens: number,
	temperature: number,
	top_p: number,
	presence_penalty: number,
	frequency_penalty: number,
	logprobs: flag,
	top_logprobs: z.number().int().min(0).max(20).nullish(),
	parallel_tool_calls: flag,
	tools: z.array(z.unknown()).nullish(),
	tool_choice: z.unknown().optional(),
	functions: z.array(z.unknown()).nullish(),
	function_call: z.unknown().optional(),
	response_format: z.looseObject({ type: z.string() }).nullish(),
	verbosity: ifFits(z.enum(['low', 'medium', 'high'])),
	reasoning_effort: ifFits(z.string()),
	/** OpenRouter’s. */
	reasoning: ifFits(
		z.object({ effort: ifFits(z.string()), enabled: ifFits(z.boolean()), exclude: ifFits(z.boolean()) })
	),
	include_reasoning: ifFits(z.boolean()),
	service_tier: ifFits(z.enum(['auto', 'default', 'flex', 'priority'])),
	safety_identifier: ifFits(z.string().max(MAX_LABEL)),
	prompt_cache_key: ifFits(z.string().max(MAX_LABEL)),
	metadata: ifFits(z.record(z.string(), z.string().max(512)).refine((pairs) => Object.keys(pairs).length <= 16)),
	store: ifFits(z.boolean()),
	/** OpenRouter’s: requests of one conversation. */
	session_id: ifFits(z.string().min(1).max(MAX_SESSION)),
	openrouter_skills: z.unknown().optional()
});

/** How the caller wants to be answered. */
export interface ChatOptions {
	streams: boolean;
	/** Whether a stream ends with the usage. */
	tellsUsage: boolean;
	stops: string[];
	/** Whether the answer has the model’s reasoning. */
	tellsReasoning: boolean;
	/** `functions` came before `tools`; who sends them expects `function_call`. */
	isLegacy: boolean;
	/** Whether tool turns may be kept for their next request. */
	keeps: boolean;
	/** The caller’s own name of the conversation. */
	sessionId: string | null;
}

export interface ChatRequest {
	messages: ChatMessage[];
	options: ChatOptions;
	/** The request without its input. */
	settings: JsonObject;
}

/** @throws ApiError naming the parameter */
export function readChatRequest(body: unknown): ChatRequest {
	const request = checkBody(chatBody, body);
	if (request.n !== null && request.n !== undefined && request.n !== 1) {
		throw badParameter('n', 'n must be 1: each request gets one answer. Send the request again for another one.');
	}
	const { messages, stop, functions, reasoning } = request;
	const isLegacy = Boolean(functions?.length) && !request.tools?.length;
	return {
		messages,
		options: {
			streams: request.stream ?? false,
			tellsUsage: (request.stream_options?.include_usage ?? false) || (request.usage?.include ?? false),
			stops: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== ''),
			tellsReasoning: !(reasoning?.exclude ?? request.include_reasoning === false),
			isLegacy,
			keeps: request.store !== false,
			sessionId: request.session_id ?? null
		},
		settings: settingsOf(request, isLegacy)
	};
}

function settingsOf(request: z.output<typeof chatBody>, isLegacy: boolean): JsonObject {
	const { response_format: format, verbosity, logprobs } = request;
	const effort = effortOf(request);
	return {
		model: request.model,
		...(isLegacy
			? { tools: functionsOf(request.functions), tool_choice: choiceOf(request.function_call) }
			: { tools: request.tools?.map(flat), tool_choice: choiceOf(request.tool_choice) }),
		// One call is all that `function_call` has room for.
		parallel_tool_calls: isLegacy ? false : request.parallel_tool_calls,
		text: format || verbosity ? { format: format && flat(format), verbosity } : undefined,
		max_output_tokens: limitOf(request.max_completion_tokens ?? request.max_tokens),
		reasoning: effort === undefined ? undefined : { effort },
		temperature: request.temperature,
		top_p: request.top_p,
		presence_penalty: request.presence_penalty,
		frequency_penalty: request.frequency_penalty,
		include: logprobs ? ['message.output_text.logprobs'] : undefined,
		top_logprobs: logprobs ? request.top_logprobs : undefined,
		service_tier: request.service_tier,
		safety_identifier: request.safety_identifier,
		prompt_cache_key: request.prompt_cache_key,
		metadata: request.metadata,
		openrouter_skills: request.openrouter_skills
	};
}

/** `{type: 'function', function: {name}}` is `{type: 'function', name}` in the Responses API; formats are the same. */
function flat(value: unknown): unknown {
	if (!isObject(value) || typeof value.type !== 'string') return value;
	const { [value.type]: inner, ...rest } = value;
	return isObject(inner) ? { ...rest, ...inner, type: value.type } : value;
}

function functionsOf(functions: readonly unknown[] | null | undefined): unknown[] {
	return (functions ?? []).map((each) => ({ ...asObject(each), type: 'function' }));
}

function choiceOf(choice: unknown): unknown {
	const word = isObject(choice) ? choice.type : choice;
	// Mistral’s word; Anthropic’s form of all of them.
	if (word === 'any') return 'required';
	if (word === 'auto' || word === 'none' || word === 'required') return word;
	if (!isObject(choice)) return choice;
	if (choice.type === undefined) return typeof choice.name === 'string' ? { ...choice, type: 'function' } : choice;
	const flattened = flat(choice);
	const tools = asObject(flattened).tools;
	return Array.isArray(tools) ? { ...asObject(flattened), tools: tools.map(flat) } : flattened;
}

/** Some programs say “no limit” with 0 or -1. */
function limitOf(tokens: number | null | undefined): number | undefined {
	if (tokens === null || tokens === undefined || tokens <= 0) return undefined;
	return Math.max(MIN_OUTPUT_TOKENS, Math.min(Math.floor(tokens), Number.MAX_SAFE_INTEGER));
}

function effortOf({ reasoning, reasoning_effort: effort }: z.output<typeof chatBody>): string | undefined {
	const said = reasoning?.effort ?? effort ?? undefined;
	if (said !== undefined && isReasoningEffort(said)) return said;
	return reasoning?.enabled === false ? 'none' : undefined;
}

/** The error of the Responses request in the words of this one. `origins`: the message of each input item. */
export function inChatTerms(error: unknown, origins: readonly number[]): unknown {
	if (!(error instanceof ApiError) || error.param === null) return error;
	const { param, message } = error;
	const told = paramOf(param, origins);
	const sentence = message.startsWith(param) ? told + message.slice(param.length) : message;
	return new ApiError(error.status, sentence, { code: error.code, param: told, cause: error.cause });
}

const NAMES: readonly [pattern: RegExp, name: string][] = [
	[/^text\.format\b/, 'response_format'],
	[/^max_output_tokens\b/, 'max_completion_tokens'],
	[/^reasoning\.effort\b/, 'reasoning_effort'],
	[/^input\b/, 'messages']
];

function paramOf(param: string, origins: readonly number[]): string {
	const [, index, rest = ''] = /^input\[(\d+)\](.*)$/s.exec(param) ?? [];
	if (index !== undefined) return `messages[${origins[Number(index)] ?? 0}]${rest}`;
	const known = NAMES.find(([pattern]) => pattern.test(param));
	return known ? param.replace(...known) : param;
}
