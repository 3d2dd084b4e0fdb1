/** Starts a run: writes conversation, question, empty answer and run in one transaction. */
import type { Kysely, Transaction } from 'kysely';
import { AppError } from '../../../shared/errors.ts';
import { endMessage, type Message } from '../../../shared/message.ts';
import { isReasoningEffort, type ReasoningEffort } from '../../../shared/names.ts';
import { titleColumns, wasDeleted } from './conversations.ts';
import { headOf } from './branches.ts';
import { requireHanded, settleHanded, type CallResult } from './handed-calls.ts';
import { pinSkills } from './queue.ts';
import { findMessage, insertMessages, setHead, updateMessage } from './messages.ts';
import { findRun, RUN_COLUMNS, type RunRecord } from './runs.ts';
import type { Database } from '../schema.ts';

export interface RunStart {
	/** `task`: digest of the request. */
	run: { id: string; model: string; bootId: string; task: string };
	/** Created if needed. An existing conversation keeps its title, unless that is `placeholder`. */
	conversation: { id: string; title: string; placeholder?: string; apiKeyId?: string };
	place: RunPlace;
	/** Stored for the conversation's next runs. */
	choice?: ModelChoice;
	/** Names of skills to pin in the conversation. */
	pins?: readonly string[];
	/** ISO 8601: start of the run, and last update of the conversation. */
	now: string;
}

/** A conversation's model settings. undefined: no change; null: the default from the settings. */
export interface ModelChoice {
	model?: string | null;
	effort?: ReasoningEffort | null;
}

/** Where a run writes. */
export type RunPlace =
	/** An answer to a new question, which follows `after` or the end of the shown branch. */
	| { kind: 'question'; question: Message; answer: Message; after?: string | null; results?: readonly CallResult[] }
	/** Another answer to an existing question. */
	| { kind: 'answer'; questionId: string; answer: Message }
	/** Continues an answer that waits for approval (`waiting`) or has ended in another way (`ended`). */
	| { kind: 'more'; messageId: string; from: 'waiting' | 'ended'; results?: readonly CallResult[] }
	/** Continues the last shown answer with results of the caller's own tools. */
	| { kind: 'handed'; results: readonly CallResult[] };

/**
 * `started`: `answer` is the message before the run's first event. The others wrote nothing.
 * `exists`: `run` has the same id, maybe in another conversation. `busy`: `run` is active in the conversation.
 * `duplicate_message`: a message id is taken. `no_message`: the target message doesn't exist, or belongs to another key.
 */
export type RunStartResult =
	| { outcome: 'started'; run: RunRecord; answer: Message }
	| { outcome: 'exists' | 'busy'; run: RunRecord }
	| { outcome: 'duplicate_message' | 'no_message'; run: null };

export async function startRun(db: Kysely<Database>, start: RunStart): Promise<RunStartResult> {
	try {
		return await db.transaction().execute((transaction) => insertRun(transaction, start));
	} catch (error) {
		if (error instanceof Refusal) return error.result;
		throw error;
	}
}

/** Thrown inside the transaction to roll it back. */
class Refusal extends Error {
	readonly result: RunStartResult;

	constructor(result: RunStartResult) {
		super(result.outcome);
		this.result = result;
	}
}

async function insertRun(transaction: Transaction<Database>, start: RunStart): Promise<RunStartResult> {
	const { run, conversation, place, now } = start;
	// First, because it locks the conversation: of two concurrent starts, the second continues after the first is done.
	const { deleted_at, api_key_id } = await transaction
		.insertInto('conversations')
		.values({
			id: conversation.id,
			...titleColumns(conversation.title),
			api_key_id: conversation.apiKeyId ?? null,
			created_at: now,
			updated_at: now
		})
		.onConflict((conflict) => conflict.column('id').doUpdateSet({ updated_at: now }))
		.returning(['deleted_at', 'api_key_id'])
		.executeTakeFirstOrThrow();
	if (conversation.apiKeyId !== undefined && conversation.apiKeyId !== api_key_id) throw new Refusal(NO_MESSAGE);
	if (deleted_at !== null) throw wasDeleted();
	if (conversation.placeholder !== undefined) {
		await transaction
			.updateTable('conversations')
			.set(titleColumns(conversation.title))
			.where('id', '=', conversation.id)
			.where('title', '=', conversation.placeholder)
			.execute();
	}

	const known = await findRun(transaction, run.id);
	if (known) throw new Refusal({ outcome: 'exists', run: known });
	const active = await transaction
		.selectFrom('runs')
		.select(RUN_COLUMNS)
		.where('conversation_id', '=', conversation.id)
		.where('state', '=', 'running')
		.executeTakeFirst();
	if (active) throw new Refusal({ outcome: 'busy', run: { ...active } });

	const answer = await placeAnswer(transaction, conversation.id, place, start);
	const inserted = await transaction
		.insertInto('runs')
		.values({
			id: run.id,
			conversation_id: conversation.id,
			message_id: answer.id,
			state: 'running',
			model: run.model,
			boot_id: run.bootId,
			task: run.task,
			started_at: now
		})
		// The lock covers one conversation; the same run id may start in another one right now.
		.onConflict((conflict) => conflict.column('id').doNothing())
		.returning(RUN_COLUMNS)
		.executeTakeFirst();
	if (!inserted) {
		const other = await findRun(transaction, run.id);
		if (other) throw new Refusal({ outcome: 'exists', run: other });
		const message = `The run ${run.id} was started and deleted elsewhere at the same time. Try again.`;
		throw new AppError('unavailable', message);
	}
	await keepChoice(transaction, conversation.id, start.choice ?? {});
	await pinSkills(transaction, conversation.id, start.pins ?? [], now);
	return { outcome: 'started', run: { ...inserted }, answer };
}

