/** What the index of words is asked in either database. */
import type { Kysely, RawBuilder } from 'kysely';
import type { Database } from './schema.ts';
import type { SearchQuery } from './search-words.ts';

/** One row of `search_entries` for each message that says something; it goes with its message. */
export interface Search {
	createTables(db: Kysely<Database>): Promise<void>;
	/** In place of what there was for the message; no words remove it. */
	put(db: Kysely<Database>, conversationId: string, messageId: string, words: readonly string[]): Promise<void>;
	/** True for rows of `search_entries` that have all words; the query has at least one. */
	has(query: SearchQuery): RawBuilder<boolean>;
}
