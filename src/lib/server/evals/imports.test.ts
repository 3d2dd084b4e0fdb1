import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { AppError } from '../../shared/errors.ts';
import { canGoOn, figuresOf } from '../../shared/evals.ts';
import { evalRun, type EvalAnswer, type EvalRun } from '../../shared/try-out.ts';
import { exportRun, gradingZip } from './exports.ts';
import { type Imported, readImportedFile, readImportedZip } from './imports.ts';

const of = {
	skillId: 'local/pdf',
	name: 'pdf',
	cases: [
		{ id: 'fill', prompt: 'Fill it.', expected: 'A form', files: [], expectations: [], shouldTrigger: null },
		{ id: '2', prompt: 'Read it.', expected: null, files: [], expectations: [], shouldTrigger: null }
	],
	now: new Date('2026-06-01T00:00:00.000Z')
};
const check = (text: string, passed: boolean) => ({ text, passed, evidence: `Seen: ${text}` });
const grading = (...met: boolean[]) => ({
	expectations: met.map((passed, index) => check(`check ${index + 1}`, passed)),
	summary: { passed: met.filter(Boolean).length, failed: 0, total: met.length, pass_rate: 0.5 },
	execution_metrics: { tool_calls: { Read: 5 }, total_tool_calls: 5, total_steps: 6, errors_encountered: 0 },
	timing: { executor_duration_seconds: 165, grader_duration_seconds: 26, total_duration_seconds: 191 },
	claims: [{ claim: 'It has 12 fields', type: 'factual', verified: true }],
	eval_feedback: { overall: 'Fine.' }
});
const benchmark = {
	metadata: {
		...{ skill_name: 'pdf', skill_path: '/path/to/pdf', executor_model: 'claude-x', analyzer_model: 'y' },
		...{ timestamp: '2026-01-15T10:30:00Z', evals_run: [1, 2], runs_per_configuration: 1 }
	},
	runs: [
		{
			...{ eval_id: 2, eval_name: 'Ocean', configuration: 'without_skill', run_number: 1, notes: ['Old data'] },
			result: { pass_rate: 0.25, passed: 1, failed: 3, total: 4, time_seconds: 32, tokens: 2100, errors: 0 }
		},
		{
			...{ eval_id: 1, eval_name: 'fill', configuration: 'with_skill', run_number: 1 },
			result: { pass_rate: 0.5, passed: 1, failed: 1, total: 2, time_seconds: 42.5, tokens: 3800, tool_calls: 18 },
			expectations: [check('A form', true), check('Fields', false)]
		}
	],
	run_summary: { delta: { pass_rate: '+0.25' } },
	notes: ['Noisy']
};
const ratesOf = ({ sides }: EvalRun) => sides.map(({ kind, figures }) => [kind, figures.passRate?.value]);

const folder = emptyFolder();

async function* chunksOf(bytes: Uint8Array) {
	yield* [bytes];
}
const readZip = (bytes: Uint8Array): Promise<Imported> =>
	readImportedZip(chunksOf(bytes), { folder, signal: new AbortController().signal }, of);
const zipOf = (files: Record<string, unknown>) =>
	zipSync(
		Object.fromEntries(
			Object.entries(files).map(([path, content]) => [
				path,
				strToU8(typeof content === 'string' ? content : JSON.stringify(content))
			])
		)
	);

