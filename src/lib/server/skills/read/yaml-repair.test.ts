import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { readFrontMatter, quotePlainValues } from './front-matter.ts';

function read(front: string) {
	const found = readFrontMatter(`---\n${front}\n---\n`);
	if ('field' in found) throw new Error(`line ${found.line}: ${found.message}`);
	return { ...found, data: JSON.parse(JSON.stringify(found.data)) as Record<string, unknown> };
}
const FAULT = 'fault: one: two';
/** The values of front matter with an extra broken line, which forces the repair. */
const besideFault = (front: string) => {
	const { data, repair } = read(`${front}\n${FAULT}`);
	expect(repair).not.toBeNull();
	const { fault, ...rest } = data;
	expect(fault).toBe('one: two');
	return rest;
};

describe('what is mended', () => {
	test('A5: a value in the map below a key, with its own line and fix', () => {
		const { data, repair } = read('name: demo\nmetadata:\n  author: Ada\n  note: Use when: it rains\n  version: 1.0');
		expect(data).toEqual({ name: 'demo', metadata: { author: 'Ada', note: 'Use when: it rains', version: '1.0' } });
		expect(repair).toMatchObject({ line: 5, fix: 'note: "Use when: it rains"' });
	});
	test('A5: a value in a map of a map, with the lines that go on with it', () => {
		const { data, repair } = read('metadata:\n  a:\n    b: one: two\n      three\n    c: d\n  e: f');
		expect(data).toEqual({ metadata: { a: { b: 'one: two three', c: 'd' }, e: 'f' } });
		expect(repair?.line).toBe(4);
	});
	test('A5: an item of a list, and a key in one', () => {
		expect(read('tags:\n  - "a" b\n  - c: d: e\n    f: g').data).toEqual({
			tags: ['"a" b', { c: 'd: e', f: 'g' }]
		});
	});
	test.each([
		['[file] [line]', '[file] [line]'],
		['[file] — the one to read', '[file] — the one to read'],
		['[a, "b]"] and more', '[a, "b]"] and more'],
		['{a} or {b}', '{a} or {b}'],
		['"Quick" fix: all', '"Quick" fix: all'],
		['@scope/name', '@scope/name'],
		['`code`: what it does', '`code`: what it does'],
		['%d items', '%d items'],
		['see: C:\\temp "x"', 'see: C:\\temp "x"'],
		['🎉 party: yes', '🎉 party: yes']
	])('A5: %s is the text that it is, at the top, in a map and in a list', (written, expected) => {
		expect(read(`a: ${written}`).data).toEqual({ a: expected });
		expect(read(`m:\n  a: ${written}\n  b: c`).data).toEqual({ m: { a: expected, b: 'c' } });
	});
});

describe('what stays as it was', () => {
	test('A5: a remark behind a value stays a remark', () => {
		const { data, repair } = read('name: demo # the folder\ndescription: Use when: it rains # or snows\nlicense: MIT');
		expect(data).toEqual({ name: 'demo', description: 'Use when: it rains', license: 'MIT' });
		expect(repair).toMatchObject({ line: 3, fix: 'description: "Use when: it rains" # or snows' });
	});
	test('A5: a # that no blank stands before is no remark', () => {
		expect(read('a: C#: a language\nb: "#1": first').data).toEqual({ a: 'C#: a language', b: '"#1": first' });
	});
	test('A5: a remark between the lines of a value is in none of them', () => {
		expect(read('a: one: two # first\n  three # second\nb: c').data).toEqual({ a: 'one: two three', b: 'c' });
	});
	test.each<[string, string, unknown]>([
		['a list', '[one, two] # remark', ['one', 'two']],
		['a list over lines', '[one,\n  two: x,\n  three]', ['one', { two: 'x' }, 'three']],
		['a list with brackets in quotes', '["]", \'[\', "\\"]"]', [']', '[', '"]']],
		['a map over lines', '{\n  b: c,\n  d: [e]\n  }', { b: 'c', d: ['e'] }],
		['a text in quotes', '"one: two" # remark', 'one: two'],
		['a text in quotes over lines', '"one\n  two: three\n  # four"', 'one two: three # four'],
		['apostrophes over lines', "'it''s\n  two: three'", "it's two: three"],
		['a literal block', '|\n  one: two: three\n\n  - "four" five # six', 'one: two: three\n\n- "four" five # six\n'],
		['a folded block', '>-\n  one: two: three\n  four', 'one: two: three four'],
		['a map below', '# remark\n  b: c # remark\n  d: "e"', { b: 'c', d: 'e' }],
		['a list below', '\n  - one # remark\n  - two\n  - [three]', ['one', 'two', ['three']]],
		['a block in a list', '\n  - |\n    one: two: three\n  - four', ['one: two: three\n', 'four']],
		['a text with a blank line in it', 'one\n\n  two\n  - three # remark', 'one\ntwo - three'],
		['an address and a time', 'https://x.org:80/#a 12:30', 'https://x.org:80/#a 12:30'],
		['nothing', '', '']
	])('A5: %s beside a value that is mended', (_what, written, expected) => {
		expect(besideFault(`a: ${written}`)).toEqual({ a: expected });
		expect(besideFault(`m:\n${`a: ${written}`.replace(/^(?=.)/gm, '  ')}`)).toEqual({ m: { a: expected } });
	});
});

test('A5: whatever is valid, in whichever style, reads the same beside a value that is mended', () => {
	const key = fc.constantFrom('a', 'b-c', 'd_e', 'f.g');
	const text = fc
		.array(fc.constantFrom('one', 'two: 2', '- three', '# four', '"', "'", '[', '}', '🎉', '\n', '  ', '|'))
		.map((all) => all.join(' '));
	const value = fc.oneof(
		text,
		fc.array(text),
		fc.dictionary(key, fc.oneof(text, fc.array(text), fc.dictionary(key, text)))
	);
	const style = fc.record({ lineWidth: fc.constantFrom(-1, 12, 80), flowLevel: fc.constantFrom(-1, 1, 2) });
	fc.assert(
		fc.property(fc.dictionary(key, value, { minKeys: 1 }), style, (data, { lineWidth, flowLevel }) => {
			const front = dump(data, { lineWidth, flowLevel, noRefs: true }).trimEnd();
			expect(besideFault(front)).toEqual(read(front).data);
		}),
		{ numRuns: 500 }
	);
});

test('A5: a line that is not further in than the key above is no part of its value, and stays a fault', () => {
	expect(() => read('m:\n  a: one: two\n  three')).toThrow('isn’t valid YAML');
	expect(() => read('m:\n  a: one: two\n three')).toThrow('isn’t valid YAML');
});

test('A5: as many lines come back as went in, and mending what is mended changes nothing', () => {
	const lines = ['a: one: two # x', '  three', 'm:', '  b: [c] d', '  - e', '', '# f', 'g: |', '  h: i: j'];
	const mended = quotePlainValues(lines);
	expect(mended).toEqual([
		'a: "one: two three" # x',
		'',
		'm:',
		'  b: "[c] d"',
		'  - e',
		'',
		'# f',
		'g: |',
		'  h: i: j'
	]);
	expect(quotePlainValues(mended)).toEqual(mended);
});
