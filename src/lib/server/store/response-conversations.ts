/** Conversations of the Responses API: items in order, to which responses add (F12). */
import { type Kysely, sql } from 'kysely';
import { type Database, hasEffect } from './schema.ts';

export interface ResponseConversation {
	id: string;
	/** The owner's key; null without a key. */
	apiKeyId: string | null;
	metadata: Record<string, string>;
	/** ISO 8601 in UTC. */
	createdAt: string;
}

export interface ConversationItem {
	id: string;
	/** The model that answered, or for which the item was read. */
	model: string;
	/** As it was read from a request, or as it was shown in a response. */
	item: { type: string } & Record<string, unknown>;
}

/** Of a conversation. All of its items are read at once. */
export interface ConversationRoom {
	items: number;
	bytes: number;
}

/** `get`, `setMetadata` and `remove` check the owner; the others are for conversations that `get` has found. */
export function createResponseConversations(db: Kysely<Database>) {
	return {
		async put({ id, apiKeyId, metadata, createdAt }: ResponseConversation): Promise<void> {
			const row = { id, api_key_id: apiKeyId, metadata: JSON.stringify(metadata), created_at: createdAt };
			await db.insertInto('response_conversations').values(row).execute();
		},

		async get(id: string, apiKeyId: string | null): Promise<ResponseConversation | null> {
			const row = await db
				.selectFrom('response_conversations')
				.selectAll()
				.where('id', '=', id)
				.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
				.executeTakeFirst();
			if (!row) return null;
			const metadata = JSON.parse(row.metadata) as Record<string, string>;
			return { id: row.id, apiKeyId: row.api_key_id, metadata, createdAt: row.created_at };
		},

		/** False if not found. */
		setMetadata: (id: string, apiKeyId: string | null, metadata: Record<string, string>): Promise<boolean> =>
			hasEffect(
				db
					.updateTable('response_conversations')
					.set({ metadata: JSON.stringify(metadata) })
					.where('id', '=', id)
					.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			),

		/** With its items. False if not found. */
		remove: (id: string, apiKeyId: string | null): Promise<boolean> =>
			hasEffect(
				db
					.deleteFrom('response_conversations')
					.where('id', '=', id)
					.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			),

		/** In order. */
		async items(id: string): Promise<ConversationItem[]> {
			const rows = await db
				.selectFrom('response_conversation_items')
				.select(['id', 'model', 'item'])
				.where('conversation_id', '=', id)
				.orderBy('position')
				.execute();
			return rows.map((row) => ({ ...row, item: JSON.parse(row.item) as ConversationItem['item'] }));
		},

		/** Adds all of them at the end, or none, if the conversation is gone (false) or would be larger than `most`. */
		append: (id: string, items: readonly ConversationItem[], most: ConversationRoom): Promise<boolean | 'full'> =>
			db.transaction().execute(async (transaction) => {
				// Locks the row, so that two appends don't take the same positions.
				const lock = transaction.updateTable('response_conversations').set({ id }).where('id', '=', id);
				if (!(await hasEffect(lock))) return false;
				const texts = items.map(({ item }) => JSON.stringify(item));
				const { count, bytes, last } = await transaction
					.selectFrom('response_conversation_items')
					.select(({ fn }) => [fn.countAll().as('count'), fn.max('position').as('last')])
					.select(sql<number | string | null>`sum(octet_length(item))`.as('bytes'))
					.where('conversation_id', '=', id)
					.executeTakeFirstOrThrow();
				const added = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
				if (Number(count) + items.length > most.items || Number(bytes ?? 0) + added > most.bytes) return 'full';
				for (const [index, { id: itemId, model }] of items.entries()) {
					const place = { conversation_id: id, position: Number(last ?? 0) + 1 + index };
					const row = { ...place, id: itemId, model, item: texts[index] ?? '' };
					await transaction.insertInto('response_conversation_items').values(row).execute();
				}
				return true;
			}),

		/** False if not found. */
		removeItem: (id: string, itemId: string): Promise<boolean> =>
			hasEffect(db.deleteFrom('response_conversation_items').where('conversation_id', '=', id).where('id', '=', itemId))
	};
}

export type ResponseConversations = ReturnType<typeof createResponseConversations>;
