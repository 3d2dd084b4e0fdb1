/** The index of what was said: which messages have all words of a query. Written with the messages, in their transaction. */
import { type Kysely, PostgresAdapter } from 'kysely';
import type { Message } from '../../shared/message.ts';
import type { Database } from './schema.ts';
import type { Search } from './search-index.ts';
import { postgresSearch } from './search-postgres.ts';
import { sqliteSearch } from './search-sqlite.ts';
import { indexedWords } from './search-words.ts';

/** The one that fits the database, whether it is a connection or a transaction. */
export function searchOf(db: Kysely<Database>): Search {
	return db.getExecutor().adapter instanceof PostgresAdapter ? postgresSearch : sqliteSearch;
}

/** Indexes messages that are final: an answer that is being written would be indexed for every token. */
export async function indexMessages(
	db: Kysely<Database>,
	conversationId: string,
	messages: readonly Message[]
): Promise<void> {
	const search = searchOf(db);
	for (const message of messages) {
		if (message.status === 'running') continue;
		await search.put(db, conversationId, message.id, indexedWords(textOf(message)));
	}
}

/** What people and answers say: no reasoning, no results of tools. */
export function textOf({ parts }: Pick<Message, 'parts'>): string {
	return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
