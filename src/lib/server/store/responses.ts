/** What the Responses API keeps: responses, for `previous_response_id`, with the events of those in the background, and conversations (F12). */
import { type Kysely, type Selectable, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import { AppError } from '../../shared/errors.ts';
import { type EventRange, readLogEvents, type RunAdvance, type StoredEvent } from './chat/runs.ts';
import { locked } from './locks.ts';
import { type Database, hasEffect, type ResponsesTable } from './schema.ts';

export interface StoredResponse {
	id: string;
	/** The owner's key; null without a key. */
	apiKeyId: string | null;
	previousId: string | null;
	/** Same for the whole chain. */
	sessionId: string;
	/** Items of this turn: input, then the model server's output and the results. */
	items: unknown[];
	/** The response as it was sent. */
	body: Record<string, unknown>;
	/** How many of the items are input; null if unknown. */
	inputCount: number | null;
	/** While it's being written in the background. */
	isRunning: boolean;
	/** ISO 8601 in UTC. */
	createdAt: string;
}

/** Of a chain, which is read at once: responses, and characters of their items. */
const MAX_CHAIN = { responses: 1000, characters: 32 * 1024 * 1024 };

/** Counts what a chain holds in memory. @throws AppError `too_large` */
export function chainRoom(): { take(items: string): void } {
	let left = MAX_CHAIN.characters;
	return {
		take({ length }) {
			left -= length;
			if (left >= 0) return;
			const hint = 'Compact it with POST /v1/responses/compact, or begin another one.';
			throw new AppError('too_large', 'The responses before this one total more than 32 MB.', { hint });
		}
	};
}

/** Without the tools and instructions that each body has again. */
export function inChain(response: StoredResponse): StoredResponse {
	return { ...response, body: { model: response.body.model } };
}

/** Removing makes this share of the limit free, so that it isn't done each time. */
const SHARE_FREED = 1 / 64;

/** Every method checks the owner: an id is not a permission. */
export function createResponses(db: Kysely<Database>) {
	const find = (id: string, apiKeyId: string | null) =>
		db
			.selectFrom('responses')
			.selectAll()
			.where('id', '=', id)
			.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			.executeTakeFirst();
	const get = async (id: string, apiKeyId: string | null): Promise<StoredResponse | null> => {
		const row = await find(id, apiKeyId);
		return row ? toResponse(row) : null;
	};
	/** Without those that somebody is writing, or another server removes right now. */
	const removeFree = async (
		narrow: (each: SelectQueryBuilder<Database, 'responses', { id: string }>) => typeof each
	) => {
		const free = narrow(db.selectFrom('responses').select('id')).modifyEnd(locked(db, 'free'));
		await db.deleteFrom('responses').where('id', 'in', free).execute();
	};
	const totals = totalsOf(db, 'responses');
	return {
		/** `bootId`: the server start that writes it. */
		async put(
			{ id, apiKeyId, previousId, sessionId, items, body, createdAt, ...rest }: StoredResponse,
			bootId: string | null = null
		): Promise<void> {
			const texts = { items: JSON.stringify(items), body: JSON.stringify(body) };
			const bytes = bytesOf(texts);
			await db
				.insertInto('responses')
				.values({
					...{ id, api_key_id: apiKeyId, previous_id: previousId, session_id: sessionId, created_at: createdAt },
					...{ ...texts, bytes, is_running: rest.isRunning ? 1 : 0, input_count: rest.inputCount, boot_id: bootId }
				})
				.execute();
			totals.add(apiKeyId, bytes);
		},

		/**
		 * Removes a key's oldest responses if all of them have more than `most` bytes. The newest always stays, and what is
		 * running. Adds up only when that may be so.
		 */
		async removeBeyond(apiKeyId: string | null, most: number): Promise<void> {
			if (await totals.hasRoom(apiKeyId, 0, most)) return;
			const all = db
				.selectFrom('responses')
				.select(['id', 'is_running', 'bytes'])
				.select(sql<number>`sum(bytes) over (order by created_at desc, id desc)`.as('upToHere'))
				.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId);
			const beyond = db
				.selectFrom(all.as('each'))
				.select('id')
				.where('is_running', '=', 0)
				.where('upToHere', '>', Math.floor(most * (1 - SHARE_FREED)))
				.whereRef('upToHere', '>', 'bytes');
			await removeFree((each) => each.where('id', 'in', beyond));
			totals.forget(apiKeyId);
		},

		get,

		/** From the first response of the chain to this one, of their bodies only the model; null if one is missing or somebody else's. @throws AppError `too_large` */
		async chain(id: string, apiKeyId: string | null): Promise<StoredResponse[] | null> {
			const links: StoredResponse[] = [];
			const room = chainRoom();
			for (let next: string | null = id; next !== null;) {
				const row = links.length < MAX_CHAIN.responses ? await find(next, apiKeyId) : undefined;
				if (!row) return null;
				room.take(row.items);
				const link = inChain(toResponse(row));
				links.push(link);
				next = link.previousId;
			}
			return links.reverse();
		},

		/** False if not found. */
		remove: (id: string, apiKeyId: string | null): Promise<boolean> =>
			hasEffect(
				db
					.deleteFrom('responses')
					.where('id', '=', id)
					.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			),

		/** Removes responses created before this time, and their events. */
		async removeBefore(time: string): Promise<void> {
			await removeFree((each) => each.where('created_at', '<', time));
		},

		/** Everybody's responses that are being written in the background, by this server start or by any. */
		async listRunning(bootId?: string): Promise<StoredResponse[]> {
			const running = db.selectFrom('responses').selectAll().where('is_running', '=', 1);
			return (await (bootId === undefined ? running : running.where('boot_id', '=', bootId)).execute()).map(toResponse);
		},

		/** Whether another server start is writing it. */
		async isRunningElsewhere(id: string, bootId: string): Promise<boolean> {
			const running = db.selectFrom('responses').select('id').where('id', '=', id).where('is_running', '=', 1);
			return (await running.where('boot_id', '!=', bootId).executeTakeFirst()) !== undefined;
		},

		/** Asks the server start that writes it to stop. False if it isn't running. */
		wantStop: (id: string): Promise<boolean> =>
			hasEffect(db.updateTable('responses').set({ stop_wanted: 1 }).where('id', '=', id).where('is_running', '=', 1)),

		/** Ids of the responses that this server start is asked to stop. */
		async stopsWanted(bootId: string): Promise<string[]> {
			const wanted = db.selectFrom('responses').select('id').where('boot_id', '=', bootId).where('stop_wanted', '=', 1);
			return (await wanted.where('is_running', '=', 1).execute()).map(({ id }) => id);
		},

		/** Whoever asks. */
		async isRunning(id: string): Promise<boolean> {
			const running = db.selectFrom('responses').select('id').where('id', '=', id).where('is_running', '=', 1);
			return (await running.executeTakeFirst()) !== undefined;
		},

		/** Changes the body of a running response. */
		async setBody(id: string, body: StoredResponse['body']): Promise<void> {
			const changed = { body: JSON.stringify(body) };
			await db.updateTable('responses').set(changed).where('id', '=', id).where('is_running', '=', 1).execute();
		},

		/** Appends events of several responses in one transaction; returns the ids of those that have ended or are gone. */
		appendAll: (advances: readonly RunAdvance[]): Promise<ReadonlySet<string>> =>
			db.transaction().execute(async (transaction) => {
				const ids = advances.map(({ runId }) => runId);
				const responses = transaction.selectFrom('responses').select('id').where('id', 'in', ids).orderBy('id');
				const rows = await responses.where('is_running', '=', 1).modifyEnd(locked(transaction)).execute();
				const running = new Set(rows.map(({ id }) => id));
				for (const { runId, events } of advances) if (running.has(runId)) await append(transaction, runId, events);
				return new Set(ids.filter((id) => !running.has(id)));
			}),

		/** Ends a running response with its last events. False, and nothing is written, if it has ended or is gone. */
		async finish(
			{ id, apiKeyId, items, body }: Pick<StoredResponse, 'id' | 'apiKeyId' | 'items' | 'body'>,
			events: readonly StoredEvent[]
		): Promise<boolean> {
			const texts = { items: JSON.stringify(items), body: JSON.stringify(body) };
			const bytes = await db.transaction().execute(async (transaction) => {
				const running = transaction.updateTable('responses').where('id', '=', id).where('is_running', '=', 1);
				if (!(await hasEffect(running.set({ ...texts, is_running: 0 })))) return null;
				await append(transaction, id, events);
				const logged = transaction.selectFrom('response_events').where('response_id', '=', id);
				const sum = sql<number | string | null>`sum(octet_length(data))`.as('sum');
				const { sum: ofEvents } = await logged.select(sum).executeTakeFirstOrThrow();
				const all = bytesOf(texts) + Number(ofEvents ?? 0);
				await transaction.updateTable('responses').set({ bytes: all }).where('id', '=', id).execute();
				return all;
			});
			if (bytes !== null) totals.add(apiKeyId, bytes);
			return bytes !== null;
		},

		/** In order, whoever asks; empty if there are no more. */
		readEvents: (id: string, range: EventRange): Promise<StoredEvent[]> =>
			readLogEvents(db, { log: 'response_events', id }, range)
	};
}

