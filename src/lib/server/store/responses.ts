/** Responses that their callers may go on from: `previous_response_id` (FEATURES F12). */
import type { Kysely, Selectable } from 'kysely';
import type { Database, ResponsesTable } from './schema.ts';

export interface StoredResponse {
	id: string;
	/** Who alone may see it; null for who has no key. */
	apiKeyId: string | null;
	previousId: string | null;
	/** Of the whole chain. */
	sessionId: string;
	/** Of this turn: what was asked, what the model's server gave, the results. */
	items: unknown[];
	/** As it was answered. */
	body: Record<string, unknown>;
	/** ISO text in UTC. */
	createdAt: string;
}

/** Each asks for its owner: an id is not a permission. */
export interface Responses {
	put(response: StoredResponse): Promise<void>;
	get(id: string, apiKeyId: string | null): Promise<StoredResponse | null>;
	/** From the first of its chain to this one; null where one of them is not there, or of somebody else. */
	chain(id: string, apiKeyId: string | null): Promise<StoredResponse[] | null>;
	/** False when there is none. */
	remove(id: string, apiKeyId: string | null): Promise<boolean>;
	/** Forgets what was made before this time. */
	removeBefore(time: string): Promise<void>;
}

/** More turns than anybody sends to a model at once. */
const MAX_CHAIN = 1000;

export function createResponses(db: Kysely<Database>): Responses {
	const own = (apiKeyId: string | null) =>
		db
			.selectFrom('responses')
			.selectAll()
			.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId);
	const get = async (id: string, apiKeyId: string | null): Promise<StoredResponse | null> => {
		const row = await own(apiKeyId).where('id', '=', id).executeTakeFirst();
		return row ? toResponse(row) : null;
	};
	return {
		async put({ id, apiKeyId, previousId, sessionId, items, body, createdAt }) {
			await db
				.insertInto('responses')
				.values({
					id,
					api_key_id: apiKeyId,
					previous_id: previousId,
					session_id: sessionId,
					items: JSON.stringify(items),
					body: JSON.stringify(body),
					created_at: createdAt
				})
				.execute();
		},

		get,

		async chain(id, apiKeyId) {
			const links: StoredResponse[] = [];
			for (let next: string | null = id; next !== null;) {
				const link: StoredResponse | null = links.length < MAX_CHAIN ? await get(next, apiKeyId) : null;
				if (!link) return null;
				links.push(link);
				next = link.previousId;
			}
			return links.reverse();
		},

		async remove(id, apiKeyId) {
			const { numDeletedRows } = await db
				.deleteFrom('responses')
				.where('id', '=', id)
				.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
				.executeTakeFirst();
			return numDeletedRows > 0n;
		},

		async removeBefore(time) {
			await db.deleteFrom('responses').where('created_at', '<', time).execute();
		}
	};
}

function toResponse(row: Selectable<ResponsesTable>): StoredResponse {
	return {
		id: row.id,
		apiKeyId: row.api_key_id,
		previousId: row.previous_id,
		sessionId: row.session_id,
		items: JSON.parse(row.items) as unknown[],
		body: JSON.parse(row.body) as Record<string, unknown>,
		createdAt: row.created_at
	};
}
