/** Contract tests for skills' encrypted variables, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import type { Secrets } from '../access.ts';

export function testSecrets(bench: () => Bench): void {
	describe('secrets', () => {
		let secrets: Secrets;
		const secret = (name: string, ciphertext = 'Y2lwaGVy') => ({ name, iv: 'aXY=', tag: 'dGFn', ciphertext });

		beforeEach(async () => {
			secrets = bench().store.secrets;
			await bench().db.deleteFrom('secrets').execute();
		});

		test('F3: are listed by name, for their skill alone', async () => {
			await secrets.put('local/one', secret('B_KEY'), at(1));
			await secrets.put('local/one', secret('A_KEY'), at(2));
			await secrets.put('local/two', secret('C_KEY'), at(3));
			expect(await secrets.list('local/one')).toEqual([secret('A_KEY'), secret('B_KEY')]);
			expect(await secrets.list('local/on')).toEqual([]);
		});

		test('F3: a new value takes the place of the old one', async () => {
			await secrets.put('local/one', secret('KEY', 'b2xk'), at(1));
			await secrets.put('local/one', secret('KEY', 'bmV3'), at(2));
			expect(await secrets.list('local/one')).toEqual([secret('KEY', 'bmV3')]);
			expect(await bench().db.selectFrom('secrets').select('updated_at').execute()).toEqual([{ updated_at: at(2) }]);
		});

		test('F3: one is removed, once, and no other', async () => {
			await secrets.put('local/one', secret('KEY'), at(1));
			await secrets.put('local/two', secret('KEY'), at(1));
			expect(await secrets.remove('local/one', 'NONE')).toBe(false);
			expect(await secrets.remove('local/one', 'KEY')).toBe(true);
			expect(await secrets.remove('local/one', 'KEY')).toBe(false);
			expect(await secrets.list('local/one')).toEqual([]);
			expect(await secrets.list('local/two')).toHaveLength(1);
		});
	});
}
