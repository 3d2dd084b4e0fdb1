/**
 * Folds the events of a turn into the items and events of a response. Streaming and plain responses share this fold, so
 * both have the same content.
 *
 * A call of the caller's tool is a `function_call`. A skill's call has already run: as a `function_call`, a client would
 * run it again or reject its name. So it becomes a `reasoning` item whose summary says what was done and whose
 * `encrypted_content` holds call and result. With `calls: 'items'` it becomes `function_call` and
 * `function_call_output` instead. Both carry `openrouter_skills: {executed: true, …}`.
 */
import { annotationOf } from '../../../shared/citations.ts';
import type { RunEvent } from '../../../shared/events.ts';
import type { Citation } from '../../../shared/message-schema.ts';
import { parseJson } from '../../../shared/json.ts';
import { isServerCall } from '../../../shared/names.ts';
import type { ResponseItem } from '../../agent/model.ts';
import { callText, resultText } from './conversation.ts';
import {
	type BareEvent,
	type CallItem,
	type CustomCallItem,
	type ExecutedCall,
	finishedMessage,
	type ForeignItem,
	type ItemStatus,
	type MessageItem,
	type OutputItem,
	type ReasoningItem,
	type SearchCallItem
} from './wire.ts';
import { seal } from './sealed.ts';
import { isCutOff, type OwnTool, textOfArguments } from './tools.ts';

/** `ITEMS` has the final items of a step, `NOTE` what the model was told with the question; only a chain keeps that. */
export type TurnEvent =
	| RunEvent
	/** One of the model's server that no other event shows. */
	| { type: 'ITEM'; item: ResponseItem }
	| { type: 'ITEMS'; items: ResponseItem[] }
	| { type: 'NOTE'; note: ResponseItem };

export interface OutputOptions {
	/** The items' ids contain it. */
	responseId: string;
	model: string;
	/** The caller's tool of this name; null if it isn't the caller's. */
	callerTool(name: string): OwnTool | null;
	/** Types of the caller's tools of the model's server. */
	hosted: ReadonlySet<string>;
	/** How to render skill calls. */
	calls: 'reasoning' | 'items';
}

type OpenText = {
	kind: 'text';
	item: MessageItem;
	index: number;
	messageId: string;
	text: string;
	annotations: Record<string, unknown>[];
};
type OpenReasoning = { kind: 'reasoning'; item: ReasoningItem; index: number; text: string };
type OpenCall = { kind: 'call'; item: CallItem | CustomCallItem | SearchCallItem; index: number; arguments: string };
type Open = OpenText | OpenReasoning | OpenCall;

/** A skill's call without a result yet. */
interface Running {
	call: ExecutedCall;
	/** Its item; null until its arguments are complete. */
	open: OpenReasoning | null;
}

export class Output {
	readonly items: OutputItem[] = [];
	readonly #options: OutputOptions;
	readonly #open = new Map<string, Open>();
	/** Texts and reasoning of this step that wait for their final items. */
	#ended: (OpenText | OpenReasoning)[] = [];
	readonly #running = new Map<string, Running>();
	/** Calls that are shown once the step's items before them are. */
	readonly #waiting = new Set<Running>();

	constructor(options: OutputOptions) {
		this.#options = options;
	}

	*read(event: TurnEvent): Generator<BareEvent> {
		switch (event.type) {
			case 'TEXT_MESSAGE_START':
				return yield* this.#beginText(event.messageId);
			case 'TEXT_MESSAGE_CONTENT':
				return yield* this.#addText(event.messageId, event.delta);
			case 'REASONING_MESSAGE_START': {
				const open = this.#reasoning();
				this.#open.set(event.messageId, open);
				return yield* this.#beginReasoning(open);
			}
			case 'REASONING_MESSAGE_CONTENT': {
				const open = this.#open.get(event.messageId);
				if (open?.kind === 'reasoning') yield* this.#addReasoning(open, event.delta);
				return;
			}
			case 'TEXT_MESSAGE_END':
			case 'REASONING_MESSAGE_END': {
				const open = this.#open.get(event.messageId);
				if (open && open.kind !== 'call') this.#ended.push(open);
				this.#open.delete(event.messageId);
				return;
			}
			case 'TOOL_CALL_START':
				return yield* this.#beginCall(event.toolCallId, event.toolCallName);
			case 'TOOL_CALL_ARGS':
				return yield* this.#addArguments(event.toolCallId, event.delta);
			case 'TOOL_CALL_END':
				return yield* this.#endCall(event.toolCallId);
			case 'TOOL_CALL_RESULT':
				return yield* this.#result(event.toolCallId, event.content, event.metadata?.isError === true);
			case 'CUSTOM':
				if (event.name === 'text.citation') return yield* this.#cite(event.value);
				return this.#note(event);
			case 'ITEM':
				return yield* this.#foreign(event.item);
			case 'ITEMS':
				return yield* this.#finishStep(event.items);
			default:
		}
	}

