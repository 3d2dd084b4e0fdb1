/** Tool calls for models without tool support: explained in the instructions, parsed from the text (C17). */
import { randomUUID } from 'node:crypto';
import { plainLine } from '../../shared/characters.ts';
import type { FunctionTool, Model, ModelEvent, ModelRequest, ResponseItem, ToolChoice } from '../agent/model.ts';
import { readEnvelope, type ToolEnvelope } from '../skills/call/dialects/agent-zero.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { sanitiseInput } from './responses/items.ts';

/** Error messages of Ollama, OpenRouter, Groq, vLLM and llama.cpp. */
const REFUSALS =
	/not support (tools|tool use|tool calling|function calling)|that support tool use|tool calling` is not supported|tool choice requires --enable-auto-tool-choice|tools param requires/i;

/** Switches to text calls if `takesTools` returns false or the server rejects tools. */
export function withTextCalls(model: Model, takesTools: () => boolean | null): Model {
	let wasRefused = false;
	async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
		if (!wasRefused && takesTools() !== false) {
			const refusal = yield* untilRefused(model.stream(request, signal), request);
			if (!refusal) return;
			wasRefused = true;
		}
		const input = asTexts(request.input);
		const asked = {
			...request,
			instructions: withTools(request),
			input,
			tools: [],
			web: [],
			toolChoice: 'auto' as const
		};
		yield* readCalls(model.stream(asked, signal), request);
	}
	return { ...model, stream };
}

/** Returns true, and hides the error, if the server rejected the tools before any content. */
async function* untilRefused(
	events: AsyncIterable<ModelEvent>,
	{ tools }: ModelRequest
): AsyncGenerator<ModelEvent, boolean> {
	let mayRefuse = tools.length > 0;
	for await (const event of events) {
		if (mayRefuse && event.type === 'failed' && REFUSALS.test(event.error.message)) return true;
		mayRefuse &&= event.type === 'retrying';
		yield event;
	}
	return false;
}

function withTools({ instructions, tools, toolChoice }: ModelRequest): string {
	if (tools.length === 0) return instructions;
	if (toolChoice === 'none') return `${instructions}\n\nYou can’t call tools now: answer in plain text.`;
	const example = {
		thoughts: ['Why, in short'],
		headline: 'What this step does, in a few words',
		tool_name: 'name of the tool',
		tool_args: {}
	};
	return `${instructions}

