/** Validates `CreateResponseBody` of Open Responses, for `POST /v1/responses` (F12). */
import { z } from 'zod';
import { isNestedDeeperThan, MAX_NESTING } from '../../../shared/errors.ts';
import { MAX_MODEL_ID } from '../../../shared/names.ts';
import { failure, type Toolbox } from '../../agent/tool.ts';
import { isObject } from '../../../shared/json.ts';
import { ApiError, badParameter } from './errors.ts';
import { callerTools, callId, callItems, kind, others, readTools, toolChoice } from './tools.ts';
import { deepest, inPlainWords } from '../../../shared/plain-issues.ts';

const MAX_TEXT = 10_485_760;
const MAX_IMAGE = 20_971_520;
const MAX_FILE = 33_554_432;

/** Characters of instructions, and of tools: every event with the whole response has them again. */
const MAX_REPEATED = 2 * 1024 * 1024;

const longText = z.string().max(MAX_TEXT);
const status = z.string().nullish();
const id = z.string().nullish();
/** Of a file at the model's server. */
const fileId = z.string().max(1024).nullish();

const inputText = z.object({ type: z.literal('input_text'), text: longText });
const inputImage = z.object({
	type: z.literal('input_image'),
	image_url: z.string().max(MAX_IMAGE).nullish(),
	file_id: fileId,
	detail: z.enum(['low', 'high', 'auto', 'original']).nullish()
});
const inputFile = z.object({
	type: z.literal('input_file'),
	filename: z.string().nullish(),
	file_data: z.string().max(MAX_FILE).nullish(),
	file_url: z.string().nullish(),
	file_id: fileId
});
/** Clients send citations back unchanged. */
const outputText = z.object({
	type: z.literal('output_text'),
	text: longText,
	annotations: z.array(z.looseObject({ type: z.string() })).nullish()
});
const refusal = z.object({ type: z.literal('refusal'), refusal: longText });

const inputParts = z.array(
	z.union([
		z.discriminatedUnion('type', [inputText, inputImage, inputFile]),
		others('input_text', 'input_image', 'input_file')
	])
);
const outputParts = z.array(
	z.union([z.discriminatedUnion('type', [outputText, refusal]), others('output_text', 'refusal')])
);
const outputOfCall = z.union([longText, inputParts]);
const message = { id, type: z.literal('message'), status };
const written = z.union([inputParts, longText]);

const messageItem = z.discriminatedUnion('role', [
	z.object({ ...message, role: z.literal('user'), content: written }),
	z.object({ ...message, role: z.literal('system'), content: written }),
	z.object({ ...message, role: z.literal('developer'), content: written }),
	z.object({
		...message,
		role: z.literal('assistant'),
		content: z.union([outputParts, longText]),
		phase: z.string().max(100).nullish()
	})
]);

const readItems = z.discriminatedUnion('type', [
	messageItem,
	z.object({ type: z.literal('item_reference'), id: z.string() }),
	z.object({
		id,
		type: z.literal('reasoning'),
		summary: z.array(z.looseObject({ type: z.string() })).nullish(),
		content: z.array(z.looseObject({ type: z.string() })).nullish(),
		encrypted_content: longText.nullish()
	}),
	z.object({ id, type: z.literal('compaction'), encrypted_content: longText }),
	...callItems,
	z.object({ id, status, type: z.literal('function_call_output'), call_id: callId, output: outputOfCall }),
	z.object({ id, status, type: z.literal('custom_tool_call_output'), call_id: callId, output: outputOfCall }),
	z.looseObject({ id, type: z.literal('additional_tools'), tools: callerTools }),
	z.looseObject({
		...{ id, type: z.literal('agent_message'), author: z.string().max(1000).nullish() },
		content: z.array(z.looseObject({ type: kind }))
	})
]);

/** Items of other types, like those of the tools of a model's server, are kept for it. */
const item = z.union([
	readItems,
	others(...readItems.options.flatMap(typesOf)).transform((other) => ({ type: 'other' as const, item: other }))
]);

function typesOf(option: (typeof readItems.options)[number]): string[] {
	return 'shape' in option ? [...option.shape.type.values] : ['message'];
}

/** The type of a message or a reference is optional, as the API's documentation says in prose. */
const inputItem = z.preprocess((value) => {
	if (!isObject(value) || (value.type !== null && value.type !== undefined)) return value;
	if ('role' in value) return { ...value, type: 'message' };
	return 'id' in value ? { ...value, type: 'item_reference' } : value;
}, item);

/** Of a conversation, at a time. */
export const someItems = z.array(inputItem).max(20);

export const responseInput = z.union([longText, z.array(inputItem)]);

const textFormat = z.discriminatedUnion('type', [
	z.object({ type: z.literal('text') }),
	z.object({ type: z.literal('json_object') }),
	z.object({
		type: z.literal('json_schema'),
		name: z.string().optional(),
		description: z.string().nullish(),
		schema: z.record(z.string(), z.unknown()).optional(),
		strict: z.boolean().nullish()
	})
]);
const otherFormat = others('text', 'json_object', 'json_schema');

const count = z.number().int();

export const metadataPairs = z
	.record(z.string().max(64), z.string().max(512))
	.refine((pairs) => Object.keys(pairs).length <= 16, 'must have at most 16 entries');