	/** Closes open items as incomplete. */
	*close(): Generator<BareEvent> {
		yield* this.#finishStep([], 'incomplete');
		for (const [id, open] of this.#open) {
			this.#open.delete(id);
			if (open.kind === 'call') yield* this.#closeCall(open, 'incomplete');
			else if (open.kind === 'text') yield* this.#closeText(open, null, 'incomplete');
			else yield* this.#closeReasoning(open);
		}
		for (const [id, running] of this.#running) {
			this.#running.delete(id);
			if (running.open) yield* this.#closeReasoning(running.open);
		}
	}

	#id(prefix: string): string {
		return `${prefix}_${this.#options.responseId.replace(/^resp_/, '')}_${this.items.length}`;
	}

	#add<Item extends OutputItem>(item: Item): { item: Item; index: number } {
		return { item, index: this.items.push(item) - 1 };
	}

	*#beginText(messageId: string): Generator<BareEvent> {
		const id = this.#id('msg');
		const made = this.#add<MessageItem>({ type: 'message', id, status: 'in_progress', role: 'assistant', content: [] });
		this.#open.set(messageId, { kind: 'text', ...made, messageId, text: '', annotations: [] });
		yield added(made);
		yield { type: 'response.content_part.added', ...at(made), content_index: 0, part: textPart('') };
	}

	*#addText(messageId: string, delta: string): Generator<BareEvent> {
		const open = this.#open.get(messageId);
		if (open?.kind !== 'text') return;
		open.text += delta;
		yield { type: 'response.output_text.delta', ...at(open), content_index: 0, delta, logprobs: [] };
	}

	*#cite({ messageId, ...citation }: Citation & { messageId: string }): Generator<BareEvent> {
		const texts = [...this.#open.values(), ...this.#ended].filter((open) => open.kind === 'text');
		const open = texts.find((text) => text.messageId === messageId);
		if (!open) return;
		const annotation = annotationOf(citation);
		const index = open.annotations.push(annotation) - 1;
		const type = 'response.output_text.annotation.added';
		yield { type, ...at(open), content_index: 0, annotation_index: index, annotation };
	}

	*#closeText(open: OpenText, final: ResponseItem | null, status: ItemStatus): Generator<BareEvent> {
		const { part, phase } = finishedMessage(open.text, final, open.annotations);
		const { text, logprobs } = part;
		yield { type: 'response.output_text.done', ...at(open), content_index: 0, text, logprobs };
		yield { type: 'response.content_part.done', ...at(open), content_index: 0, part };
		Object.assign(open.item, { status, content: [part], phase });
		yield done(open);
	}

	#reasoning(executed?: ExecutedCall): OpenReasoning {
		const item: ReasoningItem = { type: 'reasoning', id: this.#id('rs'), summary: [] };
		if (executed) item.openrouter_skills = executed;
		return { kind: 'reasoning', ...this.#add(item), text: '' };
	}

	*#beginReasoning(open: OpenReasoning): Generator<BareEvent> {
		yield added(open);
		const part = { type: 'summary_text', text: '' };
		yield { type: 'response.reasoning_summary_part.added', ...at(open), summary_index: 0, part };
	}

	*#addReasoning(open: OpenReasoning, delta: string): Generator<BareEvent> {
		open.text += delta;
		yield { type: 'response.reasoning_summary_text.delta', ...at(open), summary_index: 0, delta };
	}

	*#closeReasoning(open: OpenReasoning, sealed?: string): Generator<BareEvent> {
		const part = { type: 'summary_text' as const, text: open.text };
		yield { type: 'response.reasoning_summary_text.done', ...at(open), summary_index: 0, text: open.text };
		yield { type: 'response.reasoning_summary_part.done', ...at(open), summary_index: 0, part };
		Object.assign(open.item, { summary: [part], encrypted_content: sealed });
		yield done(open);
	}

	*#beginCall(callId: string, name: string): Generator<BareEvent> {
		if (this.#isForeign(name)) return;
		const tool = this.#options.callerTool(name);
		if (!tool) {
			this.#running.set(callId, { call: { executed: true, call_id: callId, name, arguments: '' }, open: null });
			return;
		}
		const made = this.#addCallOf(tool, callId);
		this.#open.set(callId, { kind: 'call', ...made, arguments: '' });
		yield added(made);
	}

	#addCallOf({ kind, name, namespace }: OwnTool, callId: string): Pick<OpenCall, 'item' | 'index'> {
		const status = 'in_progress' as const;
		const about = { name, ...(namespace && { namespace }) };
		if (kind === 'custom') {
			return this.#add({ type: 'custom_tool_call', id: this.#id('ctc'), call_id: callId, ...about, input: '', status });
		}
		if (kind === 'tool_search') {
			const search = { type: 'tool_search_call', execution: 'client' } as const;
			return this.#add({ ...search, id: this.#id('tsc'), call_id: callId, arguments: {}, status });
		}
		const made = this.#addCall(callId, name);
		Object.assign(made.item, about);
		return made;
	}

	/** What the model's server did for the caller comes back as it is. A picture that nobody asked a tool for is a file of ours. */
	#isForeign(type: string): boolean {
		const { hosted } = this.#options;
		return (
			isServerCall(type) && hosted.size > 0 && (type !== 'image_generation_call' || hosted.has('image_generation'))
		);
	}

	*#foreign(item: ResponseItem): Generator<BareEvent> {
		if (isServerCall(item.type) && !this.#isForeign(item.type)) return;
		const id = typeof item.id === 'string' ? item.id : this.#id('item');
		const made = this.#add({ ...item, id } as ForeignItem);
		yield added(made);
		yield done(made);
	}

	#addCall(callId: string, name: string): { item: CallItem; index: number } {
		const id = this.#id('fc');
		return this.#add({ type: 'function_call', id, call_id: callId, name, arguments: '', status: 'in_progress' });
	}

	*#addArguments(callId: string, delta: string): Generator<BareEvent> {
		const running = this.#running.get(callId);
		if (running) running.call.arguments += delta;
		const open = this.#open.get(callId);
		if (open?.kind !== 'call') return;
		open.arguments += delta;
		if (open.item.type !== 'function_call') return;
		open.item.arguments = open.arguments;
		yield { type: 'response.function_call_arguments.delta', ...at(open), delta };
	}

	*#endCall(callId: string): Generator<BareEvent> {
		const running = this.#running.get(callId);
		if (running) return yield* this.#startCall(running);
		const open = this.#open.get(callId);
		this.#open.delete(callId);
		if (open?.kind === 'call') yield* this.#closeCall(open, 'completed');
	}

	*#closeCall(open: OpenCall, status: ItemStatus): Generator<BareEvent> {
		const { item } = open;
		item.status = status;
		if (item.type === 'function_call') {
			yield { type: 'response.function_call_arguments.done', ...at(open), arguments: item.arguments };
		} else if (item.type === 'custom_tool_call') {
			// Whole, because the model writes it as JSON.
			item.input = textOfArguments(open.arguments);
			if (isCutOff(open.arguments)) item.status = 'incomplete';
			yield { type: 'response.custom_tool_call_input.delta', ...at(open), delta: item.input };
			yield { type: 'response.custom_tool_call_input.done', ...at(open), input: item.input };
		} else item.arguments = parseJson(open.arguments) ?? {};
		yield done(open);
	}

	*#showCall(running: Running): Generator<BareEvent> {
		running.open = this.#reasoning(running.call);
		yield* this.#beginReasoning(running.open);
		yield* this.#addReasoning(running.open, callText(running.call));
	}

	/** A skill's call is complete and starts running. */
	*#startCall(running: Running): Generator<BareEvent> {
		const { call } = running;
		if (this.#options.calls === 'reasoning') {
			// One after the other: some clients follow only one open item.
			if (this.#ended.length > 0) return void this.#waiting.add(running);
			return yield* this.#showCall(running);
		}
		const made = this.#addCall(call.call_id, call.name);
		made.item.openrouter_skills = { ...call };
		yield added(made);
		made.item.arguments = call.arguments;
		yield { type: 'response.function_call_arguments.delta', ...at(made), delta: call.arguments };
		yield* this.#closeCall({ kind: 'call', ...made, arguments: call.arguments }, 'completed');
	}

	*#result(callId: string, output: string, isError: boolean): Generator<BareEvent> {
		const running = this.#running.get(callId);
		if (!running) return;
		this.#running.delete(callId);
		if (this.#waiting.delete(running)) {
			yield* this.#showCall(running);
		}
		const { call, open } = running;
		Object.assign(call, { output, is_error: isError });
		if (open) {
			yield* this.#addReasoning(open, resultText(call));
			return yield* this.#closeReasoning(open, this.#sealed(call));
		}
		const made = this.#add({
			type: 'function_call_output' as const,
			id: this.#id('fco'),
			call_id: callId,
			output,
			status: 'completed' as const,
			openrouter_skills: call
		});
		yield { ...added(made), item: { ...made.item, output: '', status: 'in_progress' } };
		yield done(made);
	}

	/** What the model's server ran itself isn't a call that it would take back. */
	#sealed(call: ExecutedCall): string | undefined {
		return isServerCall(call.name) ? undefined : seal({ items: itemsOf(call), model: this.#options.model });
	}

	/** Adds facts about the execution to its item. */
	#note(event: Extract<RunEvent, { type: 'CUSTOM' }>): void {
		if (event.name === 'tool.files') {
			const made = this.#running.get(event.value.toolCallId);
			if (made) made.call.files = event.value.files;
			return;
		}
		if (event.name !== 'skill.started' && event.name !== 'skill.finished' && event.name !== 'skill.loaded') return;
		const call = this.#running.get(event.value.toolCallId)?.call;
		if (!call) return;
		if (event.name === 'skill.loaded') call.skill = event.value.skill;
		if (event.name === 'skill.started') Object.assign(call, { skill: event.value.skill, script: event.value.script });
		if (event.name === 'skill.finished') {
			const { exitCode, durationMs, files, missing } = event.value;
			Object.assign(call, { exit_code: exitCode, duration_ms: durationMs, files, missing });
		}
	}

	/** Final items have what deltas lack: phases, and reasoning that only the model's server can read. */
	*#finishStep(items: readonly ResponseItem[], status: ItemStatus = 'completed'): Generator<BareEvent> {
		const { model } = this.#options;
		const messages = items.filter(({ type }) => type === 'message');
		const hidden = items.filter(({ type }) => type === 'reasoning');
		for (const open of this.#ended.splice(0)) {
			if (open.kind === 'text') {
				const final = takeFirst(messages, (item) => finishedMessage(open.text, item).isSame);
				yield* this.#closeText(open, final, status);
			} else {
				const final = hidden.shift();
				yield* this.#closeReasoning(open, final && seal({ items: [final], model }));
			}
		}
		if (hidden.length > 0) yield* this.#hide(hidden, items);
		for (const running of this.#waiting) {
			this.#waiting.delete(running);
			yield* this.#startCall(running);
		}
	}

	*#hide(hidden: ResponseItem[], items: readonly ResponseItem[]): Generator<BareEvent> {
		const { model } = this.#options;
		const call = items.find(({ type }) => type === 'function_call')?.call_id;
		const open = this.#reasoning();
		yield added(open);
		const before = typeof call === 'string' ? call : undefined;
		open.item.encrypted_content = seal({ items: hidden, model, before });
		yield done(open);
	}
}

/** Call and result for the model's server. */
function itemsOf({ call_id, name, arguments: text, output = '' }: ExecutedCall): ResponseItem[] {
	return [
		{ type: 'function_call', call_id, name, arguments: text },
		{ type: 'function_call_output', call_id, output }
	];
}

function takeFirst(items: ResponseItem[], isIt: (item: ResponseItem) => boolean): ResponseItem | null {
	const index = items.findIndex(isIt);
	return index < 0 ? null : (items.splice(index, 1)[0] ?? null);
}

function textPart(text: string): Record<string, unknown> {
	return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function at({ item, index }: { item: OutputItem; index: number }): { item_id: string; output_index: number } {
	return { item_id: item.id, output_index: index };
}

function added({ item, index }: { item: OutputItem; index: number }): BareEvent {
	return { type: 'response.output_item.added', output_index: index, item: structuredClone(item) };
}

function done({ item, index }: { item: OutputItem; index: number }): BareEvent {
	return { type: 'response.output_item.done', output_index: index, item: structuredClone(item) };
}
