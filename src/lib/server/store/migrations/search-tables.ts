/** The index of what was said so far, and of titles; filled a page at a time. */
import { type Kysely, sql } from 'kysely';
import { MESSAGE_COLUMNS, messageFromRow } from '../chat/message-row.ts';
import type { Database } from '../schema.ts';
import { foldText, indexMessages, searchOf } from '../chat/search.ts';

const PAGE = 500;

export async function addSearch(db: Kysely<Database>): Promise<void> {
	await sql`alter table conversations add column folded_title text not null default ''`.execute(db);
	await searchOf(db).createTables(db);
	await foldTitles(db);
	await fillIndex(db);
}

async function foldTitles(db: Kysely<Database>): Promise<void> {
	for (let after = ''; ;) {
		const page = db.selectFrom('conversations').select(['id', 'title']).where('id', '>', after);
		const rows = await page.orderBy('id').limit(PAGE).execute();
		for (const { id, title } of rows) {
			await db
				.updateTable('conversations')
				.set({ folded_title: foldText(title) })
				.where('id', '=', id)
				.execute();
			after = id;
		}
		if (rows.length < PAGE) return;
	}
}

async function fillIndex(db: Kysely<Database>): Promise<void> {
	const conversations = await db.selectFrom('conversations').select('id').execute();
	for (const { id } of conversations) {
		for (let after = 0; ;) {
			const page = db
				.selectFrom('messages')
				.select([...MESSAGE_COLUMNS, 'position'])
				.where('conversation_id', '=', id);
			const rows = await page.where('position', '>', after).orderBy('position').limit(PAGE).execute();
			await indexMessages(db, id, rows.map(messageFromRow));
			after = rows.at(-1)?.position ?? after;
			if (rows.length < PAGE) break;
		}
	}
}