export type Responses = ReturnType<typeof createResponses>;

function bytesOf({ items, body }: { items: string; body: string }): number {
	return Buffer.byteLength(items) + Buffer.byteLength(body);
}

/** Rows of one insert: Postgres and SQLite limit the parameters. */
const ROWS = 100;

async function append(transaction: Transaction<Database>, id: string, events: readonly StoredEvent[]): Promise<void> {
	const rows = events.map(({ seq, data }) => ({ response_id: id, seq, data }));
	for (let at = 0; at < rows.length; at += ROWS) {
		await transaction
			.insertInto('response_events')
			.values(rows.slice(at, at + ROWS))
			.execute();
	}
}

function toResponse(row: Selectable<ResponsesTable>): StoredResponse {
	return {
		id: row.id,
		apiKeyId: row.api_key_id,
		previousId: row.previous_id,
		sessionId: row.session_id,
		items: JSON.parse(row.items) as unknown[],
		body: JSON.parse(row.body) as Record<string, unknown>,
		inputCount: row.input_count,
		isRunning: row.is_running === 1,
		createdAt: row.created_at
	};
}

// Conversations: items in order, to which responses add.

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
	const totals = totalsOf(db, 'response_conversations');
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

// Bytes that each API key has stored.

/** In milliseconds. Other servers add to the same database, too. */
const KNOWN_FOR = 60_000;

