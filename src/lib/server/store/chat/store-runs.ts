/** Runs and their event logs: one running run per conversation, or several for answers side by side, and each ends once. */
import type { Kysely, Transaction } from 'kysely';
import type { ChatChoices } from '../../../shared/api.ts';
import type { ModelSpeed } from '../../../shared/models.ts';
import type { RunUsage, TokenUsage } from '../../../shared/events.ts';
import { choiceOf, isDeleted, keepChoices, type KeptChoices, titleColumns, wasDeleted } from './conversations.ts';
import {
	createRunEventWriter,
	type EventRange,
	findRun,
	type FoldedMessage,
	readLogEvents,
	readSpeeds,
	RUN_COLUMNS,
	type RunAdvance,
	type RunRecord,
	type StoredEvent
} from './runs.ts';
import { type Database, isPostgres } from '../schema.ts';
import { createOwnership, LEASED, type RunOwnership } from './run-ownership.ts';
import { AppError } from '../../../shared/errors.ts';
import { MOST_COMPARED } from '../../../shared/models.ts';
import { endMessage, handedCalls, type Message, type Part } from '../../../shared/message.ts';
import {
	type AnswerItems,
	appendItems,
	type ComparedAnswer,
	comparedIn,
	findMessage,
	headOf,
	insertMessages,
	setHead,
	updateMessage
} from './messages.ts';
import { nothingDue, pinSkills } from './queue.ts';

/** How a run ended, and everything written with its end. */
export interface RunFinish {
	state: Exclude<RunRecord['state'], 'running'>;
	/** In which the writer owns the run; default 1. */
	epoch?: number;
	errorCode?: string;
	/** ISO 8601. */
	finishedAt: string;
	/** The last events, including the terminal one. */
	events: StoredEvent[];
	items?: AnswerItems | undefined;
	message?: FoldedMessage;
	used?: TokenUsage;
	/** How fast the model was, if that is known. */
	speed?: RunUsage;
	/** The next message that waits is due; never while answers are compared. */
	sendsNext?: boolean;
}

export interface Runs extends RunOwnership {
	/** Runs in one transaction. Idempotent for the same run. */
	start(start: RunStart): Promise<RunStartResult>;
	/** What the conversation has chosen; nulls, or left out, if not chosen or not found. */
	choiceOf(conversationId: string): Promise<KeptChoices>;
	/** null if not found or its conversation is deleted. */
	get(id: string): Promise<RunRecord | null>;
	/**
	 * Returns false and writes nothing if the run has ended, is gone (its conversation was deleted), or has another owner.
	 *
	 * @throws {Error} if the events don't follow the stored ones.
	 */
	appendEvents(runId: string, events: StoredEvent[]): Promise<boolean>;
	/** The same for several runs; returns the ids of those that weren't written. */
	appendAll(advances: readonly RunAdvance[]): Promise<ReadonlySet<string>>;
	/** Appends events and items, stores the message and ends the run. True for the one call that did. */
	finish(runId: string, finish: RunFinish): Promise<boolean>;
	/** In order; empty if there are no more. */
	readEvents(runId: string, range: EventRange): Promise<StoredEvent[]>;
	/** How fast models answered here lately, by id. */
	speeds(): Promise<Map<string, ModelSpeed>>;
	/** Running runs of other server starts, which crashed or run elsewhere; of all conversations, or of one. */
	listRunning(bootId: string, conversationId?: string): Promise<RunRecord[]>;
}

export function createRuns(db: Kysely<Database>): Runs {
	const writer = createRunEventWriter(db);
	return {
		...createOwnership(db),

		start: (start) => startRun(db, start),

		choiceOf: (conversationId) => choiceOf(db, conversationId),

		async get(id) {
			const run = await findRun(db, id);
			return run && !(await isDeleted(db, run.conversationId)) ? run : null;
		},

		appendEvents: async (runId, events) => !(await writer.advanceAll([{ runId, events }])).has(runId),

		appendAll: (advances) => writer.advanceAll(advances),

		finish: (runId, { state, epoch, errorCode, finishedAt, events, items, ...result }) =>
			writer.end(
				{ runId, events, items, epoch },
				{ state, error_code: errorCode ?? null, finished_at: finishedAt },
				result
			),

		readEvents: (runId, range) => readLogEvents(db, { log: 'run_events', id: runId }, range),

		speeds: () => readSpeeds(db),

		async listRunning(bootId, conversationId) {
			const rows = await db
				.selectFrom('runs')
				.select(RUN_COLUMNS)
				.where('state', '=', 'running')
				.where('boot_id', '!=', bootId)
				.$if(conversationId !== undefined, (query) => query.where('conversation_id', '=', conversationId ?? ''))
				.orderBy('started_at')
				.execute();
			return rows.map((row) => ({ ...row }));
		}
	};
}

// The start: conversation, question, empty answer and run are written in one transaction.

