/** Contract tests for logins, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import { createLoginSessions, type LoginSessions } from '../access.ts';

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
}
