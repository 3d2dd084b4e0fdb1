/**
 * The output items of one response while they stream: which events belong to which item, although servers name
 * items differently from event to event (MODEL-WIRE "Stream").
 */
import type { ModelEvent, ModelUsage, ResponseItem } from '../../agent/model.ts';
import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from '../../../shared/json.ts';

export interface OpenItem {
	/** `output_index ?? item_id ?? item.id ?? call_id`; unique within the response. */
	readonly key: string;
	/** Place in the output: the server's index, or the order of appearance. */
	readonly order: number;
	type: string;
	/** Every name that an event has used for it. */
	readonly names: Set<string>;
	callId: string | undefined;
	name: string | undefined;
	/** What was passed on of its text, reasoning or arguments. */
	shown: string;
	/** For reasoning, the part that `shown` ends in. */
	part: string | undefined;
	/** The arguments as `function_call_arguments.done` gave them. */
	finalArguments: string | undefined;
	isStarted: boolean;
	/** The finished item. */
	item: ResponseItem | undefined;
}

export class ItemTable {
	readonly #items: OpenItem[] = [];
	readonly #byName = new Map<string, OpenItem>();
	/** The item found last, and how its event named it. */
	#last: { open: OpenItem; outputIndex: unknown; itemId: unknown; callId: unknown } | undefined;

	/** The item that an event is about, new when it is the first one. `type` is what the event says of it. */
	find(event: JsonObject, type: string, isAdded = false): OpenItem {
		const last = this.#last;
		// Nearly every event of a stream is one more delta of the same item: no need to look at its names again.
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
		let found: OpenItem | undefined;
		if (names.length === 0) {
			found = this.#items.findLast((open) => open.type === type && !open.item);
		} else {
			for (const name of names) {
				const candidate = this.#byName.get(name);
				if (candidate && !isOther(candidate, type, id, callId, isAdded)) {
					found = candidate;
					break;
				}
			}
		}
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

	/** Which items the terminal output repeats: those with the same ids, then, of the rest, those that hold the same. */
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

	/** An item that only the terminal output has; it comes after `previous` there. */
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
			item: undefined
		};
		this.#items.push(created);
		return created;
	}
}

/** The names that an event gives its item, the most telling first. */
function namesOf(event: JsonObject): string[] {
	const names: string[] = [];
	if (typeof event.output_index === 'number') names.push(`#${event.output_index}`);
	if (typeof event.item_id === 'string') names.push(event.item_id);
	const item = isObject(event.item) ? event.item : undefined;
	const id = asText(item?.id);
	if (id) names.push(id);
	const callId = asText(event.call_id) ?? asText(item?.call_id);
	// llama.cpp calls the item of call X "fc_X" in every event but the first.
	if (callId) names.push(callId, `fc_${callId}`);
	return names;
}

/** True when a name that fits must nevertheless mean another item, e.g. where every `output_index` is 0. */
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

/** Some servers give an item a new id each time they mention it; its type, or what it calls, is all that is left then. */
function isAlike({ item: known }: OpenItem, item: JsonObject): boolean {
	if (item.type !== 'function_call') return true;
	return known !== undefined && known.name === item.name && known.arguments === item.arguments;
}

/** The text of a message item, refusals included. */
export function textOf(item: JsonObject): string {
	if (typeof item.content === 'string') return item.content;
	return asArray(item.content)
		.map((part) => asText(asObject(part).text) ?? asText(asObject(part).refusal) ?? '')
		.join('');
}

/** What people may read of a reasoning item: its summary, else its content; parts are paragraphs. */
export function reasoningOf(item: JsonObject, kind?: 'summary' | 'content'): string {
	const read = (parts: unknown) =>
		asArray(parts)
			.map((part) => asText(asObject(part).text) ?? '')
			.filter((text) => text !== '')
			.join('\n\n');
	if (kind) return read(item[kind]);
	return read(item.summary) || read(item.content);
}

/** True for a message whose content holds no text and nothing else either. */
export function isBlankMessage(item: JsonObject): boolean {
	if (item.type !== 'message' || textOf(item).trim() !== '') return false;
	return asArray(item.content).every((part) => isObject(part) && ('text' in part || 'refusal' in part));
}

/** The arguments of a call as JSON text, '' when it has none; some servers send an object. */
export function argumentsOf(item: JsonObject): string {
	if (isObject(item.arguments)) return JSON.stringify(item.arguments);
	return asText(item.arguments) ?? '';
}

// The events that show something of a turn, and how neighbours among them become one.

export type ContentEvent = Exclude<ModelEvent, { type: 'retrying' | 'completed' | 'failed' }>;

/** Appends an event; a delta that continues the last one is added to it instead. Changes only the array and its end. */
export function appendEvent(events: ContentEvent[], event: ContentEvent): void {
	const last = events.at(-1);
	if (last && 'delta' in last && 'delta' in event && last.type === event.type && keyOf(last) === keyOf(event)) {
		events[events.length - 1] = { ...last, delta: last.delta + event.delta };
	} else {
		events.push(event);
	}
}

function keyOf(event: ContentEvent): string {
	return 'key' in event ? event.key : event.callId;
}

// Reads the figures of a response (MODEL-WIRE "Figures").

/** null where a server gives none; figures that are no numbers are left out, or 0 where every answer has one. */
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
