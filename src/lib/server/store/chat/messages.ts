/** The messages of a conversation, with the items that are sent to the model again. */
import { type Insertable, type Kysely, sql, type Transaction } from 'kysely';
import { AppError } from '../../../shared/errors.ts';
import type { Message } from '../../../shared/message.ts';
import { z } from 'zod';
import { itemsFromRow, MESSAGE_COLUMNS, messageFromRow, messageToRow } from './message-row.ts';
import { lockConversation, locked } from '../locks.ts';
import { type Database, hasEffect, type MessagesTable } from '../schema.ts';
import { indexMessages } from './search.ts';

interface ModelMessage {
	message: Message;
	/** Responses API items to send to the model; null if the message itself is enough. */
	items: unknown[] | null;
	model: string | null;
}

/** Stored with a message. */
interface MessageExtras {
	items?: unknown[];
	model?: string;
}

/** What the model is told of an answer later, added to what is there. */
export interface AnswerItems {
	conversationId: string;
	messageId: string;
	items: readonly unknown[];
}

/** One of the answers to a question that are seen side by side, until one is chosen. */
export interface ComparedAnswer {
	id: string;
	/** Writes this answer; empty if unknown. */
	model: string;
}

interface MessagePage {
	messages: Message[];
	hasEarlier: boolean;
	/** For each message with alternatives: the ids of all of them, itself included. */
	alternatives: Record<string, string[]>;
}

