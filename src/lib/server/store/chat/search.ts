/** Full-text search: finds conversations and snippets, and maintains the index in SQLite and Postgres. */
import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Snippet } from '../../../shared/api.ts';
import { type Message, messageText } from '../../../shared/message.ts';
import type { Database } from '../schema.ts';
import { MESSAGE_COLUMNS, messageFromRow } from './message-row.ts';
import { findSnippet, indexedWords, type SearchQuery } from './search-words.ts';

/** Condition on `conversations`: the title contains the query, or one message contains all its words. */
export function matches(search: Search, query: SearchQuery): RawBuilder<boolean> {
	const pattern = `%${query.folded.replaceAll(/[!%_]/g, '!$&')}%`;
	const inTitle = sql<boolean>`conversations.folded_title like cast(${pattern} as text) escape '!'`;
	if (query.prefix === null) return inTitle;
	return sql<boolean>`(${inTitle} or conversations.id in (
		select search_entries.conversation_id from search_entries where ${search.has(query)}))`;
}

/** A snippet of the newest matching message of each conversation. */
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
		const found = findSnippet(messageText(messageFromRow(row), '\n'), query);
		if (found) snippets.set(row.conversation_id, { snippet: { ...found, messageId: row.id } });
	}
	return snippets;
}

/** An FTS5 index without a copy of the text. */
const sqliteSearch: Search = {
	async createTables(db) {
		// FTS5 needs stable row numbers, and SQLite may change those of `messages`.
		await sql`create table search_entries (
			id integer primary key autoincrement,
			conversation_id text not null,
			message_id text not null,
			unique (conversation_id, message_id),
			foreign key (conversation_id, message_id) references messages (conversation_id, id) on delete cascade)`.execute(db);
		// The words are already folded, so the tokenizer only has to split at spaces.
		await sql`create virtual table search_words using fts5(words,
			content = '', contentless_delete = 1, detail = none, prefix = '1 2 3',
			tokenize = 'ascii')`.execute(db);
		await sql`create trigger search_entries_removed after delete on search_entries begin
			delete from search_words where rowid = old.id;
		end`.execute(db);
	},

	async put(db, conversationId, messageId, words) {
		await sql`delete from search_entries
			where conversation_id = ${conversationId} and message_id = ${messageId}`.execute(db);
		if (words.length === 0) return;
		const { rows } = await sql<{ id: number }>`insert into search_entries (conversation_id, message_id)
			values (${conversationId}, ${messageId}) returning id`.execute(db);
		const [entry] = rows;
		await sql`insert into search_words (rowid, words) values (${entry?.id}, ${words.join(' ')})`.execute(db);
	},

	has({ words, prefix }) {
		// Letters and digits only. The quotes make NEAR, AND and OR plain words.
		const terms = [...words.map((word) => `"${word}"`), ...(prefix === null ? [] : [`"${prefix}"*`])];
		return sql<boolean>`search_entries.id in (
			select rowid from search_words where search_words match ${terms.join(' AND ')})`;
	}
};

/** Accepts a connection or a transaction. */
export function searchOf(db: Kysely<Database>): Search {
	return db.getExecutor().adapter instanceof PostgresAdapter ? postgresSearch : sqliteSearch;
}

/** Indexes messages, in the transaction that writes them. Skips running ones, which change with every token. */
export async function indexMessages(
	db: Kysely<Database>,
	conversationId: string,
	messages: readonly Message[]
): Promise<void> {
	const search = searchOf(db);
	for (const message of messages) {
		if (message.status === 'running') continue;
		await search.put(db, conversationId, message.id, indexedWords(messageText(message, '\n')));
	}
}

/** A tsvector of the folded words, with a GIN index. */
const postgresSearch: Search = {
	async createTables(db) {
		await sql`create table search_entries (
			conversation_id text not null,
			message_id text not null,
			words tsvector not null,
			primary key (conversation_id, message_id),
			foreign key (conversation_id, message_id) references messages (conversation_id, id) on delete cascade)`.execute(db);
		await sql`create index search_entries_by_word on search_entries using gin (words)`.execute(db);
	},

	async put(db, conversationId, messageId, words) {
		await sql`delete from search_entries
			where conversation_id = ${conversationId} and message_id = ${messageId}`.execute(db);
		if (words.length === 0) return;
		await sql`insert into search_entries (conversation_id, message_id, words)
			values (${conversationId}, ${messageId}, array_to_tsvector(string_to_array(${words.join(' ')}, ' ')))`.execute(db);
	},

	has({ words, prefix }) {
		// Letters and digits only, so the quotes need no escape.
		const terms = [...words.map((word) => `'${word}'`), ...(prefix === null ? [] : [`'${prefix}':*`])];
		return sql<boolean>`search_entries.words @@ cast(${terms.join(' & ')} as tsquery)`;
	}
};

/** The word index of a database. Each message with text has a row in `search_entries`. */
export interface Search {
	createTables(db: Kysely<Database>): Promise<void>;
	/** Replaces the message's words; without words, removes its entry. */
	put(db: Kysely<Database>, conversationId: string, messageId: string, words: readonly string[]): Promise<void>;
	/** Condition on `search_entries`: contains all words. The query must have a word. */
	has(query: SearchQuery): RawBuilder<boolean>;
}
