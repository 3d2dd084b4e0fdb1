/** Items of the Responses API, put right on both ways: those of a stream, although servers identify them inconsistently, and those of a history. */
import type { ModelEvent, ModelUsage, ResponseItem, ServerCall } from '../../agent/model.ts';
import { readCitation } from '../../../shared/citations.ts';
import type { Citation } from '../../../shared/message-schema.ts';
import { asArray, asNumber, asObject, asText, isObject, type JsonObject, parseJson } from '../../../shared/json.ts';
import { isServerCall } from '../../../shared/names.ts';
import { isNote } from '../../agent/turn-note.ts';

export interface OpenItem {
	/** `output_index ?? item_id ?? item.id ?? call_id`; unique within the response. */
	readonly key: string;
	/** Position in the output: the server's index, or order of appearance. */
	readonly order: number;
	type: string;
	/** Every id that events have used for it. */
	readonly names: Set<string>;
	callId: string | undefined;
	name: string | undefined;
	/** Text, reasoning or arguments emitted so far. */
	shown: string;
	/** For reasoning: the part at the end of `shown`. */
	part: string | undefined;
	/** The arguments from `function_call_arguments.done`. */
	finalArguments: string | undefined;
	isStarted: boolean;
	/** Where each part of a message's content starts in its text. */
	starts: Map<number, number>;
	/** Citations emitted so far, as JSON. */
	cited: Set<string>;
	/** The finished item. */
	item: ResponseItem | undefined;
}

export class ItemTable {
	readonly #items: OpenItem[] = [];
	readonly #byName = new Map<string, OpenItem>();
	/** The last item found, with the ids of its event. */
	#last: { open: OpenItem; outputIndex: unknown; itemId: unknown; callId: unknown } | undefined;

