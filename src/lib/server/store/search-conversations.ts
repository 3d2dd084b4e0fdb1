/** Which conversations a query finds, and where in them. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Snippet } from '../../shared/api.ts';
import { MESSAGE_COLUMNS, messageFromRow } from './message-row.ts';
import type { Database } from './schema.ts';
import type { Search } from './search-index.ts';
import { findSnippet, type SearchQuery } from './search-words.ts';
import { textOf } from './search.ts';

/** True for rows of `conversations` whose title has the query as it is, or one of whose messages has all its words. */
export function matches(search: Search, query: SearchQuery): RawBuilder<boolean> {
	const pattern = `%${query.folded.replaceAll(/[!%_]/g, '!$&')}%`;
	const inTitle = sql<boolean>`conversations.folded_title like cast(${pattern} as text) escape '!'`;
	if (query.prefix === null) return inTitle;
	return sql<boolean>`(${inTitle} or conversations.id in (
		select search_entries.conversation_id from search_entries where ${search.has(query)}))`;
}

/** Of each conversation that has a message with all words: a piece of the newest one. At most one message each is read. */
export async function findSnippets(
	db: Kysely<Database>,
	search: Search,
	query: SearchQuery,
	conversations: readonly { id: string }[]
): Promise<Map<string, { snippet: Snippet }>> {
	const snippets = new Map<string, { snippet: Snippet }>();
	if (query.prefix === null || conversations.length === 0) return snippets;
	const ids = sql.join(conversations.map(({ id }) => id));
	const newest = sql<{ conversation_id: string; last: number }>`(
		select search_entries.conversation_id, max(found.position) as last
		from search_entries join messages as found
			on found.conversation_id = search_entries.conversation_id and found.id = search_entries.message_id
		where search_entries.conversation_id in (${ids}) and ${search.has(query)}
		group by search_entries.conversation_id)`;
	const rows = await db
		.selectFrom('messages')
		.innerJoin(newest.as('newest'), (join) =>
			join
				.onRef('newest.conversation_id', '=', 'messages.conversation_id')
				.onRef('newest.last', '=', 'messages.position')
		)
		.select(['messages.conversation_id', ...MESSAGE_COLUMNS])
		.execute();
	for (const row of rows) {
		const found = findSnippet(textOf(messageFromRow(row)), query);
		if (found) snippets.set(row.conversation_id, { snippet: { ...found, messageId: row.id } });
	}
	return snippets;
}
