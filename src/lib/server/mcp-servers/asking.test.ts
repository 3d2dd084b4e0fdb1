/** What a hostile server may ask a person. */
import { expect, test } from 'vitest';
import { readElicitation } from './asking.ts';

const form = (properties: object) => ({ message: 'Hello', requestedSchema: { type: 'object', properties } });

test('SECURITY MCP servers: a choice that a server offers twice is there once', () => {
	const asked = readElicitation(
		form({
			one: { type: 'string', enum: ['a', 'a', 'b'], enumNames: ['First', 'Second', 'Third'] },
			many: {
				type: 'array',
				items: {
					anyOf: [
						{ const: 'a', title: 'A' },
						{ const: 'a', title: 'Again' }
					]
				}
			}
		})
	);
	expect(asked).toMatchObject({
		fields: [
			{
				options: [
					{ value: 'a', title: 'First' },
					{ value: 'b', title: 'Third' }
				]
			},
			{ options: [{ value: 'a', title: 'A' }] }
		]
	});
});

test('SECURITY MCP servers: a form of more than a person reads is shown to nobody', () => {
	const values = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(400, 'x'));
	const fields = Array.from({ length: 30 }, (_, index) => [`f${index}`, { type: 'string', enum: values }]);
	expect(readElicitation(form(Object.fromEntries(fields)))).toBeNull();
	// The same with short ones is fine.
	const short = fields.map(([name]) => [name, { type: 'string', enum: values.map((value) => value.slice(0, 3)) }]);
	expect(readElicitation(form(Object.fromEntries(short.slice(0, 10))))).toMatchObject({ message: 'Hello' });
});

test('SECURITY MCP servers: names that objects have by themselves are fields like others', () => {
	const names = ['constructor', 'toString', 'hasOwnProperty'];
	const asked = readElicitation(form(Object.fromEntries(names.map((name) => [name, { type: 'string' }]))));
	expect(asked).toMatchObject({ fields: names.map((name) => ({ name, type: 'text' })) });
});
