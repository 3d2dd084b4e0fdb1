/** Conversations of the Responses API: items in order, to which responses add (F12). */
import { type Kysely, sql } from 'kysely';
import { createKeyTotals } from './key-totals.ts';
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

export interface ConversationRoom {
	/** Of a conversation, which is read at once. */
	items: number;
	bytes: number;
	/** Of all conversations of its key. */
	bytesOfKey: number;
}

/** Bytes that a conversation counts itself, also an empty one. */
const BYTES = 512;

/** `get`, `setMetadata` and `remove` check the owner; the others are for conversations that `get` has found. */
export function createResponseConversations(db: Kysely<Database>) {
	const totals = createKeyTotals(async (apiKeyId) => {
		const all = db.selectFrom('response_conversations').where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId);
		const { total } = await all.select(({ fn }) => fn.sum('bytes').as('total')).executeTakeFirstOrThrow();
		return Number(total ?? 0);
	});
	return {
		/** Whether the key's conversations can have another one, or more items. */
		hasRoom: (apiKeyId: string | null, bytesOfKey: number): Promise<boolean> =>
			totals.hasRoom(apiKeyId, BYTES, bytesOfKey),

		async put({ id, apiKeyId, metadata, createdAt }: ResponseConversation): Promise<void> {
			const row = { id, api_key_id: apiKeyId, metadata: JSON.stringify(metadata), created_at: createdAt };
			const bytes = BYTES + Buffer.byteLength(row.metadata);
			await db
				.insertInto('response_conversations')
				.values({ ...row, bytes })
				.execute();
			totals.add(apiKeyId, bytes);
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
		setMetadata: (id: string, apiKeyId: string | null, metadata: Record<string, string>): Promise<boolean> => {
			const text = JSON.stringify(metadata);
			const bytes = sql<number>`bytes - octet_length(metadata) + ${Buffer.byteLength(text)}`;
			return hasEffect(
				db
					.updateTable('response_conversations')
					.set({ metadata: text, bytes })
					.where('id', '=', id)
					.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			);
		},

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

		/** Adds all of them at the end, or none, if the conversation is gone (false), or it or its key’s would be larger than `most`. */
		async append(
			{ id, apiKeyId }: Pick<ResponseConversation, 'id' | 'apiKeyId'>,
			items: readonly ConversationItem[],
			most: ConversationRoom
		): Promise<boolean | 'full' | 'key_full'> {
			const texts = items.map(({ item }) => JSON.stringify(item));
			const added = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
			if (!(await totals.hasRoom(apiKeyId, added, most.bytesOfKey))) return 'key_full';
			const outcome = await db.transaction().execute(async (transaction) => {
				const conversation = transaction.updateTable('response_conversations').where('id', '=', id);
				// Locks the row, so that two appends don't take the same positions.
				if (!(await hasEffect(conversation.set({ id })))) return false;
				const { count, bytes, last } = await transaction
					.selectFrom('response_conversation_items')
					.select(({ fn }) => [fn.countAll().as('count'), fn.max('position').as('last')])
					.select(sql<number | string | null>`sum(octet_length(item))`.as('bytes'))
					.where('conversation_id', '=', id)
					.executeTakeFirstOrThrow();
				if (Number(count) + items.length > most.items || Number(bytes ?? 0) + added > most.bytes) return 'full';
				await conversation.set({ bytes: sql`bytes + ${added}` }).execute();
				for (const [index, { id: itemId, model }] of items.entries()) {
					const place = { conversation_id: id, position: Number(last ?? 0) + 1 + index };
					const row = { ...place, id: itemId, model, item: texts[index] ?? '' };
					await transaction.insertInto('response_conversation_items').values(row).execute();
				}
				return true;
			});
			if (outcome === true) totals.add(apiKeyId, added);
			return outcome;
		},

		/** False if not found. */
		removeItem: (id: string, itemId: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				const conversation = transaction.updateTable('response_conversations').where('id', '=', id);
				// Locked before its items, as in `append`.
				if (!(await hasEffect(conversation.set({ id })))) return false;
				const removed = await transaction
					.deleteFrom('response_conversation_items')
					.where('conversation_id', '=', id)
					.where('id', '=', itemId)
					.returning('item')
					.execute();
				const bytes = removed.reduce((sum, { item }) => sum + Buffer.byteLength(item), 0);
				await conversation.set({ bytes: sql`bytes - ${bytes}` }).execute();
				return removed.length > 0;
			})
	};
}

export type ResponseConversations = ReturnType<typeof createResponseConversations>;
