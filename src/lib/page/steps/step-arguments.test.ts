import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { argumentValues, PartialArguments } from './step-arguments.ts';

const read = (text: string) => new PartialArguments().read(text);

describe('arguments while they arrive', () => {
	test.each([
		['', []],
		['{', []],
		['{"na', []],
		['{"name": ', []],
		['{"name": "sa', [['name', 'sa', true]]],
		['{"name": "sales\\nnew\\u00', [['name', 'sales\nnew', true]]],
		[
			'{"a":"x","n":1',
			[
				['a', 'x', false],
				['n', '1', true]
			]
		],
		['{"list": ["a,b", {"c": "}"', [['list', '["a,b", {"c": "}"', true]]],
		[
			'{"a": true, "b": null}',
			[
				['a', 'true', false],
				['b', 'null', false]
			]
		],
		['[1,2]', []],
		['not json', []]
	])('%j', (text, lines) => {
		expect(read(text).map(({ name, value, isOpen }) => [name, value, isOpen])).toEqual(lines);
	});

	test('of a long value the beginning and the end are kept, and its length', () => {
		const [line] = read(`{"content":"${'a'.repeat(5000)}END`);
		expect(line).toMatchObject({ length: 5003, isOpen: true });
		expect(line?.value).toHaveLength(2000);
		expect(line?.tail).toMatch(/^a{397}END$/);
	});

	test('no more than a quarter of a megabyte is read, and the rest is left', () => {
		const text = `{"content":"${'a'.repeat(1_000_000)}`;
		const reader = new PartialArguments();
		const first = reader.read(text);
		expect(first[0]?.length).toBeLessThan(262_144);
		expect(reader.read(`${text}more`)).toBe(first);
	});

	test('they read the same in any pieces, and nothing throws', () => {
		const json = fc.oneof(
			fc.json(),
			fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
			fc.string()
		);
		fc.assert(
			fc.property(json, fc.array(fc.nat(200)), (text, cuts) => {
				const reader = new PartialArguments();
				for (const cut of [...cuts].sort((a, b) => a - b)) reader.read(text.slice(0, cut));
				expect(reader.read(text)).toEqual(read(text));
			})
		);
	});

	test('texts of a whole object are those that JSON has', () => {
		fc.assert(
			fc.property(
				fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ unit: 'grapheme', maxLength: 500 })),
				(values) => {
					const lines = read(JSON.stringify(values));
					expect(lines.map(({ name, value }) => [name, value])).toEqual(Object.entries(values));
				}
			)
		);
	});
});

test('whole arguments are texts, words or JSON, with what is hidden made visible', () => {
	const json = '{"a":"x\\u202ey","args":["one","two words"],"n":{"deep":[1]}}';
	expect(argumentValues(json)).toEqual([
		{ name: 'a', value: 'x⟨U+202E⟩y' },
		{ name: 'args', value: 'one "two words"' },
		{ name: 'n', value: '{\n  "deep": [\n    1\n  ]\n}' }
	]);
	expect(argumentValues('[1]')).toBeNull();
	expect(argumentValues('{"a":')).toBeNull();
});
