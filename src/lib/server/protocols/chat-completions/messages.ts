/** Messages of Chat Completions as items of the Responses API (F12). */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { asObject, isObject, type JsonObject } from '../../../shared/json.ts';
import { badParameter, missing } from '../responses/errors.ts';

const text = z.string().nullish();
const part = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(z.union([z.string(), part]))]).nullish();
const called = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });

const chatMessage = z.discriminatedUnion('role', [
	z.object({ role: z.enum(['system', 'developer']), content }),
	z.object({ role: z.literal('user'), content }),
	z.object({
		role: z.literal('assistant'),
		content,
		refusal: text,
		tool_calls: z
			.array(z.looseObject({ id: text, function: called.nullish(), custom: z.unknown().optional() }))
			.nullish(),
		/** From before `tool_calls`. */
		function_call: called.nullish()
	}),
	z.object({ role: z.literal('tool'), content, tool_call_id: text }),
	/** From before `tool`. */
	z.object({ role: z.literal('function'), content, name: text })
]);

export const chatMessages = z.array(chatMessage).min(1);
export type ChatMessage = z.output<typeof chatMessage>;
type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;
type Content = z.output<typeof content>;

export interface ChatInput {
	/** System and developer messages before all others; null if there are none. */
	instructions: string | null;
	items: JsonObject[];
	/** The index of each item’s message. */
	origins: number[];
}

/** A call of the caller’s tool, in a message or an answer. */
export interface ChatCall {
	call_id: string;
	name: string;
	arguments: string;
}

/** `recall` finds the items of the answer that made these calls; null if they aren’t kept. @throws ApiError naming the message */
export async function inputOf(
	messages: readonly ChatMessage[],
	recall: (calls: readonly ChatCall[]) => Promise<JsonObject[] | null>
): Promise<ChatInput> {
	const input = new InputReader();
	const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
	// A request of nothing but system messages asks something, too.
	const leading = first < 0 ? [] : messages.slice(0, first);
	const calls = messages.map((message) => (message.role === 'assistant' ? callsOf(message, input) : []));
	// The newest first: there is a limit.
	const recalled = await Promise.all(calls.toReversed().map(async (made) => (made.length > 0 ? recall(made) : null)));
	recalled.reverse();
	for (const [index, message] of messages.entries()) {
		if (index >= leading.length)
			input.read(message, index, { calls: calls[index] ?? [], kept: recalled[index] ?? null });
	}
	input.answerOpenCalls();
	const instructions = leading.map((message) => plainText(message.content)).filter((each) => each !== '');
	return {
		instructions: instructions.length > 0 ? instructions.join('\n\n') : null,
		items: input.items,
		origins: input.origins
	};
}

class InputReader {
	readonly items: JsonObject[] = [];
	readonly origins: number[] = [];
	#open = new OpenCalls([]);
	#made = 0;
	#at = 0;

	/** For a call that came without an id. */
	nextId(): string {
		this.#made += 1;
		return `call_without_id_${this.#made}`;
	}

	read(message: ChatMessage, index: number, { calls, kept }: { calls: ChatCall[]; kept: JsonObject[] | null }): void {
		this.#at = index;
		const place = `messages[${index}]`;
		if (message.role === 'tool') return this.#result(message.tool_call_id, message.content, place);
		if (message.role === 'function') return this.#legacyResult(message.name, message.content, place);
		this.answerOpenCalls();
		if (message.role !== 'assistant') {
			const { role } = message;
			const parts = role === 'user' ? userParts(message.content, place) : textParts(message.content, 'input_text');
			if (parts.length > 0) this.#add({ type: 'message', role, content: parts });
			return;
		}
		this.#open = new OpenCalls(calls);
		if (kept) {
			for (const item of kept) this.#add(item);
			return;
		}
		const parts = textParts(message.content, 'output_text');
		const refusal = message.refusal ? [{ type: 'refusal', refusal: message.refusal }] : [];
		if (parts.length + refusal.length > 0) {
			this.#add({ type: 'message', role: 'assistant', content: [...parts, ...refusal] });
		}
		for (const call of calls) this.#add({ type: 'function_call', ...call });
	}

