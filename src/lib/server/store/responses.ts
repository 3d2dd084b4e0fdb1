/** Stored responses, for `previous_response_id` (F12). */
import type { Kysely, Selectable } from 'kysely';
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
	/** ISO 8601 in UTC. */
	createdAt: string;
}

/** Maximum responses in a chain. */
const MAX_CHAIN = 1000;

/** Every method checks the owner: an id is not a permission. */
export function createResponses(db: Kysely<Database>) {
	const get = async (id: string, apiKeyId: string | null): Promise<StoredResponse | null> => {
		const row = await db
			.selectFrom('responses')
			.selectAll()
			.where('id', '=', id)
			.where('api_key_id', apiKeyId === null ? 'is' : '=', apiKeyId)
			.executeTakeFirst();
		return row ? toResponse(row) : null;
	};
	return {
		async put({ id, apiKeyId, previousId, sessionId, items, body, createdAt }: StoredResponse): Promise<void> {
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

		/** From the first response of the chain to this one; null if one is missing or somebody else's. */
		async chain(id: string, apiKeyId: string | null): Promise<StoredResponse[] | null> {
			const links: StoredResponse[] = [];
			for (let next: string | null = id; next !== null;) {
				const link: StoredResponse | null = links.length < MAX_CHAIN ? await get(next, apiKeyId) : null;
				if (!link) return null;
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

		/** Removes responses created before this time. */
		async removeBefore(time: string): Promise<void> {
			await db.deleteFrom('responses').where('created_at', '<', time).execute();
		}
	};
}

export type Responses = ReturnType<typeof createResponses>;

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
