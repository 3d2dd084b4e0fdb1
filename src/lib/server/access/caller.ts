/** Callers: the operator, or a program with an API key; and the keys themselves (E18, F12). */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import type { ApiKey, apiKeyCreate, NewApiKey } from '../../shared/settings.ts';
import { API_SCOPES, type ApiScope } from '../../shared/names.ts';
import type { ApiKeys as StoredKeys } from '../store/access.ts';

export interface Caller {
	/** Owner of what it creates and sees; null for the operator. */
	apiKeyId: string | null;
	scopes: readonly ApiScope[];
}

export const MANAGER: Caller = { apiKeyId: null, scopes: API_SCOPES };

/** Routes for programs, which answer errors in their protocol. No page links there. */
export function isProgramRoute(route: string): boolean {
	return /^\/(api|v1|mcp|a2a|\.well-known|health|ready|metrics)(\/|$)/.test(route);
}

/** Without a scope, only the operator is allowed. @throws AppError `forbidden` */
export function checkCaller(caller: Caller, scope: ApiScope | undefined): void {
	if (caller.apiKeyId === null) return;
	if (scope !== undefined) return checkScope(caller, scope);
	throw new AppError('forbidden', 'API keys can’t do this.', { hint: 'Do it in the app, or with ADMIN_TOKEN.' });
}

/** @throws AppError `forbidden` */
export function checkScope({ scopes }: Caller, scope: ApiScope): void {
	if (scopes.includes(scope)) return;
	const hint = 'Create a key with this scope on the Connect page.';
	throw new AppError('forbidden', `This API key can’t do this: it lacks the scope “${scope}”.`, { hint });
}

/** Whether the caller may see what `owner` created. */
export function isOwn(caller: Caller, owner: string | null): boolean {
	return caller.apiKeyId === null || caller.apiKeyId === owner;
}

// API keys, stored as hashes (F12).

/** Distinguishes keys from an ADMIN_TOKEN, and helps secret scanners. */
const PREFIX = 'ors_';
const SHOWN = 10;
/** The last use is recorded at most once a minute. */
const TOUCH_MS = 60_000;

/** Whether it looks like an API key, valid or not. */
export function isApiKey(token: string): boolean {
	return token.startsWith(PREFIX);
}

/** `now` is milliseconds since 1970. */
export function createApiKeys(store: StoredKeys, now: () => number = Date.now) {
	const isoNow = (): string => new Date(now()).toISOString();
	// 32 random bytes need no slow hash.
	const hashOf = (token: string): string => hash('sha256', token);
	const readBack = async (id: string, isThere: boolean): Promise<ApiKey> => {
		const key = isThere ? await store.get(id) : null;
		if (!key) throw new AppError('not_found', 'API key not found.');
		return key;
	};
	return {
		/** Only this returns the key itself. */
		async create({ name, scopes }: z.output<typeof apiKeyCreate>): Promise<NewApiKey> {
			const key = `${PREFIX}${randomBytes(32).toString('base64url')}`;
			const made = { id: `key_${randomUUID()}`, name, prefix: key.slice(0, SHOWN), scopes, createdAt: isoNow() };
			await store.create({ ...made, hash: hashOf(key) });
			return { ...made, lastUsedAt: null, revokedAt: null, key };
		},

		list: (): Promise<ApiKey[]> => store.list(),
		/** @throws AppError `not_found` */
		rename: async (id: string, name: string): Promise<ApiKey> => readBack(id, await store.rename(id, name)),
		/** Takes effect with the next request; keeps what the key has created. @throws AppError `not_found` */
		revoke: async (id: string): Promise<ApiKey> => readBack(id, await store.revoke(id, isoNow())),

		/** Returns a valid key, and records its use. */
		async find(token: string): Promise<ApiKey | null> {
			if (!isApiKey(token)) return null;
			const key = await store.findByHash(hashOf(token));
			if (key && now() - Date.parse(key.lastUsedAt ?? '1970') >= TOUCH_MS) await store.touch(key.id, isoNow());
			return key;
		}
	};
}

export type ApiKeys = ReturnType<typeof createApiKeys>;
