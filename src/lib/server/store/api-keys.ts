/** Keys of other programs: their hashes, never themselves. */
import type { Kysely, Selectable } from 'kysely';
import type { ApiKey, ApiScope } from '../../shared/api-keys.ts';
import type { ApiKeysTable, Database } from './schema.ts';

/** Times are ISO texts in UTC. */
export interface ApiKeys {
	create(key: {
		id: string;
		name: string;
		prefix: string;
		scopes: ApiScope[];
		hash: string;
		createdAt: string;
	}): Promise<void>;
	/** The newest first, revoked ones included. */
	list(): Promise<ApiKey[]>;
	get(id: string): Promise<ApiKey | null>;
	/** One that may still be used. */
	findByHash(hash: string): Promise<ApiKey | null>;
	/** False when there is none. */
	rename(id: string, name: string): Promise<boolean>;
	/** False when there is none; one that was revoked before keeps its time. */
	revoke(id: string, now: string): Promise<boolean>;
	touch(id: string, now: string): Promise<void>;
}

export function createApiKeys(db: Kysely<Database>): ApiKeys {
	const all = db.selectFrom('api_keys').selectAll();
	return {
		async create({ id, name, prefix, scopes, hash, createdAt }) {
			await db
				.insertInto('api_keys')
				.values({ id, name, prefix, scopes: scopes.join(' '), hash, created_at: createdAt })
				.execute();
		},

		async list() {
			const rows = await all.orderBy('created_at', 'desc').orderBy('id').execute();
			return rows.map(toKey);
		},

		async get(id) {
			const row = await all.where('id', '=', id).executeTakeFirst();
			return row ? toKey(row) : null;
		},

		async findByHash(hash) {
			const row = await all.where('hash', '=', hash).where('revoked_at', 'is', null).executeTakeFirst();
			return row ? toKey(row) : null;
		},

		async rename(id, name) {
			const { numUpdatedRows } = await db
				.updateTable('api_keys')
				.set({ name })
				.where('id', '=', id)
				.executeTakeFirstOrThrow();
			return numUpdatedRows > 0n;
		},

		async revoke(id, now) {
			const { numUpdatedRows } = await db
				.updateTable('api_keys')
				.set(({ fn, val }) => ({ revoked_at: fn.coalesce('revoked_at', val(now)) }))
				.where('id', '=', id)
				.executeTakeFirstOrThrow();
			return numUpdatedRows > 0n;
		},

		async touch(id, now) {
			await db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute();
		}
	};
}

function toKey(row: Selectable<ApiKeysTable>): ApiKey {
	return {
		id: row.id,
		name: row.name,
		prefix: row.prefix,
		scopes: row.scopes.split(' ') as ApiScope[],
		createdAt: row.created_at,
		lastUsedAt: row.last_used_at,
		revokedAt: row.revoked_at
	};
}
