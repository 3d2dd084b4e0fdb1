/** Starts a run: conversation, question, empty answer and run appear together, or nothing does. */
import type { Kysely, Transaction } from 'kysely';
import { AppError } from '../../shared/errors.ts';
import type { Message } from '../../shared/message.ts';
import { cleanText } from './clean-text.ts';
import { insertMessages } from './messages.ts';
import type { RunRecord } from './run-row.ts';
import { findRun, RUN_COLUMNS } from './run-row.ts';
import type { Database } from './schema.ts';

export interface RunStart {
	run: { id: string; model: string; bootId: string };
	/** Created when it does not exist; one that exists keeps its title, unless that is `placeholder`. */
	conversation: { id: string; title: string; placeholder?: string };
	userMessage: Message;
	/** The assistant's message that the run will write. */
	answer: Message;
	/** ISO 8601: when the run starts; the conversation counts as updated then. */
	now: string;
}

/**
 * `exists`: the run id is known, `run` is that run (look at its `conversationId`). `busy`: `run` is the one that is under way in the
 * conversation. `duplicate_message`: the conversation has a message with one of the two ids. Only `started` has written anything.
 */
export type RunStartResult =
	{ outcome: 'started' | 'exists' | 'busy'; run: RunRecord } | { outcome: 'duplicate_message'; run: null };

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
	const { run, conversation, userMessage, answer, now } = start;
	// First of all, because it locks the conversation: of two starts at once, the second looks after the first is done.
	await transaction
		.insertInto('conversations')
		.values({ id: conversation.id, title: cleanText(conversation.title), created_at: now, updated_at: now })
		.onConflict((conflict) => conflict.column('id').doUpdateSet({ updated_at: now }))
		.execute();
	if (conversation.placeholder !== undefined) {
		await transaction
			.updateTable('conversations')
			.set({ title: cleanText(conversation.title) })
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

	const inserted = await transaction
		.insertInto('runs')
		.values({
			id: run.id,
			conversation_id: conversation.id,
			message_id: answer.id,
			state: 'running',
			model: run.model,
			boot_id: run.bootId,
			started_at: now
		})
		// The lock is one conversation's: the same run id may be started in another one at this moment.
		.onConflict((conflict) => conflict.column('id').doNothing())
		.returning(RUN_COLUMNS)
		.executeTakeFirst();
	if (!inserted) {
		const other = await findRun(transaction, run.id);
		if (other) throw new Refusal({ outcome: 'exists', run: other });
		throw new AppError('unavailable', `The run ${run.id} was started and deleted elsewhere at this moment. Try again.`);
	}
	const appended = await insertMessages(transaction, conversation.id, [
		{ message: userMessage },
		{ message: answer, model: run.model }
	]);
	if (!appended) throw new Refusal({ outcome: 'duplicate_message', run: null });
	return { outcome: 'started', run: { ...inserted } };
}
