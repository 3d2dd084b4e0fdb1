/** Contract tests for pinned versions, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Bench } from './fixtures.suite.ts';
import { at } from './fixtures.suite.ts';

export function testSkillPins(bench: () => Bench): void {
	describe('A38: pinned versions', () => {
		beforeEach(() => bench().db.deleteFrom('skill_pins').execute());

		test('the last choice counts; null takes it back, also where there is none', async () => {
			const { skillPins } = bench().store;
			await skillPins.set('installed/demo', null, at(1));
			expect(await skillPins.list()).toEqual(new Map());
			await skillPins.set('installed/demo', '1.0.0', at(2));
			await skillPins.set('installed/other', '2.0.0-beta.1+build', at(2));
			await skillPins.set('installed/demo', '0.9.0', at(3));
			expect(await skillPins.list()).toEqual(
				new Map([
					['installed/demo', '0.9.0'],
					['installed/other', '2.0.0-beta.1+build']
				])
			);
			await skillPins.set('installed/demo', null, at(4));
			expect([...(await skillPins.list()).keys()]).toEqual(['installed/other']);
		});
	});
}