export function createMessages(db: Kysely<Database>) {
	return {
		/**
		 * Adds a message to the shown branch.
		 *
		 * @throws {AppError} `not_found` without the conversation, `conflict` if the id is taken.
		 */
		append: (conversationId: string, message: Message, extras: MessageExtras = {}): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				if (!(await lockConversation(transaction, conversationId))) {
					throw new AppError('not_found', `Conversation not found: ${conversationId}.`);
				}
				const parentId = await headOf(transaction, conversationId);
				const placed = { message: { ...message, parentId }, ...extras };
				if (!(await insertMessages(transaction, conversationId, [placed]))) {
					throw new AppError('conflict', `The conversation ${conversationId} already has a message ${message.id}.`);
				}
			}),

		/** The shown branch, in order. A damaged message has the error code `damaged`. */
		async list(conversationId: string): Promise<Message[]> {
			const head = await headOf(db, conversationId);
			if (head === null) return [];
			const { ids } = await pathTo(db, conversationId, head);
			return (await readRows(db, conversationId, ids)).map(messageFromRow);
		},

		/** The last `limit` messages of the shown branch, or the last ones before the message `before`. */
		async page(conversationId: string, { before, limit }: { before?: string; limit: number }): Promise<MessagePage> {
			const [next] = before === undefined ? [] : await readRows(db, conversationId, [before]);
			const last = before === undefined ? await headOf(db, conversationId) : (next?.parent_id ?? null);
			if (last === null) return { messages: [], hasEarlier: false, alternatives: {} };
			const { ids, hasEarlier } = await pathTo(db, conversationId, last, limit);
			const messages = (await readRows(db, conversationId, ids)).map(messageFromRow);
			return { messages, hasEarlier, alternatives: await alternativesOf(db, conversationId, messages) };
		},

		get: (conversationId: string, id: string): Promise<Message | null> => findMessage(db, conversationId, id),

		/** The answers seen side by side, of which one is the end of the shown branch; usually none. */
		compared: (conversationId: string): Promise<ComparedAnswer[]> => comparedIn(db, conversationId),

		/** Ids of all messages (oldest first), or of the shown branch. */
		async ids(conversationId: string, which: 'all' | 'shown'): Promise<string[]> {
			if (which === 'all') {
				const all = db.selectFrom('messages').select('id').where('conversation_id', '=', conversationId);
				return (await all.orderBy('position').execute()).map(({ id }) => id);
			}
			const head = await headOf(db, conversationId);
			return head === null ? [] : (await pathTo(db, conversationId, head)).ids;
		},

		/** Reads messages in this order; skips missing ones. */
		async read(conversationId: string, ids: readonly string[]): Promise<Message[]> {
			return (await readRows(db, conversationId, ids)).map(messageFromRow);
		},

		/** The branch that ends in `lastId`; default: the shown branch. */
		async listForModel(conversationId: string, lastId?: string): Promise<ModelMessage[]> {
			const last = lastId ?? (await headOf(db, conversationId));
			if (last === null) return [];
			const { ids } = await pathTo(db, conversationId, last);
			const rows = await readRows(db, conversationId, ids);
			return rows.map((row) => ({ message: messageFromRow(row), items: itemsFromRow(row.items), model: row.model }));
		},

		/** Answers that somebody marked as not good, newest first, with their questions. Looks at all messages. */
		async disliked(limit: number): Promise<{ question: Message | null; answer: Message }[]> {
			const rows = await db
				.selectFrom('messages')
				.select([...MESSAGE_COLUMNS, 'conversation_id'])
				.where('role', '=', 'assistant')
				.where('body', 'like', '%"isDisliked":true%')
				.orderBy('created_at', 'desc')
				.limit(limit)
				.execute();
			const found = [];
			for (const row of rows) {
				const answer = messageFromRow(row);
				// Its text may only say so.
				if (!answer.isDisliked) continue;
				const question = answer.parentId ? await findMessage(db, row.conversation_id, answer.parentId) : null;
				found.push({ question, answer });
			}
			return found;
		},

		/** Shows the newest branch through this message. False if not found. */
		show: (conversationId: string, id: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, conversationId);
				const [row] = await readRows(transaction, conversationId, [id]);
				if (!row) return false;
				await setHead(transaction, conversationId, await leafOf(transaction, conversationId, id));
				return true;
			}),

		/** Adds messages, parents first, to an empty conversation, and shows the branch that ends in `headId`. */
		fill: (conversationId: string, messages: readonly Message[], headId: string | null): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				await insertRows(
					transaction,
					messages.map((message, index) => ({
						...messageToRow(message),
						conversation_id: conversationId,
						position: index + 1,
						items: null,
						model: null
					}))
				);
				await indexMessages(transaction, conversationId, messages);
				await setHead(transaction, conversationId, headId);
			}),

		/** Copies the branch that ends in `lastId` to another, empty conversation. */
		copy: (conversationId: string, lastId: string, toConversationId: string): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, conversationId);
				const { ids } = await pathTo(transaction, conversationId, lastId);
				const rows = await readRows(transaction, conversationId, ids);
				// Runs aren't copied.
				const copied = { conversation_id: toConversationId, run_id: null };
				await insertRows(
					transaction,
					rows.map((row, index) => ({ ...row, ...copied, position: index + 1 }))
				);
				await indexMessages(transaction, toConversationId, rows.map(messageFromRow));
				await setHead(transaction, toConversationId, lastId);
			}),

		/** Updates status, run and content; keeps role, time, position and items. False if not found. */
		update: (conversationId: string, message: Message): Promise<boolean> =>
			db.transaction().execute((transaction) => updateMessage(transaction, conversationId, message))
	};
}

/** False if the message isn't found. */
export async function appendItems(
	transaction: Transaction<Database>,
	{ conversationId, messageId, items }: AnswerItems
): Promise<boolean> {
	const { stored, replace } = await setItems(transaction, conversationId, messageId);
	return items.length === 0 || replace([...stored, ...items]);
}

/** The items of a message, for this transaction to replace. `replace` is false if the message isn't found. */
export async function setItems(transaction: Transaction<Database>, conversationId: string, messageId: string) {
	const row = await transaction
		.selectFrom('messages')
		.select('items')
		.where('conversation_id', '=', conversationId)
		.where('id', '=', messageId)
		.modifyEnd(locked(transaction))
		.executeTakeFirst();
	return {
		stored: itemsFromRow(row?.items ?? null) ?? [],
		replace: (items: readonly unknown[]): Promise<boolean> =>
			hasEffect(
				transaction
					.updateTable('messages')
					.set({ items: JSON.stringify(items) })
					.where('conversation_id', '=', conversationId)
					.where('id', '=', messageId)
			)
	};
}

