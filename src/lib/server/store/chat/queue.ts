/** What somebody has said of a skill in one conversation: pinned, or unloaded (FEATURES F7). */
import type { Kysely, Transaction } from 'kysely';
import { z } from 'zod';
import type { QueuedMessage } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ApprovalDecision } from '../../../shared/events.ts';
import { messageText } from '../../../shared/message.ts';
import type { ConversationSkillsTable, Database } from '../schema.ts';
import { findMessage } from './messages.ts';

/** Of a skill by its name; ISO 8601 since when. */
export interface ConversationSkillState {
	skill: string;
	state: ConversationSkillsTable['state'];
	changedAt: string;
}

export interface ConversationSkills {
	/** In the order in which it was said; empty as well for a conversation that is not there. */
	list(conversationId: string): Promise<ConversationSkillState[]>;
	/** The last word counts. False, with nothing written, when there is no such conversation, or it counts as deleted. */
	set(conversationId: string, skill: string, state: ConversationSkillState['state'], now: string): Promise<boolean>;
	/** Nothing is said of the skill any more. */
	remove(conversationId: string, skill: string): Promise<void>;
	/** To another conversation, which has said nothing of these skills. */
	copy(conversationId: string, toConversationId: string): Promise<void>;
}

export function createConversationSkills(db: Kysely<Database>): ConversationSkills {
	return {
		async list(conversationId) {
			const rows = await db
				.selectFrom('conversation_skills')
				.select(['skill', 'state', 'changed_at'])
				.where('conversation_id', '=', conversationId)
				.orderBy('changed_at')
				.orderBy('skill')
				.execute();
			return rows.map(({ skill, state, changed_at }) => ({ skill, state, changedAt: changed_at }));
		},

		set: (conversationId, skill, state, now) => setConversationSkill(db, { conversationId, skill, state, now }),

		async remove(conversationId, skill) {
			await db
				.deleteFrom('conversation_skills')
				.where('conversation_id', '=', conversationId)
				.where('skill', '=', skill)
				.execute();
		},

		async copy(conversationId, toConversationId) {
			const rows = await db
				.selectFrom('conversation_skills')
				.selectAll()
				.where('conversation_id', '=', conversationId)
				.execute();
			const copies = rows.map((row) => ({ ...row, conversation_id: toConversationId }));
			if (copies.length > 0) await db.insertInto('conversation_skills').values(copies).execute();
		}
	};
}

/** `set` on a connection or inside a transaction. A skill that is pinned already keeps its place. */
async function setConversationSkill(
	db: Kysely<Database>,
	{
		conversationId,
		skill,
		state,
		now
	}: Omit<ConversationSkillState, 'changedAt'> & { conversationId: string; now: string }
): Promise<boolean> {
	const written = await db
		.insertInto('conversation_skills')
		.columns(['conversation_id', 'skill', 'state', 'changed_at'])
		// In one statement with the look at the conversation, which may go at any moment.
		.expression((from) =>
			from
				.selectFrom('conversations')
				.select(({ val }) => ['id', val(skill).as('skill'), val(state).as('state'), val(now).as('changed_at')])
				.where('id', '=', conversationId)
				.where('deleted_at', 'is', null)
		)
		.onConflict((conflict) =>
			conflict.columns(['conversation_id', 'skill']).doUpdateSet(({ ref, eb }) => ({
				state,
				changed_at: eb
					.case()
					.when(eb.and([eb('conversation_skills.state', '=', 'pinned'), eb('excluded.state', '=', 'pinned')]))
					.then(ref('conversation_skills.changed_at'))
					.else(ref('excluded.changed_at'))
					.end()
			}))
		)
		.returning('skill')
		.executeTakeFirst();
	return written !== undefined;
}

/** Pins all of them, for the transaction that starts a run. */
export async function pinSkills(
	db: Kysely<Database>,
	conversationId: string,
	skills: readonly string[],
	now: string
): Promise<void> {
	for (const skill of new Set(skills)) await setConversationSkill(db, { conversationId, skill, state: 'pinned', now });
}

