/** API keys (only their hashes), MCP servers, encrypted secrets, logins and settings. */
import type { Kysely, Selectable } from 'kysely';
import { type McpServer, mcpServer } from '../../shared/mcp-servers.ts';
import type { ApiKey } from '../../shared/settings.ts';
import type { ApiScope } from '../../shared/names.ts';
import { locked, lockName } from './locks.ts';
import { type ApiKeysTable, type Database, hasEffect } from './schema.ts';

/** Times are ISO 8601 in UTC. */
export function createApiKeys(db: Kysely<Database>) {
	const all = db.selectFrom('api_keys').selectAll();
	return {
		async create({
			id,
			name,
			prefix,
			scopes,
			hash,
			createdAt
		}: {
			id: string;
			name: string;
			prefix: string;
			scopes: ApiScope[];
			hash: string;
			createdAt: string;
		}): Promise<void> {
			await db
				.insertInto('api_keys')
				.values({ id, name, prefix, scopes: scopes.join(' '), hash, created_at: createdAt })
				.execute();
		},

		/** Newest first, including revoked keys. */
		async list(): Promise<ApiKey[]> {
			const rows = await all.orderBy('created_at', 'desc').orderBy('id').execute();
			return rows.map(toKey);
		},

		async get(id: string): Promise<ApiKey | null> {
			const row = await all.where('id', '=', id).executeTakeFirst();
			return row ? toKey(row) : null;
		},

		/** null for a revoked key. */
		async findByHash(hash: string): Promise<ApiKey | null> {
			const row = await all.where('hash', '=', hash).where('revoked_at', 'is', null).executeTakeFirst();
			return row ? toKey(row) : null;
		},

		/** False if not found. */
		rename: (id: string, name: string): Promise<boolean> =>
			hasEffect(db.updateTable('api_keys').set({ name }).where('id', '=', id)),

		/** False if not found. A key that is already revoked keeps its time. */
		revoke: (id: string, now: string): Promise<boolean> =>
			hasEffect(
				db
					.updateTable('api_keys')
					.set(({ fn, val }) => ({ revoked_at: fn.coalesce('revoked_at', val(now)) }))
					.where('id', '=', id)
			),

		async touch(id: string, now: string): Promise<void> {
			await db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute();
		}
	};
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

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

/** Configuration of an MCP server (E36); its secrets are in the vault. */
export type StoredMcpServer = Omit<McpServer, 'status' | 'signIn'>;

const config = mcpServer.pick({ transport: true, approval: true });

export function createMcpServers(db: Kysely<Database>) {
	return {
		/** Adds the server, or replaces the one with its name. */
		async put({ name, isEnabled, updatedAt, transport, approval }: StoredMcpServer): Promise<void> {
			const values = {
				config: JSON.stringify({ transport, approval }),
				is_enabled: isEnabled ? 1 : 0,
				updated_at: updatedAt
			};
			await db
				.insertInto('mcp_servers')
				.values({ name, ...values, created_at: updatedAt })
				.onConflict((conflict) => conflict.column('name').doUpdateSet(values))
				.execute();
		},

		/** False if not found. */
		remove: (name: string): Promise<boolean> => hasEffect(db.deleteFrom('mcp_servers').where('name', '=', name)),

		/** Sorted by name. */
		async list(): Promise<StoredMcpServer[]> {
			const rows = await db.selectFrom('mcp_servers').selectAll().orderBy('name').execute();
			return rows.map((row) => ({
				name: row.name,
				...config.parse(JSON.parse(row.config)),
				isEnabled: row.is_enabled === 1,
				updatedAt: row.updated_at
			}));
		}
	};
}

export type McpServers = ReturnType<typeof createMcpServers>;

/** A skill's variable, encrypted by the vault (F3). The three parts are base64. */
export interface EncryptedSecret {
	name: string;
	iv: string;
	tag: string;
	ciphertext: string;
}

export function createSecrets(db: Kysely<Database>) {
	return {
		/** Adds the secret, or replaces the one with its name. */
		async put(skillId: string, { name, ...parts }: EncryptedSecret, now: string): Promise<void> {
			const values = { ...parts, updated_at: now };
			await db
				.insertInto('secrets')
				.values({ skill_id: skillId, name, ...values })
				.onConflict((conflict) => conflict.columns(['skill_id', 'name']).doUpdateSet(values))
				.execute();
		},

		/** False if not found. */
		remove: (skillId: string, name: string): Promise<boolean> =>
			hasEffect(db.deleteFrom('secrets').where('skill_id', '=', skillId).where('name', '=', name)),

		/** Sorted by name. */
		list: (skillId: string): Promise<EncryptedSecret[]> =>
			db
				.selectFrom('secrets')
				.select(['name', 'iv', 'tag', 'ciphertext'])
				.where('skill_id', '=', skillId)
				.orderBy('name')
				.execute()
	};
}

export type Secrets = ReturnType<typeof createSecrets>;

/** Logged-in browsers. Times are ISO 8601 in UTC. */
export function createLoginSessions(db: Kysely<Database>) {
	return {
		/** Also removes expired sessions. */
		async create({
			tokenHash,
			createdAt,
			expiresAt
		}: {
			tokenHash: string;
			createdAt: string;
			expiresAt: string;
		}): Promise<void> {
			const expired = db.selectFrom('login_sessions').select('token_hash').where('expires_at', '<=', createdAt);
			const free = expired.modifyEnd(locked(db, 'free'));
			await db.deleteFrom('login_sessions').where('token_hash', 'in', free).execute();
			await db
				.insertInto('login_sessions')
				.values({ token_hash: tokenHash, created_at: createdAt, expires_at: expiresAt })
				.execute();
		},

		async isValid(tokenHash: string, now: string): Promise<boolean> {
			const row = await db
				.selectFrom('login_sessions')
				.select('token_hash')
				.where('token_hash', '=', tokenHash)
				.where('expires_at', '>', now)
				.executeTakeFirst();
			return row !== undefined;
		},

		async remove(tokenHash: string): Promise<void> {
			await db.deleteFrom('login_sessions').where('token_hash', '=', tokenHash).execute();
		}
	};
}

export type LoginSessions = ReturnType<typeof createLoginSessions>;

export interface FailureLimit {
	/** Most failures of one client, and of all, in `windowMs` from the first of them. */
	perClient: number;
	inAll: number;
	windowMs: number;
	/** Milliseconds since 1970. */
	now: number;
}

/** The row of all clients together. */
const ALL = '';

/** Wrong logins, counted for all servers together. What is over is deleted with the next one, so the rows are few. */
export function createLoginFailures(db: Kysely<Database>) {
	return {
		/**
		 * Counts a failure of the client, whose name is any text but the empty one, and returns 0; or counts nothing and returns
		 * for how many milliseconds there were too many.
		 */
		async add(client: string, { perClient, inAll, windowMs, now }: FailureLimit): Promise<number> {
			const iso = (ms: number) => new Date(ms).toISOString();
			// A clock may have been set back since.
			const [start, end] = [iso(now - windowMs), iso(now + windowMs)];
			const counted = async (on: Kysely<Database>): Promise<number> => {
				const rows = await on
					.selectFrom('login_failures')
					.selectAll()
					.where('client', 'in', [ALL, client])
					.where('since', '>', start)
					.where('since', '<', end)
					.execute();
				const full = rows.filter((row) => row.count >= (row.client === ALL ? inAll : perClient));
				// The client's own limit is the one to wait for.
				const [own] = full.sort((a, b) => b.client.length - a.client.length);
				return own ? Math.min(windowMs, Math.max(1, Date.parse(own.since) + windowMs - now)) : 0;
			};
			// A flood of them is refused without a lock.
			const known = await counted(db);
			if (known > 0) return known;
			return db.transaction().execute(async (transaction) => {
				await lockName(transaction, 'login_failures');
				const refused = await counted(transaction);
				if (refused > 0) return refused;
				await transaction
					.deleteFrom('login_failures')
					.where(({ eb, or }) => or([eb('since', '<=', start), eb('since', '>=', end)]))
					.execute();
				await transaction
					.insertInto('login_failures')
					.values([ALL, client].map((name) => ({ client: name, since: iso(now), count: 1 })))
					.onConflict((conflict) =>
						conflict.column('client').doUpdateSet(({ eb }) => ({ count: eb('login_failures.count', '+', 1) }))
					)
					.execute();
				return 0;
			});
		},

		/** Those of this client. */
		async forget(client: string): Promise<void> {
			await db.deleteFrom('login_failures').where('client', '=', client).execute();
		}
	};
}

export type LoginFailures = ReturnType<typeof createLoginFailures>;

/** Settings changed while the server ran, by name. */
export function createStoredSettings(db: Kysely<Database>) {
	return {
		async list(): Promise<Map<string, unknown>> {
			const rows = await db.selectFrom('settings').select(['key', 'value']).execute();
			return new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown]));
		},

		/** Sets all or none; undefined removes a setting. */
		async set(values: Readonly<Record<string, unknown>>, now: string): Promise<void> {
			await db.transaction().execute(async (transaction) => {
				// In one order, so that two that change the same don't wait for each other.
				for (const [key, value] of Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))) {
					if (value === undefined) {
						await transaction.deleteFrom('settings').where('key', '=', key).execute();
						continue;
					}
					const columns = { value: JSON.stringify(value), updated_at: now };
					await transaction
						.insertInto('settings')
						.values({ key, ...columns })
						.onConflict((conflict) => conflict.column('key').doUpdateSet(columns))
						.execute();
				}
			});
		}
	};
}
