/** The index of words in SQLite: FTS5, without a copy of the text. */
import { sql } from 'kysely';
import type { Search } from './search-index.ts';

export const sqliteSearch: Search = {
	async createTables(db) {
		// FTS5 knows rows by number, and those of `messages` are SQLite's own, which may change.
		await sql`create table search_entries (
			id integer primary key autoincrement,
			conversation_id text not null,
			message_id text not null,
			unique (conversation_id, message_id),
			foreign key (conversation_id, message_id) references messages (conversation_id, id) on delete cascade)`.execute(db);
		// The words come folded, the same for both databases, so the tokenizer has to part them at spaces only.
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
		// Letters and digits only; the quotes keep NEAR, AND and OR from being more than words.
		const terms = [...words.map((word) => `"${word}"`), ...(prefix === null ? [] : [`"${prefix}"*`])];
		return sql<boolean>`search_entries.id in (
			select rowid from search_words where search_words match ${terms.join(' AND ')})`;
	}
};
