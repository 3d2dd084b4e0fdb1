/** Messages that wait for the end of a run: in order, and kept over a restart. */
import type { Kysely } from 'kysely';
import type { QueuedMessage } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { Database } from './schema.ts';

export interface Queue {
	/** First the one that is sent next. */
	list(conversationId: string): Promise<QueuedMessage[]>;
	/** At the end; the same id again changes nothing. @throws {AppError} `not_found` without the conversation, `conflict` when it is full. */
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
					.onConflict((conflict) => conflict.columns(['conversation_id', 'id']).doNothing())
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
