/** Messages that wait for the end of a run: in order, and kept over a restart. */
import type { Kysely, Transaction } from 'kysely';
import type { QueuedMessage } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { Message } from '../../shared/message.ts';
import { findMessage } from './messages.ts';
import type { Database } from './schema.ts';

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
				if (!conversation) throw new AppError('not_found', 'There is no such conversation.');
				if (await isKnown(transaction, conversationId, { id, text, files })) return;
				const { count, last } = await transaction
					.selectFrom('queued_messages')
					.select(({ fn }) => [fn.countAll().as('count'), fn.max('position').as('last')])
					.where('conversation_id', '=', conversationId)
					.executeTakeFirstOrThrow();
				if (Number(count) >= MAX_QUEUED) {
					throw new AppError('conflict', `${MAX_QUEUED} messages wait already; send or remove one first.`);
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
	const known = waiting ?? (sent && { text: textOf(sent), files: JSON.stringify(sent.files) });
	if (!known) return false;
	if (known.text === text && known.files === JSON.stringify(files)) return true;
	throw new AppError('conflict', 'Another message has this id; send it under a new one.');
}

function textOf({ parts }: Message): string {
	return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
