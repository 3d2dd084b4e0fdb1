import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHECKS, readExpectation } from '../../../shared/expectations.ts';
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
		const kinds = CHECKS.filter((kind) => kind !== 'json' && kind !== 'exitCode' && kind !== 'regex');
		const kept = fc.constantFrom<unknown>('old', { contains: 'old', note: 1 }, { rubric: 'old', by: 'Ada' });
		fc.assert(
			fc.property(fc.constantFrom(...kinds), fc.string({ minLength: 1 }), kept, (kind, value, given) => {
				const written = writeExpectation(given, { kind, value, script: '' });
				expect(readExpectation(written, 'x').check).toEqual({ kind, value });
				expect(fieldsOf(written, 'x')).toEqual({ kind, value, script: '' });
			})
		);
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
		[{ exitCode: 'zero' }, 'exitCode', 'zero']
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
		expect(expectationWords('Note: it is kind.')).toBe('Note: it is kind.');
		expect(expectationWords('toString: it is kind.')).toBe('toString: it is kind.');
	});
});
