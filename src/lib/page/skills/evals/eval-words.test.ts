import { expect, test } from 'vitest';
import type { EvalAnswer, EvalRun } from '../../../shared/try-out.ts';
import {
	checksIn,
	firstWords,
	outcomeOf,
	outcomeWithout,
	sinceBefore,
	summaryOf,
	tallyWords,
	useOf
} from './eval-words.ts';

test('of an answer, a line says what it says first: no heading, no cells of a table, none of the signs of Markdown', () => {
	const table = '| when | what |\n|---|:--:|\n| 04:12 | **high** |';
	expect(firstWords(`# Tides\n\n${table}\n\nThe **highest** is at \`04:12\`.\n\nMore.`)).toBe(
		'The highest is at 04:12.'
	);
	expect(firstWords('- **words**: 9\n- lines: 1')).toBe('words: 9 · lines: 1');
	expect(firstWords(table).replace(/\s+/g, ' ')).toBe('when · what 04:12 · high');
	expect(firstWords('')).toBe('');
});

test('a tally names each outcome there is, and together they are all prompts', () => {
	expect(tallyWords(['passed', 'asked', 'passed'])).toBe('2 of 3 prompts pass, 1 wasn’t answered');
	expect(tallyWords(['untried', 'failed', 'failed', 'unchecked', 'passed'])).toBe(
		'1 of 5 prompts passes, 2 fail, 1 is for you to judge, 1 wasn’t tried'
	);
	expect(tallyWords(['failed', 'failed'])).toBe('All 2 prompts fail');
	expect(tallyWords(['failed'])).toBe('The prompt fails');
	expect(tallyWords([])).toBe('');
});

const answer = (loaded: string[], expectations: EvalAnswer['expectations'] = []): EvalAnswer => ({
	...{ status: 'success', text: '2', loaded, calls: [], durationMs: 1, tokens: null, side: '1', round: 1, files: [] },
	...{ steps: 1, costUsd: null, isCached: false, error: null, expectations }
});

test('an answer without the skill isn’t held to what only the skill can do', () => {
	const loads = { text: 'skillLoaded: demo', isMet: false, reason: '' };
	expect(outcomeWithout([answer([], [loads])])).toBeNull();
	expect(outcomeWithout([answer([], [loads, { text: 'contains: 2', isMet: true, reason: '' }])])).toBe('passed');
});

test('a prompt whose only checks are that the skill is used doesn’t pass: its answer wasn’t checked', () => {
	const loads = { text: 'skillLoaded: demo', isMet: true, reason: '' };
	expect(outcomeOf([answer(['demo'], [loads])])).toBe('loaded');
	expect(outcomeOf([answer(['demo'], [loads, { ...loads, text: 'toolCalled: scripts/x.sh' }])])).toBe('loaded');
	expect(outcomeOf([answer(['demo'], [loads, { text: 'contains: 2', isMet: true, reason: '' }])])).toBe('passed');
	expect(outcomeOf([answer(['demo'], [{ ...loads, isMet: false }])])).toBe('failed');
	expect(outcomeOf([answer([], [{ ...loads, text: 'skillNotLoaded: demo' }])])).toBe('passed');
	expect(tallyWords(['loaded'])).toBe('The prompt used the skill, its answer wasn’t checked');
});

test('the checks of a prompt are counted without those of whether this skill is used', () => {
	expect(checksIn(['skillLoaded: demo', 'says 2'], 'demo')).toBe('1 check');
	expect(checksIn([{ skillNotLoaded: 'demo' }], 'demo')).toBe('');
	expect(checksIn(['skillLoaded: other', { contains: '2' }], 'demo')).toBe('2 checks');
});

const run = (...prompts: [prompt: string, isMet: boolean | null][]): EvalRun => ({
	...{ id: 'r', skillId: 'demo', version: '', kind: 'answers', state: 'done', rounds: 1, error: null, isFresh: false },
	...{ startedAt: '', finishedAt: null, maxCostUsd: null, costUsd: null, digest: '' },
	progress: { done: prompts.length, total: prompts.length },
	sides: [{ id: '1', kind: 'with', model: 'a/model', version: null }] as unknown as EvalRun['sides'],
	results: prompts.map(([prompt, isMet]) => ({
		...{ id: prompt, prompt, expected: null, shouldTrigger: null },
		answers: [answer([], [{ text: 'contains: 2', isMet, reason: '' }])]
	}))
});

test('what changed since the run before is told of the prompts in both; new ones are told apart', () => {
	const before = run(['a', true], ['b', false]);
	expect(sinceBefore(run(['a', true], ['b', false]), before)).toBe('The same as before');
	expect(sinceBefore(run(['a', true], ['b', false], ['c', false]), before)).toBe('1 new prompt fails');
	expect(sinceBefore(run(['a', true], ['b', true], ['c', false], ['d', false]), before)).toBe(
		'1 more passes than before, 2 new prompts fail'
	);
	expect(sinceBefore(run(['a', true], ['b', false], ['c', true]), before)).toBe('1 new prompt');
	expect(sinceBefore(run(['c', true]), before)).toBeNull();
});

test('a run that asked nothing says that its answers are from earlier runs', () => {
	const asked = run(['a', true]);
	expect(summaryOf(asked)).toBe('Done: 1 answer · a/model');
	const answers = [{ ...answer([]), isCached: true }];
	const results = asked.results.map((result) => ({ ...result, answers }));
	expect(summaryOf({ ...asked, results })).toBe('1 answer from earlier runs · a/model');
});

test('a prompt tells whether the skill was used, and whether it should be', () => {
	const of = (should: boolean, ...used: boolean[]) =>
		useOf(
			should,
			used.map((each) => answer(each ? ['demo'] : [])),
			'demo'
		);
	expect(of(true, true)).toEqual({ outcome: 'passed', words: 'Used, as it should be' });
	expect(of(false, false)).toEqual({ outcome: 'passed', words: 'Not used, as it should be' });
	expect(of(false, true)).toEqual({ outcome: 'failed', words: 'Used, but shouldn’t be' });
	expect(of(true, true, false)).toEqual({ outcome: 'failed', words: 'Used 1 of 2 times, but should be' });
	expect(of(true)).toEqual({ outcome: 'untried', words: 'Not tried' });
});
