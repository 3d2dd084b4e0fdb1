/** Gives chats without a title the name they have now, so that their first message still names them. */
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';

export async function renameUntitled(db: Kysely<Database>): Promise<void> {
	const untitled = { title: 'New chat', folded_title: 'new chat' };
	await db.updateTable('conversations').set(untitled).where('title', '=', 'New conversation').execute();
}
