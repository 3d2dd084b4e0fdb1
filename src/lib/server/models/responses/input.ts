/** Repairs a history before sending, so that one incomplete call doesn't break a whole conversation. */
import type { ResponseItem } from '../../agent/model.ts';
import { isNote } from '../../agent/turn-note.ts';
import { isServerCall } from '../../../shared/names.ts';
import { isObject, parseJson } from '../../../shared/json.ts';
import { isBlankMessage } from './items.ts';

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
