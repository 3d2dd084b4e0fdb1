import { expect, test } from 'vitest';
import { toGeminiSchema } from './adapters.ts';

test.each([
	[
		'keywords that are unknown are left out',
		{ type: 'object', additionalProperties: false, $schema: 'x' },
		{ type: 'object' }
	],
	[
		'properties may be called as a keyword is',
		{ type: 'object', properties: { const: { type: 'string', const: 'a' } } },
		{ type: 'object', properties: { const: { type: 'string', enum: ['a'] } } }
	],
	['one type and null is nullable', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
	['several types are a choice', { type: ['string', 'number'] }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
	['oneOf is anyOf', { oneOf: [{ type: 'string', $id: 'x' }] }, { anyOf: [{ type: 'string' }] }],
	['values of an enum that are no texts are not said', { type: 'integer', enum: [1, 2] }, { type: 'integer' }],
	['a format that Gemini does not know is not said', { type: 'string', format: 'email' }, { type: 'string' }],
	['a format that it knows is', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
	['a list is one of something', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
	[
		'what is required is a property',
		{ type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b', 'toString'] },
		{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
	]
])('B11: %s', (_name, schema, expected) => {
	expect(toGeminiSchema(schema)).toEqual(expected);
});
