/** Contract tests for the trash, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import type { SkillTrash, TrashRecord } from '../skills/installs.ts';

const record = (id: string, part: Partial<TrashRecord> = {}): TrashRecord => ({
	id,
	skillId: 'local/demo',
	name: 'demo',
	version: null,
	path: '/skills/demo',
	stored: `/data/trash/${id}`,
	installId: null,
	removedAt: at(1),
	...part
});

export function testSkillTrash(bench: () => Bench): void {
	describe('E4: the trash', () => {
		let trash: SkillTrash;
		beforeEach(async () => {
			await bench().db.deleteFrom('skill_trash').execute();
			trash = bench().store.skillTrash;
		});

		test('what is not in it is null, and nothing to remove', async () => {
			expect(await trash.get('ghost')).toBeNull();
			expect(await trash.remove('ghost')).toBe(false);
			expect(await trash.list()).toEqual([]);
		});

		test('a skill comes back as it was, installed or not; an id is taken once', async () => {
			const installed = record('t2', { version: '1.2.3', installId: 'i1' });
			await trash.add(record('t1'));
			await trash.add(installed);
			expect(await trash.get('t1')).toEqual(record('t1'));
			expect(await trash.get('t2')).toEqual(installed);
			await expect(trash.add(record('t1', { name: 'other' }))).rejects.toThrow();
			expect(await trash.get('t1')).toEqual(record('t1'));
		});

		test('what was removed last comes first; what is restored is in it no longer, and only once', async () => {
			for (const [id, minute] of [
				['a', 1],
				['b', 3],
				['c', 2]
			] as const) {
				await trash.add(record(id, { removedAt: at(minute) }));
			}
			expect((await trash.list()).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
			const removed = await Promise.all([trash.remove('b'), trash.remove('b')]);
			expect(removed.sort()).toEqual([false, true]);
			expect((await trash.list()).map(({ id }) => id)).toEqual(['c', 'a']);
		});
	});
}
