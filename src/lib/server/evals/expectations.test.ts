import { describe, expect, test } from 'vitest';
import { look, readExpectation } from './evals-file.ts';

const seen = {
	text: 'There are 42 words.',
	loaded: ['count-words'],
	called: new Set(['use_skill', 'scripts/count.mjs']),
	files: ['out/report.md']
};
const isMet = (given: unknown) => look(readExpectation(given, 'count-words'), seen)?.isMet;

describe('F16: what code can tell needs no model', () => {
	test.each([
		['contains: 42', true],
		['contains: 43', false],
		[{ notContains: 'sorry' }, true],
		['notContains: 42', false],
		['regex: \\b4\\d words', true],
		[{ regex: '^words' }, false],
		['file: out/report.md', true],
		['file: report.md', false],
		['toolCalled: use_skill', true],
		['toolCalled: scripts/count.mjs', true],
		[{ toolCalled: 'load_skill' }, false],
		[{ skillLoaded: true }, true],
		['skillLoaded: other', false],
		[{ skillNotLoaded: true }, false],
		['skillNotLoaded: other', true]
	])('%j is %j', (given, met) => {
		expect(isMet(given)).toBe(met);
	});

	test('a sentence is left to a judge', () => {
		expect(look(readExpectation('It is friendly: very.', 'x'), seen)).toBeNull();
	});

	test('each says why', () => {
		const reasonOf = (given: string) => look(readExpectation(given, 'x'), seen)?.reason;
		expect(reasonOf('notContains: 42')).toBe('The reply contains this text.');
		expect(reasonOf('notContains: 43')).toBe('The reply doesn’t contain this text.');
		expect(reasonOf('skillNotLoaded: count-words')).toBe('It was loaded.');
		expect(reasonOf('skillNotLoaded: other')).toBe('It wasn’t loaded.');
		expect(reasonOf('file: x')).toBe('It wasn’t created. Files: out/report.md.');
	});

	test('a regular expression that never ends is given up, and nothing is told', () => {
		const slow = { ...seen, text: `${'a'.repeat(60)}!` };
		const verdict = look(readExpectation('regex: ^(a+)+$', 'x'), slow);
		expect(verdict).toMatchObject({ isMet: null, reason: 'The regular expression took too long.' });
	});
});