/** Adds up at a key's first request, counts from there, and adds up again each minute, and before it says no: what was deleted makes room. */
export function createKeyTotals(measure: (apiKeyId: string | null) => Promise<number>) {
	const totals = new Map<string | null, { total: number; until: number }>();
	return {
		/** Whether it can store so much more. Additions at the same time may exceed `most` by what they add. */
		async hasRoom(apiKeyId: string | null, bytes: number, most: number): Promise<boolean> {
			const known = totals.get(apiKeyId);
			if (known && performance.now() < known.until && known.total + bytes <= most) return true;
			const total = await measure(apiKeyId);
			totals.set(apiKeyId, { total, until: performance.now() + KNOWN_FOR });
			return total + bytes <= most;
		},
		add(apiKeyId: string | null, bytes: number): void {
			const known = totals.get(apiKeyId);
			if (known) known.total += bytes;
		},
		/** After much was deleted. */
		forget: (apiKeyId: string | null): void => void totals.delete(apiKeyId)
	};
}

export type KeyTotals = ReturnType<typeof createKeyTotals>;

function totalsOf(db: Kysely<Database>, table: 'responses' | 'response_conversations'): KeyTotals {
	return createKeyTotals(async (apiKeyId) => {
		const all = db.selectFrom(table).where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId);
		const { total } = await all.select(({ fn }) => fn.sum('bytes').as('total')).executeTakeFirstOrThrow();
		return Number(total ?? 0);
	});
}