	/** Some programs drop the results of calls that were interrupted; a model needs one for each. */
	answerOpenCalls(): void {
		for (const { call_id } of this.#open.takeAll())
			this.#add({ type: 'function_call_output', call_id, output: NO_RESULT });
	}

	#result(id: string | null | undefined, told: Content, place: string): void {
		const call = this.#open.take(id ? callId(id) : null);
		if (call) return this.#answer(call, told, place);
		const param = `${place}.tool_call_id`;
		throw badParameter(
			param,
			`${param} must be the id of a call in the assistant message before it. Send that message, too.`
		);
	}

	#legacyResult(name: string | null | undefined, told: Content, place: string): void {
		const call = this.#open.takeNamed(name ?? '');
		if (call) return this.#answer(call, told, place);
		const param = `${place}.name`;
		throw badParameter(param, `${param} must be the function that the assistant message before it calls.`);
	}

	#answer({ call_id }: ChatCall, told: Content, place: string): void {
		const isText = typeof told === 'string' || !told?.some((each) => isObject(each) && kindOf(each) !== 'text');
		const output = isText ? plainText(told) : userParts(told, place);
		this.#add({ type: 'function_call_output', call_id, output });
	}

	#add(item: JsonObject): void {
		this.items.push(item);
		this.origins.push(this.#at);
	}
}

/** Calls of a message without a result yet. Each is found at once: a request may have hundreds of thousands, in any order. */
class OpenCalls {
	readonly #calls: readonly ChatCall[];
	readonly #taken = new Set<ChatCall>();
	readonly #byId: ReadonlyMap<string, ChatCall[]>;
	readonly #byName: ReadonlyMap<string, ChatCall[]>;
	#first = 0;

	constructor(calls: readonly ChatCall[]) {
		this.#calls = calls;
		// The last one first: `pop` is quick.
		const reversed = calls.toReversed();
		this.#byId = Map.groupBy(reversed, ({ call_id }) => call_id);
		this.#byName = Map.groupBy(reversed, ({ name }) => name);
	}

	/** The first one with this id, or the first at all. */
	take(id: string | null): ChatCall | undefined {
		if (id !== null) return this.#takeFrom(this.#byId.get(id));
		while (this.#first < this.#calls.length) {
			const call = this.#calls[this.#first++];
			if (call && !this.#taken.has(call)) return this.#mark(call);
		}
		return undefined;
	}

	takeNamed(name: string): ChatCall | undefined {
		return this.#takeFrom(this.#byName.get(name));
	}

	takeAll(): ChatCall[] {
		return this.#calls.filter((call) => !this.#taken.has(call)).map((call) => this.#mark(call));
	}

	#takeFrom(calls: ChatCall[] | undefined): ChatCall | undefined {
		for (let call = calls?.pop(); call; call = calls?.pop()) if (!this.#taken.has(call)) return this.#mark(call);
		return undefined;
	}

	#mark(call: ChatCall): ChatCall {
		this.#taken.add(call);
		return call;
	}
}

const NO_RESULT = 'No result: the call was interrupted.';

function callsOf({ tool_calls: calls, function_call: legacy }: AssistantMessage, ids: InputReader): ChatCall[] {
	const made = (calls ?? []).flatMap(({ id, function: call, custom }) => {
		const { name, arguments: args, input } = asObject(call ?? custom);
		return typeof name === 'string' ? [{ id, name, args: call ? args : { input } }] : [];
	});
	if (legacy && made.length === 0) made.push({ id: null, name: legacy.name, args: legacy.arguments });
	return made.map(({ id, name, args }) => ({
		call_id: id ? callId(id) : ids.nextId(),
		name,
		arguments: argumentsOf(args)
	}));
}