export interface RunStart {
	/** `task`: digest of the request. `request`: its JSON, if another server may have to go on with it. */
	run: { id: string; model: string; bootId: string; task: string; request?: string };
	/** Created if needed. An existing conversation keeps its title, unless that is `placeholder` or empty. */
	conversation: { id: string; title: string; placeholder?: string; apiKeyId?: string };
	place: RunPlace;
	/** Side by side with other answers. */
	beside?: Beside;
	/** Stored for the conversation's next runs. */
	choice?: ChatChoices;
	/** Names of skills to pin in the conversation. */
	pins?: readonly string[];
	/** ISO 8601: start of the run, and last update of the conversation. */
	now: string;
}

/**
 * Which answers to its question a new answer is seen with: those that follow (`new`), those of the comparison under way (`open`),
 * or this one, whose place it may take.
 */
export type Beside = 'new' | 'open' | { answer: string; isReplaced: boolean };

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
 * `exists`: `run` has the same id, maybe in another conversation. `busy`: `run` is active in the conversation, and not for an
 * answer beside this one.
 * `duplicate_message`: a message id is taken. `no_message`: the target message doesn't exist, or belongs to another key.
 */
export type RunStartResult =
	| { outcome: 'started'; run: RunRecord; answer: Message }
	| { outcome: 'exists' | 'busy'; run: RunRecord }
	| { outcome: 'duplicate_message' | 'no_message'; run: null };

async function startRun(db: Kysely<Database>, start: RunStart): Promise<RunStartResult> {
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
			.where('title', 'in', [conversation.placeholder, ''])
			.execute();
	}

	const known = await findRun(transaction, run.id);
	if (known) throw new Refusal({ outcome: 'exists', run: known });
	const compared = await comparedIn(transaction, conversation.id);
	const running = await transaction
		.selectFrom('runs')
		.select(RUN_COLUMNS)
		.where('conversation_id', '=', conversation.id)
		.where('state', '=', 'running')
		.execute();
	const active = running.find(({ messageId }) => !mayWriteBeside(start, messageId, compared));
	if (active) throw new Refusal({ outcome: 'busy', run: { ...active } });

	await nothingDue(transaction, conversation.id);
	const head = await headOf(transaction, conversation.id);
	const answer = await placeAnswer(transaction, conversation.id, place, start);
	if (start.beside) await putBeside(transaction, start, { answer, head, compared });
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
			request: run.request ?? null,
			lease_until: isPostgres(transaction) ? LEASED : null,
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
	await keepChoices(transaction, conversation.id, start.choice ?? {});
	await pinSkills(transaction, conversation.id, start.pins ?? [], now);
	return { outcome: 'started', run: { ...inserted }, answer };
}

/** Whether the run may start while this answer is being written: both answer the same question, side by side. */
function mayWriteBeside({ place, beside }: RunStart, messageId: string, compared: readonly ComparedAnswer[]): boolean {
	const isCompared = (wanted: string) => compared.some(({ id }) => id === wanted);
	if (!isCompared(messageId)) return false;
	if (place.kind === 'more') return isCompared(place.messageId);
	if (typeof beside !== 'object') return beside === 'open';
	return isCompared(beside.answer) && !(beside.isReplaced && beside.answer === messageId);
}

/** `head`: the end of the shown branch before this answer was added. It stays the one that is shown. */
async function putBeside(
	transaction: Transaction<Database>,
	{ run, conversation, beside }: RunStart,
	{ answer, head, compared }: { answer: Message; head: string | null; compared: readonly ComparedAnswer[] }
): Promise<void> {
	const own = { id: answer.id, model: run.model };
	const show = (id: string | null, answers: ComparedAnswer[]) => setHead(transaction, conversation.id, id, answers);
	if (beside === 'new') return show(own.id, [own]);
	const named = typeof beside === 'object' ? beside.answer : compared[0]?.id;
	const other = await transaction
		.selectFrom('messages')
		.select(['id', 'parent_id', 'model'])
		.where('conversation_id', '=', conversation.id)
		.where('id', '=', named ?? '')
		.executeTakeFirst();
	if (other?.parent_id !== answer.parentId) throw new Refusal(NO_MESSAGE);
	const isOpen = compared.some(({ id }) => id === other.id);
	if (typeof beside === 'object' && beside.isReplaced) {
		if (!isOpen) throw new Refusal(NO_MESSAGE);
		const answers = compared.map((each) => (each.id === other.id ? own : each));
		return show(head === other.id ? own.id : head, answers);
	}
	const before = isOpen ? compared : [{ id: other.id, model: other.model ?? '' }];
	if (before.length >= MOST_COMPARED) {
		throw new AppError('conflict', `${MOST_COMPARED} answers are already side by side. Choose one of them first.`);
	}
	await show(isOpen ? head : other.id, [...before, own]);
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
	const compared = await comparedIn(transaction, conversationId);
	if (!compared.some(({ id }) => id === answer.id)) await setHead(transaction, conversationId, answer.id);
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

// Calls of the caller's own tools, and the results the caller sends back (F13, D41).

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
function requireHanded(message: Message, results: readonly CallResult[]): void {
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
async function settleHanded(
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
	await appendItems(transaction, { conversationId, messageId: message.id, items });
	return answer;
}
