/** Folds the events of one Responses stream into ours: deltas as they come, items verbatim, one ending. */
import { isNestedDeeperThan } from '../../../shared/errors.ts';
import type { ModelUsage, ResponseItem } from '../../agent/model.ts';
import {
	appendEvent,
	argumentsOf,
	type ContentEvent,
	isBlankMessage,
	ItemTable,
	type OpenItem,
	reasoningOf,
	textOf,
	usageOf
} from './items.ts';
import { asArray, asNumber, asObject, asText, isObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import type { SseFrame } from './connection.ts';

export type Ending =
	| { type: 'completed'; usage: ModelUsage | null; incompleteReason: string | null }
	/** The frame, or the response, in which the server said that it failed. */
	| { type: 'failed'; payload: JsonObject }
	/** A frame that is not JSON, with what it said, or one that is not to be kept. */
	| { type: 'malformed'; problem: string; text?: string }
	/** `[DONE]` without a terminal event. */
	| { type: 'truncated' };

const MAX_DEPTH = 200;

export class ResponseReader {
	readonly #table = new ItemTable();
	readonly #callsDone = new Set<string>();
	readonly #usedCallIds: ReadonlySet<string>;
	#events: ContentEvent[] = [];
	#ending: Ending | null = null;
	#hasShown = false;
	#frames = 0;

	/** `usedCallIds` are those of the conversation so far: some servers number their calls anew in every answer. */
	constructor(usedCallIds: ReadonlySet<string> = new Set()) {
		this.#usedCallIds = usedCallIds;
	}

	/** How the response ended; null while it has not. Nothing after it is read. */
	get ending(): Ending | null {
		return this.#ending;
	}

	/** True once anything was passed on: from then on the request must not be repeated. */
	get hasShown(): boolean {
		return this.#hasShown;
	}

	get frames(): number {
		return this.#frames;
	}

	/** The events since the last call; adjacent deltas of one key are one event. */
	take(): ContentEvent[] {
		const events = this.#events;
		this.#events = [];
		return events;
	}

	/** True when the response came to nothing that anyone could read or run. */
	get isEmpty(): boolean {
		return !this.#hasShown && this.items().every(isBlankMessage);
	}

	/** True while a call that was shown as begun has not become whole. */
	get hasOpenCall(): boolean {
		return this.#table
			.inOrder()
			.some((open) => open.isStarted && !open.item && open.callId !== undefined && !this.#callsDone.has(open.callId));
	}

	/** Finished items, verbatim, in output order. */
	items(): ResponseItem[] {
		return this.#table.inOrder().flatMap((open) => (open.item ? [open.item] : []));
	}

	/** `isLast`: what was still open when the stream ended may have been cut anywhere. */
	readFrame(frame: SseFrame, isLast = false): void {
		if (this.#ending) return;
		this.#frames += 1;
		const data = frame.data.trim();
		if (data === '') return;
		if (data === '[DONE]') {
			this.#ending = { type: 'truncated' };
			return;
		}
		const value = parseJson(data);
		if (value === undefined && !isLast) {
			this.#ending = { type: 'malformed', problem: 'is not JSON', text: data };
		} else if (this.#isTooDeep(value)) {
			return;
		} else if (isObject(value)) this.#readEvent(value, asText(value.type) ?? frame.event);
	}

	/** A whole response at once, as servers answer that know no streaming. False when it is something else. */
	readResponse(value: unknown): boolean {
		if (!isObject(value)) return false;
		if (this.#isTooDeep(value)) return true;
		if (value.error && !Array.isArray(value.output)) this.#ending = { type: 'failed', payload: value };
		else if (Array.isArray(value.output)) this.#end(value, { response: value });
		return this.#ending !== null;
	}

	/** Items are kept and sent again: one that cannot be written would spoil the conversation. */
	#isTooDeep(value: unknown): boolean {
		if (!isObject(value) || !(value.item || value.response || value.output)) return false;
		if (!isNestedDeeperThan(MAX_DEPTH, value)) return false;
		this.#ending = { type: 'malformed', problem: 'is nested too deeply' };
		return true;
	}

	#readEvent(event: JsonObject, type: string | undefined): void {
		switch (type?.startsWith('response.') ? type.slice('response.'.length) : type) {
			case 'output_text.delta':
			case 'content_part.delta':
			case 'refusal.delta':
				return this.#readText(event);
			case 'reasoning_text.delta':
			case 'reasoning.delta':
				return this.#readReasoning(event, `content ${asNumber(event.content_index) ?? 0}`);
			case 'reasoning_summary_text.delta':
			case 'reasoning_summary.delta':
				return this.#readReasoning(event, `summary ${asNumber(event.summary_index) ?? 0}`);
			case 'function_call_arguments.delta':
				return this.#readArguments(event);
			case 'function_call_arguments.done':
				return this.#readFinalArguments(event);
			case 'output_item.added':
				return this.#readAdded(event);
			case 'output_item.done':
				return this.#readDone(event);
			case 'completed':
			case 'incomplete':
			case 'done':
			case 'failed':
				return this.#end(asObject(event.response), event, type);
			case 'error':
				this.#ending = { type: 'failed', payload: event };
				return;
			case undefined:
				if (event.error) this.#ending = { type: 'failed', payload: event };
				return;
			default:
			// Servers have events of their own, and new ones: what is not known is not needed.
		}
	}

	#readText(event: JsonObject): void {
		const delta = asText(event.delta) ?? asText(asObject(event.delta).text);
		const open = this.#table.find(event, 'message');
		if (delta !== undefined && !open.item) this.#show(open, delta);
	}

	#readReasoning(event: JsonObject, part: string): void {
		const delta = asText(event.delta) ?? asText(asObject(event.delta).text);
		const open = this.#table.find(event, 'reasoning');
		if (delta === undefined || open.item) return;
		open.part ??= part;
		// Some servers send the same thoughts as content and as summary: the kind that came first is shown.
		if (kindOf(open.part) !== kindOf(part)) return;
		this.#show(open, open.part === part || open.shown === '' ? delta : `\n\n${delta}`);
		open.part = part;
	}

	#readAdded(event: JsonObject): void {
		const type = asText(asObject(event.item).type);
		if (type === undefined) return;
		const open = this.#table.find(event, type, true);
		if (type === 'function_call') this.#start(open);
	}

	#readArguments(event: JsonObject): void {
		const open = this.#table.find(event, 'function_call');
		const delta = asText(event.delta);
		// Without its beginning a call has no name to show: its arguments come with its end.
		if (delta !== undefined && open.isStarted && !open.item) this.#show(open, delta);
	}

	#readFinalArguments(event: JsonObject): void {
		const open = this.#table.find(event, 'function_call');
		if (typeof event.arguments === 'string' && !open.item) open.finalArguments = event.arguments;
	}

	#readDone(event: JsonObject): void {
		const item = event.item;
		if (!isObject(item) || typeof item.type !== 'string') return;
		this.#finish(this.#table.find(event, item.type), item as ResponseItem);
	}

	#start(open: OpenItem): void {
		if (open.isStarted || open.callId === undefined || open.name === undefined) return;
		if (this.#callsDone.has(open.callId)) return;
		open.isStarted = true;
		this.#push({ type: 'call.started', callId: this.#unused(open.callId), name: open.name });
	}

	/** Takes an item's final form, and passes on what of it had not come as deltas. */
	#finish(open: OpenItem, item: ResponseItem): void {
		if (open.item) return;
		if (item.type === 'function_call') return this.#finishCall(open, item);
		open.item = item;
		if (item.type === 'message') this.#showRest(open, textOf(item));
		if (item.type === 'reasoning')
			this.#showRest(open, reasoningOf(item, open.part === undefined ? undefined : kindOf(open.part)));
	}

	#finishCall(open: OpenItem, item: ResponseItem): void {
		const text = argumentsOf(item) || open.finalArguments || open.shown;
		const callId = asText(item.call_id) ?? open.callId ?? asText(item.id) ?? open.key;
		if (this.#callsDone.has(callId)) return;
		open.callId ??= callId;
		open.name ??= asText(item.name) ?? '';
		this.#start(open);
		this.#showRest(open, text);
		// Verbatim, unless the item alone could not be replayed.
		const ownId = this.#unused(callId);
		const isWhole = argumentsOf(item) !== '' && item.call_id === ownId;
		open.item = isWhole ? item : { ...item, call_id: ownId, arguments: text || '{}' };
		this.#callsDone.add(callId);
		this.#push({ type: 'call.done', callId: ownId, name: asText(item.name) ?? open.name, arguments: text || '{}' });
	}

	/** The id itself, or one like it that no earlier call has. */
	#unused(callId: string): string {
		let unused = callId;
		for (let number = 2; this.#usedCallIds.has(unused); number++) unused = `${callId}~${number}`;
		return unused;
	}

	#end(response: JsonObject, payload: JsonObject, type?: string): void {
		const status = asText(response.status);
		if (type?.endsWith('failed') || status === 'failed' || status === 'cancelled') {
			this.#ending = { type: 'failed', payload };
			return;
		}
		this.#readOutput(asArray(response.output).filter(isObject));
		this.#keepUnfinishedText();
		const isIncomplete = type?.endsWith('incomplete') || status === 'incomplete';
		const reason = asText(asObject(response.incomplete_details).reason) ?? null;
		this.#ending = {
			type: 'completed',
			usage: usageOf(response.usage ?? payload.usage),
			incompleteReason: reason ?? (isIncomplete ? 'unknown' : null)
		};
	}

	#readOutput(output: JsonObject[]): void {
		const repeated = this.#table.findRepeated(output);
		let previous: OpenItem | undefined;
		for (const item of output) {
			if (typeof item.type !== 'string') continue;
			const open = repeated.get(item) ?? this.#table.insertAfter(previous, item);
			this.#finish(open, item as ResponseItem);
			previous = open;
		}
	}

	/** Text that was shown belongs to the history, also where a server never sends its finished item. */
	#keepUnfinishedText(): void {
		for (const open of this.#table.inOrder()) {
			if (open.item || open.type !== 'message' || open.shown === '') continue;
			const content = [{ type: 'output_text', text: open.shown, annotations: [] }];
			open.item = { type: 'message', role: 'assistant', status: 'completed', content };
		}
	}

	#showRest(open: OpenItem, whole: string): void {
		if (whole.length > open.shown.length && whole.startsWith(open.shown)) {
			this.#show(open, whole.slice(open.shown.length));
		}
	}

	#show(open: OpenItem, delta: string): void {
		open.shown += delta;
		if (open.type === 'message') return this.#push({ type: 'text.delta', key: open.key, delta });
		if (open.type === 'reasoning') return this.#push({ type: 'reasoning.delta', key: open.key, delta });
		if (open.callId !== undefined) this.#push({ type: 'call.delta', callId: this.#unused(open.callId), delta });
	}

	#push(event: ContentEvent): void {
		this.#hasShown = true;
		appendEvent(this.#events, event);
	}
}

function kindOf(part: string): 'content' | 'summary' {
	return part.startsWith('content') ? 'content' : 'summary';
}
