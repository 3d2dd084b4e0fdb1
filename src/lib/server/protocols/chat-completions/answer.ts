/**
 * Says the events of a response as a chat completion: one delta at a time, or whole. Both go through the same reader, so
 * they have the same content.
 */
import { asArray, asObject, type JsonObject } from '../../../shared/json.ts';
import { type ApiError, runFailure } from '../responses/errors.ts';
import type { ExecutedCall, ResponseEvent, ResponseResource } from '../responses/wire.ts';
import type { ChatOptions } from './request.ts';

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'function_call' | 'content_filter';

/** Of a stream’s chunk, and of a message once they are joined. */
interface Delta {
	role?: 'assistant';
	content?: string;
	/** Reasoning, and what skills did. DeepSeek’s name and OpenRouter’s: clients read one of them. */
	reasoning_content?: string;
	reasoning?: string;
	annotations?: JsonObject[];
	tool_calls?: CallDelta[];
	function_call?: { name?: string; arguments: string };
}

interface CallDelta {
	index: number;
	id?: string;
	type?: 'function' | 'custom';
	function?: { name?: string; arguments: string };
	/** Of a tool that takes a text. */
	custom?: { name?: string; input: string };
}

interface Ending {
	finish: FinishReason;
	usage: JsonObject | null;
	/** Our extension; null if there is nothing to say. */
	extension: JsonObject | null;
}

/** A piece of the answer, its end, or why it failed. */
type Piece = { delta: Delta } | { logprobs: JsonObject[] } | { end: Ending } | { failure: ApiError };

interface Head {
	id: string;
	created: unknown;
	model: string;
}

/** Lines of a stream, `[DONE]` last. `stop` ends the turn, whose events go on to their end. */
export async function* chatChunks(
	events: AsyncIterable<ResponseEvent>,
	{ options, stop }: { options: ChatOptions; stop(): void }
): AsyncGenerator<string> {
	const reader = new AnswerReader(options, stop);
	const frame = (value: JsonObject) => `data: ${JSON.stringify(value)}\n\n`;
	const chunk = (fields: JsonObject) => frame({ ...reader.head, object: 'chat.completion.chunk', ...fields });
	// No field is null that a client may want to be left out: some check each chunk.
	const choice = (delta: Delta, more: JsonObject = {}) => ({
		choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }]
	});
	let isBegun = false;
	for await (const event of events) {
		let frames = '';
		const pieces = [...reader.read(event)];
		if (!isBegun && reader.head.id !== '') {
			isBegun = true;
			frames += chunk(choice({ role: 'assistant', content: '' }));
		}
		for (const piece of pieces) {
			if ('delta' in piece) frames += chunk(choice(piece.delta));
			else if ('logprobs' in piece)
				frames += chunk(choice({}, { logprobs: { content: piece.logprobs, refusal: null } }));
			else if ('failure' in piece) frames += frame({ ...piece.failure.toBody() });
			else {
				const { finish, usage, extension } = piece.end;
				frames += chunk({
					...choice({}, { finish_reason: finish }),
					...(extension && { openrouter_skills: extension })
				});
				if (options.tellsUsage && usage) frames += chunk({ choices: [], usage });
			}
		}
		if (frames !== '') yield frames;
	}
	yield 'data: [DONE]\n\n';
}

/** The whole completion. @throws ApiError if the turn failed */
export async function chatCompletion(
	events: AsyncIterable<ResponseEvent>,
	{ options, stop }: { options: ChatOptions; stop(): void }
): Promise<JsonObject> {
	const reader = new AnswerReader(options, stop);
	const content: string[] = [];
	const reasoning: string[] = [];
	const annotations: JsonObject[] = [];
	const logprobs: JsonObject[] = [];
	const calls: Omit<CallDelta, 'index'>[] = [];
	let end: Ending | null = null;
	for await (const event of events) {
		for (const piece of reader.read(event)) {
			if ('failure' in piece) throw piece.failure;
			if ('end' in piece) end = piece.end;
			else if ('logprobs' in piece) logprobs.push(...piece.logprobs);
			else {
				const { delta } = piece;
				if (delta.content) content.push(delta.content);
				if (delta.reasoning_content) reasoning.push(delta.reasoning_content);
				if (delta.annotations) annotations.push(...delta.annotations);
				if (delta.function_call) join(calls, { index: 0, function: delta.function_call });
				for (const part of delta.tool_calls ?? []) join(calls, part);
			}
		}
	}
	if (!end) throw runFailure('internal', 'The turn ended without a reply. Try again.');
	const said = content.join('');
	const thought = reasoning.join('');
	const message = {
		role: 'assistant',
		content: said === '' && calls.length > 0 ? null : said,
		refusal: null,
		...(thought !== '' && { reasoning_content: thought, reasoning: thought }),
		annotations,
		...(calls.length > 0 && (options.isLegacy ? { function_call: calls[0]?.function } : { tool_calls: calls }))
	};
	return {
		...reader.head,
		object: 'chat.completion',
		system_fingerprint: null,
		choices: [
			{
				index: 0,
				message,
				logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
				finish_reason: end.finish
			}
		],
		...(end.usage && { usage: end.usage }),
		...(end.extension && { openrouter_skills: end.extension })
	};
}