const createResponseBody = z.object({
	model: z.string().max(MAX_MODEL_ID).nullish(),
	input: responseInput.nullish(),
	previous_response_id: z.string().max(200).nullish(),
	conversation: z.union([z.string().max(200), z.object({ id: z.string().max(200) })]).nullish(),
	include: z.array(z.string().max(200)).max(100).nullish(),
	tools: callerTools.nullish(),
	tool_choice: toolChoice.nullish(),
	metadata: metadataPairs.nullish(),
	text: z
		.object({ format: z.union([textFormat, otherFormat]).nullish(), verbosity: z.string().max(100).nullish() })
		.nullish(),
	temperature: z.number().nullish(),
	top_p: z.number().nullish(),
	presence_penalty: z.number().nullish(),
	frequency_penalty: z.number().nullish(),
	parallel_tool_calls: z.boolean().nullish(),
	stream: z.boolean().nullish(),
	stream_options: z.object({ include_obfuscation: z.boolean().nullish() }).nullish(),
	background: z.boolean().nullish(),
	max_output_tokens: count.min(16).nullish(),
	max_tool_calls: count.min(1).nullish(),
	reasoning: z.object({ effort: z.string().max(100).nullish(), summary: z.string().max(100).nullish() }).nullish(),
	safety_identifier: z.string().max(64).nullish(),
	prompt_cache_key: z.string().max(64).nullish(),
	truncation: z.enum(['auto', 'disabled']).nullish(),
	instructions: z.string().max(MAX_REPEATED).nullish(),
	store: z.boolean().nullish(),
	service_tier: z.string().max(100).nullish(),
	top_logprobs: count.min(0).max(20).nullish(),
	/** Our extension: which skills the request may use (B14, D42), and how to render their calls. */
	openrouter_skills: z
		.strictObject({
			allowed: z.array(z.string().max(200)).max(1000).optional(),
			builtins: z.array(z.string().max(200)).max(100).optional(),
			calls: z.enum(['reasoning', 'items']).optional()
		})
		.nullish()
});

export type ResponseRequest = z.output<typeof createResponseBody>;
export type InputItem = Extract<ResponseRequest['input'], unknown[]>[number];

/** Parameters of other servers. Refused, because ignoring them would change the result. */
const UNSUPPORTED: readonly string[] = ['prompt'];

/** @throws ApiError naming the parameter */
export function readResponseRequest(body: unknown): ResponseRequest {
	const request = checkBody(createResponseBody, body);
	const given = body as Record<string, unknown>;
	const other = UNSUPPORTED.find((name) => given[name] !== undefined && given[name] !== null);
	if (other !== undefined) {
		const sentence = `${other} isn’t supported. Use previous_response_id, or send the items.`;
		throw badParameter(other, sentence, 'unsupported_parameter');
	}
	if (request.conversation && request.previous_response_id) {
		const sentence = 'conversation and previous_response_id can’t be used together. Leave one out.';
		throw badParameter('conversation', sentence, 'mutually_exclusive_parameters');
	}
	if (request.background && request.store === false) {
		throw badParameter('store', 'A response in the background has to be stored. Leave out store: false.');
	}
	if (JSON.stringify(request.tools ?? []).length > MAX_REPEATED) {
		throw badParameter(
			'tools',
			'tools may have 2 MB together. Send fewer, or find them with tool_search.',
			'too_large'
		);
	}
	readTools(request.tools ?? [], []);
	return request;
}

/** @throws ApiError naming the parameter */
export function checkBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
	if (!isObject(body)) throw new ApiError(400, 'The body must be a JSON object.', { code: 'invalid_type' });
	if (isNestedDeeperThan(MAX_NESTING, body)) {
		throw new ApiError(400, `The body is nested more than ${MAX_NESTING} levels deep.`, { code: 'invalid_value' });
	}
	const parsed = schema.safeParse(body, { error: inPlainWords });
	if (parsed.success) return parsed.data;
	const { path, message: problem } = deepest(parsed.error.issues);
	const param = path.length > 0 ? paramOf(path) : null;
	throw new ApiError(400, `${param ?? 'The body'} ${problem}.`, { code: 'invalid_value', param });
}

/** `input[0].content` */
function paramOf(path: readonly PropertyKey[]): string {
	return path
		.reduce<string>((text, key) => {
			if (typeof key === 'number') return `${text}[${key}]`;
			return text === '' ? String(key) : `${text}.${String(key)}`;
		}, '')
		.slice(0, 200);
}

/** Restricts a toolbox to tools of these names (of any kind); null: all. */
export function withOnly(toolbox: Toolbox, names: readonly string[] | null): Toolbox {
	if (names === null) return toolbox;
	const allowed = new Set(names);
	return {
		...toolbox,
		definitions: () => toolbox.definitions().filter(({ name }) => allowed.has(name)),
		kind: (name) => (allowed.has(name) ? toolbox.kind(name) : null)
	};
}

/** After `most` calls only the caller's tools remain. */
export function withCallLimit(toolbox: Toolbox, most: number | null): Toolbox {
	if (most === null) return toolbox;
	let made = 0;
	return {
		...toolbox,
		definitions: () => toolbox.definitions().filter(({ name }) => made < most || toolbox.kind(name) === 'caller'),
		async call(name, args, context) {
			made += 1;
			if (made <= most) return toolbox.call(name, args, context);
			return failure('ToolCallLimit', `This response can make only ${most} tool calls.`, 'Answer with what you have.');
		}
	};
}
