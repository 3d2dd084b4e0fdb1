/** The index of words in Postgres: a tsvector that is made of the words as they are, with a GIN index. */
import { sql } from 'kysely';
import type { Search } from './search-index.ts';

export const postgresSearch: Search = {
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
