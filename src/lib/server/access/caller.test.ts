import { describe, expect, test, afterEach, beforeEach } from 'vitest';
import { API_SCOPES, type ApiScope } from '../../shared/names.ts';
import {
	checkCaller,
	checkScope,
	isOwn,
	isProgramRoute,
	MANAGER,
	type Caller,
	createApiKeys,
	isApiKey,
	type ApiKeys
} from './caller.ts';
import { hash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { createApiKeys as createStoredKeys } from '../store/access.ts';
import { migrate } from '../store/migrations.ts';
import type { Database } from '../store/schema.ts';
import { openSqlite } from '../store/sqlite.ts';

const callerWith = (...scopes: ApiScope[]): Caller => ({ apiKeyId: 'key_1', scopes });

/** `may`, or the error code. */
function outcome(check: () => void): string {
	try {
		check();
		return 'may';
	} catch (error) {
		return (error as { code: string }).code;
	}
}

describe('F12: what a key may do', () => {
	test('F12: what has a scope is for keys that have it; what has none is for whoever manages the server alone', () => {
		for (const scope of API_SCOPES) {
			expect(outcome(() => checkCaller(callerWith(scope), scope))).toBe('may');
			expect(outcome(() => checkCaller(callerWith(...API_SCOPES.filter((each) => each !== scope)), scope))).toBe(
				'forbidden'
			);
			expect(outcome(() => checkCaller(MANAGER, scope))).toBe('may');
		}
		expect(outcome(() => checkCaller(callerWith(...API_SCOPES), undefined))).toBe('forbidden');
		expect(outcome(() => checkCaller(MANAGER, undefined))).toBe('may');
	});

	test('F12: a refusal says which scope is missing, and where to make a key that has it', () => {
		expect(() => checkScope(callerWith('read'), 'execute')).toThrow(
			expect.objectContaining({
				code: 'forbidden',
				message: 'This API key can’t do this: it lacks the scope “execute”.',
				hint: 'Create a key with this scope on the Connect page.'
			})
		);
		expect(outcome(() => checkScope(callerWith('execute'), 'execute'))).toBe('may');
		expect(outcome(() => checkScope(MANAGER, 'write'))).toBe('may');
	});

	test('E18: a key sees what was made under it and nothing else; whoever manages the server sees all', () => {
		const caller = callerWith('read');
		expect([isOwn(caller, 'key_1'), isOwn(caller, 'key_2'), isOwn(caller, null)]).toEqual([true, false, false]);
		expect([isOwn(MANAGER, 'key_1'), isOwn(MANAGER, null)]).toEqual([true, true]);
	});

	test('routes of programs are told from pages by their first segment', () => {
		for (const route of ['/api', '/api/keys', '/v1/responses', '/mcp', '/a2a', '/.well-known/agent-card.json']) {
			expect(isProgramRoute(route), route).toBe(true);
		}
		for (const route of ['/', '/docs/api', '/apis', '/mcps', '/connect', '/v10', '/c/api']) {
			expect(isProgramRoute(route), route).toBe(false);
		}
	});
});

const MINUTE_MS = 60_000;

describe('F12: keys for other programs', () => {
	let db: Kysely<Database>;
	let keys: ApiKeys;
	let time: number;
	const isoNow = (): string => new Date(time).toISOString();

	beforeEach(async () => {
		db = openSqlite(':memory:');
		await migrate(db);
		time = Date.UTC(2026, 0, 1);
		keys = createApiKeys(createStoredKeys(db), () => time);
	});
	afterEach(() => db.destroy());

	test('F12: a new key is 32 random bytes behind a prefix of its own, and no two are the same', async () => {
		const made = [];
		for (const name of ['one', 'two', 'two']) made.push(await keys.create({ name, scopes: ['read'] }));
		for (const { key, prefix, id } of made) {
			expect(key).toMatch(/^ors_[\w-]{43}$/);
			expect(Buffer.from(key.slice(4), 'base64url')).toHaveLength(32);
			expect(prefix).toBe(key.slice(0, 10));
			expect(id).toMatch(/^key_[\da-f-]{36}$/);
			expect(isApiKey(key)).toBe(true);
		}
		expect(new Set(made.map(({ key }) => key)).size).toBe(3);
		expect(new Set(made.map(({ id }) => id)).size).toBe(3);
	});

	test('F12: what is kept of a key is its hash and ten characters, of which it cannot be made again', async () => {
		const { key } = await keys.create({ name: 'editor', scopes: ['read', 'execute'] });
		const rows = await db.selectFrom('api_keys').selectAll().execute();
		expect(JSON.stringify(rows)).not.toContain(key.slice(0, 11));
		expect(rows[0]?.hash).toBe(hash('sha256', key));
		expect(JSON.stringify([await keys.list(), await keys.find(key)])).not.toContain(key.slice(0, 11));
		expect(await keys.find(rows[0]?.hash ?? '')).toBeNull();
		expect(await keys.find(`ors_${rows[0]?.hash}`)).toBeNull();
	});

	test('F12: a key is found by all of it and nothing else', async () => {
		const { key, id } = await keys.create({ name: 'editor', scopes: ['execute'] });
		expect(await keys.find(key)).toMatchObject({ id, name: 'editor', scopes: ['execute'] });
		const wrong = [
			...['', 'ors_', key.slice(4), key.slice(0, -1), `${key}A`, key.toUpperCase(), ` ${key}`, `${key}\n`],
			...[id, "ors_' or 1=1 --", `ors_${'x'.repeat(100_000)}`, 'ors_\0', 'sk-or-v1-abc']
		];
		for (const token of wrong) expect(await keys.find(token), token.slice(0, 50)).toBeNull();
	});

	test('F12: its last use is noted, once a minute and no more', async () => {
		const { key, id, lastUsedAt } = await keys.create({ name: 'editor', scopes: ['read'] });
		const lastUse = async (): Promise<string | null | undefined> =>
			(await keys.list()).find((each) => each.id === id)?.lastUsedAt;
		expect([lastUsedAt, await lastUse()]).toEqual([null, null]);
		time += 5 * MINUTE_MS;
		const first = isoNow();
		await keys.find(key);
		expect(await lastUse()).toBe(first);
		time += MINUTE_MS - 1;
		await keys.find(key);
		expect(await lastUse()).toBe(first);
		time += 1;
		await keys.find(key);
		expect(await lastUse()).toBe(isoNow());
	});

	test('F12: a revoked key is found no more, stays in the list, and revoking it again changes nothing', async () => {
		const { key, id } = await keys.create({ name: 'editor', scopes: ['read'] });
		const other = await keys.create({ name: 'other', scopes: ['read'] });
		time += MINUTE_MS;
		const revokedAt = isoNow();
		expect(await keys.revoke(id)).toMatchObject({ id, revokedAt });
		time += MINUTE_MS;
		expect(await keys.revoke(id)).toMatchObject({ revokedAt });
		expect(await keys.find(key)).toBeNull();
		expect(await keys.find(other.key)).toMatchObject({ id: other.id });
		expect((await keys.list()).map((each) => [each.id, each.revokedAt, each.lastUsedAt !== null])).toContainEqual([
			id,
			revokedAt,
			false
		]);
	});

	test('F12: another name changes nothing else; what is not there cannot be changed', async () => {
		const { key, id, createdAt } = await keys.create({ name: 'editor', scopes: ['read', 'write'] });
		expect(await keys.rename(id, 'Éditeur 📝')).toMatchObject({ id, name: 'Éditeur 📝', createdAt });
		expect(await keys.find(key)).toMatchObject({ name: 'Éditeur 📝', scopes: ['read', 'write'] });
		for (const missing of ['', 'key_none', "' or 1=1 --", key]) {
			await expect(keys.rename(missing, 'x')).rejects.toMatchObject({ code: 'not_found', status: 404 });
			await expect(keys.revoke(missing)).rejects.toMatchObject({ code: 'not_found', status: 404 });
		}
	});
});