function join(calls: Omit<CallDelta, 'index'>[], { index, ...part }: CallDelta): void {
	const call = calls[index];
	if (!call) calls[index] = structuredClone(part);
	else if (call.function) call.function.arguments += part.function?.arguments ?? '';
	else if (call.custom) call.custom.input += part.custom?.input ?? '';
}

class AnswerReader {
	/** Empty before the first event. */
	head: Head = { id: '', created: 0, model: '' };
	readonly #options: ChatOptions;
	readonly #cut: StopCutter;
	readonly #stop: () => void;
	/** The caller’s calls, by the index of their item. */
	readonly #calls = new Map<number, { index: number; isCustom: boolean }>();
	/** Items whose text or reasoning has begun. */
	#text: { item: number | null; length: number } = { item: null, length: 0 };
	#textStart = 0;
	#reasoning: number | null = null;
	#isStopped = false;
	readonly #ran: ExecutedCall[] = [];
	readonly #files = new Map<string, { path: string; bytes: number }>();

	constructor(options: ChatOptions, stop: () => void) {
		this.#options = options;
		this.#cut = new StopCutter(options.stops);
		this.#stop = stop;
	}

	*read(event: ResponseEvent): Generator<Piece> {
		const index = Number(event.output_index);
		switch (event.type) {
			case 'response.created':
				return this.#begin(event.response as ResponseResource);
			case 'response.completed':
			case 'response.incomplete':
			case 'response.failed':
				return yield* this.#end(event.response as ResponseResource);
			default:
				if (this.#isStopped) return;
		}
		switch (event.type) {
			case 'response.output_text.delta':
				return yield* this.#addText(index, String(event.delta));
			case 'response.output_text.annotation.added':
				return yield { delta: { annotations: [this.#annotation(asObject(event.annotation))] } };
			case 'response.output_text.done': {
				const logprobs = asArray(event.logprobs).map(asObject);
				if (logprobs.length > 0) yield { logprobs };
				return;
			}
			case 'response.reasoning_summary_text.delta':
				return yield* this.#addReasoning(index, String(event.delta));
			case 'response.output_item.added':
				return yield* this.#beginCall(index, asObject(event.item));
			case 'response.function_call_arguments.delta':
			case 'response.custom_tool_call_input.delta':
				return yield* this.#addArguments(index, String(event.delta));
			case 'response.output_item.done':
				return this.#note(asObject(event.item));
			default:
		}
	}

	#begin({ id, created_at: created, model }: ResponseResource): void {
		this.head = { id: id.replace(/^resp_/, 'chatcmpl-'), created, model };
	}

	*#addText(item: number, delta: string): Generator<Piece> {
		const isNext = this.#text.item !== item;
		// What is said before a skill runs, and after it, are two messages of one answer.
		const gap = isNext && this.#text.length > 0 ? '\n\n' : '';
		if (isNext) {
			this.#textStart = this.#text.length + gap.length;
			this.#text.item = item;
		}
		const { said, isOver } = this.#cut.add(gap + delta);
		this.#text.length += gap.length + delta.length;
		if (said !== '') yield { delta: { content: said } };
		if (!isOver) return;
		this.#isStopped = true;
		this.#stop();
	}

	*#addReasoning(item: number, delta: string): Generator<Piece> {
		if (!this.#options.tellsReasoning || delta === '') return;
		const gap = this.#reasoning !== null && this.#reasoning !== item ? '\n\n' : '';
		this.#reasoning = item;
		yield { delta: { reasoning_content: gap + delta, reasoning: gap + delta } };
	}

	*#beginCall(item: number, { type, call_id: id, name, openrouter_skills: ran }: JsonObject): Generator<Piece> {
		const isCustom = type === 'custom_tool_call';
		if ((type !== 'function_call' && !isCustom) || ran) return;
		yield* this.#flush();
		const call = { index: this.#calls.size, isCustom };
		this.#calls.set(item, call);
		yield* this.#tellCall(call, '', { id: String(id), name: String(name) });
	}

	*#addArguments(item: number, delta: string): Generator<Piece> {
		const call = this.#calls.get(item);
		if (call && delta !== '') yield* this.#tellCall(call, delta);
	}

	*#tellCall(
		{ index, isCustom }: { index: number; isCustom: boolean },
		delta: string,
		begun?: { id: string; name: string }
	): Generator<Piece> {
		const named = begun && { name: begun.name };
		if (this.#options.isLegacy) {
			if (index === 0) yield { delta: { function_call: { ...named, arguments: delta } } };
			return;
		}
		const kind = isCustom ? ('custom' as const) : ('function' as const);
		const told = isCustom ? { custom: { ...named, input: delta } } : { function: { ...named, arguments: delta } };
		yield { delta: { tool_calls: [{ index, ...(begun && { id: begun.id, type: kind }), ...told }] } };
	}

