/** Contract tests for runs of evals, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { EvalRun } from '../../../shared/try-out.ts';
import type { EvalRuns } from '../skills/skill-executions.ts';
import { at, type Bench } from './fixtures.suite.ts';

const run = (id: string, part: Partial<EvalRun> = {}): EvalRun => ({
	id,
	skillId: 'local/demo',
	version: '1.0.0',
	model: 'm/x',
	state: 'running',
	progress: { done: 0, total: 2 },
	results: [{ id: '1', prompt: '“Hi” \0', expected: null, withSkill: [], withoutSkill: [] }],
	passRate: { withSkill: null, withoutSkill: null },
	error: null,
	startedAt: at(1),
	finishedAt: null,
	...part
});

export function testEvalRuns(bench: () => Bench): void {
	describe('F16: runs of evals', () => {
		let evalRuns: EvalRuns;
		beforeEach(async () => {
			await bench().db.deleteFrom('eval_runs').execute();
			evalRuns = bench().store.evalRuns;
		});

		test('one that does not exist is null; what it has become replaces what it was', async () => {
			expect(await evalRuns.get('ghost')).toBeNull();
			await evalRuns.put(run('r1'));
			expect(await evalRuns.get('r1')).toEqual(run('r1'));
			const done = run('r1', { state: 'done', progress: { done: 2, total: 2 }, finishedAt: at(3) });
			await evalRuns.put(done);
			expect(await evalRuns.list('local/demo', 10)).toEqual([done]);
		});

		test('the newest of a skill comes first, as many as were asked for', async () => {
			for (const [id, minute] of [
				['r1', 1],
				['r3', 3],
				['r2', 2]
			] as const) {
				await evalRuns.put(run(id, { startedAt: at(minute) }));
			}
			await evalRuns.put(run('o1', { skillId: 'other/demo', startedAt: at(9) }));
			expect((await evalRuns.list('local/demo', 2)).map(({ id }) => id)).toEqual(['r3', 'r2']);
			expect(await evalRuns.list('local/ghost', 2)).toEqual([]);
			await evalRuns.removeOlder('local/demo', 2);
			expect((await evalRuns.list('local/demo', 9)).map(({ id }) => id)).toEqual(['r3', 'r2']);
			expect(await evalRuns.list('other/demo', 9)).toHaveLength(1);
		});

		test('what an earlier server left running has failed, with its answers so far; what ended is left alone', async () => {
			const half = run('r1', { progress: { done: 1, total: 2 } });
			const done = run('r2', { state: 'done', finishedAt: at(2) });
			for (const one of [half, done]) await evalRuns.put(one);
			expect(await evalRuns.endUnfinished('The server was stopped.', at(5))).toBe(1);
			const error = 'The server was stopped.';
			expect(await evalRuns.get('r1')).toEqual({ ...half, state: 'failed', error, finishedAt: at(5) });
			expect(await evalRuns.get('r2')).toEqual(done);
			expect(await evalRuns.endUnfinished('Again.', at(6))).toBe(0);
		});
	});
}
