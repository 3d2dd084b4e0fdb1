/** Contract tests for logins, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import { createLoginFailures, createLoginSessions, type LoginFailures, type LoginSessions } from '../access.ts';

export function testLoginSessions(bench: () => Bench): void {
	describe('login sessions', () => {
		let sessions: LoginSessions;
		beforeEach(async () => {
			await bench().db.deleteFrom('login_sessions').execute();
			sessions = createLoginSessions(bench().db);
		});

		const hashes = async (): Promise<string[]> => {
			const rows = await bench().db.selectFrom('login_sessions').select('token_hash').orderBy('token_hash').execute();
			return rows.map(({ token_hash }) => token_hash);
		};

		test('E19: a session that nobody began is not valid', async () => {
			expect(await sessions.isValid('', at(1))).toBe(false);
			expect(await sessions.isValid('a', at(1))).toBe(false);
			await sessions.remove('a');
		});

		test('E19: a session is valid until its time is over', async () => {
			await sessions.create({ tokenHash: 'a', createdAt: at(1), expiresAt: at(10) });
			expect(await sessions.isValid('a', at(9))).toBe(true);
			expect(await sessions.isValid('a', at(10))).toBe(false);
			expect(await sessions.isValid('b', at(9))).toBe(false);
		});

		test('E19: a session that is removed is not valid any more, and the others are', async () => {
			await sessions.create({ tokenHash: 'a', createdAt: at(1), expiresAt: at(10) });
			await sessions.create({ tokenHash: 'b', createdAt: at(1), expiresAt: at(10) });
			await sessions.remove('a');
			expect(await sessions.isValid('a', at(2))).toBe(false);
			expect(await sessions.isValid('b', at(2))).toBe(true);
		});

		test('E19: sessions whose time is over are gone when the next one begins', async () => {
			await sessions.create({ tokenHash: 'a', createdAt: at(1), expiresAt: at(10) });
			await sessions.create({ tokenHash: 'b', createdAt: at(1), expiresAt: at(20) });
			await sessions.create({ tokenHash: 'c', createdAt: at(10), expiresAt: at(30) });
			expect(await hashes()).toEqual(['b', 'c']);
		});
	});

	describe('E19: wrong tokens', () => {
		let failures: LoginFailures;
		let now: number;
		beforeEach(async () => {
			await bench().db.deleteFrom('login_failures').execute();
			failures = createLoginFailures(bench().db);
			now = Date.parse(at(1));
		});
		const fail = (client: string) => failures.add(client, { perClient: 3, inAll: 5, windowMs: 60_000, now });
		const rows = () => bench().db.selectFrom('login_failures').selectAll().execute();

		test('make their client wait until a minute after the first of them, and no other', async () => {
			for (let round = 0; round < 3; round++) {
				expect(await fail('a')).toBe(0);
				now += 10_000;
			}
			expect([await fail('a'), await fail('b')]).toEqual([30_000, 0]);
			now += 29_999;
			expect(await fail('a')).toBe(1);
			now += 1;
			expect(await fail('a')).toBe(0);
		});

		test('of many clients make all of them wait, and fill nothing', async () => {
			for (const client of ['a', 'b', 'c', 'd', 'e']) expect(await fail(client)).toBe(0);
			for (let round = 0; round < 50; round++) expect(await fail(`new-${round}`)).toBe(60_000);
			expect(await rows()).toHaveLength(6);
			now += 60_000;
			expect(await fail('never-seen')).toBe(0);
			expect((await rows()).map(({ client }) => client).sort()).toEqual(['', 'never-seen']);
		});

		test('are forgotten when the right one comes', async () => {
			for (const client of ['a', 'a']) await fail(client);
			await failures.forget('a');
			for (const client of ['a', 'a']) expect(await fail(client)).toBe(0);
		});

		test('that a clock said to be of another day stand in nobody’s way', async () => {
			for (let round = 0; round < 5; round++) await fail('a');
			now -= 24 * 60 * 60_000;
			expect(await fail('a')).toBe(0);
			expect(await rows()).toHaveLength(2);
		});
	});
}
