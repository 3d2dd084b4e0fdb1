import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { shapeText } from './markdown.ts';

const asked = (schema: object) => ({ text: { format: { type: 'json_schema', name: 'x', schema } } });

test('F9: an answer that is to be JSON is JSON, with the figures that it tells', () => {
	const schema = {
		type: 'object',
		properties: {
			words: { type: 'integer' },
			mood: { enum: ['bad', 'good'] },
			note: { type: ['string', 'null'], maxLength: 10 },
			list: { type: 'array', minItems: 1, items: { $ref: '#/$defs/row' } }
		},
		required: ['words', 'mood', 'note', 'list'],
		additionalProperties: false,
		$defs: { row: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] } }
	};
	const { text } = shapeText('All good. **words**: 5, characters: 25', asked(schema));
	const value: unknown = JSON.parse(text);
	expect(new Ajv2020().validate(schema, value)).toBe(true);
	expect(value).toMatchObject({ words: 5, mood: 'good' });
});

test('F9: a schema that refers to itself has an end, and JSON without one holds the answer', () => {
	const loop = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
	expect(() => JSON.parse(shapeText('x', asked(loop)).text) as unknown).not.toThrow();
	expect(JSON.parse(shapeText('x', { text: { format: { type: 'json_object' } } }).text)).toEqual({ answer: 'x' });
});

test('F9: an answer is no longer than it may be, and says that it is not whole', () => {
	const long = 'x'.repeat(1000);
	expect(shapeText(long, { max_output_tokens: 16 })).toEqual({
		text: 'x'.repeat(64),
		incompleteReason: 'max_output_tokens'
	});
	expect(shapeText(long)).toEqual({ text: long, incompleteReason: null });
});
