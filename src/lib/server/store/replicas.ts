/** The servers and workers on this database, and words between them (Postgres only). */
import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { endLeases } from './chat/run-ownership.ts';
import type { Database } from './schema.ts';

/** Postgres takes less than 8,000 bytes. */
const MAX_WORD_BYTES = 7_900;
/** Where words are heard. */
export const CHANNEL = 'openrouter_skills';

export function createReplicas(db: Kysely<Database>) {
	return {
		/** What the database keeps in a dump, its own id and when it was created, and whether nothing has ever been stored in it. */
		async database(): Promise<{ id: string; createdAt: string; isEmpty: boolean }> {
			const { rows } = await sql<{ id: string; createdAt: string; isEmpty: boolean }>`
				select id, (
					select timestamp from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name limit 1
				) as "createdAt", not (
					exists (select from conversations) or exists (select from settings) or exists (select from api_keys)
					or exists (select from skill_installs) or exists (select from responses)
				) as "isEmpty" from database_identity`.execute(db);
			const [found] = rows;
			if (!found) throw new Error('The database has no id: a row of the table database_identity is missing.');
			return found;
		},

		/** Adds the server, or says that it lives. */
		async beat({ id, lockKey }: { id: string; lockKey: number }): Promise<void> {
			await sql`
				insert into replicas (id, lock_key, started_at, beat_at) values (${id}, ${lockKey}, now(), now())
				on conflict (id) do update set lock_key = excluded.lock_key, beat_at = now()`.execute(db);
		},

		async live(): Promise<Set<string>> {
			const { rows } = await sql<{ id: string }>`select id from replicas`.execute(db);
			return new Set(rows.map(({ id }) => id));
		},

		/** Removes a server, and ends its leases. True for the one call that did. */
		bury: (id: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				await endLeases(transaction, id);
				const { numDeletedRows } = await transaction.deleteFrom('replicas').where('id', '=', id).executeTakeFirst();
				return numDeletedRows > 0n;
			}),

		/** Server starts that left something under way and aren't among the servers: they stopped before anybody watched. */
		async unknown(): Promise<string[]> {
			const { rows } = await sql<{ id: string }>`
				select boot_id as id from skill_executions where status in ('pending', 'running')
				union select boot_id from eval_runs where state = 'running'
				union select boot_id from responses where is_running = 1
				except select id from replicas`.execute(db);
			return rows.flatMap(({ id }) => (id === null ? [] : [id]));
		},

		/** Tells all servers; what is too long for one message goes in several. In a statement of its own: it locks while it commits. */
		async tell(about: string, words: readonly string[]): Promise<void> {
			const messages: string[] = [];
			let message = about;
			for (const word of words) {
				if (Buffer.byteLength(message) + Buffer.byteLength(word) + 1 > MAX_WORD_BYTES) {
					messages.push(message);
					message = about;
				}
				message += ` ${word}`;
			}
			messages.push(message);
			await sql`select pg_notify(${CHANNEL}, message) from unnest(${messages}::text[]) as message`.execute(db);
		}
	};
}

export type Replicas = ReturnType<typeof createReplicas>;
