/** Calls of a caller's own tools that a run handed back, and the results that the caller brings (FEATURES F13, D41). */
import type { Transaction } from 'kysely';
import { AppError } from '../../../shared/errors.ts';
import { handedCalls, type Message, type Part } from '../../../shared/message.ts';
import { appendItems, updateMessage } from './messages.ts';
import type { Database } from '../schema.ts';

/** What a call of the caller's own tool came to. */
export interface CallResult {
	toolCallId: string;
	/** What the model reads. */
	output: string;
	isError: boolean;
}

/** What the model reads of a call that the caller said nothing about. */
const NO_RESULT = JSON.stringify({
	ok: false,
	error: 'NoResult',
	message: 'The program that offers this tool gave no result for this call.'
});

/** @throws AppError `invalid_input` for a call that was never made, `conflict` when none of them waits */
export function requireHanded(message: Message, results: readonly CallResult[]): void {
	const made = new Set(message.parts.flatMap((part) => (part.type === 'tool' ? [part.id] : [])));
	const unknown = results.find(({ toolCallId }) => !made.has(toolCallId));
	if (unknown) {
		throw new AppError(
			'invalid_input',
			`toolCallId: the last reply made no call “${unknown.toolCallId.slice(0, 200)}”.`
		);
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
 * Stores the results of handed calls with their answer, for people and for the model; what is said of other calls is
 * ignored. Calls without one go on waiting, or end without it.
 */
export async function settleHanded(
	transaction: Transaction<Database>,
	conversationId: string,
	message: Message,
	{ results, rest }: { results: readonly CallResult[]; rest: 'wait' | 'end' }
): Promise<Message> {
	// Of two results of one call the first counts.
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
