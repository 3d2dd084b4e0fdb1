/** Who asks, once the door is passed: whoever manages the server, or a program with a key of its own (FEATURES E18, F12); pure. */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { AppError } from '../../shared/errors.ts';
import type { ApiKey, apiKeyCreate, NewApiKey } from '../../shared/settings.ts';
import { API_SCOPES, type ApiScope } from '../../shared/names.ts';
import type { ApiKeys as StoredKeys } from '../store/access.ts';

export interface Caller {
	/** What is kept under its key, and of what alone it may see; null for whoever manages the server. */
	apiKeyId: string | null;
	scopes: readonly ApiScope[];
}

export const MANAGER: Caller = { apiKeyId: null, scopes: API_SCOPES };

/** Routes of protocols: what is wrong is answered in their words, and no page leads there. */
export function isProgramRoute(route: string): boolean {
	return /^\/(api|v1|mcp|a2a|\.well-known)(\/|$)/.test(route);
}

/** May they do what asks for this scope, or, without one, what is for whoever manages the server? @throws AppError `forbidden` */
export function checkCaller(caller: Caller, scope: ApiScope | undefined): void {
	if (caller.apiKeyId === null) return;
	if (scope !== undefined) return checkScope(caller, scope);
	throw new AppError('forbidden', 'API keys can’t do this.', {
		hint: 'Do it in the app, or with ADMIN_TOKEN.'
	});
}

/** @throws AppError `forbidden` */
export function checkScope({ scopes }: Caller, scope: ApiScope): void {
	if (scopes.includes(scope)) return;
	throw new AppError('forbidden', `This API key can’t do this: it lacks the scope “${scope}”.`, {
		hint: 'Create a key with this scope on the Connect page.'
	});
}

/** Is what was made under `owner` this caller’s to see? */
export function isOwn(caller: Caller, owner: string | null): boolean {
	return caller.apiKeyId === null || caller.apiKeyId === owner;
}

// Keys of other programs: made, renamed, revoked, and recognised (FEATURES F12; hashed at rest).

export interface ApiKeys {
	/** The only time that the key itself is told. */
	create(wanted: z.output<typeof apiKeyCreate>): Promise<NewApiKey>;
	list(): Promise<ApiKey[]>;
	/** @throws AppError `not_found` */
	rename(id: string, name: string): Promise<ApiKey>;
	/** It is of no use from the next request on; what was made with it stays. @throws AppError `not_found` */
	revoke(id: string): Promise<ApiKey>;
	/** The key, when it may still be used, and notes that it was. */
	find(token: string): Promise<ApiKey | null>;
}

/** So that a key can be told from an ADMIN_TOKEN, and found in places where it should not be. */
const PREFIX = 'ors_';
const SHOWN = 10;
/** Its last use is known to the minute: not every request of a stream of them writes. */
const TOUCH_MS = 60_000;

/** Does it look like one of these keys, valid or not? */
export function isApiKey(token: string): boolean {
	return token.startsWith(PREFIX);
}

/** `now` is milliseconds since 1970. */
export function createApiKeys(store: StoredKeys, now: () => number = Date.now): ApiKeys {
	const isoNow = (): string => new Date(now()).toISOString();
	// A key is 32 random bytes: it needs no slow hash.
	const hashOf = (token: string): string => hash('sha256', token);
	const readBack = async (id: string, isThere: boolean): Promise<ApiKey> => {
		const key = isThere ? await store.get(id) : null;
		if (!key) throw new AppError('not_found', 'API key not found.');
		return key;
	};
	return {
		async create({ name, scopes }) {
			const key = `${PREFIX}${randomBytes(32).toString('base64url')}`;
			const made = { id: `key_${randomUUID()}`, name, prefix: key.slice(0, SHOWN), scopes, createdAt: isoNow() };
			await store.create({ ...made, hash: hashOf(key) });
			return { ...made, lastUsedAt: null, revokedAt: null, key };
		},

		list: () => store.list(),
		rename: async (id, name) => readBack(id, await store.rename(id, name)),
		revoke: async (id) => readBack(id, await store.revoke(id, isoNow())),

		async find(token) {
			if (!isApiKey(token)) return null;
			const key = await store.findByHash(hashOf(token));
			if (key && now() - Date.parse(key.lastUsedAt ?? '1970') >= TOUCH_MS) await store.touch(key.id, isoNow());
			return key;
		}
	};
}
