import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHECKS, isNumberCheck, readExpectation } from '../../../shared/evals.ts';
import {
	CHECK_WORDS,
	type CheckKind,
	expectationWords,
	fieldsOf,
	problemOf,
	writeExpectation
} from './expectation-fields.ts';

describe('F16: an expectation in a row of the form', () => {
	test('every check of the server has its words', () => {
		expect(Object.keys(CHECK_WORDS).sort()).toEqual([...CHECKS, 'rubric'].sort());
	});

	test('means to the server what was typed, whatever that is', () => {
		const kinds = CHECKS.filter((kind) => kind !== 'json' && kind !== 'regex' && !isNumberCheck(kind));
		const kept = fc.constantFrom<unknown>('old', { contains: 'old', note: 1 }, { rubric: 'old', by: 'Ada' });
		fc.assert(
			fc.property(fc.constantFrom(...kinds), fc.string({ minLength: 1 }), kept, (kind, value, given) => {
				const written = writeExpectation(given, { kind, value, script: '' });
				expect(readExpectation(written, 'x').check).toEqual({ kind, value });
				expect(fieldsOf(written, 'x')).toEqual({ kind, value, script: '' });
			})
		);
	});

	test('a number of steps is written as a number, else refused as it was typed', () => {
		const written = (given: unknown, value: string) => writeExpectation(given, { kind: 'maxSteps', value, script: '' });
		expect(written('old', ' 5 ')).toBe('maxSteps: 5');
		expect(written({ text: 'It is quick.', max_steps: 9 }, '5')).toEqual({ text: 'It is quick.', maxSteps: 5 });
		const exit = { exitCode: 1, script: 'a.sh' };
		expect(writeExpectation(exit, { kind: 'maxSteps', value: '1', script: 'a.sh' })).toBe('maxSteps: 1');
		for (const typed of ['0', '-1', '1.5', 'five', '5 steps', '']) {
			expect(problemOf(written('old', typed), 'x')).toBe('This must be a whole number, 1 or more.');
			expect(fieldsOf(written('old', typed), 'x')).toMatchObject({ kind: 'maxSteps', value: typed });
		}
	});

	test.each<[unknown, CheckKind, string]>([
		['It is kind.', 'rubric', 'It is kind.'],
		['json: it is valid', 'rubric', 'json: it is valid'],
		['jsonSchema: {"type":"object"}', 'json', '{"type":"object"}'],
		[{ jsonSchema: { type: 'object' } }, 'json', '{\n  "type": "object"\n}'],
		[{ description: 'It is kind.' }, 'rubric', 'It is kind.'],
		[{ rubric: 'contains: 2' }, 'contains', '2'],
		[{ skillLoaded: true }, 'skillLoaded', 'x'],
		['exitCode: -1', 'exitCode', '-1'],
		[{ exitCode: 'zero' }, 'exitCode', 'zero'],
		['max_steps: 5', 'maxSteps', '5'],
		[{ maxSteps: 5 }, 'maxSteps', '5'],
		['maxSteps: few', 'rubric', 'maxSteps: few']
	])('%j is shown as %s', (given, kind, value) => {
		expect(fieldsOf(given, 'x')).toMatchObject({ kind, value });
	});

	test.each([null, 1, [], {}, { contains: 1 }, { contains: 'a', regex: 'b' }, { toolCalled: true }])(
		'%j is no row, and refused as by the server',
		(given) => {
			expect(fieldsOf(given, 'x')).toBeNull();
			expect(problemOf(given, 'x')).not.toBeNull();
		}
	);

	test('has plain words where answers are shown; a sentence stays', () => {
		expect(expectationWords('skillLoaded: demo')).toBe('Loads the skill demo');
		expect(expectationWords('exitCode: 2 of scripts/a.sh')).toBe('scripts/a.sh ends with code 2');
		expect(expectationWords('maxSteps: 5')).toBe('Maximum steps 5');
		expect(expectationWords('Note: it is kind.')).toBe('Note: it is kind.');
		expect(expectationWords('toString: it is kind.')).toBe('toString: it is kind.');
	});
});
