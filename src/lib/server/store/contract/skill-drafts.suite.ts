/** Contract tests for drafts of skills, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredDraft } from '../skills/drafts.ts';
import type { Bench } from './fixtures.suite.ts';
import { at } from './fixtures.suite.ts';

const draft = (id: string, hour: number, changed: Partial<StoredDraft> = {}): StoredDraft => ({
	...{ id, name: 'demo', state: 'ready', revision: 1, model: null, problem: null, from: null, base: null },
	...{ replaced: [], notes: [], files: [], earlier: [], savedAs: null, createdAt: at(hour), updatedAt: at(hour) },
	...changed
});

export function testSkillDrafts(bench: () => Bench): void {
	describe('F8: drafts of skills', () => {
		beforeEach(() => bench().db.deleteFrom('skill_drafts').execute());

		test('are listed newest first, and gone once they are removed', async () => {
			const { skillDrafts } = bench().store;
			const files = [{ path: 'SKILL.md', content: '---\nname: é\u2028\n---', encoding: 'utf8' as const }];
			await skillDrafts.add(draft('a', 1, { files }));
			await skillDrafts.add(draft('b', 2));
			expect((await skillDrafts.list()).map(({ id }) => id)).toEqual(['b', 'a']);
			expect(await skillDrafts.get('a')).toEqual(draft('a', 1, { files }));
			expect(await skillDrafts.remove('a')).toBe(true);
			expect(await skillDrafts.remove('a')).toBe(false);
			expect(await skillDrafts.get('a')).toBeNull();
		});

		test('of two changes of one revision, one counts', async () => {
			const { skillDrafts } = bench().store;
			await skillDrafts.add(draft('a', 1));
			const changes = ['one', 'two'].map((name) => skillDrafts.change(draft('a', 2, { name, revision: 2 }), 1));
			expect((await Promise.all(changes)).filter(Boolean)).toHaveLength(1);
			expect((await skillDrafts.get('a'))?.revision).toBe(2);
			expect(await skillDrafts.change(draft('gone', 2), 1)).toBe(false);
		});
	});
}