// Messages that wait for the end of a run: in order, and kept over a restart.

export interface Queue {
	/** First the one that is sent next. */
	list(conversationId: string): Promise<QueuedMessage[]>;
	/**
	 * At the end; the same message again changes nothing, and one that was sent meanwhile does not wait again.
	 * @throws {AppError} `not_found` without the conversation, `conflict` when it is full, or when the id is that of another message.
	 */
	add(conversationId: string, message: QueuedMessage): Promise<void>;
	/** False when there is no such message (any more); so is `remove`. */
	edit(conversationId: string, id: string, text: string): Promise<boolean>;
	remove(conversationId: string, id: string): Promise<boolean>;
	/** Makes it the one that is sent next. False when there is no such message. */
	moveToFront(conversationId: string, id: string): Promise<boolean>;
}

const MAX_QUEUED = 50;

export function createQueue(db: Kysely<Database>): Queue {
	const of = (conversationId: string) => db.selectFrom('queued_messages').where('conversation_id', '=', conversationId);

	return {
		async list(conversationId) {
			const rows = await of(conversationId).select(['id', 'text', 'files', 'created_at']).orderBy('position').execute();
			return rows.map(({ id, text, files, created_at }) => {
				return { id, text, files: JSON.parse(files) as string[], createdAt: created_at };
			});
		},

		add: (conversationId, { id, text, files, createdAt }) =>
			db.transaction().execute(async (transaction) => {
				const conversation = await transaction
					.selectFrom('conversations')
					.select('id')
					.where('id', '=', conversationId)
					.where('deleted_at', 'is', null)
					.executeTakeFirst();
				if (!conversation) throw new AppError('not_found', 'Conversation not found.');
				if (await isKnown(transaction, conversationId, { id, text, files })) return;
				const { count, last } = await transaction
					.selectFrom('queued_messages')
					.select(({ fn }) => [fn.countAll().as('count'), fn.max('position').as('last')])
					.where('conversation_id', '=', conversationId)
					.executeTakeFirstOrThrow();
				if (Number(count) >= MAX_QUEUED) {
					throw new AppError('conflict', `${MAX_QUEUED} messages are already waiting. Send or remove one first.`);
				}
				await transaction
					.insertInto('queued_messages')
					.values({
						conversation_id: conversationId,
						id,
						position: (last ?? 0) + 1,
						text,
						files: JSON.stringify(files),
						created_at: createdAt
					})
					.execute();
			}),

		async edit(conversationId, id, text) {
			const { numUpdatedRows } = await db
				.updateTable('queued_messages')
				.set({ text })
				.where('conversation_id', '=', conversationId)
				.where('id', '=', id)
				.executeTakeFirstOrThrow();
			return numUpdatedRows > 0n;
		},

		async remove(conversationId, id) {
			const { numDeletedRows } = await db
				.deleteFrom('queued_messages')
				.where('conversation_id', '=', conversationId)
				.where('id', '=', id)
				.executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		},

		async moveToFront(conversationId, id) {
			const first = await of(conversationId)
				.select(({ fn }) => fn.min('position').as('position'))
				.executeTakeFirstOrThrow();
			const { numUpdatedRows } = await db
				.updateTable('queued_messages')
				.set({ position: (first.position ?? 0) - 1 })
				.where('conversation_id', '=', conversationId)
				.where('id', '=', id)
				.executeTakeFirstOrThrow();
			return numUpdatedRows > 0n;
		}
	};
}

/** Does this very message wait already, or was it sent? @throws {AppError} `conflict` when another has its id */
async function isKnown(
	transaction: Transaction<Database>,
	conversationId: string,
	{ id, text, files }: Omit<QueuedMessage, 'createdAt'>
): Promise<boolean> {
	const waiting = await transaction
		.selectFrom('queued_messages')
		.select(['text', 'files'])
		.where('conversation_id', '=', conversationId)
		.where('id', '=', id)
		.executeTakeFirst();
	const sent = await findMessage(transaction, conversationId, id);
	const known = waiting ?? (sent && { text: messageText(sent), files: JSON.stringify(sent.files) });
	if (!known) return false;
	if (known.text === text && known.files === JSON.stringify(files)) return true;
	throw new AppError('conflict', 'Another message has this id. Send it with a new one.');
}

