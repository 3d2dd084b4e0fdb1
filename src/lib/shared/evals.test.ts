import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { figuresOf, triggerWords, wilson } from './evals.ts';
import type { EvalAnswer } from './try-out.ts';

const answer = (more: Partial<EvalAnswer> = {}): EvalAnswer => ({
	...{ side: '1', round: 1, status: 'success', text: '', loaded: [], calls: [], files: [], steps: 2, durationMs: 100 },
	...{ tokens: 10, costUsd: 0.5, isCached: false, error: null, expectations: [] },
	...more
});
const told = (...verdicts: (boolean | null)[]) => verdicts.map((isMet) => ({ text: 'x', isMet, reason: '' }));
const result = (answers: EvalAnswer[], shouldTrigger: boolean | null = null) => ({ answers, shouldTrigger });

describe('F16: figures of a side', () => {
	test('what could be judged counts; what failed, was stopped or is another side’s doesn’t', () => {
		const answers = [
			answer({ expectations: told(true, false, null), tokens: 30, costUsd: null }),
			answer({ expectations: told(true) }),
			answer({ status: 'failed', expectations: told(null), steps: 9 }),
			answer({ status: 'cancelled', expectations: told(null) }),
			answer({ side: '2', expectations: told(false) })
		];
		expect(figuresOf([result(answers)], '1', 'demo')).toEqual({
			...{ answers: 3, failed: 1, met: 2, judged: 3, costUsd: 0.5, tokens: 20, durationMs: 100, steps: 2 },
			...{ passRate: { value: 2 / 3, low: expect.any(Number), high: expect.any(Number) }, trigger: null }
		});
	});

	test('nothing to judge is no rate', () => {
		expect(figuresOf([result([answer()])], '1', 'demo')).toMatchObject({ passRate: null, judged: 0 });
		expect(figuresOf([], '1', 'demo')).toMatchObject({ answers: 0, tokens: null, costUsd: null });
	});

	test('Wilson’s interval is that of the tables, and always holds the share', () => {
		expect(wilson(0.8, 10)).toEqual({ low: expect.closeTo(0.4902, 3), high: expect.closeTo(0.9433, 3) });
		expect(wilson(1, 1)).toEqual({ low: expect.closeTo(0.2065, 3), high: 1 });
		const share = fc.double({ min: 0, max: 1, noNaN: true });
		fc.assert(
			fc.property(share, fc.integer({ min: 1, max: 10_000 }), (value, count) => {
				const { low, high } = wilson(value, count);
				return low >= 0 && high <= 1 && low <= value + 1e-9 && high >= value - 1e-9;
			})
		);
	});

	test('precision, recall, and which skill took it instead', () => {
		const results = [
			result([answer({ loaded: ['demo'] }), answer({ loaded: ['other', 'third'] })], true),
			result([answer({ loaded: [] }), answer({ loaded: ['other'] })], true),
			result([answer({ loaded: ['demo'] }), answer({ loaded: ['third'] }), answer({ status: 'failed' })], false)
		];
		expect(figuresOf(results, '1', 'demo').trigger).toEqual({
			...{ precision: 1 / 2, recall: 1 / 4 },
			counts: { should: { answers: 4, loaded: 1 }, shouldNot: { answers: 2, loaded: 1 } },
			takenBy: [{ skill: 'other', count: 2 }]
		});
		expect(figuresOf([result([answer()], false)], '1', 'demo').trigger).toMatchObject({
			precision: null,
			recall: null
		});
	});

	test('in plain words are how often it was right; what wasn’t asked isn’t told', () => {
		const of = (...asked: [loaded: boolean, should: boolean][]) => {
			const results = asked.map(([loaded, should]) => result([answer({ loaded: loaded ? ['demo'] : [] })], should));
			return triggerWords(figuresOf(results, '1', 'demo').trigger).map(({ label, value }) => `${label}: ${value}`);
		};
		const [should, shouldNot] = ['Used when it should be', 'Left alone when it should be'];
		expect(of([true, true], [false, true], [true, false])).toEqual([`${should}: 1 of 2`, `${shouldNot}: 0 of 1`]);
		expect(of([false, false])).toEqual([`${shouldNot}: 1 of 1`]);
		expect(of()).toEqual([]);
		// Of a run from before these were counted.
		expect(triggerWords({ precision: 1, recall: 0.9, takenBy: [] })).toEqual([
			{ label: should, value: '90 %', isRight: false }
		]);
	});
});
