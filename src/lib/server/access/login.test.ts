import type { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { API_SCOPES } from '../../shared/names.ts';
import { createApiKeys as createStoredKeys, createLoginFailures, createLoginSessions, type LoginSessions } from '../store/access.ts';
import { migrate } from '../store/migrations.ts';
import type { Database } from '../store/schema.ts';
import { openSqlite } from '../store/sqlite.ts';
import { createApiKeys, type ApiKeys } from './caller.ts';
import { clientAddress, createLogin, type Login } from './login.ts';

const TOKEN = 'a-token-of-this-server';
const DAY_MS = 24 * 60 * 60 * 1000;

describe('E19: a server with an ADMIN_TOKEN', () => {
	let db: Kysely<Database>;
	let sessions: LoginSessions;
	let keys: ApiKeys;
	let time: number;
	let login: Login;

	const open = (adminToken: string | null, publicOrigin: string | null = null): Login =>
		createLogin({ adminToken, publicOrigin, sessions, failures: createLoginFailures(db), keys, now: () => time });
	const check = (given: { authorization?: string; session?: string; client?: string }): Promise<string> =>
		login
			.check({
				authorization: given.authorization ?? null,
				session: given.session,
				client: given.client ?? '10.0.0.1'
			})
			.then(
				() => 'welcome',
				(error: { code: string }) => error.code
			);

	beforeEach(async () => {
		db = openSqlite(':memory:');
		await migrate(db);
		sessions = createLoginSessions(db);
		keys = createApiKeys(createStoredKeys(db), () => time);
		time = Date.UTC(2026, 0, 1);
		login = open(TOKEN);
	});
	afterEach(() => db.destroy());

	test('lets nobody in who proves nothing, or the wrong thing', async () => {
		for (const authorization of [
			'',
			'Bearer',
			'Bearer ',
			`Basic ${btoa(`admin:${TOKEN}`)}`,
			TOKEN,
			`Bearer${TOKEN}`,
			`Bearer ${TOKEN} ${TOKEN}`,
			`Token ${TOKEN}`,
			`x Bearer ${TOKEN}`,
			`Bearer ${TOKEN}\tx`
		]) {
			expect(await check({ authorization }), authorization).toBe('unauthorized');
		}
		for (const wrong of [`${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase(), 'undefined', 'null']) {
			expect(await check({ authorization: `Bearer ${wrong}`, client: wrong }), wrong).toBe('unauthorized');
		}
		for (const session of ['', TOKEN, 'x'.repeat(100_000), "' or 1=1 --"]) {
			expect(await check({ session })).toBe('unauthorized');
		}
	});

	test('counts wrong tokens of all servers together, at once as well, and after a restart; the right one costs nothing more', async () => {
		const servers = [open(TOKEN), open(TOKEN), open(TOKEN)];
		const tries = await Promise.all(
			Array.from({ length: 30 }, async (_, index) => {
				login = servers[index % 3]!;
				return check({ authorization: 'Bearer wrong' });
			})
		);
		expect(tries.filter((answer) => answer === 'unauthorized')).toHaveLength(10);
		login = open(TOKEN);
		expect(await check({ authorization: 'Bearer wrong' })).toBe('rate_limited');
		const kept = JSON.stringify(await db.selectFrom('login_failures').selectAll().execute());
		expect(kept).not.toContain('10.0.0.1');
		// What failed elsewhere is forgotten by logging in.
		await login.logIn(TOKEN, '10.0.0.1');
		expect(await check({ authorization: 'Bearer wrong' })).toBe('unauthorized');
		const statements: string[] = [];
		const failures = createLoginFailures(db.withPlugin({
			transformQuery: ({ node }) => (statements.push(node.kind), node),
			transformResult: async ({ result }) => result
		}));
		const other = createLogin({ adminToken: TOKEN, publicOrigin: null, sessions, failures, keys });
		await other.check({ authorization: `Bearer ${TOKEN}`, session: undefined, client: '10.0.0.9' });
		expect(statements).toEqual([]);
	});

	test('goes on counting after the clock was set back', async () => {
		time += 10 * DAY_MS;
		for (let count = 0; count < 10; count += 1) await check({ authorization: 'Bearer wrong' });
		expect(await check({ authorization: 'Bearer wrong' })).toBe('rate_limited');
		time -= 10 * DAY_MS;
		for (let count = 0; count < 10; count += 1) {
			expect(await check({ authorization: 'Bearer wrong' })).toBe('unauthorized');
		}
		expect(await check({ authorization: 'Bearer wrong' })).toBe('rate_limited');
	});

	test('knows its token from a program', async () => {
		expect(await check({ authorization: `Bearer ${TOKEN}` })).toBe('welcome');
		expect(await check({ authorization: `bearer  ${TOKEN} ` })).toBe('welcome');
	});

	test('knows a browser that has logged in for 30 days, and not after it has logged out', async () => {
		const first = await login.logIn(TOKEN, '10.0.0.1');
		const second = await login.logIn(TOKEN, '10.0.0.1');
		expect(first).not.toBe(second);
		expect(Buffer.from(first, 'base64url')).toHaveLength(32);
		time += 30 * DAY_MS - 1;
		expect(await check({ session: first })).toBe('welcome');
		await login.logOut(first);
		expect([await check({ session: first }), await check({ session: second })]).toEqual(['unauthorized', 'welcome']);
		time += 1;
		expect(await check({ session: second })).toBe('unauthorized');
	});

	test('keeps no session that a copy of the database could be used with', async () => {
		const session = await login.logIn(TOKEN, '10.0.0.1');
		const kept = JSON.stringify(await db.selectFrom('login_sessions').selectAll().execute());
		expect(kept).not.toContain(session);
		const [row] = await db.selectFrom('login_sessions').selectAll().execute();
		expect(row?.token_hash).toMatch(/^[\da-f]{64}$/);
		expect(await check({ session: row?.token_hash ?? '' })).toBe('unauthorized');
	});

	test('ends all sessions by being given another token', async () => {
		const session = await login.logIn(TOKEN, '10.0.0.1');
		login = open('another-token-of-it');
		expect(await check({ session })).toBe('unauthorized');
	});

	test('tells a client to wait after ten wrong tokens, and lets the right one in all the same', async () => {
		const session = await login.logIn(TOKEN, '10.0.0.1');
		for (let round = 0; round < 5; round++) {
			expect(await check({ authorization: 'Bearer wrong' })).toBe('unauthorized');
			await expect(login.logIn('wrong', '10.0.0.1')).rejects.toMatchObject({ code: 'unauthorized' });
		}
		expect(await check({ authorization: 'Bearer wrong' })).toBe('rate_limited');
		await expect(login.logIn('wrong', '10.0.0.1')).rejects.toMatchObject({
			code: 'rate_limited',
			status: 429,
			details: { retryAfterSeconds: 60 }
		});
		expect(await check({ session })).toBe('welcome');
		expect(await check({ authorization: 'Bearer wrong', client: '10.0.0.2' })).toBe('unauthorized');
		expect(await check({ authorization: `Bearer ${TOKEN}` })).toBe('welcome');
		// A client with the right token just made mistakes, so its count starts over.
		expect(await check({ authorization: 'Bearer wrong' })).toBe('unauthorized');
		time += 60_000;
		expect(await check({ authorization: 'Bearer wrong' })).toBe('unauthorized');
	});

	test('tells all to wait after a hundred wrong tokens from anywhere, and lets the right one in all the same', async () => {
		for (let round = 0; round < 100; round++) {
			expect(await check({ authorization: 'Bearer wrong', client: `10.0.1.${round}` })).toBe('unauthorized');
		}
		expect(await check({ authorization: 'Bearer wrong', client: '10.0.2.1' })).toBe('rate_limited');
		expect(await check({ authorization: `Bearer ${TOKEN}`, client: '10.0.2.1' })).toBe('welcome');
		expect(await login.logIn(TOKEN, '10.0.2.1')).toMatch(/./);
	});

	test('sets a cookie that scripts and other sites never see, and with TLS for this host alone', () => {
		const always = { path: '/', httpOnly: true, sameSite: 'strict', maxAge: (30 * DAY_MS) / 1000 };
		expect(login.cookie).toEqual({ name: 'openrouter-skills-session', options: { ...always, secure: false } });
		expect(open(TOKEN, 'http://chat.example').cookie.options.secure).toBe(false);
		expect(open(TOKEN, 'https://chat.example').cookie).toEqual({
			name: '__Host-openrouter-skills-session',
			options: { ...always, secure: true }
		});
	});

	test('says its token in none of its errors', async () => {
		const texts = [];
		for (let round = 0; round < 12; round++) {
			const error: unknown = await login.logIn(`${TOKEN}x`, '10.0.0.1').catch((caught: unknown) => caught);
			texts.push(JSON.stringify(error), String((error as Error).stack));
		}
		expect(texts.join()).not.toContain(TOKEN);
	});

	test('says what was wrong, and what to do', async () => {
		expect(open(TOKEN).isNeeded).toBe(true);
		await expect(login.logIn('wrong', '10.0.0.1')).rejects.toMatchObject({
			message: 'Wrong token.',
			hint: 'Enter the ADMIN_TOKEN that the server was started with.'
		});
		await expect(login.check({ authorization: null, session: undefined, client: 'x' })).rejects.toMatchObject({
			message: 'You need to log in.',
			hint: 'Log in at /login. A program sends “Authorization: Bearer <key>”, with a key from the page “Other programs”.'
		});
	});

	test('logging out without a session is fine', async () => {
		await expect(login.logOut(undefined)).resolves.toBeUndefined();
	});

	test('is open without one, and then no token is right', async () => {
		login = open(null);
		expect(login.isNeeded).toBe(false);
		expect(await check({})).toBe('welcome');
		for (const token of ['', 'null']) {
			await expect(login.logIn(token, '10.0.0.1')).rejects.toMatchObject({ code: 'unauthorized' });
		}
	});
});

describe('F12: keys beside ADMIN_TOKEN', () => {
	let db: Kysely<Database>;
	let keys: ApiKeys;
	let time: number;

	const open = (adminToken: string | null): Login =>
		createLogin({
			...{ adminToken, publicOrigin: null, keys, now: () => time },
			...{ sessions: createLoginSessions(db), failures: createLoginFailures(db) }
		});
	const bearer = (login: Login, token: string, client = '10.0.0.1') =>
		login.check({ authorization: `Bearer ${token}`, session: undefined, client });
	const codeOf = (checked: Promise<unknown>): Promise<unknown> =>
		checked.catch((error: { code: string }) => error.code);

	beforeEach(async () => {
		db = openSqlite(':memory:');
		await migrate(db);
		keys = createApiKeys(createStoredKeys(db));
		time = 0;
	});
	afterEach(() => db.destroy());

	test('F12: a key is known by its id and scopes, the token as whoever manages the server', async () => {
		const { id, key } = await keys.create({ name: 'editor', scopes: ['read', 'execute'] });
		const login = open(TOKEN);
		expect(await bearer(login, key)).toEqual({ apiKeyId: id, scopes: ['read', 'execute'] });
		expect(await bearer(login, TOKEN)).toEqual({ apiKeyId: null, scopes: API_SCOPES });
		expect(await codeOf(login.logIn(key, '10.0.0.1'))).toBe('unauthorized');
	});

	test('F12: a key counts even where nobody must log in, and a session beside it does not', async () => {
		const { id, key } = await keys.create({ name: 'editor', scopes: ['read'] });
		expect(await bearer(open(null), key)).toMatchObject({ apiKeyId: id });
		const login = open(TOKEN);
		const session = await login.logIn(TOKEN, '10.0.0.1');
		const both = { authorization: `Bearer ${key}`, session, client: '10.0.0.1' };
		expect(await login.check(both)).toEqual({ apiKeyId: id, scopes: ['read'] });
		await keys.revoke(id);
		expect(await codeOf(login.check(both))).toBe('unauthorized');
	});

	test('F12: a wrong or revoked key is refused, even where nobody must log in', async () => {
		const { id, key } = await keys.create({ name: 'editor', scopes: ['read'] });
		await keys.revoke(id);
		for (const login of [open(TOKEN), open(null)]) {
			for (const token of [key, 'ors_', 'ors_wrong', `${key}x`]) {
				const client = `10.1.${token.length}.1`;
				await expect(bearer(login, token, client)).rejects.toMatchObject({
					code: 'unauthorized',
					message: 'This API key is unknown or was revoked.'
				});
			}
		}
	});

	test('F12: wrong keys count with wrong tokens, and lock out neither a right key nor the token', async () => {
		const { key } = await keys.create({ name: 'editor', scopes: ['read'] });
		const login = open(TOKEN);
		for (let round = 0; round < 5; round++) {
			expect(await codeOf(bearer(login, `ors_wrong${round}`))).toBe('unauthorized');
			expect(await codeOf(bearer(login, `wrong${round}`))).toBe('unauthorized');
		}
		expect(await codeOf(bearer(login, 'ors_wrong'))).toBe('rate_limited');
		expect(await codeOf(bearer(login, 'wrong'))).toBe('rate_limited');
		expect(await bearer(login, key)).toMatchObject({ scopes: ['read'] });
		// A valid key doesn't reset the count of wrong tokens: its owner may be the one guessing.
		expect(await codeOf(bearer(login, 'wrong'))).toBe('rate_limited');
		expect(await bearer(login, TOKEN)).toMatchObject({ apiKeyId: null });
	});

	test('F12: after a hundred wrong keys from anywhere right keys and sessions go on', async () => {
		const { key } = await keys.create({ name: 'editor', scopes: ['read'] });
		const login = open(TOKEN);
		const session = await login.logIn(TOKEN, '10.0.0.1');
		for (let round = 0; round < 100; round++) {
			expect(await codeOf(bearer(login, 'ors_wrong', `10.0.1.${round}`))).toBe('unauthorized');
		}
		expect(await codeOf(bearer(login, 'ors_wrong', '10.0.2.1'))).toBe('rate_limited');
		expect(await bearer(login, key, '10.0.2.1')).toMatchObject({ scopes: ['read'] });
		expect(await login.check({ authorization: null, session, client: '10.0.2.1' })).toMatchObject({ apiKeyId: null });
	});

	test('F12: an error says nothing of the key that was sent', async () => {
		const { key, id } = await keys.create({ name: 'editor', scopes: ['read'] });
		await keys.revoke(id);
		const error: unknown = await bearer(open(null), key).catch((caught: unknown) => caught);
		expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(key.slice(0, 10));
	});
});

test('SECURITY The server: X-Forwarded-For counts behind a proxy of ours only, and of it what that proxy wrote', () => {
	expect(clientAddress('10.0.0.1', '1.1.1.1', false)).toBe('10.0.0.1');
	expect(clientAddress('10.0.0.1', 'made-up, 1.1.1.1 , 2.2.2.2', true)).toBe('2.2.2.2');
	for (const nothing of [null, '', ' ', 'x, ']) expect(clientAddress('10.0.0.1', nothing, true)).toBe('10.0.0.1');
	expect(clientAddress('10.0.0.1', 'x'.repeat(10_000), true)).toHaveLength(100);
});
