/** One answer of the model, as it streams → the run's events, and what it comes to. */
import type { RunEvent } from '../../shared/events.ts';
import { unrecorded } from './history.ts';
import type { ModelEvent, ModelUsage, ResponseItem } from './model.ts';
import type { PendingCall } from './tool.ts';

export interface Answer {
	items: ResponseItem[];
	calls: PendingCall[];
	usage: ModelUsage | null;
	/** The model's server cut it off, at its longest answer say. */
	isCut: boolean;
	/** What was shown, and is in no item because the answer broke off. */
	unsaid: ResponseItem[];
	error: { code: string; message: string } | null;
}

/** Turns one answer of the model into events; what was opened is closed, however it ends. */
export async function* readAnswer(stream: AsyncIterable<ModelEvent>, prefix: string): AsyncGenerator<RunEvent, Answer> {
	const answer: Answer = { items: [], calls: [], usage: null, isCut: false, unsaid: [], error: null };
	const started = new Set<string>();
	let open: { kind: 'text' | 'reasoning'; key: string; id: string } | null = null;
	let count = 0;
	/** Of the text that is open, or was last. */
	let said = '';
	const close = function* (): Generator<RunEvent> {
		if (open?.kind === 'text') yield { type: 'TEXT_MESSAGE_END', messageId: open.id };
		if (open?.kind === 'reasoning') {
			yield { type: 'REASONING_MESSAGE_END', messageId: open.id };
			yield { type: 'REASONING_END', messageId: open.id };
		}
		open = null;
	};
	const startCall = function* (callId: string, name: string, headline = ''): Generator<RunEvent> {
		if (started.has(callId)) return;
		started.add(callId);
		yield* close();
		const start: RunEvent = { type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: name };
		yield headline === '' ? start : { ...start, metadata: { headline } };
	};

	for await (const event of stream) {
		switch (event.type) {
			case 'retrying': {
				const { attempt, delayMs, message } = event;
				yield { type: 'CUSTOM', name: 'run.retry', value: { attempt, delayMs, message } };
				break;
			}
			case 'text.delta':
				if (open?.kind !== 'text' || open.key !== event.key) {
					yield* close();
					open = { kind: 'text', key: event.key, id: `${prefix}_${(count += 1)}` };
					said = '';
					yield { type: 'TEXT_MESSAGE_START', messageId: open.id, role: 'assistant' };
				}
				said += event.delta;
				yield { type: 'TEXT_MESSAGE_CONTENT', messageId: open.id, delta: event.delta };
				break;
			case 'reasoning.delta':
				if (open?.kind !== 'reasoning' || open.key !== event.key) {
					yield* close();
					open = { kind: 'reasoning', key: event.key, id: `${prefix}_${(count += 1)}` };
					yield { type: 'REASONING_START', messageId: open.id };
					yield { type: 'REASONING_MESSAGE_START', messageId: open.id, role: 'reasoning' };
				}
				yield { type: 'REASONING_MESSAGE_CONTENT', messageId: open.id, delta: event.delta };
				break;
			case 'call.started':
				yield* startCall(event.callId, event.name, event.headline);
				break;
			case 'call.delta':
				yield { type: 'TOOL_CALL_ARGS', toolCallId: event.callId, delta: event.delta };
				break;
			case 'call.done': {
				yield* startCall(event.callId, event.name);
				yield { type: 'TOOL_CALL_END', toolCallId: event.callId };
				const { callId, name, arguments: text } = event;
				answer.calls.push({ callId, name, arguments: text });
				break;
			}
			case 'completed':
				answer.items = event.items;
				answer.usage = event.usage;
				answer.isCut = event.incompleteReason !== null;
				break;
			case 'failed':
				answer.items = event.items;
				answer.unsaid = open?.kind === 'text' ? unrecorded(said, event.items) : [];
				answer.error = { code: event.error.code, message: event.error.message };
				break;
			default:
				event satisfies never;
		}
	}
	yield* close();
	// A call that broke off, by a stop say, is closed too: AG-UI lets nothing be open when a run ends well.
	const done = new Set(answer.calls.map(({ callId }) => callId));
	for (const toolCallId of started) if (!done.has(toolCallId)) yield { type: 'TOOL_CALL_END', toolCallId };
	return answer;
}
