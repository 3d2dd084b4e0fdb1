/** Stored for a conversation: pinned and unloaded skills (F7), queued messages, approvals and summaries. */
import { type Kysely, sql, type Transaction } from 'kysely';
import type { QueuedMessage } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ApprovalDecision } from '../../../shared/events.ts';
import { messageText } from '../../../shared/message.ts';
import { z } from 'zod';
import { decision } from '../../../shared/message-schema.ts';
import { lockConversation, locked } from '../locks.ts';
import { type ConversationSkillsTable, type Database, hasEffect, isPostgres } from '../schema.ts';
import { findMessage } from './messages.ts';

export interface ConversationSkillState {
	/** The skill's name. */
	skill: string;
	state: ConversationSkillsTable['state'];
	/** ISO 8601. */
	changedAt: string;
}

export function createConversationSkills(db: Kysely<Database>) {
	return {
		/** Oldest change first; empty if the conversation isn't found. */
		async list(conversationId: string): Promise<ConversationSkillState[]> {
			const rows = await db
				.selectFrom('conversation_skills')
				.select(['skill', 'state', 'changed_at'])
				.where('conversation_id', '=', conversationId)
				.orderBy('changed_at')
				.orderBy('skill')
				.execute();
			return rows.map(({ skill, state, changed_at }) => ({ skill, state, changedAt: changed_at }));
		},

		/** Replaces an earlier state. Returns false and writes nothing if the conversation isn't found or is deleted. */
		set: (
			conversationId: string,
			skill: string,
			state: ConversationSkillState['state'],
			now: string
		): Promise<boolean> => setConversationSkill(db, { conversationId, skill, state, now }),

		async remove(conversationId: string, skill: string): Promise<void> {
			await db
				.deleteFrom('conversation_skills')
				.where('conversation_id', '=', conversationId)
				.where('skill', '=', skill)
				.execute();
		},

		/** Copies all states to a conversation without any. */
		async copy(conversationId: string, toConversationId: string): Promise<void> {
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

/** An already pinned skill keeps its position. */
async function setConversationSkill(
	db: Kysely<Database>,
	change: Omit<ConversationSkillState, 'changedAt'> & { conversationId: string; now: string }
): Promise<boolean> {
	const { conversationId, skill, state, now } = change;
	const written = await db
		.insertInto('conversation_skills')
		.columns(['conversation_id', 'skill', 'state', 'changed_at'])
		// Checks the conversation in the same statement, because it can be deleted at any moment.
		.expression((from) =>
			from
				.selectFrom('conversations')
				.select(({ val }) => ['id', val(skill).as('skill'), val(state).as('state'), val(now).as('changed_at')])
				.where('id', '=', conversationId)
				.where('deleted_at', 'is', null)
				.modifyEnd(isPostgres(db) ? sql`for key share` : sql``)
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

/** Pins skills within the transaction that starts a run. */
export async function pinSkills(
	db: Kysely<Database>,
	conversationId: string,
	skills: readonly string[],
	now: string
): Promise<void> {
	for (const skill of new Set(skills)) await setConversationSkill(db, { conversationId, skill, state: 'pinned', now });
}

const MAX_QUEUED = 50;
/** Looked at in one go. */
const MAX_DUE = 100;

/** The conversation must be locked. */
export async function nothingDue(transaction: Transaction<Database>, conversationId: string): Promise<void> {
	const due = transaction.updateTable('queued_messages').set({ is_due: 0 }).where('is_due', '=', 1);
	await due.where('conversation_id', '=', conversationId).execute();
}

/** The conversation must be locked: a run that starts locks it, too. */
async function isIdle(transaction: Transaction<Database>, conversationId: string): Promise<boolean> {
	const running = transaction.selectFrom('runs').select('id').where('state', '=', 'running');
	return (await running.where('conversation_id', '=', conversationId).executeTakeFirst()) === undefined;
}

/** Messages that wait for the end of a run. They survive a restart. */
export function createQueue(db: Kysely<Database>) {
	const of = (conversationId: string) => db.selectFrom('queued_messages').where('conversation_id', '=', conversationId);

	return {
		/** Of all conversations. */
		async count(): Promise<number> {
			const { count } = await db
				.selectFrom('queued_messages')
				.select(({ fn }) => fn.countAll().as('count'))
				.executeTakeFirstOrThrow();
			return Number(count);
		},

		/** The next one to send first. */
		async list(conversationId: string): Promise<QueuedMessage[]> {
			const rows = await of(conversationId).select(['id', 'text', 'files', 'created_at']).orderBy('position').execute();
			return rows.map(({ id, text, files, created_at }) => ({
				id,
				text,
				files: JSON.parse(files) as string[],
				createdAt: created_at
			}));
		},

		/** Conversations whose first message is to be sent: nothing is left to wait for, and nobody has sent it yet. */
		async listDue(): Promise<string[]> {
			const rows = await db
				.selectFrom('queued_messages')
				.select('conversation_id')
				.distinct()
				.where('is_due', '=', 1)
				.limit(MAX_DUE)
				.execute();
			return rows.map(({ conversation_id }) => conversation_id);
		},

		/** What waits in the conversation goes on waiting, until somebody sends it or a run ends. */
		notDue: (conversationId: string): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, conversationId);
				await nothingDue(transaction, conversationId);
			}),

		/**
		 * Adds a message at the end, which is due if no run is under way. Does nothing if the same message is already queued or was sent.
		 * @throws {AppError} `not_found` without the conversation, `conflict` if the queue is full or another message has the id.
		 */
		add: (conversationId: string, { id, text, files, createdAt }: QueuedMessage): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				const conversation = await transaction
					.selectFrom('conversations')
					.select(['id', 'comparison'])
					.where('id', '=', conversationId)
					.where('deleted_at', 'is', null)
					.modifyEnd(locked(transaction))
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
						created_at: createdAt,
						is_due: Number(conversation.comparison === null && (await isIdle(transaction, conversationId)))
					})
					.execute();
			}),

		/** False if not found, like `remove`. */
		edit: (conversationId: string, id: string, text: string): Promise<boolean> =>
			hasEffect(
				db
					.updateTable('queued_messages')
					.set({ text })
					.where('conversation_id', '=', conversationId)
					.where('id', '=', id)
			),

		remove: (conversationId: string, id: string): Promise<boolean> =>
			hasEffect(db.deleteFrom('queued_messages').where('conversation_id', '=', conversationId).where('id', '=', id)),

		/** Moves the message to the front, where it's due if no run is under way. False if not found. */
		moveToFront: (conversationId: string, id: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, conversationId);
				const first = await transaction
					.selectFrom('queued_messages')
					.select(({ fn }) => fn.min('position').as('position'))
					.where('conversation_id', '=', conversationId)
					.executeTakeFirstOrThrow();
				return hasEffect(
					transaction
						.updateTable('queued_messages')
						.set({
							position: (first.position ?? 0) - 1,
							is_due: Number(await isIdle(transaction, conversationId))
						})
						.where('conversation_id', '=', conversationId)
						.where('id', '=', id)
				);
			})
	};
}