/** The Responses API has at most 64 characters; some servers pack more into an id. */
export function callId(id: string): string {
	return id.length <= MAX_ID ? id : `call_${hash('sha256', id).slice(0, 32)}`;
}
const MAX_ID = 64;

function argumentsOf(args: unknown): string {
	if (typeof args === 'string') return args === '' ? '{}' : args;
	return JSON.stringify(args ?? {});
}

function listOf(told: Content): JsonObject[] {
	if (typeof told === 'string') return told === '' ? [] : [{ type: 'text', text: told }];
	return (told ?? []).map((each) => (typeof each === 'string' ? { type: 'text', text: each } : each));
}

function plainText(told: Content): string {
	return textParts(told, 'input_text')
		.map((each) => each.text)
		.join('\n');
}

/** Parts other than text, like another server’s reasoning, aren’t what was said. */
function textParts(told: Content, type: 'input_text' | 'output_text'): { type: string; text: string }[] {
	return listOf(told).flatMap((each) => {
		const words = kindOf(each) === 'text' ? each.text : each.refusal;
		return typeof words === 'string' && words !== '' ? [{ type, text: words }] : [];
	});
}

/** The part’s type; those of the Responses API are taken, too. */
function kindOf({ type }: JsonObject): string {
	return String(type).replace(/^(input|output)_(?=text|image|file)/, '');
}

/** @throws ApiError naming the part */
function userParts(told: Content, place: string): JsonObject[] {
	return listOf(told).flatMap((each, index): JsonObject[] => {
		const param = `${place}.content[${index}]`;
		const kind = kindOf(each);
		switch (kind) {
			case 'text':
				return each.text === '' ? [] : [{ type: 'input_text', text: each.text }];
			case 'image':
			case 'image_url': {
				const { url, detail, file_id } = asObject(
					isObject(each.image_url) ? each.image_url : { ...each, url: each.image_url }
				);
				if (typeof url !== 'string' && typeof file_id !== 'string') throw missing(`${param}.image_url.url`);
				return [{ type: 'input_image', image_url: url, file_id, detail: isDetail(detail) ? detail : undefined }];
			}
			case 'file': {
				const { file_data: data, file_url: url, file_id, filename } = asObject(each.file ?? each);
				return [
					{ type: 'input_file', filename, file_id, ...dataOrAddress(data ?? url, `${param}.file.file_data`, file_id) }
				];
			}
			case 'input_audio': {
				const { data, format } = asObject(each.input_audio);
				if (typeof data !== 'string') throw missing(`${param}.input_audio.data`);
				return [{ type: 'input_file', filename: `audio.${extensionOf(format, 'wav')}`, file_data: data }];
			}
			case 'video_url': {
				const { url } = asObject(each.video_url);
				const name = typeof url === 'string' ? /^data:video\/(\w+)/.exec(url)?.[1] : undefined;
				const filename = `video.${extensionOf(name, 'mp4')}`;
				return [{ type: 'input_file', filename, ...dataOrAddress(url, `${param}.video_url.url`) }];
			}
			default:
				throw badParameter(
					`${param}.type`,
					`${param}.type must be one of “text”, “image_url”, “file”, “input_audio”, “video_url”.`
				);
		}
	});
}

const DETAILS: readonly unknown[] = ['low', 'high', 'auto', 'original'];
const isDetail = (detail: unknown): boolean => DETAILS.includes(detail);

function dataOrAddress(value: unknown, param: string, fileId?: unknown): JsonObject {
	if (typeof value === 'string') return /^https?:/i.test(value) ? { file_url: value } : { file_data: value };
	if (typeof fileId === 'string') return {};
	throw missing(param);
}

function extensionOf(format: unknown, usual: string): string {
	return typeof format === 'string' && /^[a-z0-9]{1,8}$/i.test(format) ? format.toLowerCase() : usual;
}