# Calling tools
To call a tool, end your message with one JSON object that starts on a new line:
${JSON.stringify(example)}
Make one call per message and write nothing after it: the next message is its result. ${needOf(toolChoice)} Without such an object your message is the answer.
The tools, with the JSON Schema of their tool_args:
${tools.map(({ name, description, parameters }: FunctionTool) => JSON.stringify({ name, description, parameters })).join('\n')}`;
}

function needOf(choice: ToolChoice): string {
	if (typeof choice === 'object') return `Now you must call ${choice.name}.`;
	return choice === 'required' ? 'Now you must call a tool.' : 'Call a tool only if you need it.';
}

/** Converts calls and results to messages. Merges adjacent messages of one role, as many servers require. */
function asTexts(input: readonly ResponseItem[]): ResponseItem[] {
	const names = new Map<unknown, unknown>();
	const texts: ResponseItem[] = [];
	for (const item of sanitiseInput(input)) {
		if (item.type === 'function_call') names.set(item.call_id, item.name);
		const made = asText(item, names);
		const last = texts.at(-1);
		if (last?.type === 'message' && made.type === 'message' && last.role === made.role)
			texts[texts.length - 1] = { ...last, content: [...partsOf(last), ...partsOf(made)] };
		else texts.push(made);
	}
	return texts;
}

function asText(item: ResponseItem, names: ReadonlyMap<unknown, unknown>): ResponseItem {
	if (item.type === 'function_call') {
		const { headline = '', name, arguments: args } = item;
		const envelope = { thoughts: [], headline, tool_name: name, tool_args: parseJson(String(args)) };
		return messageOf('assistant', JSON.stringify(envelope));
	}
	if (item.type !== 'function_call_output') return item;
	const output = messageOf('user', `Result of ${String(names.get(item.call_id))}, not written by the user:`);
	return { ...output, content: [...partsOf(output), ...partsOf({ ...output, content: item.output })] };
}

function messageOf(role: 'assistant' | 'user', text: string): ResponseItem {
	return { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] };
}

function partsOf(message: ResponseItem): unknown[] {
	const { role, content } = message;
	if (Array.isArray(content)) return content;
	return [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: String(content ?? '') }];
}

/** Replaces a call in the model's text by call events. Leaves out any text after it. */
async function* readCalls(events: AsyncIterable<ModelEvent>, request: ModelRequest): AsyncGenerator<ModelEvent> {
	const mayCall = request.tools.length > 0 && request.toolChoice !== 'none';
	let open: { key: string; reader: EnvelopeReader } | undefined;
	let call: ResponseItem | undefined;
	const said: string[] = [];
	const say = function* (key: string, delta: string): Generator<ModelEvent> {
		if (delta === '') return;
		said.push(delta);
		yield { type: 'text.delta', key, delta };
	};
	for await (const event of events) {
		if (!mayCall) yield event;
		else if (event.type === 'text.delta') {
			if (call) continue;
			if (open?.key !== event.key) {
				if (open) {
					yield* say(open.key, open.reader.rest());
					said.push('\n\n');
				}
				open = { key: event.key, reader: new EnvelopeReader() };
			}
			yield* say(open.key, open.reader.read(event.delta));
			const { envelope } = open.reader;
			if (envelope) yield* callEvents((call = callOf(envelope)), envelope);
		} else if (event.type === 'completed' || event.type === 'failed') {
			const isHalfCall = event.type === 'failed' && open?.reader.isCallBegun;
			// Nobody wants to read half a call.
			if (open && !call && !isHalfCall) yield* say(open.key, open.reader.rest());
			yield call ? { ...event, items: withCall(event.items, said.join('').trim(), call) } : event;
		} else if (!call) yield event;
	}
}

const MAX_HEADLINE = 160;

function callOf({ name, args, headline = '' }: ToolEnvelope): ResponseItem {
	const call_id = `call_${randomUUID()}`;
	const title = plainLine(headline.slice(0, 10 * MAX_HEADLINE)).slice(0, MAX_HEADLINE);
	return { type: 'function_call', call_id, name, arguments: JSON.stringify(args), headline: title.toWellFormed() };
}

function* callEvents(call: ResponseItem, { name, thoughts }: ToolEnvelope): Generator<ModelEvent> {
	const [callId, args, headline] = [String(call.call_id), String(call.arguments), String(call.headline)];
	if (thoughts.length > 0) yield { type: 'reasoning.delta', key: `thoughts_${callId}`, delta: thoughts.join('\n') };
	yield { type: 'call.started', callId, name, headline };
	yield { type: 'call.delta', callId, delta: args };
	yield { type: 'call.done', callId, name, arguments: args };
}

/** The reply's items, with the call as a regular function call. */
function withCall(items: readonly ResponseItem[], said: string, call: ResponseItem): ResponseItem[] {
	const others = items.filter(({ type }) => type !== 'message');
	return said === '' ? [...others, call] : [...others, messageOf('assistant', said), call];
}

/** An object on a new line, or at the start of a code fence. */
const OBJECT = /^\s*(?:(?:`{3,}|~{3,})[^\n`]*\n\s*)?\{\s*"/;
/** The possible start of one. */
const BEGINNING = /^\s*(?:`{1,2}|~{1,2}|(?:(?:`{3,}|~{3,})[^\n`]*\n\s*)?(?:\{\s*)?|(?:`{3,}|~{3,})[^\n`]*)$/;
/** Characters, including a fence's first line and white space. */
const MAX_BEGINNING = 1000;
const MAX_ENVELOPE = 200_000;

/** The scan of an object without an end yet. */
interface OpenObject {
	start: number;
	/** Next character to read. */
	at: number;
	depth: number;
	isInString: boolean;
}

/** Passes text through, but holds back what may be a call. Reads each character only a few times. */
class EnvelopeReader {
	envelope: ToolEnvelope | null = null;
	#held = '';
	#isFirstLine = true;
	#object: OpenObject | null = null;

	/** Whether the held text looks like an unfinished call. */
	get isCallBegun(): boolean {
		const text = this.#object ? this.#held.slice(this.#object.start) : '';
		return /^\{\s*"(thoughts|headline|tool_name|tool_args)"/.test(text);
	}

	/** Adds text and returns what can be shown now; nothing after a call. */
	read(delta: string): string {
		this.#held += delta;
		let shown = '';
		while (!this.envelope && this.#held !== '') {
			const length = this.#object ? this.#readObject(this.#object) : this.#readLine();
			if (length === 0) break;
			this.#isFirstLine = false;
			shown += this.#held.slice(0, length);
			this.#held = this.#held.slice(length);
		}
		return shown;
	}

	/** Text still held back. */
	rest(): string {
		return this.#held;
	}

	/** Number of characters that can be shown; 0 if more text is needed. */
	#readLine(): number {
		const held = this.#held;
		const blank = held.length - held.trimStart().length;
		if (this.#isFirstLine || held.slice(0, blank).includes('\n')) {
			const found = OBJECT.exec(held);
			if (found) {
				const start = found[0].lastIndexOf('{');
				return this.#readObject((this.#object = { start, at: start, depth: 0, isInString: false }));
			}
			if (BEGINNING.test(held)) return held.length > MAX_BEGINNING ? held.length : 0;
		} else if (blank === held.length) return blank > MAX_BEGINNING ? blank : 0;
		// Hold back trailing white space: it isn't shown before a call.
		const end = held.indexOf('\n', blank);
		return held.slice(0, end < 0 ? held.length : end).trimEnd().length;
	}

	#readObject(object: OpenObject): number {
		const held = this.#held;
		for (; object.at < held.length && object.at - object.start < MAX_ENVELOPE; object.at += 1) {
			const character = held.charAt(object.at);
			if (object.isInString) {
				// Skip the escaped character, which may not have arrived yet.
				if (character === '\\') object.at += 1;
				else if (character === '"') object.isInString = false;
			} else if (character === '"') object.isInString = true;
			else if (character === '{') object.depth += 1;
			else if (character === '}' && (object.depth -= 1) === 0) {
				const value = parseJson(held.slice(object.start, object.at + 1));
				this.envelope = isObject(value) ? readEnvelope(value) : null;
				this.#object = null;
				return this.envelope ? 0 : object.at + 1;
			}
		}
		if (object.at - object.start < MAX_ENVELOPE) return 0;
		this.#object = null;
		return held.length;
	}
}