	/** The item of an event; created by the first one. */
	find(event: JsonObject, type: string, isAdded = false): OpenItem {
		const last = this.#last;
		// Fast path: nearly every event is another delta of the same item.
		if (
			last?.open.type === type &&
			last.open.item === undefined &&
			last.outputIndex === event.output_index &&
			last.itemId === event.item_id &&
			last.callId === event.call_id &&
			event.item === undefined
		) {
			return last.open;
		}
		const names = namesOf(event);
		const item = asObject(event.item);
		const id = asText(item.id) ?? asText(event.item_id);
		const callId = asText(item.call_id) ?? asText(event.call_id);
		let found =
			names.length === 0
				? this.#items.findLast((open) => open.type === type && !open.item)
				: names
						.flatMap((name) => this.#byName.get(name) ?? [])
						.find((open) => !isOther(open, type, id, callId, isAdded));
		found ??= this.#create(names[0], asNumber(event.output_index), type);
		found.callId ??= callId;
		found.name ??= asText(item.name) ?? asText(event.name);
		for (const name of names) {
			found.names.add(name);
			this.#byName.set(name, found);
		}
		this.#last = { open: found, outputIndex: event.output_index, itemId: event.item_id, callId: event.call_id };
		return found;
	}

	/** Matches the items of the terminal output with known ones: by id, then by content. */
	findRepeated(output: readonly JsonObject[]): Map<JsonObject, OpenItem> {
		const found = new Map<JsonObject, OpenItem>();
		const free = new Set(this.#items);
		for (const isRepeated of [hasSameId, isAlike]) {
			for (const item of output) {
				if (found.has(item)) continue;
				const open = [...free].find((candidate) => candidate.type === item.type && isRepeated(candidate, item));
				if (!open) continue;
				found.set(item, open);
				free.delete(open);
			}
		}
		return found;
	}

	/** Adds an item that only the terminal output has, after `previous`. */
	insertAfter(previous: OpenItem | undefined, output: JsonObject): OpenItem {
		const order = previous ? previous.order : -1;
		const key = asText(output.id) ?? asText(output.call_id);
		const created = this.#create(key, undefined, asText(output.type) ?? '', order);
		this.#items.splice(this.#items.indexOf(created), 1);
		this.#items.splice(previous ? this.#items.indexOf(previous) + 1 : 0, 0, created);
		created.callId = asText(output.call_id);
		created.name = asText(output.name);
		return created;
	}

	/** All items in output order. */
	inOrder(): OpenItem[] {
		return this.#items.toSorted((a, b) => a.order - b.order);
	}

	#create(name: string | undefined, index: number | undefined, type: string, order?: number): OpenItem {
		const number = this.#items.length;
		const wanted = name?.replace(/^#/, '') ?? `item-${number}`;
		const key = this.#items.some((open) => open.key === wanted) ? `${wanted}~${number}` : wanted;
		const created: OpenItem = {
			key,
			order: order ?? index ?? number,
			type,
			names: new Set(),
			callId: undefined,
			name: undefined,
			shown: '',
			part: undefined,
			finalArguments: undefined,
			isStarted: false,
			starts: new Map(),
			cited: new Set(),
			item: undefined
		};
		this.#items.push(created);
		return created;
	}
}

/** The ids an event has for its item, most reliable first. */
function namesOf(event: JsonObject): string[] {
	const names: string[] = [];
	if (typeof event.output_index === 'number') names.push(`#${event.output_index}`);
	if (typeof event.item_id === 'string') names.push(event.item_id);
	const item = isObject(event.item) ? event.item : undefined;
	const id = asText(item?.id);
	if (id) names.push(id);
	const callId = asText(event.call_id) ?? asText(item?.call_id);
	// llama.cpp uses "fc_X" for call X in every event but the first.
	if (callId) names.push(callId, `fc_${callId}`);
	return names;
}

/** Whether a matching id must still mean another item, e.g. because every `output_index` is 0. */
function isOther(
	open: OpenItem,
	type: string,
	id: string | undefined,
	callId: string | undefined,
	isAdded: boolean
): boolean {
	if (open.type !== type) return true;
	if (callId !== undefined && open.callId !== undefined) return callId !== open.callId;
	return open.item !== undefined && (isAdded || (id !== undefined && !open.names.has(id)));
}

function hasSameId(open: OpenItem, item: JsonObject): boolean {
	if (item.type === 'function_call') return open.callId !== undefined && open.callId === item.call_id;
	return typeof item.id === 'string' && open.names.has(item.id);
}

/** For servers that give an item a new id in each event: compares the type, or name and arguments of a call. */
function isAlike({ item: known }: OpenItem, item: JsonObject): boolean {
	if (item.type !== 'function_call') return true;
	return known !== undefined && known.name === item.name && known.arguments === item.arguments;
}

/** The text of a message item, including refusals. */
export function textOf(item: JsonObject): string {
	if (typeof item.content === 'string') return item.content;
	return asArray(item.content)
		.map((part) => asText(asObject(part).text) ?? asText(asObject(part).refusal) ?? '')
		.join('');
}

/** The readable text of a reasoning item: its summary, otherwise its content. */
export function reasoningOf(item: JsonObject, kind?: 'summary' | 'content'): string {
	const read = (parts: unknown) =>
		asArray(parts)
			.map((part) => asText(asObject(part).text) ?? '')
			.filter((text) => text !== '')
			.join('\n\n');
	if (kind) return read(item[kind]);
	return read(item.summary) || read(item.content);
}

/** Whether a message has no text and no other content. */
export function isBlankMessage(item: JsonObject): boolean {
	if (item.type !== 'message' || textOf(item).trim() !== '') return false;
	return asArray(item.content).every((part) => isObject(part) && ('text' in part || 'refusal' in part));
}

/** The arguments of a call as JSON text; '' if none. Some servers send an object. */
export function argumentsOf(item: JsonObject): string {
	if (isObject(item.arguments)) return JSON.stringify(item.arguments);
	return asText(item.arguments) ?? '';
}

const MAX_SERVER_TEXT = 20_000;

/** What is said of such a call: its query or address, and what it gave. */
export function serverCallOf(item: JsonObject, callId: string): ServerCall {
	const { type, id: _id, status, action, error, result, imageB64, image_b64, ...others } = item;
	const { type: _kind, sources, ...asked } = asObject(action);
	const { query, queries, url, prompt, timezone, ...rest } = { ...others, ...asked } as JsonObject;
	const picture = [result, imageB64, image_b64].find((each) => typeof each === 'string' && each !== '');
	const isError = Boolean(error) || status === 'failed' || status === 'incomplete' || status === 'in_progress';
	const addresses = asArray(sources).flatMap((source) => asText(asObject(source).url) ?? []);
	const cost = asNumber(item.cost) ?? asNumber(asObject(item.usage).cost);
	const said = [
		isError ? (asText(error) ?? asText(asObject(error).message) ?? 'The model’s server didn’t finish this.') : '',
		cost === undefined ? '' : `Cost: $${cost}`,
		...addresses
	].filter((line) => line !== '');
	const left = Object.entries(rest).filter(([key]) => key !== 'cost' && key !== 'usage');
	const facts = left.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
	const known = Object.entries({ query, queries, url, prompt, timezone }).filter(([, value]) => value !== undefined);
	return {
		callId,
		name: String(type),
		arguments: JSON.stringify(Object.fromEntries(known)),
		result: [...said, ...facts].join('\n').slice(0, MAX_SERVER_TEXT).toWellFormed(),
		isError,
		...(picture && !isError ? { picture: String(picture) } : {})
	};
}

/** Events with content of the reply. */
export type ContentEvent = Exclude<ModelEvent, { type: 'retrying' | 'completed' | 'failed' }>;

/** Appends an event, or merges it into the last one if both are deltas of the same item. */
export function appendEvent(events: ContentEvent[], event: ContentEvent): void {
	const last = events.at(-1);
	if (last && 'delta' in last && 'delta' in event && last.type === event.type && keyOf(last) === keyOf(event)) {
		events[events.length - 1] = { ...last, delta: last.delta + event.delta };
	} else {
		events.push(event);
	}
}

/** The citations of a message's parts, with places in its whole text. */
export function citationsOf(item: JsonObject): Citation[] {
	let start = 0;
	return asArray(item.content).flatMap((part) => {
		const { annotations } = asObject(part);
		const text = textOf({ content: [part] });
		const cited = asArray(annotations).flatMap((each) => citationAt(each, start, text.length) ?? []);
		start += text.length;
		return cited;
	});
}

/** A citation in a part that starts at `start` of the whole text; null if it's unusable, or past the part's end. */
export function citationAt(annotation: unknown, start: number, length: number): Citation | null {
	const citation = readCitation(annotation);
	if (!citation || citation.end > length) return null;
	return { ...citation, start: citation.start + start, end: citation.end + start };
}

function keyOf(event: Exclude<ContentEvent, { type: 'item' }>): string {
	return 'key' in event ? event.key : 'call' in event ? event.call.callId : event.callId;
}

/** Token counts and cost; null if the server sends none. */
export function usageOf(value: unknown): ModelUsage | null {
	if (!isObject(value)) return null;
	return {
		inputTokens: asNumber(value.input_tokens) ?? 0,
		outputTokens: asNumber(value.output_tokens) ?? 0,
		cachedTokens: asNumber(asObject(value.input_tokens_details).cached_tokens),
		reasoningTokens: asNumber(asObject(value.output_tokens_details).reasoning_tokens),
		cost: asNumber(value.cost)
	};
}

// Repairs a history before sending, so that one incomplete call doesn't break a whole conversation.

/** The model gets this for a call without a result. */
export const INTERRUPTED_OUTPUT = JSON.stringify({
	error: 'interrupted',
	message: 'The call was interrupted before it had a result. Make it again if you still need it.'
});

/**
 * Returns items that every server accepts, in the same order: arguments are JSON objects, each call has exactly one
 * output, each output has a call, and there are no duplicates, blank assistant messages or unfinished calls of the server's own tools. A turn's note joins the message
 * before it, because many chat templates want roles to alternate. Unchanged items keep their identity; reasoning is never
 * changed. Pure and idempotent.
 */
export function sanitiseInput(items: readonly ResponseItem[]): ResponseItem[] {
	const answered = answeredCalls(items);
	const result: ResponseItem[] = [];
	const seen = { calls: new Set<string>(), outputs: new Set<string>(), items: new Set<string>() };
	let unanswered: string[] = [];

	const closeCalls = () => {
		for (const callId of unanswered) {
			result.push({ type: 'function_call_output', call_id: callId, output: INTERRUPTED_OUTPUT });
		}
		unanswered = [];
	};

	for (const item of items) {
		// Some servers reuse ids in each response, so duplicates only count within a turn.
		if (item.role === 'user') seen.items.clear();
		const callId = typeof item.call_id === 'string' ? item.call_id : undefined;
		if (item.type === 'function_call') {
			if (callId === undefined || !item.name || seen.calls.has(callId)) continue;
			seen.calls.add(callId);
			result.push(withJsonArguments(item));
			if (!answered.has(callId)) unanswered.push(callId);
			continue;
		}
		if (item.type === 'function_call_output') {
			if (callId === undefined || !seen.calls.has(callId) || seen.outputs.has(callId)) continue;
			seen.outputs.add(callId);
		} else if (isServerCall(item.type) && item.status !== 'completed') {
			// Half a call of the server's own, which it wouldn't take back.
			continue;
		} else if (isRepeated(item, seen.items) || (item.role === 'assistant' && isBlankMessage(item))) {
			continue;
		}
		closeCalls();
		if (isNote(item)) addNote(result, item);
		else result.push(item);
	}
	closeCalls();
	return result;
}

function addNote(result: ResponseItem[], { type, role, content }: ResponseItem): void {
	if (Array.isArray(content) && content.length === 0) return;
	const last = result.at(-1);
	const isQuestion = last?.type === 'message' && last.role === 'user' && Array.isArray(last.content);
	if (!isQuestion) return void result.push({ type, role, content });
	result[result.length - 1] = { ...last, content: [...(last.content as unknown[]), ...(content as unknown[])] };
}

/** Ids of calls with an output after them. */
function answeredCalls(items: readonly ResponseItem[]): Set<unknown> {
	const called = new Set<unknown>();
	const answered = new Set<unknown>();
	for (const item of items) {
		if (item.type === 'function_call') called.add(item.call_id);
		else if (item.type === 'function_call_output' && called.has(item.call_id)) answered.add(item.call_id);
	}
	return answered;
}

/** Ollama rejects the whole request if the arguments of one call aren't JSON. */
function withJsonArguments(item: ResponseItem): ResponseItem {
	if (isObject(item.arguments)) return { ...item, arguments: JSON.stringify(item.arguments) };
	const isFine = typeof item.arguments === 'string' && isObject(parseJson(item.arguments));
	return isFine ? item : { ...item, arguments: '{}' };
}

/** Compares whole items, because some servers give all messages of a turn the same id. */
function isRepeated(item: ResponseItem, seen: Set<string>): boolean {
	if (typeof item.id !== 'string') return false;
	const text = JSON.stringify(item);
	if (seen.has(text)) return true;
	seen.add(text);
	return false;
}