	/** What ran here. */
	#note({ type, openrouter_skills: ran }: JsonObject): void {
		const call = ran as ExecutedCall | undefined;
		for (const file of call?.files ?? []) this.#files.set(file.path, file);
		if (call && type === 'function_call_output') this.#ran.push(call);
	}

	/** Places are counted from the start of the whole text. */
	#annotation(annotation: JsonObject): JsonObject {
		const { type, ...fields } = annotation;
		for (const name of ['start_index', 'end_index', 'index']) {
			if (typeof fields[name] === 'number') fields[name] += this.#textStart;
		}
		return { type, [String(type)]: fields };
	}

	*#flush(): Generator<Piece> {
		const said = this.#cut.rest();
		if (said !== '') yield { delta: { content: said } };
	}

	*#end(response: ResponseResource): Generator<Piece> {
		if (!this.#isStopped) yield* this.#flush();
		const { status, error, incomplete_details: incomplete } = response;
		const isFiltered = error?.code === 'content_filter' && this.#text.length > 0;
		if (!this.#isStopped && !isFiltered && status !== 'completed' && status !== 'incomplete') {
			return yield { failure: failureOf(response) };
		}
		let finish: FinishReason = 'stop';
		if (isFiltered) finish = 'content_filter';
		else if (this.#isStopped) finish = 'stop';
		else if (status === 'incomplete') finish = 'length';
		else if (this.#calls.size > 0) finish = this.#options.isLegacy ? 'function_call' : 'tool_calls';
		const extension = {
			...asObject(response.openrouter_skills),
			...(finish === 'length' && incomplete?.reason !== 'max_output_tokens' && { stopped_by: incomplete?.reason }),
			...(this.#files.size > 0 && { files: [...this.#files.values()] }),
			...(this.#ran.length > 0 && { calls: this.#ran })
		};
		yield {
			end: {
				finish,
				usage: usageOf(response.usage),
				extension: Object.keys(extension).length > 0 ? extension : null
			}
		};
	}
}

function failureOf({ status, error }: ResponseResource): ApiError {
	if (status === 'cancelled')
		return runFailure('interrupted', 'The server stopped this answer. Try again in a moment.');
	return runFailure(error?.code, error?.message ?? 'The turn ended without a reply. Try again.');
}

function usageOf(usage: unknown): JsonObject | null {
	const { input_tokens: input, output_tokens: output, total_tokens: total, ...more } = asObject(usage);
	if (typeof input !== 'number') return null;
	return {
		prompt_tokens: input,
		completion_tokens: output,
		total_tokens: total,
		prompt_tokens_details: more.input_tokens_details,
		completion_tokens_details: more.output_tokens_details,
		cost: more.cost,
		saved: more.saved
	};
}

/**
 * Ends a text before the first of the caller’s stop texts. The Responses API has none, so the model’s server can’t. Holds
 * back what may be the beginning of one, and nothing more.
 */
class StopCutter {
	readonly #stops: readonly string[];
	readonly #longest: number;
	#held = '';

	constructor(stops: readonly string[]) {
		this.#stops = stops;
		this.#longest = Math.max(0, ...stops.map(({ length }) => length));
	}

	add(delta: string): { said: string; isOver: boolean } {
		if (this.#longest === 0) return { said: delta, isOver: false };
		const text = this.#held + delta;
		const found = this.#stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
		if (found.length > 0) {
			this.#held = '';
			return { said: text.slice(0, Math.min(...found)), isOver: true };
		}
		let keep = Math.min(this.#longest - 1, text.length);
		while (keep > 0 && !this.#stops.some((stop) => stop.startsWith(text.slice(-keep)))) keep -= 1;
		this.#held = keep > 0 ? text.slice(-keep) : '';
		return { said: keep > 0 ? text.slice(0, -keep) : text, isOver: false };
	}

	rest(): string {
		const held = this.#held;
		this.#held = '';
		return held;
	}
}