/** The conversation's model settings; nulls if not found. */
export async function choiceOf(db: Kysely<Database>, conversationId: string): Promise<Required<ModelChoice>> {
	const row = await db
		.selectFrom('conversations')
		.select(['model', 'effort'])
		.where('id', '=', conversationId)
		.executeTakeFirst();
	// A value of a newer version counts as not chosen.
	const effort = row?.effort;
	return { model: row?.model ?? null, effort: isReasoningEffort(effort) ? effort : null };
}

async function keepChoice(
	transaction: Transaction<Database>,
	conversationId: string,
	{ model, effort }: ModelChoice
): Promise<void> {
	if (model === undefined && effort === undefined) return;
	await transaction.updateTable('conversations').set({ model, effort }).where('id', '=', conversationId).execute();
}

/** Stores the message that the run writes, as running. */
async function placeAnswer(
	transaction: Transaction<Database>,
	conversationId: string,
	place: RunPlace,
	{ run }: RunStart
): Promise<Message> {
	if (place.kind === 'more') return reopen(transaction, conversationId, place, run.id);
	if (place.kind === 'handed') return takeResults(transaction, conversationId, place.results, run.id);
	const added: Message[] = [];
	if (place.kind === 'question') {
		const head = await headOf(transaction, conversationId);
		const parentId = place.after === undefined ? head : place.after;
		if (parentId !== null && !(await findMessage(transaction, conversationId, parentId))) throw new Refusal(NO_MESSAGE);
		if (parentId === head && head !== null) await endWaiting(transaction, conversationId, head, place.results ?? []);
		added.push({ ...place.question, parentId });
		await transaction
			.deleteFrom('queued_messages')
			.where('conversation_id', '=', conversationId)
			.where('id', '=', place.question.id)
			.execute();
	} else {
		const question = await findMessage(transaction, conversationId, place.questionId);
		if (question?.role !== 'user') throw new Refusal(NO_MESSAGE);
	}
	const parentId = place.kind === 'question' ? place.question.id : place.questionId;
	const answer = { ...place.answer, parentId };
	const appended = await insertMessages(transaction, conversationId, [
		...added.map((message) => ({ message })),
		{ message: answer, model: run.model }
	]);
	if (!appended) throw new Refusal({ outcome: 'duplicate_message', run: null });
	return answer;
}

const NO_MESSAGE: RunStartResult = { outcome: 'no_message', run: null };

/** Continues an answer that has ended. */
async function reopen(
	transaction: Transaction<Database>,
	conversationId: string,
	{ messageId: id, from, results = [] }: Extract<RunPlace, { kind: 'more' }>,
	runId: string
): Promise<Message> {
	const message = await findMessage(transaction, conversationId, id);
	if (message?.role !== 'assistant' || message.status === 'running') throw new Refusal(NO_MESSAGE);
	if ((message.status === 'waiting') !== (from === 'waiting')) throw new Refusal(NO_MESSAGE);
	const rest = from === 'waiting' ? 'wait' : 'end';
	const settled = await settleHanded(transaction, conversationId, message, { results, rest });
	return writeOn(transaction, conversationId, settled, runId);
}

/** Stores the caller's results and continues the last answer. */
async function takeResults(
	transaction: Transaction<Database>,
	conversationId: string,
	results: readonly CallResult[],
	runId: string
): Promise<Message> {
	const head = await headOf(transaction, conversationId);
	const message = head === null ? null : await findMessage(transaction, conversationId, head);
	if (message?.role !== 'assistant') throw new Refusal(NO_MESSAGE);
	requireHanded(message, results);
	const settled = await settleHanded(transaction, conversationId, message, { results, rest: 'end' });
	return writeOn(transaction, conversationId, settled, runId);
}

async function writeOn(
	transaction: Transaction<Database>,
	conversationId: string,
	message: Message,
	runId: string
): Promise<Message> {
	const answer: Message = { ...message, status: 'running', error: null, limit: null, runId };
	await updateMessage(transaction, conversationId, answer);
	await setHead(transaction, conversationId, answer.id);
	return answer;
}

/** A new question instead of an answer cancels the calls that wait for one. */
async function endWaiting(
	transaction: Transaction<Database>,
	conversationId: string,
	id: string,
	results: readonly CallResult[]
): Promise<void> {
	const message = await findMessage(transaction, conversationId, id);
	if (!message) return;
	const settled = await settleHanded(transaction, conversationId, message, { results, rest: 'end' });
	if (settled.status === 'waiting') {
		await updateMessage(transaction, conversationId, endMessage(settled, 'cancelled', null));
	}
}