const ROWS_PER_READ = 1000;
const ROW_COLUMNS = [...MESSAGE_COLUMNS, 'items', 'model'] as const;

/** Reads rows in this order; skips missing ones. */
async function readRows(db: Kysely<Database>, conversationId: string, ids: readonly string[]) {
	const read = (some: readonly string[]) =>
		db
			.selectFrom('messages')
			.select(ROW_COLUMNS)
			.where('conversation_id', '=', conversationId)
			.where('id', 'in', some)
			.execute();
	const rows = new Map<string, Awaited<ReturnType<typeof read>>[number]>();
	for (let start = 0; start < ids.length; start += ROWS_PER_READ) {
		for (const row of await read(ids.slice(start, start + ROWS_PER_READ))) rows.set(row.id, row);
	}
	return ids.flatMap((id) => rows.get(id) ?? []);
}

export async function findMessage(db: Kysely<Database>, conversationId: string, id: string): Promise<Message | null> {
	const [row] = await readRows(db, conversationId, [id]);
	return row ? messageFromRow(row) : null;
}

/** The end of the newest branch below this message, or of all; the message itself if nothing follows it. */
export async function newestBelow(
	db: Kysely<Database>,
	conversationId: string,
	parentId: string | null
): Promise<string | null> {
	const row = await db
		.selectFrom('messages')
		.select('id')
		.where('conversation_id', '=', conversationId)
		.where('parent_id', parentId === null ? 'is' : '=', parentId)
		.orderBy('position', 'desc')
		.executeTakeFirst();
	const next = row?.id ?? parentId;
	return next === null ? null : leafOf(db, conversationId, next);
}

/** Shows the branch that ends in this message; side by side with others, if it's one of `compared`. */
export async function setHead(
	db: Kysely<Database>,
	conversationId: string,
	id: string | null,
	compared: readonly ComparedAnswer[] = []
): Promise<void> {
	const comparison = compared.length === 0 ? null : JSON.stringify(compared);
	await db.updateTable('conversations').set({ head_id: id, comparison }).where('id', '=', conversationId).execute();
}

const comparison = z.array(z.object({ id: z.string(), model: z.string() })).catch([]);

export async function comparedIn(db: Kysely<Database>, conversationId: string): Promise<ComparedAnswer[]> {
	const row = await db
		.selectFrom('conversations')
		.select('comparison')
		.where('id', '=', conversationId)
		.executeTakeFirst();
	return row?.comparison ? comparison.parse(JSON.parse(row.comparison)) : [];
}

/**
 * Adds messages below their parents, and shows the last one. Returns false and writes nothing if an id is taken.
 * The caller holds the conversation's lock.
 */
export async function insertMessages(
	transaction: Transaction<Database>,
	conversationId: string,
	messages: ({ message: Message } & MessageExtras)[]
): Promise<boolean> {
	const ids = messages.map(({ message }) => message.id);
	const ofConversation = transaction.selectFrom('messages').where('conversation_id', '=', conversationId);
	if (await ofConversation.select('id').where('id', 'in', ids).executeTakeFirst()) return false;
	const { last } = await ofConversation.select(({ fn }) => fn.max('position').as('last')).executeTakeFirstOrThrow();
	const removed = await transaction
		.selectFrom('removed_messages')
		.select(({ fn }) => fn.max('last_position').as('last'))
		.where('conversation_id', '=', conversationId)
		.executeTakeFirstOrThrow();
	const rows = messages.map(({ message, items, model }, index) => ({
		...messageToRow(message),
		conversation_id: conversationId,
		position: Math.max(last ?? 0, removed.last ?? 0) + 1 + index,
		items: items ? JSON.stringify(items) : null,
		model: model ?? null
	}));
	await insertRows(transaction, rows);
	await indexMessages(
		transaction,
		conversationId,
		messages.map(({ message }) => message)
	);
	await setHead(transaction, conversationId, ids.at(-1) ?? null);
	return true;
}

