/** Full-text search: finds conversations and snippets, and maintains the index in SQLite and Postgres. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Snippet } from '../../../shared/api.ts';
import { type Message, messageText } from '../../../shared/message.ts';
import { ASKED } from '../../../shared/questions.ts';
import { type Database, isPostgres } from '../schema.ts';
import { MESSAGE_COLUMNS, messageFromRow } from './message-row.ts';

/** Condition on `conversations`: the title or summary contains the query, or one message contains all its words. */
export function matches(search: Search, query: SearchQuery): RawBuilder<boolean> {
	const pattern = `%${query.folded.replaceAll(/[!%_]/g, '!$&')}%`;
	const inTitle = sql<boolean>`(conversations.folded_title like cast(${pattern} as text) escape '!'
		or conversations.folded_summary like cast(${pattern} as text) escape '!')`;
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
		const text = messageText(messageFromRow(row), '\n');
		const found = findSnippet(proseOf(text), query) ?? findSnippet(text, query);
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
	return isPostgres(db) ? postgresSearch : sqliteSearch;
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
interface Search {
	createTables(db: Kysely<Database>): Promise<void>;
	/** Replaces the message's words; without words, removes its entry. */
	put(db: Kysely<Database>, conversationId: string, messageId: string, words: readonly string[]): Promise<void>;
	/** Condition on `search_entries`: contains all words. The query must have a word. */
	has(query: SearchQuery): RawBuilder<boolean>;
}

// Words, without case and accents, the same in both databases.

interface SearchQuery {
	/** The whole folded text, for titles. Empty: finds everything. */
	folded: string;
	/** All must occur in one text. */
	words: string[];
	/** The last word, which may be incomplete. */
	prefix: string | null;
}

/** In scripts without spaces, each character is a word. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;
const MAX_WORD = 64;
const MAX_QUERY = 1000;
const MAX_QUERY_WORDS = 32;
/** Bytes of words per text; Postgres allows less than 1 MB. */
const MAX_INDEXED = 512 * 1024;
const SNIPPET = 120;
const BEFORE_MATCH = 40;

/** Removes case, accents, and variants of the same character. */
export function foldText(text: string): string {
	return text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The words of a text, without duplicates. */
export function indexedWords(text: string): string[] {
	const words = new Set<string>();
	let bytes = 0;
	for (const [word] of text.matchAll(WORD)) {
		for (const folded of foldWord(word)) {
			if (words.has(folded)) continue;
			bytes += Buffer.byteLength(folded) + 1;
			if (bytes > MAX_INDEXED) return [...words];
			words.add(folded);
		}
	}
	return [...words];
}

/** Accepts any text. A query without words (like an emoji) searches titles only. */
export function readQuery(text: string): SearchQuery {
	const sought = text.replaceAll('\0', '').toWellFormed().trim().slice(0, MAX_QUERY).toWellFormed();
	const all = [...sought.matchAll(WORD)].flatMap(([word]) => foldWord(word)).slice(0, MAX_QUERY_WORDS);
	// Even after a space or comma: people expect results while typing.
	const prefix = all.pop() ?? null;
	return { folded: foldText(sought), words: [...new Set(all)].filter((word) => word !== prefix), prefix };
}

/** About 120 characters around the first match; null if there is none. */
export function findSnippet(text: string, query: SearchQuery): Omit<Snippet, 'messageId'> | null {
	const plain = plainText(text);
	const first = nextMatch(plain, query, 0);
	if (!first) return null;
	const from = first.from <= BEFORE_MATCH ? 0 : wordStart(plain, first.from - BEFORE_MATCH, first.from);
	const to = Math.max(first.to, wordEnd(plain, from + SNIPPET));
	const start = from === 0 ? '' : '…';
	const shift = start.length - from;
	const matches: [number, number][] = [];
	for (let match: Place | null = first; match && match.to <= to; match = nextMatch(plain, query, match.to)) {
		matches.push([match.from + shift, match.to + shift]);
	}
	return { text: `${start}${plain.slice(from, to)}${to === plain.length ? '' : '…'}`, matches };
}

interface Place {
	from: number;
	to: number;
}

function nextMatch(text: string, { words, prefix }: SearchQuery, from: number): Place | null {
	const pattern = new RegExp(WORD);
	pattern.lastIndex = from;
	for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
		const isSought = foldWord(found[0]).some(
			(word) => words.includes(word) || (prefix !== null && word.startsWith(prefix))
		);
		if (isSought) return { from: found.index, to: found.index + found[0].length };
	}
	return null;
}

/** Usually one word; none for combining marks only, several if one character stands for several words. */
function foldWord(word: string): string[] {
	return [...foldText(word).matchAll(WORD)].map(([part]) => part.slice(0, MAX_WORD).replace(/[\ud800-\udbff]$/, ''));
}

/** What an answer says: without code and printed output, and what the page shows as buttons or in a failed step. */
function proseOf(text: string): string {
	let isInBlock = false;
	const lines = text.split('\n').filter((line) => {
		const isFence = /^ {0,3}`{3,}/.test(line);
		if (isFence) isInBlock = !isInBlock;
		return !isFence && !isInBlock && line !== ASKED && !line.startsWith('**What to do**: ');
	});
	return lines.join('\n');
}

/** One line, without common Markdown characters. The cells of a table stand apart, its rules don't stand at all. */
function plainText(text: string): string {
	return text
		.toWellFormed()
		.replaceAll(/^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$/gm, '')
		.replaceAll(/^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/gm, '')
		.replaceAll(/[ \t]+\|[ \t]+/g, ' · ')
		.replaceAll(/^[ \t]*`{3,}[\w-]*[ \t]*$/gm, '')
		.replaceAll(/!?\[([^\][\n]{1,200})\]\([^()\s]{1,2000}\)/g, '$1')
		.replaceAll(/^[ \t]*(?:#{1,6}|>|[-*])[ \t]+|\*\*|`+/gm, '')
		.replaceAll(/[\s\0]+/g, ' ')
		.trim();
}

/** The start of a word near `at`, before `limit`; never inside a surrogate pair. */
function wordStart(text: string, at: number, limit: number): number {
	const space = text.indexOf(' ', at);
	if (space >= 0 && space < limit) return space + 1;
	return isLowSurrogate(text, at) ? at + 1 : at;
}

function wordEnd(text: string, at: number): number {
	if (at >= text.length) return text.length;
	const space = text.lastIndexOf(' ', at);
	if (space > at - BEFORE_MATCH) return space;
	return isLowSurrogate(text, at) ? at - 1 : at;
}

function isLowSurrogate(text: string, at: number): boolean {
	const unit = text.charCodeAt(at);
	return unit >= 0xdc00 && unit <= 0xdfff;
}
