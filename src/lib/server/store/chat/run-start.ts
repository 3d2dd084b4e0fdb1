/** Starts a run: conversation, question, empty answer and run appear together, or nothing does. */
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
	/** `task`: digest of what it is asked. */
	run: { id: string; model: string; bootId: string; task: string };
	/** Created when it does not exist; one that exists keeps its title, unless that is `placeholder`. */
	conversation: { id: string; title: string; placeholder?: string; apiKeyId?: string };
	place: RunPlace;
	/** Kept for the runs that follow in the conversation. */
	choice?: ModelChoice;
	/** Names of skills that are pinned in the conversation from now on. */
	pins?: readonly string[];
	/** ISO 8601: when the run starts; the conversation counts as updated then. */
	now: string;
}

/** What answers in a conversation: what is left out stays as it is, null leaves it to the settings. */
export interface ModelChoice {
	model?: string | null;
	effort?: ReasoningEffort | null;
}

/**
 * Where a run writes: an answer to a new question, another answer to an old one, or more of an answer that has ended.
 * A question follows `after`, or the end of what is shown.
 */
export type RunPlace =
	| { kind: 'question'; question: Message; answer: Message; after?: string | null; results?: readonly CallResult[] }
	| { kind: 'answer'; questionId: string; answer: Message }
	/** `waiting`: one that waited for consent; `ended`: any other. */
	| { kind: 'more'; messageId: string; from: 'waiting' | 'ended'; results?: readonly CallResult[] }
	/** More of the answer at the end of what is shown: its calls that were handed to the caller have results now. */
	| { kind: 'handed'; results: readonly CallResult[] };

/**
 * `exists`: the run id is known, `run` is that run (look at its `conversationId`). `busy`: `run` is the one that is under way in the
 * conversation. `duplicate_message`: the conversation has a message with one of the two ids. `no_message`: it has none where the run
 * was to write, or is another key's. Only `started` has written anything; `answer` is then the message as it is before the run's first event.
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

/** Thrown inside the transaction, to take back the conversation's upsert. */
class Refusal extends Error {
	readonly result: RunStartResult;

	constructor(result: RunStartResult) {
		super(result.outcome);
		this.result = result;
	}
}

async function insertRun(transaction: Transaction<Database>, start: RunStart): Promise<RunStartResult> {
	const { run, conversation, place, now } = start;
	// First of all, because it locks the conversation: of two starts at once, the second looks after the first is done.
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
		// The lock is one conversation's: the same run id may be started in another one at this moment.
		.onConflict((conflict) => conflict.column('id').doNothing())
		.returning(RUN_COLUMNS)
		.executeTakeFirst();
	if (!inserted) {
		const other = await findRun(transaction, run.id);
		if (other) throw new Refusal({ outcome: 'exists', run: other });
		throw new AppError(
			'unavailable',
			`The run ${run.id} was started and deleted elsewhere at the same time. Try again.`
		);
	}
	await keepChoice(transaction, conversation.id, start.choice ?? {});
	await pinSkills(transaction, conversation.id, start.pins ?? [], now);
	return { outcome: 'started', run: { ...inserted }, answer };
}

/** What the conversation has chosen; nulls for one that is not there. */
export async function choiceOf(db: Kysely<Database>, conversationId: string): Promise<Required<ModelChoice>> {
	const row = await db
		.selectFrom('conversations')
		.select(['model', 'effort'])
		.where('id', '=', conversationId)
		.executeTakeFirst();
	// What a newer version has stored and this one does not know counts as not chosen.
	const effort = row?.effort;
	return { model: row?.model ?? null, effort: isReasoningEffort(effort) ? effort : null };
}

async function keepChoice(
	transaction: Transaction<Database>,
	conversationId: string,
	{ model, effort }: ModelChoice
): Promise<void> {
	const changes = { ...(model === undefined ? {} : { model }), ...(effort === undefined ? {} : { effort }) };
	if (Object.keys(changes).length === 0) return;
	await transaction.updateTable('conversations').set(changes).where('id', '=', conversationId).execute();
}

/** The message that the run writes, stored as running. */
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
		if (parentId === head && head !== null) {
			await endWaiting(transaction, conversationId, head, place.results ?? []);
		}
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

/** An answer that has ended is written on. */
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

/** The caller's results are stored together with the start of the run that goes on with them. */
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

/** Who asks something else does not answer what was asked: the calls that waited for it are not made. */
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
