/** Calls of the caller's own tools, and the results the caller sends back (FEATURES F13, D41). */
import type { Transaction } from 'kysely';
import { AppError } from '../../../shared/errors.ts';
import { handedCalls, type Message, type Part } from '../../../shared/message.ts';
import { appendItems, updateMessage } from './messages.ts';
import type { Database } from '../schema.ts';

export interface CallResult {
	toolCallId: string;
	/** What the model reads. */
	output: string;
	isError: boolean;
}

/** The model gets this for a call without a result. */
const NO_RESULT = JSON.stringify({
	ok: false,
	error: 'NoResult',
	message: 'The program that offers this tool gave no result for this call.'
});

/** @throws AppError `invalid_input` for an unknown call, `conflict` if none of them is waiting */
export function requireHanded(message: Message, results: readonly CallResult[]): void {
	const made = new Set(message.parts.flatMap((part) => (part.type === 'tool' ? [part.id] : [])));
	const unknown = results.find(({ toolCallId }) => !made.has(toolCallId));
	if (unknown) {
		const sentence = `toolCallId: the last reply made no call “${unknown.toolCallId.slice(0, 200)}”.`;
		throw new AppError('invalid_input', sentence);
	}
	if (message.status === 'waiting') {
		throw new AppError('conflict', 'The last reply is also waiting for approval. Answer its questions with `resume`.');
	}
	const waiting = new Set(handedCalls(message).map(({ id }) => id));
	if (!results.some(({ toolCallId }) => waiting.has(toolCallId))) {
		throw new AppError('conflict', 'None of these calls is waiting for a result.');
	}
}

/**
 * Stores results of waiting calls in their message, for people and for the model. Ignores results of other calls.
 * `rest`: whether calls without a result keep waiting or end.
 */
export async function settleHanded(
	transaction: Transaction<Database>,
	conversationId: string,
	message: Message,
	{ results, rest }: { results: readonly CallResult[]; rest: 'wait' | 'end' }
): Promise<Message> {
	// If a call has two results, the first counts.
	const given = new Map([...results].reverse().map((result) => [result.toolCallId, result]));
	const settled = handedCalls(message).filter(({ id }) => rest === 'end' || given.has(id));
	if (settled.length === 0) return message;
	const outputs = new Map(settled.map(({ id }) => [id, given.get(id)?.output ?? NO_RESULT]));
	const parts = message.parts.map((part): Part => {
		if (part.type !== 'tool' || !outputs.has(part.id)) return part;
		const result = given.get(part.id);
		if (!result) return { ...part, status: 'cancelled' };
		return { ...part, status: result.isError ? 'failed' : 'done', result: result.output };
	});
	const answer = { ...message, parts };
	await updateMessage(transaction, conversationId, answer);
	const items = [...outputs].map(([id, output]) => ({ type: 'function_call_output', call_id: id, output }));
	await appendItems(transaction, conversationId, message.id, items);
	return answer;
}