describe('F16: results that skill-creator wrote', () => {
	test('benchmark.json is a run with its sides, its time and its model', () => {
		const { runs, problems } = readImportedFile(benchmark, of);
		expect(problems).toEqual([]);
		const [run] = runs;
		expect(evalRun.parse(run)).toEqual(run);
		expect(run).toMatchObject({
			...{ skillId: 'local/pdf', importedFrom: 'benchmark.json', state: 'done', startedAt: '2026-01-15T10:30:00.000Z' },
			progress: { done: 2, total: 2 },
			sides: [
				{
					kind: 'with',
					model: 'claude-x',
					figures: { met: 1, judged: 2, tokens: 3800, durationMs: 42_500, steps: null }
				},
				{ kind: 'without', figures: { met: 1, judged: 4, tokens: 2100 } }
			],
			results: [
				{ id: '2', prompt: 'Read it.', answers: [{ side: '2', text: 'Old data' }] },
				{
					id: '1',
					prompt: 'Fill it.',
					expected: 'A form',
					answers: [{ side: '1', expectations: [{ reason: 'Seen: A form' }, {}] }]
				}
			]
		});
		expect(run?.results[0]?.answers[0]?.expectations[0]?.text).toBe('Check 1 of 4');
		expect(run && canGoOn(run)).toBe(false);
		// The same file again is the same run, whenever that is.
		expect(readImportedFile(benchmark, { ...of, now: new Date() }).runs[0]?.id).toBe(run?.id);
	});

	test('a grading.json alone is one answer', () => {
		const [run] = readImportedFile(grading(true, false), of).runs;
		expect(run).toMatchObject({
			...{ importedFrom: 'grading.json', rounds: 1 },
			sides: [{ kind: 'with', model: 'unknown', figures: { met: 1, judged: 2, steps: 6, durationMs: 191_000 } }]
		});
	});

	test('a workspace is a run for each iteration, however its folders are laid out', async () => {
		const at = (iteration: string, rest: string) => `pdf-workspace/iteration-${iteration}/${rest}`;
		const { runs, problems } = await readZip(
			zipOf({
				[at('10', 'eval-1/with_skill/grading.json')]: grading(true),
				[at('10', 'eval-1/old_skill/grading.json')]: grading(false),
				[at('2', 'eval-fill/eval_metadata.json')]: { eval_id: 7, eval_name: 'fill', prompt: 'Fill the form.' },
				[at('2', 'eval-fill/with_skill/run-1/grading.json')]: { ...grading(true), timing: {} },
				[at('2', 'eval-fill/with_skill/run-1/timing.json')]: { total_tokens: 84_852, total_duration_seconds: 23.3 },
				[at('2', 'eval-fill/with_skill/run-2/grading.json')]: grading(false),
				[at('2', 'eval-fill/with_skill/run-2/outputs/huge.bin')]: 'x'.repeat(100_000),
				[at('2', 'benchmark.json')]: benchmark,
				'older/runs/eval-3/without_skill/run-1/grading.json': grading(true, true),
				'older/benchmark.json': { ...benchmark, metadata: { skill_name: 'docx', executor_model: '<model-name>' } }
			})
		);
		expect(runs.map(({ importedFrom }) => importedFrom)).toEqual(['older', 'iteration-2', 'iteration-10']);
		expect(runs.map(ratesOf)).toEqual([
			[['without', 1]],
			[['with', 0.5]],
			[
				['with', 1],
				['version', 0]
			]
		]);
		expect(runs[1]).toMatchObject({
			...{ startedAt: '2026-01-15T10:30:00.000Z', rounds: 2, sides: [{ model: 'claude-x' }] },
			results: [{ id: '7', prompt: 'Fill the form.', answers: [{ tokens: 84_852, durationMs: 23_300 }, { round: 2 }] }]
		});
		expect(runs[2]?.sides[1]?.version).toBe('old_skill');
		expect(problems).toEqual(['older says it’s of the skill “docx”.']);
		expect(await readdir(folder)).toEqual([]);
	});

	test('what was exported comes back with the same figures', async () => {
		const answer = (side: string, round: number, isMet: boolean): EvalAnswer => ({
			...{ side, round, status: 'success', text: 'Hi', loaded: [], calls: ['a: {}'], files: [], steps: 2 },
			...{ durationMs: 1500, tokens: 100, costUsd: null, isCached: false, error: null },
			expectations: [{ text: 'contains: Hi', isMet, reason: 'So.' }]
		});
		const answers = [answer('1', 1, true), answer('1', 2, false), answer('2', 1, false), answer('3', 1, true)];
		const results = [{ id: 'fill', prompt: 'Fill it.', expected: null, shouldTrigger: null, answers }];
		const side = (id: string, kind: 'with' | 'without' | 'version', model = 'a/one') => {
			return {
				id,
				kind,
				version: kind === 'version' ? '0.9.0' : null,
				digest: null,
				model,
				figures: figuresOf(results, id, 'pdf')
			};
		};
		const run: EvalRun = {
			...{ id: 'r', skillId: 'local/pdf', version: '1.0.0', kind: 'answers', state: 'done', rounds: 2, error: null },
			...{ maxCostUsd: null, isFresh: false, progress: { done: 4, total: 4 }, results, costUsd: null },
			sides: [side('1', 'with'), side('3', 'version'), side('2', 'without')],
			...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:01:00.000Z' }
		};
		const pieces: Uint8Array[] = [];
		for await (const piece of gradingZip(run)) pieces.push(piece);
		const fromZip = (await readZip(Buffer.concat(pieces))).runs[0];
		const fromBenchmark = readImportedFile(JSON.parse(exportRun(run, 'benchmark')), of).runs[0];
		for (const back of [fromZip, fromBenchmark]) {
			expect(back && ratesOf(back)).toEqual(ratesOf(run));
			expect(back?.sides.map(({ version }) => version)).toEqual([null, '0.9.0', null]);
			expect(back?.results[0]).toMatchObject({ prompt: 'Fill it.', answers: { length: 4 } });
		}
		expect(fromBenchmark?.startedAt).toBe(run.startedAt);
		expect(fromZip?.results[0]?.answers[0]?.text).toBe('Hi');
	});

	test.each<[string, unknown, RegExp]>([
		['a list', [], /^The file is neither a grading\.json/],
		['text', 'hi', /neither/],
		['nothing of both', { evals: [] }, /neither/],
		['no checks', { expectations: 'none' }, /^The file can’t be used: expectations must be a list\.$/],
		[
			'a check without a word',
			{ expectations: [{ text: 'a', passed: 'yes' }] },
			/expectations\.0\.passed must be true or false/
		],
		['no runs', { runs: [] }, /runs must have at least 1 item/],
		['a run without a result', { runs: [{ eval_id: 1, configuration: 'with_skill' }] }, /runs\.0\.result is missing/],
		[
			'a rate at the wrong place',
			{ runs: [{ eval_id: 1, config: 'with_skill', pass_rate: 1 }] },
			/runs\.0\.configuration is missing/
		],
		[
			'the same run twice',
			{ runs: [benchmark.runs[1], benchmark.runs[1]] },
			/run 1 of eval 1, with_skill, is there twice/
		],
		['too many', { summary: { total: 1e9, passed: 1 } }, /summary\.total must be at most/]
	])('%s is refused with what is wrong', (_, value, reason) => {
		expect(() => readImportedFile(value, of)).toThrow(reason);
	});

	test('a time to come is now, and none is now, too', () => {
		for (const timestamp of ['9999-01-01T00:00:00Z', 'soon', '']) {
			const [run] = readImportedFile({ ...benchmark, metadata: { timestamp } }, of).runs;
			expect(Date.parse(run?.startedAt ?? '')).toBeLessThanOrEqual(of.now.getTime());
			expect(Date.parse(run?.startedAt ?? '')).toBeGreaterThan(of.now.getTime() - 1000);
		}
	});

	test('bad files beside good ones are named; of a zip with nothing good it’s said what to zip', async () => {
		const { runs, problems } = await readZip(
			zipOf({
				'eval-1/with_skill/grading.json': grading(true),
				'eval-2/with_skill/grading.json': '{"expectations": [',
				'eval-3/with_skill/grading.json': { expectations: [{ text: 'a' }] },
				'eval-4/with_skill/grading.json': ' '.repeat(5 * 1024 * 1024 + 1)
			})
		);
		expect(runs).toMatchObject([{ importedFrom: 'grading.json', progress: { total: 1 } }]);
		expect(problems.sort()).toEqual([
			'eval-2/with_skill/grading.json isn’t valid JSON.',
			'eval-3/with_skill/grading.json can’t be used: expectations.0.passed is missing.',
			'eval-4/with_skill/grading.json is larger than 5 MB.'
		]);
		const deep = `{"expectations": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
		await expect(readZip(zipOf({ 'grading.json': deep }))).rejects.toThrow(/nested more than \d+ levels deep/);
		await expect(readZip(zipOf({ 'notes.txt': 'hi' }))).rejects.toMatchObject({
			...{ code: 'invalid_input', message: 'This zip has no grading.json and no benchmark.json.' }
		});
		await expect(readZip(zipOf({ 'grading.json': 'x' }))).rejects.toThrow('grading.json isn’t valid JSON.');
		await expect(readZip(strToU8('not a zip'))).rejects.toMatchObject({ code: 'invalid_input' });
		const many = Object.fromEntries(
			Array.from({ length: 21 }, (_, index) => [`i${index}/e/c/grading.json`, grading(true)])
		);
		await expect(readZip(zipOf(many))).rejects.toThrow('This has 21 runs of evals, but at most 20 fit.');
		expect(await readdir(folder)).toEqual([]);
	});

	test('whatever a file has, it’s a run that others can read, or a sentence', () => {
		const passed = fc.constantFrom<unknown>(true, false, null, 'yes');
		const checks = fc.oneof(fc.array(fc.record({ text: fc.string(), passed }, { requiredKeys: [] })), fc.jsonValue());
		const result = fc.record({ passed: fc.nat(9), total: fc.nat(9), time_seconds: fc.double() }, { requiredKeys: [] });
		const one = fc.record(
			{
				eval_id: fc.oneof(fc.nat(3), fc.string()),
				configuration: fc.string(),
				run_number: fc.nat(3),
				result,
				expectations: checks
			},
			{ requiredKeys: [] }
		);
		const file = fc.oneof(
			fc.jsonValue(),
			fc.record({ expectations: checks, summary: result, timing: fc.jsonValue() }, { requiredKeys: [] }),
			fc.record({ runs: fc.array(one), metadata: fc.jsonValue() })
		);
		fc.assert(
			fc.property(file, (value) => {
				try {
					for (const run of readImportedFile(value, of).runs) {
						expect(evalRun.parse(run)).toEqual(run);
						for (const format of ['csv', 'junit', 'benchmark'] as const) exportRun(run, format);
					}
				} catch (error) {
					expect(error).toBeInstanceOf(AppError);
					expect((error as AppError).code).toBe('invalid_input');
				}
			}),
			{ numRuns: 500 }
		);
	});
});