/** False if not found. */
export async function updateMessage(db: Kysely<Database>, conversationId: string, message: Message): Promise<boolean> {
	const { status, body, run_id, cost } = messageToRow(message);
	const query = db
		.updateTable('messages')
		.set({ status, body, run_id, cost })
		.where('conversation_id', '=', conversationId);
	if (!(await hasEffect(query.where('id', '=', message.id)))) return false;
	await indexMessages(db, conversationId, [message]);
	return true;
}

/** In batches, because databases limit the values of a statement. */
export async function insertRows(db: Kysely<Database>, rows: readonly Insertable<MessagesTable>[]): Promise<void> {
	for (let start = 0; start < rows.length; start += ROWS_PER_READ) {
		await db
			.insertInto('messages')
			.values(rows.slice(start, start + ROWS_PER_READ))
			.execute();
	}
}

// The tree of messages, one branch of which is shown.

/** Part of a branch. */
interface BranchPage {
	/** Oldest first. */
	ids: string[];
	hasEarlier: boolean;
}

/** The last message of the shown branch; null in an empty conversation. */
export async function headOf(db: Kysely<Database>, conversationId: string): Promise<string | null> {
	const row = await db
		.selectFrom('conversations')
		.select('head_id')
		.where('id', '=', conversationId)
		.executeTakeFirst();
	return row?.head_id ?? null;
}

/** The message `lastId` and its ancestors, at most `limit`. The cost depends on `limit`, not on the conversation. */
async function pathTo(
	db: Kysely<Database>,
	conversationId: string,
	lastId: string,
	limit = 1_000_000_000
): Promise<BranchPage> {
	const { rows } = await sql<{ id: string }>`
		with recursive branch(id, parent_id, step) as (
			select id, parent_id, 1 from messages where conversation_id = ${conversationId} and id = ${lastId}
			union all
			select messages.id, messages.parent_id, branch.step + 1
			from branch join messages on messages.id = branch.parent_id and messages.conversation_id = ${conversationId}
			where branch.step <= cast(${limit} as integer)
		)
		select id from branch order by step`.execute(db);
	const ids = rows.slice(0, limit).map(({ id }) => id);
	return { ids: ids.reverse(), hasEarlier: rows.length > limit };
}

/** Follows the newest branch from `messageId` to its end. */
async function leafOf(db: Kysely<Database>, conversationId: string, messageId: string): Promise<string> {
	const rows = await db
		.selectFrom('messages')
		.select(['id', 'parent_id'])
		.where('conversation_id', '=', conversationId)
		.where('parent_id', 'is not', null)
		.orderBy('position')
		.execute();
	const newest = new Map(rows.map(({ id, parent_id }) => [parent_id, id]));
	let leaf = messageId;
	for (let next = newest.get(leaf); next !== undefined; next = newest.get(leaf)) leaf = next;
	return leaf;
}

/** For each message with alternatives: the ids of all of them, itself included, oldest first. */
async function alternativesOf(
	db: Kysely<Database>,
	conversationId: string,
	messages: readonly { id: string; parentId: string | null }[]
): Promise<Record<string, string[]>> {
	const parents = messages.flatMap(({ parentId }) => (parentId === null ? [] : [parentId]));
	const hasFirst = messages.some(({ parentId }) => parentId === null);
	const rows = await db
		.selectFrom('messages')
		.select(['id', 'parent_id'])
		.where('conversation_id', '=', conversationId)
		.where(({ eb, or }) =>
			or([
				...(parents.length > 0 ? [eb('parent_id', 'in', parents)] : []),
				...(hasFirst ? [eb('parent_id', 'is', null)] : [])
			])
		)
		.orderBy('position')
		.execute();
	const byParent = Map.groupBy(rows, ({ parent_id }) => parent_id);
	const alternatives: Record<string, string[]> = {};
	for (const { id, parentId } of messages) {
		const ids = (byParent.get(parentId) ?? []).map((row) => row.id);
		if (ids.length > 1) alternatives[id] = ids;
	}
	return alternatives;
}
