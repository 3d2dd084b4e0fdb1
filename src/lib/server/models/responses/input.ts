/** Makes a history fit to be sent: one half-saved call must not make a whole conversation unusable (MODEL-WIRE). */
import type { ResponseItem } from '../../agent/model.ts';
import { isObject, parseJson } from '../../../shared/json.ts';
import { isBlankMessage } from './items.ts';

/** What a model reads as the result of a call that never got one. */
export const INTERRUPTED_OUTPUT = JSON.stringify({
	error: 'interrupted',
	message: 'The call was interrupted before it had a result. Make it again if it is still needed.'
});

/**
 * The items in their order, such that every server takes them: arguments are JSON objects, each call has exactly
 * one output, no output is without its call, nothing is there twice, no assistant message is blank. Items that need
 * no change keep their identity; reasoning is never touched. Pure and idempotent.
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
		// Some servers number their items anew in each response: the same one again, a question later, is another.
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
		} else if (isRepeated(item, seen.items) || (item.role === 'assistant' && isBlankMessage(item))) {
			continue;
		}
		closeCalls();
		result.push(item);
	}
	closeCalls();
	return result;
}

/** Ids of the calls that have an output somewhere after them. */
function answeredCalls(items: readonly ResponseItem[]): Set<unknown> {
	const called = new Set<unknown>();
	const answered = new Set<unknown>();
	for (const item of items) {
		if (item.type === 'function_call') called.add(item.call_id);
		else if (item.type === 'function_call_output' && called.has(item.call_id)) answered.add(item.call_id);
	}
	return answered;
}

/** Ollama refuses the whole request over one call whose arguments are not JSON. */
function withJsonArguments(item: ResponseItem): ResponseItem {
	if (isObject(item.arguments)) return { ...item, arguments: JSON.stringify(item.arguments) };
	const isFine = typeof item.arguments === 'string' && isObject(parseJson(item.arguments));
	return isFine ? item : { ...item, arguments: '{}' };
}

/** Ids alone do not tell: some servers give every message of a turn the same one. */
function isRepeated(item: ResponseItem, seen: Set<string>): boolean {
	if (typeof item.id !== 'string') return false;
	const text = JSON.stringify(item);
	if (seen.has(text)) return true;
	seen.add(text);
	return false;
}
