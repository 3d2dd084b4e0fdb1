/** The messages of a conversation, in order, with what the model is shown of them again. */
import type { Kysely, Transaction } from 'kysely';
import { AppError } from '../../shared/errors.ts';
import type { Message } from '../../shared/message.ts';
import { itemsFromRow, MESSAGE_COLUMNS, messageFromRow, messageToRow } from './message-row.ts';
import type { Database } from './schema.ts';

/** A message, and the Responses API items that it is replayed as; null where the message itself says all. */
export interface ModelMessage {
	message: Message;
	items: unknown[] | null;
	model: string | null;
}

/** What a message's row keeps besides the message. */
export interface MessageExtras {
	items?: unknown[];
	model?: string;
}

export interface Messages {
	/**
	 * Adds a message after the last one.
	 *
	 * @throws {AppError} `not_found` without the conversation, `conflict` when it has a message of this id.
	 */
	append(conversationId: string, message: Message, extras?: MessageExtras): Promise<void>;
	/** In order. A damaged message is a failed one with the error code `damaged`. */
	list(conversationId: string): Promise<Message[]>;
	listForModel(conversationId: string): Promise<ModelMessage[]>;
	/** Replaces a message's parts, status and all else that changes; role, time, place and items stay. False when there is no such message. */
	update(conversationId: string, message: Message): Promise<boolean>;
	/** Adds items after those that are there; one caller at a time for a message. False when there is no such message. */
	appendItems(conversationId: string, messageId: string, items: unknown[]): Promise<boolean>;
}

export function createMessages(db: Kysely<Database>): Messages {
	return {
		append: (conversationId, message, extras = {}) =>
			db.transaction().execute(async (transaction) => {
				if (!(await lockConversation(transaction, conversationId))) {
					throw new AppError('not_found', `There is no conversation ${conversationId}.`);
				}
				const inserted = await insertMessages(transaction, conversationId, [{ message, ...extras }]);
				if (!inserted) {
					throw new AppError('conflict', `The conversation ${conversationId} has a message ${message.id} already.`);
				}
			}),

		async list(conversationId) {
			const rows = await db
				.selectFrom('messages')
				.select(MESSAGE_COLUMNS)
				.where('conversation_id', '=', conversationId)
				.orderBy('position')
				.execute();
			return rows.map(messageFromRow);
		},

		async listForModel(conversationId) {
			const rows = await db
				.selectFrom('messages')
				.select([...MESSAGE_COLUMNS, 'items', 'model'])
				.where('conversation_id', '=', conversationId)
				.orderBy('position')
				.execute();
			return rows.map((row) => ({ message: messageFromRow(row), items: itemsFromRow(row.items), model: row.model }));
		},

		update: (conversationId, message) => updateMessage(db, conversationId, message),

		appendItems: (conversationId, messageId, items) =>
			db.transaction().execute(async (transaction) => {
				const row = await transaction
					.selectFrom('messages')
					.select('items')
					.where('conversation_id', '=', conversationId)
					.where('id', '=', messageId)
					.executeTakeFirst();
				if (!row) return false;
				await transaction
					.updateTable('messages')
					.set({ items: JSON.stringify([...(itemsFromRow(row.items) ?? []), ...items]) })
					.where('conversation_id', '=', conversationId)
					.where('id', '=', messageId)
					.execute();
				return true;
			})
	};
}

/** Adds messages at the end. False, with nothing written, when one of the ids is taken. The caller holds the conversation's lock. */
export async function insertMessages(
	transaction: Transaction<Database>,
	conversationId: string,
	messages: ({ message: Message } & MessageExtras)[]
): Promise<boolean> {
	const ids = messages.map(({ message }) => message.id);
	const ofConversation = transaction.selectFrom('messages').where('conversation_id', '=', conversationId);
	if (await ofConversation.select('id').where('id', 'in', ids).executeTakeFirst()) return false;
	const { last } = await ofConversation.select(({ fn }) => fn.max('position').as('last')).executeTakeFirstOrThrow();
	const rows = messages.map(({ message, items, model }, index) => ({
		...messageToRow(message),
		conversation_id: conversationId,
		position: (last ?? 0) + 1 + index,
		items: items ? JSON.stringify(items) : null,
		model: model ?? null
	}));
	await transaction.insertInto('messages').values(rows).execute();
	return true;
}

/** False when there is no such message. */
export async function updateMessage(db: Kysely<Database>, conversationId: string, message: Message): Promise<boolean> {
	const { status, body, run_id } = messageToRow(message);
	const { numUpdatedRows } = await db
		.updateTable('messages')
		.set({ status, body, run_id })
		.where('conversation_id', '=', conversationId)
		.where('id', '=', message.id)
		.executeTakeFirstOrThrow();
	return numUpdatedRows > 0n;
}

/** Makes other writers of the conversation wait for this transaction: an update that changes nothing locks the row in Postgres. */
async function lockConversation(transaction: Transaction<Database>, id: string): Promise<boolean> {
	const { numUpdatedRows } = await transaction
		.updateTable('conversations')
		.set(({ ref }) => ({ updated_at: ref('updated_at') }))
		.where('id', '=', id)
		.executeTakeFirstOrThrow();
	return numUpdatedRows > 0n;
}
