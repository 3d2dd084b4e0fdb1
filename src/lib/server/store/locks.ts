/**
 * For transactions that read what they then write. SQLite has one writer at a time; in Postgres, others write between two
 * statements. Whoever locks a conversation does so before anything in it, and whoever changes several rows of a table
 * locks them first, ordered by their key, so that no two wait for each other.
 */
import { type Kysely, sql, type Transaction } from 'kysely';
import { type Database, isPostgres } from './schema.ts';

/**
 * For `modifyEnd`: the rows that are found stay as they are until the transaction ends. `update`: they will be deleted, or
 * their key changed; for anything else, the weaker lock, for which rows that refer to these don't wait. `free`: without
 * those that others have locked.
 */
export function locked(db: Kysely<Database>, how: 'no key update' | 'update' | 'free' = 'no key update') {
	const lock = how === 'free' ? 'update skip locked' : how;
	return isPostgres(db) ? sql`for ${sql.raw(lock)}` : sql``;
}

/** False if not found. */
export async function lockConversation(
	transaction: Transaction<Database>,
	id: string,
	how?: 'update'
): Promise<boolean> {
	const row = transaction.selectFrom('conversations').select('id').where('id', '=', id);
	return (await row.modifyEnd(locked(transaction, how)).executeTakeFirst()) !== undefined;
}

/** The conversation of a run. Does nothing if there is none. */
export async function lockConversationOf(transaction: Transaction<Database>, runId: string): Promise<void> {
	if (!isPostgres(transaction)) return;
	await sql`select 1 from conversations where id = (select conversation_id from runs where id = ${runId})
		for no key update`.execute(transaction);
}

/** Where no row stands for what is locked: `name` says what it is. */
export async function lockName(transaction: Transaction<Database>, name: string): Promise<void> {
	if (!isPostgres(transaction)) return;
	await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}
