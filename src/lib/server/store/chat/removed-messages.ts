/** Takes messages out of a conversation and puts them back. In between they are one row, which nothing else reads. */
import type { Kysely, Selectable } from 'kysely';
import { lockConversation } from '../locks.ts';
import { type Database, hasEffect, type MessagesTable } from '../schema.ts';
import { messageFromRow } from './message-row.ts';
import { headOf, insertRows, newestBelow, setHead } from './messages.ts';
import { indexMessages } from './search.ts';

type Row = Selectable<MessagesTable>;

export function createRemovedMessages(db: Kysely<Database>) {
	return {
		/** Removes a message and everything after it, and shows the newest branch that is left of what was shown. False if not found. */
		remove: (conversationId: string, id: string, now: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, conversationId);
				const ofConversation = transaction.selectFrom('messages').where('conversation_id', '=', conversationId);
				const head = await headOf(transaction, conversationId);
				const rows: Row[] = [];
				let next = await ofConversation.selectAll().where('id', '=', id).execute();
				const [first] = next;
				if (!first) return false;
				while (next.length > 0) {
					const ids = next.map((row) => row.id);
					rows.push(...next);
					next = await ofConversation.selectAll().where('parent_id', 'in', ids).execute();
					await transaction
						.deleteFrom('messages')
						.where('conversation_id', '=', conversationId)
						.where('id', 'in', ids)
						.execute();
				}
				const wasShown = rows.some((row) => row.id === head);
				const removed = {
					removed_at: now,
					head_id: wasShown ? head : null,
					last_position: Math.max(...rows.map((row) => row.position)),
					rows: JSON.stringify(rows)
				};
				await transaction
					.insertInto('removed_messages')
					.values({ conversation_id: conversationId, message_id: id, ...removed })
					// A client has used the id again.
					.onConflict((conflict) => conflict.columns(['conversation_id', 'message_id']).doUpdateSet(removed))
					.execute();
				const end = wasShown ? await newestBelow(transaction, conversationId, first.parent_id) : head;
				await setHead(transaction, conversationId, end);
				return true;
			}),

		/** Puts them back, and shows the branch that was shown. False if they are gone, or what they follow was removed, too. */
		restore: (conversationId: string, id: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, conversationId);
				const removed = await transaction
					.selectFrom('removed_messages')
					.select(['head_id', 'rows'])
					.where('conversation_id', '=', conversationId)
					.where('message_id', '=', id)
					.executeTakeFirst();
				if (!removed) return false;
				const rows = JSON.parse(removed.rows) as Row[];
				const parent = rows[0]?.parent_id ?? null;
				const here = transaction.selectFrom('messages').select('id').where('conversation_id', '=', conversationId);
				if (parent !== null && !(await here.where('id', '=', parent).executeTakeFirst())) return false;
				const ids = rows.map((row) => row.id);
				if (await here.where('id', 'in', ids).executeTakeFirst()) return false;
				await insertRows(transaction, rows);
				await indexMessages(transaction, conversationId, rows.map(messageFromRow));
				if (removed.head_id !== null) await setHead(transaction, conversationId, removed.head_id);
				return hasEffect(
					transaction
						.deleteFrom('removed_messages')
						.where('conversation_id', '=', conversationId)
						.where('message_id', '=', id)
				);
			}),

		/** Forgets what was removed at `until` or before. */
		async forget(until: string): Promise<void> {
			await db.deleteFrom('removed_messages').where('removed_at', '<=', until).execute();
		}
	};
}
