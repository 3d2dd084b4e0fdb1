import { describe, expect, test } from 'vitest';
import { readExpectation } from '../../shared/evals.ts';
import { look } from './verdicts.ts';

const seen = {
	text: 'There are 42 words.',
	loaded: ['count-words'],
	called: new Set(['use_skill', 'scripts/count.mjs']),
	exits: [
		{ names: ['scripts/count.mjs'], exitCode: 2 },
		{ names: ['scripts/other.sh', 'other'], exitCode: 0 }
	],
	files: ['out/report.md'],
	steps: 3
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
		['skillNotLoaded: other', true],
		['equals: There are 42 words.', true],
		[{ exact: 'There are 42' }, false],
		[{ exitCode: 0 }, true],
		[{ exitCode: 2, script: 'scripts/count.mjs' }, true],
		['exitCode: 2', false],
		[{ exitCode: 0, script: 'scripts/ghost.sh' }, false],
		['maxSteps: 3', true],
		[{ maxSteps: 2 }, false],
		[{ max_steps: 4 }, true]
	])('%j is %j', (given, met) => {
		expect(isMet(given)).toBe(met);
	});

	test('a text is looked for as it’s written, and as a person reads it', () => {
		const bold = { ...seen, text: '- **words**: 42 in `notes.txt`' };
		const isIn = (given: string) => look(readExpectation(given, 'x'), bold)?.isMet;
		expect(isIn('contains: words: 42 in notes.txt')).toBe(true);
		expect(isIn('contains: **words**: 42')).toBe(true);
		expect(isIn('notContains: words: 42')).toBe(false);
		expect(isIn('contains: words: 43')).toBe(false);
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
		expect(reasonOf('maxSteps: 2')).toBe('It took 3 steps.');
	});

	test('a regular expression that never ends is given up, and nothing is told', () => {
		const slow = { ...seen, text: `${'a'.repeat(60)}!` };
		const verdict = look(readExpectation('regex: ^(a+)+$', 'x'), slow);
		expect(verdict).toMatchObject({ isMet: null, reason: 'The regular expression took too long.' });
	});

	const schema = {
		type: 'object',
		required: ['words'],
		properties: { words: { type: 'integer', minimum: 1 }, name: { type: 'string', pattern: '^(a+)+$' } }
	};
	test.each([
		['the whole reply', '{"words": 42}', true],
		['a block of code', 'Sure:\n```json\n{"words": 42}\n```\nDone [1].', true],
		['in a sentence', 'It is {"words": 42}, I think.', true],
		['a field is missing', '{"word": 42}', false],
		['another type', '[42]', false],
		['text', 'There are 42 words.', false],
		['nothing', '', false],
		['torn', '{"words": 42', false],
		['a pattern that never ends', JSON.stringify({ words: 1, name: `${'a'.repeat(60)}!` }), null]
	])('the JSON of a reply is compared with a schema: %s', (_, text, met) => {
		const verdict = look(readExpectation({ json: schema }, 'x'), { ...seen, text });
		expect(verdict?.isMet).toBe(met);
		expect(verdict?.reason).not.toBe('');
	});

	test('the schema’s text is one of its words, or an object’s; what is none is a sentence or refused', () => {
		expect(readExpectation('json: {"type": "object"}', 'x').check).toEqual({
			kind: 'json',
			schema: { type: 'object' }
		});
		expect(readExpectation('json: it is valid', 'x')).toEqual({ text: 'json: it is valid', check: null });
		expect(readExpectation({ rubric: 'Kind.\nShort.' }, 'x')).toEqual({ text: 'Kind.\nShort.', check: null });
		expect(() => readExpectation({ json: true }, 'x')).toThrow(/must be a JSON Schema/);
		expect(() => readExpectation({ json: { type: 'nonsense' } }, 'x')).toThrow(/must be a JSON Schema/);
		expect(() => readExpectation({ exitCode: 'zero' }, 'x')).toThrow(/whole number/);
		for (const steps of [0, -1, 1.5, '5', null, true, Infinity]) {
			expect(() => readExpectation({ maxSteps: steps }, 'x')).toThrow(/^maxSteps must be a whole number, 1 or more\.$/);
		}
		expect(readExpectation('maxSteps: as few as it can', 'x').check).toBeNull();
	});
});

test.each(['{'.repeat(1_000_000), '['.repeat(1_000_000), `\`\`\`${'\n'.repeat(1_000_000)}`])(
	'F16: in a reply of a million signs JSON is looked for in time',
	(text) => {
		expect(look(readExpectation({ json: { type: 'object' } }, 'x'), { ...seen, text })?.isMet).toBe(false);
	}
);
