/** Stored responses, for `previous_response_id`, and the events of those in the background (F12). */
import type { Kysely, Selectable, Transaction } from 'kysely';
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
	return {
		/** `bootId`: the server start that writes it. */
		async put(
			{ id, apiKeyId, previousId, sessionId, items, body, createdAt, ...rest }: StoredResponse,
			bootId: string | null = null
		): Promise<void> {
			await db
				.insertInto('responses')
				.values({
					id,
					api_key_id: apiKeyId,
					previous_id: previousId,
					session_id: sessionId,
					items: JSON.stringify(items),
					body: JSON.stringify(body),
					created_at: createdAt,
					is_running: rest.isRunning ? 1 : 0,
					input_count: rest.inputCount,
					boot_id: bootId
				})
				.execute();
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
			await db.deleteFrom('responses').where('created_at', '<', time).execute();
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
				const gone = new Set<string>();
				for (const { runId, events } of advances) {
					const response = transaction.selectFrom('responses').select('id').where('id', '=', runId);
					const running = response.where('is_running', '=', 1).modifyEnd(locked(transaction));
					if (await running.executeTakeFirst()) await append(transaction, runId, events);
					else gone.add(runId);
				}
				return gone;
			}),

		/** Ends a running response with its last events. False, and nothing is written, if it has ended or is gone. */
		finish: (
			{ id, items, body }: Pick<StoredResponse, 'id' | 'items' | 'body'>,
			events: readonly StoredEvent[]
		): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				const ended = { items: JSON.stringify(items), body: JSON.stringify(body), is_running: 0 };
				const update = transaction.updateTable('responses').set(ended).where('id', '=', id).where('is_running', '=', 1);
				if (!(await hasEffect(update))) return false;
				await append(transaction, id, events);
				return true;
			}),

		/** In order, whoever asks; empty if there are no more. */
		readEvents: (id: string, range: EventRange): Promise<StoredEvent[]> =>
			readLogEvents(db, { log: 'response_events', id }, range)
	};
}

export type Responses = ReturnType<typeof createResponses>;

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
