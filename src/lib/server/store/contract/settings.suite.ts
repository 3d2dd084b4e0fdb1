/** Contract tests for settings, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Bench } from './fixtures.suite.ts';
import { at } from './fixtures.suite.ts';

export function testSettings(bench: () => Bench): void {
	describe('settings', () => {
		beforeEach(() => bench().db.deleteFrom('settings').execute());

		test('E11: a value of any shape comes back, the last one counts, undefined removes it', async () => {
			const { settings } = bench().store;
			expect(await settings.list()).toEqual(new Map());
			await settings.set({ enabled: false, provider: 'skillssh', deep: { list: [1, null, '“\0”'] } }, at(1));
			await settings.set({ enabled: true, provider: undefined, ghost: undefined, nothing: null }, at(2));
			expect(await settings.list()).toEqual(
				new Map<string, unknown>([
					['enabled', true],
					['deep', { list: [1, null, '“\0”'] }],
					['nothing', null]
				])
			);
		});

		test('where one fails, none is changed', async () => {
			const { settings } = bench().store;
			await settings.set({ enabled: true }, at(1));
			const circle: Record<string, unknown> = {};
			circle['self'] = circle;
			await expect(settings.set({ enabled: false, circle }, at(2))).rejects.toThrow();
			expect(await settings.list()).toEqual(new Map([['enabled', true]]));
		});
	});
}
