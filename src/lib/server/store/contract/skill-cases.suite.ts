/** Contract tests for kept cases, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { SkillCase } from '../../../shared/try-out.ts';
import { at, type Bench } from './fixtures.suite.ts';
import type { SkillCases } from '../skills/skill-executions.ts';

const entry = (id: string, part: Partial<SkillCase> = {}): Omit<SkillCase, 'lastRun'> => ({
	id,
	skillId: 'local/demo',
	title: 'It says “hi” \0',
	script: 'scripts/say.sh',
	args: ['a', '\ud800', ''],
	tool: null,
	input: null,
	files: ['data/in.csv'],
	expect: { exitCode: 0, contains: ['hi'] },
	createdAt: at(1),
	...part
});

export function testSkillCases(bench: () => Bench): void {
	describe('F6: cases that are kept', () => {
		let cases: SkillCases;
		beforeEach(async () => {
			await bench().db.deleteFrom('skill_cases').execute();
			cases = bench().store.skillCases;
		});

		test('one that does not exist is null, and nothing to remove or to note a run of', async () => {
			expect(await cases.get('ghost')).toBeNull();
			expect(await cases.remove('ghost')).toBe(false);
			await cases.setLastRun('ghost', { isPassed: true, failures: [], executionId: 'e1', at: at(1) });
			expect(await cases.list('local/demo')).toEqual([]);
		});

		test('comes back as it was, odd characters included, without a run and then with its last', async () => {
			await cases.add(entry('c1'));
			expect(await cases.get('c1')).toEqual({ ...entry('c1'), lastRun: null });
			await cases.setLastRun('c1', { isPassed: false, failures: ['no'], executionId: 'e1', at: at(2) });
			const lastRun = { isPassed: true, failures: [], executionId: 'e2', at: at(3) };
			await cases.setLastRun('c1', lastRun);
			expect(await cases.get('c1')).toEqual({ ...entry('c1'), lastRun });
			await expect(cases.add(entry('c1', { title: 'other' }))).rejects.toThrow();
		});

		test('the oldest of a skill comes first, those of others not at all', async () => {
			const tool = { script: null, args: [], tool: 'add', input: { a: 1, deep: { list: [null] } } };
			await cases.add(entry('c2', { createdAt: at(2), ...tool }));
			await cases.add(entry('c1'));
			await cases.add(entry('o1', { skillId: 'other/demo' }));
			expect(await cases.list('local/demo')).toEqual([
				{ ...entry('c1'), lastRun: null },
				{ ...entry('c2', { createdAt: at(2), ...tool }), lastRun: null }
			]);
			expect(await cases.remove('c1')).toBe(true);
			expect((await cases.list('local/demo')).map(({ id }) => id)).toEqual(['c2']);
		});
	});
}
