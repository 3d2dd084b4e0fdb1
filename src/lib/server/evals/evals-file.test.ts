import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { readEvals } from './evals-file.ts';

const folder = emptyFolder();
let dir: string;
beforeEach(async () => {
	dir = join(folder, 'demo');
	await mkdir(join(dir, 'evals'), { recursive: true });
});

const read = async (content: unknown) => {
	const text = typeof content === 'string' ? content : JSON.stringify(content);
	await writeFile(join(dir, 'evals/evals.json'), text);
	return readEvals({ dir, name: 'demo' });
};
const prompt = 'Do it.';

describe('F16: an evals.json that cannot be used is said with where and why, and never half used', () => {
	test.each([
		['no JSON', '{"evals": [', /isn’t valid JSON/],
		['text', '"text"', /the file /],
		['null', 'null', /the file /],
		['no list', { skill_name: 'demo' }, /evals /],
		['an entry that is none', { evals: ['do it'] }, /evals\.0 /],
		['no prompt', { evals: [{ id: 1 }] }, /evals\.0\.prompt is missing/],
		['an empty prompt', { evals: [{ prompt: '' }] }, /evals\.0\.prompt /],
		['an id that is none', { evals: [{ id: {}, prompt }] }, /evals\.0\.id /],
		[
			'two of one id',
			{
				evals: [
					{ id: 1, prompt },
					{ id: '1', prompt }
				]
			},
			/Two of its evals have the id “1”/
		],
		['an expectation that is none', { evals: [{ prompt, expectations: [7] }] }, /evals\.0\.expectations\.0: must be/],
		['an empty expectation', { evals: [{ prompt, assertions: [' '] }] }, /assertions\.0: must not be empty/],
		[
			'an unknown check',
			{ evals: [{ prompt, expectations: [{ sounds: 'nice' }] }] },
			/one of these keys: equals, contains/
		],
		['two checks at once', { evals: [{ prompt, expectations: [{ contains: 'a', file: 'b' }] }] }, /one of these keys/],
		['a check of no text', { evals: [{ prompt, expectations: [{ contains: 3 }] }] }, /contains must be text/],
		[
			'a broken regular expression',
			{ evals: [{ prompt, expectations: ['regex: (['] }] },
			/regex isn’t a regular expression/
		],
		[
			'steps of no number',
			{ evals: [{ prompt, expectations: [{ maxSteps: '5' }] }] },
			/maxSteps must be a whole number/
		],
		['two files of one name', { evals: [{ prompt, files: ['a/x.csv', 'b/x.csv'] }] }, /two have the same name/],
		['too many', { evals: Array.from({ length: 201 }, () => ({ prompt })) }, /evals /],
		['a file of more than 1 MB', `[${' '.repeat(1024 * 1024)}]`, /larger than 1 MB/],
		['binary', '[\0]', /binary/]
	])('%s', async (_, content, problem) => {
		const found = await read(content);
		expect(found.cases).toEqual([]);
		expect(found.problem).toMatch(problem);
	});

	test('no file is no problem; a link that leaves the skill is one', async () => {
		expect(await readEvals({ dir, name: 'demo' })).toEqual({ cases: [], triggers: [], problem: null });
		await writeFile(join(folder, 'outside.json'), '[]');
		await symlink(join(folder, 'outside.json'), join(dir, 'evals/evals.json'));
		expect((await readEvals({ dir, name: 'demo' })).problem).toMatch(/a link to a file outside the skill/);
	});

	test.skipIf(process.platform === 'win32')('a folder of this name is no file', async () => {
		await mkdir(join(dir, 'evals/evals.json'));
		expect((await readEvals({ dir, name: 'demo' })).problem).toMatch(/isn’t a regular file|can’t be opened/);
	});

	test('of many problems the first few are said', async () => {
		const { problem } = await read({ evals: Array.from({ length: 9 }, () => ({})) });
		expect(problem).toMatch(/evals\.4\.prompt is missing\. And 4 more\.$/);
	});
});

describe('F16: evals.json as it is written', () => {
	test('by skill-creator', async () => {
		const evals = [
			{
				id: 1,
				prompt,
				expected_output: 'A table.',
				files: ['evals/files/sales.csv'],
				expectations: ['The output has a table', 'contains: total']
			},
			{ id: 'second', prompt, expected_output: '', files: [] }
		];
		const { cases, problem } = await read({ skill_name: 'demo', evals });
		expect(problem).toBeNull();
		expect(cases).toEqual([
			{
				...{ id: '1', prompt, expected: 'A table.', files: ['evals/files/sales.csv'], shouldTrigger: null },
				expectations: [
					{ text: 'The output has a table', check: null },
					{ text: 'contains: total', check: { kind: 'contains', value: 'total' } }
				]
			},
			{ id: 'second', prompt, expected: null, files: [], expectations: [], shouldTrigger: null }
		]);
	});

	test('as a bare list, with a byte order mark, without ids, with assertions and objects', async () => {
		const assertions = [
			{ skillLoaded: true },
			{ toolCalled: 'count', text: 'It counts.' },
			{ name: 'n', text: 'It is polite.' },
			'Note: this is a sentence.'
		];
		const { cases } = await read(`\uFEFF${JSON.stringify([{ query: prompt }, { prompt, assertions }])}`);
		expect(cases.map(({ id }) => id)).toEqual(['1', '2']);
		expect(cases[1]?.expectations).toEqual([
			{ text: 'skillLoaded: demo', check: { kind: 'skillLoaded', value: 'demo' } },
			{ text: 'It counts.', check: { kind: 'toolCalled', value: 'count' } },
			{ text: 'It is polite.', check: null },
			{ text: 'Note: this is a sentence.', check: null }
		]);
	});
});

describe('F16: prompts that should load the skill, and such that shouldn’t', () => {
	const writeTriggers = (content: unknown) => writeFile(join(dir, 'evals/trigger-evals.json'), JSON.stringify(content));
	const readTriggers = async () => {
		const { triggers, problem } = await readEvals({ dir, name: 'demo' });
		return { problem, triggers: triggers.map(({ id, prompt: asked, shouldTrigger }) => [id, asked, shouldTrigger]) };
	};

	test('come from skill-creator’s list, from marked evals, and from evals that expect it', async () => {
		await writeTriggers([
			{ query: 'Say it', should_trigger: true },
			{ query: 'Sing it', should_trigger: false }
		]);
		const { cases } = await read({
			evals: [
				{ prompt: 'One', expectations: [{ skillLoaded: true }] },
				{ prompt: 'Two', expectations: ['skillNotLoaded: demo', 'contains: x'] },
				{ prompt: 'Three', expectations: ['skillLoaded: other'] },
				{ query: 'Four', should_trigger: true }
			]
		});
		expect(cases.map((each) => each.prompt)).toEqual(['One', 'Two', 'Three']);
		expect(await readTriggers()).toEqual({
			problem: null,
			triggers: [
				['trigger 1', 'Four', true],
				['trigger 2', 'Say it', true],
				['trigger 3', 'Sing it', false],
				['1', 'One', true],
				['2', 'Two', false]
			]
		});
	});

	test('that say neither, or are no list, are said, and nothing is used', async () => {
		await writeTriggers([{ query: 'Say it' }]);
		expect(await readTriggers()).toEqual({
			problem: expect.stringContaining('should_trigger of prompt 1 must be true or false'),
			triggers: []
		});
		await writeTriggers({ queries: [] });
		expect((await readTriggers()).problem).toContain('trigger-evals.json can’t be used');
	});
});
