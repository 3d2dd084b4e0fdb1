/** Contract tests for runs of evals, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { EvalAnswer, EvalRun } from '../../../shared/try-out.ts';
import type { EvalRuns } from '../skills/eval-runs.ts';
import { at, type Bench } from './fixtures.suite.ts';

const NOTHING = { answers: 0, failed: 0, met: 0, judged: 0, passRate: null, costUsd: null, trigger: null };
const figures = { ...NOTHING, tokens: null, durationMs: null, steps: null };
const side = { id: '1', kind: 'with' as const, version: '1.0.0', digest: 'abc', model: 'm/x', figures };

export const evalRun = (id: string, part: Partial<EvalRun> = {}): EvalRun => ({
	id,
	skillId: 'local/demo',
	version: '1.0.0',
	kind: 'answers',
	state: 'running',
	rounds: 1,
	maxCostUsd: null,
	isFresh: false,
	progress: { done: 0, total: 2 },
	sides: [side],
	results: [{ id: '1', prompt: '“Hi” \0', expected: null, shouldTrigger: null, answers: [] }],
	costUsd: null,
	error: null,
	startedAt: at(1),
	finishedAt: null,
	...part
});
export const answerOf = (round: number, text: string): EvalAnswer => ({
	...{ side: '1', round, status: 'success', text, loaded: ['demo'], calls: [], files: [], steps: 1, durationMs: 5 },
	...{ tokens: null, costUsd: null, isCached: false, error: null, expectations: [] }
});
const summaryOf = ({ results: _, ...summary }: EvalRun) => summary;

export function testEvalRuns(bench: () => Bench): void {
	describe('F16: runs of evals', () => {
		let evalRuns: EvalRuns;
		beforeEach(async () => {
			for (const table of ['eval_runs', 'eval_answers'] as const) await bench().db.deleteFrom(table).execute();
			evalRuns = bench().store.evalRuns;
		});

		test('one that does not exist is null; what it has become replaces what it was', async () => {
			expect(await evalRuns.get('ghost')).toBeNull();
			await evalRuns.put(evalRun('r1'));
			expect(await evalRuns.get('r1')).toEqual(evalRun('r1'));
			const done = evalRun('r1', { state: 'done', progress: { done: 2, total: 2 }, finishedAt: at(3) });
			await evalRuns.put(done);
			expect(await evalRuns.list('local/demo', 10)).toEqual([summaryOf(done)]);
		});

		test('one that is put whole has its answers, which no other run uses; half of it is nothing', async () => {
			const results = [{ ...evalRun('w').results[0], id: '1', prompt: 'Hi', expected: null, shouldTrigger: null }];
			const whole = evalRun('w', {
				...{ state: 'done', importedFrom: 'benchmark.json' },
				results: results.map((each) => ({ ...each, answers: [answerOf(1, 'a'), answerOf(2, 'b')] }))
			});
			await Promise.all([evalRuns.putWhole(whole, at(2)), evalRuns.putWhole(whole, at(2))]);
			expect(await evalRuns.get('w')).toEqual(whole);
			expect(await evalRuns.list('local/demo', 9)).toEqual([summaryOf(whole)]);
			expect(await bench().db.selectFrom('eval_answers').select('key').distinct().execute()).toEqual([{ key: null }]);
			const twice = {
				...whole,
				id: 'v',
				results: results.map((each) => ({ ...each, answers: [answerOf(1, 'a'), answerOf(1, 'a')] }))
			};
			await expect(evalRuns.putWhole(twice, at(2))).rejects.toThrow();
			expect(await evalRuns.get('v')).toBeNull();
		});

		test('the newest of a skill comes first, as many as were asked for', async () => {
			for (const [id, minute] of [
				['r1', 1],
				['r3', 3],
				['r2', 2]
			] as const) {
				await evalRuns.put(evalRun(id, { startedAt: at(minute) }));
			}
			await evalRuns.put(evalRun('o1', { skillId: 'other/demo', startedAt: at(9) }));
			expect((await evalRuns.list('local/demo', 2)).map(({ id }) => id)).toEqual(['r3', 'r2']);
			expect(await evalRuns.list('local/ghost', 2)).toEqual([]);
			await evalRuns.removeOlder('local/demo', 2);
			expect((await evalRuns.list('local/demo', 9)).map(({ id }) => id)).toEqual(['r3', 'r2']);
			expect(await evalRuns.list('other/demo', 9)).toHaveLength(1);
		});

		test('its answers come one by one, one in the place of another; they are found by what they answer, and go with it', async () => {
			const [first, second] = [answerOf(1, '“A” \0'), answerOf(2, 'B')];
			const given = { caseId: '1', now: at(1) };
			const half = evalRun('r1', { progress: { done: 1, total: 2 } });
			await evalRuns.putAnswer(half, { ...given, answer: second, key: 'k2' });
			await evalRuns.putAnswer(half, { ...given, answer: { ...first, status: 'failed' }, key: null });
			await evalRuns.putAnswer(half, { ...given, answer: first, key: 'k1', now: at(2) });
			const result = { ...half.results[0], answers: [first, second] };
			expect(await evalRuns.get('r1')).toEqual({ ...half, results: [result] });
			expect(await evalRuns.findAnswer('k1')).toEqual(first);
			expect(await evalRuns.findAnswer('k3')).toBeNull();
			await evalRuns.putAnswer(evalRun('r2', { startedAt: at(4) }), {
				...given,
				answer: second,
				key: 'k1',
				now: at(4)
			});
			expect(await evalRuns.findAnswer('k1')).toEqual(second);
			await evalRuns.removeOlder('local/demo', 1);
			expect(await evalRuns.findAnswer('k2')).toBeNull();
			expect(await evalRuns.get('r2')).toMatchObject({ results: [{ answers: [second] }] });
		});

		test('what an earlier server left running has failed, with its answers so far; what ended is left alone', async () => {
			const half = evalRun('r1', { progress: { done: 1, total: 2 } });
			const done = evalRun('r2', { state: 'done', finishedAt: at(2) });
			for (const one of [half, done]) await evalRuns.put(one);
			expect(await evalRuns.endUnfinished('The server was stopped.', at(5))).toBe(1);
			const error = 'The server was stopped.';
			expect(await evalRuns.get('r1')).toEqual({ ...half, state: 'failed', error, finishedAt: at(5) });
			expect(await evalRuns.get('r2')).toEqual(done);
			expect(await evalRuns.endUnfinished('Again.', at(6))).toBe(0);
		});
	});
}
