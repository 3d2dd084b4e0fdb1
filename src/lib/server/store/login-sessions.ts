/** Browsers that have logged in, until they log out or their time is over. */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

/** Times are ISO texts in UTC. */
export interface LoginSessions {
	/** Also removes those whose time is over. */
	create(session: { tokenHash: string; createdAt: string; expiresAt: string }): Promise<void>;
	isValid(tokenHash: string, now: string): Promise<boolean>;
	/** One that does not exist is removed already. */
	remove(tokenHash: string): Promise<void>;
}

export function createLoginSessions(db: Kysely<Database>): LoginSessions {
	return {
		async create({ tokenHash, createdAt, expiresAt }) {
			await db.deleteFrom('login_sessions').where('expires_at', '<=', createdAt).execute();
			await db
				.insertInto('login_sessions')
				.values({ token_hash: tokenHash, created_at: createdAt, expires_at: expiresAt })
				.execute();
		},

		async isValid(tokenHash, now) {
			const row = await db
				.selectFrom('login_sessions')
				.select('token_hash')
				.where('token_hash', '=', tokenHash)
				.where('expires_at', '>', now)
				.executeTakeFirst();
			return row !== undefined;
		},

		async remove(tokenHash) {
			await db.deleteFrom('login_sessions').where('token_hash', '=', tokenHash).execute();
		}
	};
}