/** Whether the same message is already queued or sent. @throws {AppError} `conflict` if another message has its id */
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

/** Permission to run a script without asking. */
export interface Grant {
	skill: string;
	/** Empty: every script of the skill. */
	script: string;
	/** Of the skill's files. */
	digest: string;
}

/** An older version may have written more. */
const decisionBody = z.object(decision.shape);

export function createApprovals(db: Kysely<Database>) {
	return {
		/** Stores the first decision only; true if this was it. */
		async decide(
			conversationId: string,
			interruptId: string,
			decision: ApprovalDecision,
			now: string
		): Promise<boolean> {
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

		/** Decisions by question id; questions without one are left out. */
		async decisions(conversationId: string, interruptIds: readonly string[]): Promise<Map<string, ApprovalDecision>> {
			if (interruptIds.length === 0) return new Map();
			const rows = await db
				.selectFrom('decisions')
				.select(['interrupt_id', 'body'])
				.where('conversation_id', '=', conversationId)
				.where('interrupt_id', 'in', interruptIds)
				.execute();
			return new Map(rows.map(({ interrupt_id, body }) => [interrupt_id, decisionBody.parse(JSON.parse(body))]));
		},

		async grant({ skill, script, digest }: Grant, now: string): Promise<void> {
			await db
				.insertInto('grants')
				.values({ skill, script, digest, created_at: now })
				.onConflict((conflict) => conflict.columns(['skill', 'script', 'digest']).doNothing())
				.execute();
		},

		async isGranted({ skill, script, digest }: Grant): Promise<boolean> {
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

export type Approvals = ReturnType<typeof createApprovals>;

/** A summary that replaces the beginning of a branch for the model. */
export interface Compaction {
	/** The last message it covers. */
	messageId: string;
	summary: string;
}

export function createCompactions(db: Kysely<Database>) {
	return {
		/** Replaces an earlier one for the same message. */
		async put(conversationId: string, { messageId, summary }: Compaction, now: string): Promise<void> {
			await db
				.insertInto('compactions')
				.values({ conversation_id: conversationId, message_id: messageId, summary, created_at: now })
				.onConflict((conflict) => conflict.columns(['conversation_id', 'message_id']).doUpdateSet({ summary }))
				.execute();
		},

		async list(conversationId: string): Promise<Compaction[]> {
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

export type Compactions = ReturnType<typeof createCompactions>;