// What people decided about calls that had to be allowed, and what they allowed for good.

/** A script, or every script (`script` is empty), of a skill whose files have this digest. */
export interface Grant {
	skill: string;
	script: string;
	digest: string;
}

export interface Approvals {
	/** The first decision counts: true for the one that did. */
	decide(conversationId: string, interruptId: string, decision: ApprovalDecision, now: string): Promise<boolean>;
	/** By the ids of the questions; those that nobody has answered are left out. */
	decisions(conversationId: string, interruptIds: readonly string[]): Promise<Map<string, ApprovalDecision>>;
	grant(grant: Grant, now: string): Promise<void>;
	isGranted(grant: Grant): Promise<boolean>;
}

const decisionBody: z.ZodType<ApprovalDecision> = z.object({
	choice: z.enum(['once', 'script', 'skill', 'deny']),
	reason: z.string().optional()
});

export function createApprovals(db: Kysely<Database>): Approvals {
	return {
		async decide(conversationId, interruptId, decision, now) {
			const { numInsertedOrUpdatedRows } = await db
				.insertInto('decisions')
				.values({
					conversation_id: conversationId,
					interrupt_id: interruptId,
					body: JSON.stringify(decision),
					created_at: now
				})
				.onConflict((conflict) => conflict.columns(['conversation_id', 'interrupt_id']).doNothing())
				.executeTakeFirstOrThrow();
			return numInsertedOrUpdatedRows === 1n;
		},

		async decisions(conversationId, interruptIds) {
			if (interruptIds.length === 0) return new Map();
			const rows = await db
				.selectFrom('decisions')
				.select(['interrupt_id', 'body'])
				.where('conversation_id', '=', conversationId)
				.where('interrupt_id', 'in', interruptIds)
				.execute();
			return new Map(rows.map(({ interrupt_id, body }) => [interrupt_id, decisionBody.parse(JSON.parse(body))]));
		},

		async grant({ skill, script, digest }, now) {
			await db
				.insertInto('grants')
				.values({ skill, script, digest, created_at: now })
				.onConflict((conflict) => conflict.columns(['skill', 'script', 'digest']).doNothing())
				.execute();
		},

		async isGranted({ skill, script, digest }) {
			const row = await db
				.selectFrom('grants')
				.select('digest')
				.where('skill', '=', skill)
				.where('script', 'in', ['', script])
				.where('digest', '=', digest)
				.executeTakeFirst();
			return row !== undefined;
		}
	};
}

// Summaries that stand for the beginning of a branch when the model is asked.

export interface Compaction {
	/** The last message that the summary covers. */
	messageId: string;
	summary: string;
}

export interface Compactions {
	/** Replaces one for the same message. */
	put(conversationId: string, compaction: Compaction, now: string): Promise<void>;
	list(conversationId: string): Promise<Compaction[]>;
}

export function createCompactions(db: Kysely<Database>): Compactions {
	return {
		async put(conversationId, { messageId, summary }, now) {
			await db
				.insertInto('compactions')
				.values({ conversation_id: conversationId, message_id: messageId, summary, created_at: now })
				.onConflict((conflict) => conflict.columns(['conversation_id', 'message_id']).doUpdateSet({ summary }))
				.execute();
		},

		async list(conversationId) {
			const rows = await db
				.selectFrom('compactions')
				.select(['message_id', 'summary'])
				.where('conversation_id', '=', conversationId)
				.orderBy('created_at')
				.execute();
			return rows.map(({ message_id, summary }) => ({ messageId: message_id, summary }));
		}
	};
}
