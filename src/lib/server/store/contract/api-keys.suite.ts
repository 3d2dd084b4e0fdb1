/** Contract tests for keys, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createApiKeys, type ApiKeys } from '../access.ts';
import { at, type Bench } from './fixtures.suite.ts';

export function testApiKeys(bench: () => Bench): void {
	describe('API keys', () => {
		let keys: ApiKeys;
		beforeEach(async () => {
			await bench().db.deleteFrom('api_keys').execute();
			keys = createApiKeys(bench().db);
		});
		const create = (id: string, second: number) =>
			keys.create({
				id,
				name: `for ${id}`,
				prefix: 'ors_ab',
				scopes: ['read', 'execute'],
				hash: `h-${id}`,
				createdAt: at(second)
			});

		test('F12: a key is found by its hash, with its scopes, and never used until it is', async () => {
			await create('a', 1);
			expect(await keys.findByHash('h-a')).toEqual({
				id: 'a',
				name: 'for a',
				prefix: 'ors_ab',
				scopes: ['read', 'execute'],
				createdAt: at(1),
				lastUsedAt: null,
				revokedAt: null
			});
			expect(await keys.findByHash('a')).toBeNull();
			await keys.touch('a', at(5));
			expect(await keys.get('a')).toMatchObject({ lastUsedAt: at(5) });
		});

		test('F12: a revoked key is listed and not found by its hash; its time stays', async () => {
			await create('a', 1);
			await create('b', 2);
			expect(await keys.revoke('a', at(3))).toBe(true);
			expect(await keys.revoke('a', at(9))).toBe(true);
			expect(await keys.revoke('c', at(9))).toBe(false);
			expect(await keys.findByHash('h-a')).toBeNull();
			expect((await keys.list()).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
				['b', null],
				['a', at(3)]
			]);
		});

		test('F12: a key is renamed, and a hash is in the table once', async () => {
			await create('a', 1);
			expect(await keys.rename('a', 'other')).toBe(true);
			expect(await keys.rename('b', 'other')).toBe(false);
			expect(await keys.get('a')).toMatchObject({ name: 'other' });
			await expect(
				keys.create({ id: 'z', name: 'z', prefix: 'p', scopes: ['read'], hash: 'h-a', createdAt: at(2) })
			).rejects.toThrow();
		});
	});
}
