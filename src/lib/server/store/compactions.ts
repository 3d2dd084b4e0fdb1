/** Summaries that stand for the beginning of a branch when the model is asked. */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

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
