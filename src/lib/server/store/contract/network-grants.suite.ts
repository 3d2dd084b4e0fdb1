/** Contract tests for grants of domains, run on every database. */
import { describe, expect, test } from 'vitest';
import type { Bench } from './fixtures.suite.ts';
import { at } from './fixtures.suite.ts';

export function testNetworkGrants(bench: () => Bench): void {
	describe('D35: domains that a skill may reach', () => {
		test('are none until somebody grants them, and are of that skill alone', async () => {
			const { networkGrants } = bench().store;
			expect(await networkGrants.list('project/a')).toEqual([]);
			await networkGrants.replace('project/a', ['b.example', 'a.example', 'b.example'], at(1));
			expect(await networkGrants.list('project/a')).toEqual(['a.example', 'b.example']);
			expect(await networkGrants.list('user/a')).toEqual([]);
		});

		test('are replaced as a whole; those that stay keep the time of their grant', async () => {
			const { db, store } = bench();
			const { networkGrants } = store;
			await networkGrants.replace('project/a', ['a.example', 'b.example'], at(1));
			await networkGrants.replace('project/b', ['a.example'], at(1));
			await networkGrants.replace('project/a', ['b.example', 'c.example'], at(2));
			const rows = db.selectFrom('network_grants').select(['domain', 'created_at']).where('skill_id', '=', 'project/a');
			expect(await rows.orderBy('domain').execute()).toEqual([
				{ domain: 'b.example', created_at: at(1) },
				{ domain: 'c.example', created_at: at(2) }
			]);
			await networkGrants.replace('project/a', [], at(3));
			expect(await networkGrants.list('project/a')).toEqual([]);
			expect(await networkGrants.list('project/b')).toEqual(['a.example']);
		});
	});
}
