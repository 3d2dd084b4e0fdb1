import { unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { figuresOf } from '../../shared/evals.ts';
import type { EvalAnswer, EvalRun, EvalSide } from '../../shared/try-out.ts';
import { exportRun, gradingZip } from './exports.ts';

const answer = (side: string, more: Partial<EvalAnswer> = {}): EvalAnswer => ({
	...{
		side,
		round: 1,
		status: 'success',
		text: 'Hi',
		loaded: ['demo'],
		calls: ['use_skill: {}', 'use_skill: {"a":1}']
	},
	...{ files: [], steps: 2, durationMs: 1500, tokens: 100, costUsd: 0.01, isCached: false, error: null },
	expectations: [{ text: 'contains: Hi', isMet: true, reason: 'The reply contains this text.' }],
	...more
});
const results: EvalRun['results'] = [
	{
		...{ id: 'greet', prompt: '=HYPERLINK("x"),\n“Hi”', expected: null, shouldTrigger: null },
		answers: [
			answer('1'),
			answer('1', {
				...{ round: 2, text: '<b>\u0007 & "No"' },
				expectations: [
					{ text: 'contains: <Hi> & ]]>', isMet: false, reason: 'It\u0000 isn’t' },
					{ text: 'It is kind.', isMet: null, reason: 'The judge didn’t say.' }
				]
			}),
			answer('2', {
				tokens: 40,
				durationMs: 500,
				expectations: [{ text: 'contains: Hi', isMet: false, reason: 'No.' }]
			}),
			answer('3', { status: 'cancelled', expectations: [] })
		]
	},
	{
		...{ id: '7', prompt: 'Bye', expected: null, shouldTrigger: null },
		answers: [answer('1', { status: 'failed', text: '', calls: [], error: 'No such key', expectations: [] })]
	}
];
const side = (id: string, kind: EvalSide['kind'], model = 'a/one'): EvalSide => ({
	...{ id, kind, version: kind === 'without' ? null : '1.0.0', digest: null, model },
	figures: figuresOf(results, id, 'demo')
});
const run: EvalRun = {
	...{ id: 'r1', skillId: 'local/demo', version: '1.0.0', kind: 'answers', state: 'done', rounds: 2, error: null },
	...{ maxCostUsd: null, isFresh: false, progress: { done: 4, total: 12 }, results, costUsd: 0.03 },
	sides: [side('1', 'with'), side('2', 'without'), side('3', 'with', 'b/two:free')],
	...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:01:00.000Z' }
};

describe('F16: a run of evals as a file', () => {
	test('JSON is the run', () => {
		expect(JSON.parse(exportRun(run, 'json'))).toEqual(run);
	});

	test('CSV has a line for each expectation; nothing that a spreadsheet would run', () => {
		const lines = exportRun(run, 'csv').trimEnd().split('\r\n');
		expect(lines[0]).toBe(
			'eval,prompt,side,version,model,round,status,expectation,met,reason,loaded,steps,seconds,tokens,costUsd,cached,error'
		);
		expect(lines).toHaveLength(6);
		expect(lines[1]).toContain(`greet,"'=HYPERLINK(""x""),\n“Hi”",with,1.0.0,a/one,1,success,contains: Hi,true`);
		expect(lines.at(-2)).toContain('7,Bye,with,1.0.0,a/one,1,failed,,,,demo,2,1.5,100,0.01,false,No such key');
	});

	test('JUnit fails what the skill missed, never what it is compared with, and is valid XML', () => {
		const xml = exportRun(run, 'junit');
		expect(xml).toContain('<testsuite name="demo 1.0.0, a/one" tests="4" failures="1" errors="1" skipped="1">');
		expect(xml).toContain('name="greet: contains: &#60;Hi&#62; &#38; ]]&#62; (round 2)" time="1.5"');
		expect(xml).toContain('<failure message="It� isn’t">&#60;b&#62;� &#38; &#34;No&#34;</failure>');
		expect(xml).toContain('<error message="No such key"/>');
		expect(xml).not.toContain('without');
		expect([...xml].every((sign) => sign >= ' ' || '\n\t'.includes(sign))).toBe(true);
	});

	test('benchmark.json has the fields that skill-creator’s viewer reads', () => {
		const benchmark = JSON.parse(exportRun(run, 'benchmark')) as Record<string, unknown>;
		expect(benchmark).toMatchObject({
			metadata: { skill_name: 'demo', executor_model: 'a/one', evals_run: [1, 7], runs_per_configuration: 2 },
			run_summary: {
				with_skill: { pass_rate: { mean: expect.closeTo(1 / 3, 3), min: 0, max: 1 } },
				without_skill: { pass_rate: { mean: 0, stddev: 0 }, tokens: { mean: 40 } },
				with_skill_b_two_free: { tokens: { mean: 0 } },
				delta: { pass_rate: '+0.33', time_seconds: '+1.0', tokens: '+60' }
			}
		});
		expect((benchmark['runs'] as object[])[1]).toEqual({
			...{ eval_id: 1, eval_name: 'greet', configuration: 'with_skill', run_number: 2 },
			result: {
				...{ pass_rate: 0, passed: 0, failed: 2, total: 2, time_seconds: 1.5, tokens: 100, tool_calls: 2, errors: 0 }
			},
			expectations: [
				{ text: 'contains: <Hi> & ]]>', passed: false, evidence: 'It\u0000 isn’t' },
				{ text: 'It is kind.', passed: false, evidence: 'The judge didn’t say.' }
			],
			notes: ['Not judged: It is kind. (The judge didn’t say.)']
		});
	});

	test('grading.json of each answer lies where skill-creator aggregates it', async () => {
		const pieces: Uint8Array[] = [];
		for await (const piece of gradingZip(run)) pieces.push(piece);
		const files = unzipSync(Buffer.concat(pieces));
		const read = (name: string) => JSON.parse(Buffer.from(files[name] ?? []).toString()) as unknown;
		expect(Object.keys(files).filter((name) => name.endsWith('grading.json'))).toEqual([
			'eval-1/with_skill/run-1/grading.json',
			'eval-1/with_skill/run-2/grading.json',
			'eval-7/with_skill/run-1/grading.json',
			'eval-1/without_skill/run-1/grading.json'
		]);
		expect(read('eval-1/with_skill/run-1/grading.json')).toMatchObject({
			expectations: [{ text: 'contains: Hi', passed: true, evidence: 'The reply contains this text.' }],
			summary: { passed: 1, failed: 0, total: 1, pass_rate: 1 },
			execution_metrics: { tool_calls: { use_skill: 2 }, total_tool_calls: 2, total_steps: 2, errors_encountered: 0 },
			timing: { total_duration_seconds: 1.5 }
		});
		expect(read('eval-1/with_skill/run-1/timing.json')).toMatchObject({ total_tokens: 100, duration_ms: 1500 });
		expect(read('eval-1/eval_metadata.json')).toMatchObject({ eval_id: 1, eval_name: 'greet' });
	});

	test('a run without any answer is all of these, too', () => {
		const empty = { ...run, results: [], sides: [] };
		for (const format of ['json', 'csv', 'junit', 'benchmark'] as const) expect(exportRun(empty, format)).not.toBe('');
	});
});
