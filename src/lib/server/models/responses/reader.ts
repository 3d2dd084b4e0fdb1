/** Converts the events of a Responses stream to ours: deltas as they arrive, final items verbatim, one ending. */
import { randomUUID } from 'node:crypto';
import { isNestedDeeperThan } from '../../../shared/errors.ts';
import { MAX_CITATIONS } from '../../../shared/citations.ts';
import type { Citation } from '../../../shared/message-schema.ts';
import type { ModelUsage, ResponseItem } from '../../agent/model.ts';
import { isServerCall } from '../../../shared/names.ts';
import {
	appendEvent,
	argumentsOf,
	citationAt,
	citationsOf,
	type ContentEvent,
	isBlankMessage,
	ItemTable,
	type OpenItem,
	reasoningOf,
	serverCallOf,
	textOf,
	usageOf
} from './items.ts';
import { asArray, asNumber, asObject, asText, isObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { withFunctionCalls } from './foreign.ts';
import type { SseFrame } from './connection.ts';

export type Ending =
	| { type: 'completed'; usage: ModelUsage | null; incompleteReason: string | null }
	/** `payload`: the event or response with the error. */
	| { type: 'failed'; payload: JsonObject }
	/** An event that isn't JSON (with its `text`), or is nested too deeply. */
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
	#model: string | undefined;

	/** `usedCallIds`: ids in the conversation so far, which some servers use again. */
	constructor(usedCallIds: ReadonlySet<string> = new Set()) {
		this.#usedCallIds = usedCallIds;
	}

	/** How the response ended; null before that. Later events are ignored. */
	get ending(): Ending | null {
		return this.#ending;
	}

	/** Whether anything was emitted. If so, the request must not be repeated. */
	get hasShown(): boolean {
		return this.#hasShown;
	}

	/** The id of the model that answers, as far as the server has said it. */
	get model(): string | undefined {
		return this.#model;
	}

	get frames(): number {
		return this.#frames;
	}

	/** Events since the last call, with adjacent deltas merged. */
	take(): ContentEvent[] {
		const events = this.#events;
		this.#events = [];
		return events;
	}

	/** Whether the response has nothing to read or run. */
	get isEmpty(): boolean {
		return !this.#hasShown && this.items().every(isBlankMessage);
	}

	/** Whether a started call is still incomplete. */
	get hasOpenCall(): boolean {
		return this.#table
			.inOrder()
			.some((open) => open.isStarted && !open.item && open.callId !== undefined && !this.#callsDone.has(open.callId));
	}

	/** Finished items, verbatim, in output order. */
	items(): ResponseItem[] {
		return this.#table.inOrder().flatMap((open) => (open.item ? [open.item] : []));
	}

	/** `isLast`: the stream ended in this frame, so it may be cut off. */
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
		} else if (isObject(value)) this.#readEvent(withFunctionCalls(value), asText(value.type) ?? frame.event);
	}

	/** Reads a complete response, from servers that don't stream. False if it's something else. */
	readResponse(given: unknown): boolean {
		if (!isObject(given)) return false;
		if (this.#isTooDeep(given)) return true;
		const value = withFunctionCalls(given);
		this.#model = asText(value.model);
		if (value.error && !Array.isArray(value.output)) this.#ending = { type: 'failed', payload: value };
		else if (Array.isArray(value.output)) this.#end(value, { response: value });
		return this.#ending !== null;
	}

	/** Items are stored and sent again, so one that can't be serialized would break the conversation. */
	#isTooDeep(value: unknown): boolean {
		if (!isObject(value) || !(value.item || value.response || value.output)) return false;
		if (!isNestedDeeperThan(MAX_DEPTH, value)) return false;
		this.#ending = { type: 'malformed', problem: 'is nested too deeply' };
		return true;
	}

	#readEvent(event: JsonObject, type: string | undefined): void {
		this.#model = asText(asObject(event.response).model) ?? this.#model;
		switch (type?.startsWith('response.') ? type.slice('response.'.length) : type) {
			case 'output_text.delta':
			case 'content_part.delta':
			case 'refusal.delta':
				return this.#readText(event);
			case 'output_text.annotation.added':
				return this.#readAnnotation(event);
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
			// Ignore unknown events.
		}
	}

	#readText(event: JsonObject): void {
		const delta = asText(event.delta) ?? asText(asObject(event.delta).text);
		const open = this.#table.find(event, 'message');
		if (delta === undefined || open.item) return;
		const index = asNumber(event.content_index) ?? 0;
		if (!open.starts.has(index)) open.starts.set(index, open.shown.length);
		this.#show(open, delta);
	}

	/** One that is ahead of its text comes with the final item. */
	#readAnnotation(event: JsonObject): void {
		const open = this.#table.find(event, 'message');
		const start = open.starts.get(asNumber(event.content_index) ?? 0);
		if (start === undefined || open.item) return;
		const citation = citationAt(event.annotation, start, open.shown.length - start);
		if (citation) this.#cite(open, citation);
	}

	#cite(open: OpenItem, citation: Citation): void {
		const json = JSON.stringify(citation);
		if (open.cited.has(json) || open.cited.size >= MAX_CITATIONS) return;
		open.cited.add(json);
		this.#push({ type: 'text.citation', key: open.key, citation });
	}

	#readReasoning(event: JsonObject, part: string): void {
		const delta = asText(event.delta) ?? asText(asObject(event.delta).text);
		const open = this.#table.find(event, 'reasoning');
		if (delta === undefined || open.item) return;
		open.part ??= part;
		// Some servers send the same reasoning as content and as summary: show the kind that came first.
		if (kindOf(open.part) !== kindOf(part)) return;
		this.#show(open, open.part === part || open.shown === '' ? delta : `\n\n${delta}`);
		open.part = part;
	}

	#readAdded(event: JsonObject): void {
		const type = asText(asObject(event.item).type);
		if (type === undefined) return;
		const open = this.#table.find(event, type, true);
		if (type === 'function_call') this.#start(open);
		if (isServerCall(type) && !open.isStarted) {
			open.isStarted = true;
			this.#push({ type: 'server.started', callId: this.#serverCallId(open), name: type });
		}
	}

	#readArguments(event: JsonObject): void {
		const open = this.#table.find(event, 'function_call');
		const delta = asText(event.delta);
		// A call that hasn't started has no name to show yet; `#finishCall` emits its arguments.
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

	/** Stores the final item, and emits what deltas left out. */
	#finish(open: OpenItem, item: ResponseItem): void {
		if (open.item) return;
		if (item.type === 'function_call') return this.#finishCall(open, item);
		open.item = item;
		if (isServerCall(item.type))
			this.#push({ type: 'server.done', call: serverCallOf(item, this.#serverCallId(open)) });
		if (item.type !== 'message' && item.type !== 'reasoning') this.#push({ type: 'item', item });
		if (item.type === 'message') {
			const text = textOf(item);
			this.#showRest(open, text);
			// Places mean nothing in another text than was shown.
			if (open.shown === text && text !== '') for (const each of citationsOf(item)) this.#cite(open, each);
		}
		if (item.type === 'reasoning')
			this.#showRest(open, reasoningOf(item, open.part === undefined ? undefined : kindOf(open.part)));
	}

	/** Servers number theirs from the start again. */
	#serverCallId(open: OpenItem): string {
		return (open.callId ??= `srv_${randomUUID()}`);
	}

	#finishCall(open: OpenItem, item: ResponseItem): void {
		const text = argumentsOf(item) || open.finalArguments || open.shown;
		const callId = asText(item.call_id) ?? open.callId ?? asText(item.id) ?? open.key;
		if (this.#callsDone.has(callId)) return;
		open.callId ??= callId;
		open.name ??= asText(item.name) ?? '';
		this.#start(open);
		this.#showRest(open, text);
		// Verbatim, unless it needs its arguments or another id to be sent again.
		const ownId = this.#unused(callId);
		const isWhole = argumentsOf(item) !== '' && item.call_id === ownId;
		open.item = isWhole ? item : { ...item, call_id: ownId, arguments: text || '{}' };
		this.#callsDone.add(callId);
		this.#push({ type: 'call.done', callId: ownId, name: asText(item.name) ?? open.name, arguments: text || '{}' });
	}

	/** Makes the id unique within the conversation. */
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

	/** Keeps shown text in the history even if the server never sends its final item. */
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
