import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFrontMatter } from './front-matter.ts';
import { mutatedSkills } from '../mutated-skills.suite.ts';

/** For a parser that hangs, not for a busy machine. */
const TIME_LIMIT_MS = 60_000;

function read(contents: string) {
	const front = readFrontMatter(contents);
	if ('field' in front) throw new Error(`line ${front.line}: ${front.message}`);
	return front;
}
const skill = (front: string, body = '') => `---\n${front}\n---\n${body}`;

describe('the fence', () => {
	test.each([
		['LF', '---\nname: demo\n---\nBody\n'],
		['CRLF', '---\r\nname: demo\r\n---\r\nBody\r\n'],
		['CR', '---\rname: demo\r---\rBody\r'],
		['a BOM', '\uFEFF---\nname: demo\n---\nBody'],
		['blanks after it', '--- \nname: demo\n---\t\nBody'],
		['no body', '---\nname: demo\n---'],
		['blank lines before it', '\n \r\n---\nname: demo\n---\nBody']
	])('A3: is read with %s', (_what, contents) => {
		const { data, body } = read(contents);
		expect({ ...data }).toEqual({ name: 'demo' });
		expect(body).toBe(contents.includes('Body') ? 'Body' : '');
	});
	test.each([
		['----\nname: x\n---\n', 'line 1'],
		['\n\n ---\nname: x\n---\n', 'line 3'],
		['x\n---\nname: x\n---\n', 'line 1'],
		['---js\n{}\n---\n', 'line 1'],
		['---\nname: x\n----\n', 'no closing ---'],
		['---\nname: x\n ---\n', 'no closing ---'],
		['---\nname: x\u2028---\n', 'no closing ---'],
		['---', 'no closing ---'],
		['\uFEFF', 'is empty']
	])('A3: %j has none', (contents, message) => {
		expect(() => read(contents)).toThrow(message);
	});
	test('A3: the first line that is exactly --- closes it; one that only begins so does not', () => {
		const { data, body } = read('---\nname: demo\n---x: more\ndescription: a --- b\n---\nOne\n---\nTwo');
		expect({ ...data }).toEqual({ name: 'demo', '---x': 'more', description: 'a --- b' });
		expect(body).toBe('One\n---\nTwo');
	});
	test('A3: empty front matter is a map without keys', () => {
		for (const contents of ['---\n---\nBody', '---\n\n---\nBody', '---\n# remark\n---\nBody']) {
			expect(read(contents)).toMatchObject({ body: 'Body', warnings: [] });
			expect(Object.keys(read(contents).data)).toEqual([]);
		}
	});
	test('A3: a byte order mark is passed over at the beginning, and kept elsewhere', () => {
		expect(read('\uFEFF---\nname: demo\n---\na\uFEFFb').body).toBe('a\uFEFFb');
		expect(read('---\nname: demo\n---\na\uFEFFb').body).toBe('a\uFEFFb');
	});
	test('A3: whatever stands in the body, it is kept as it is', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (body) => {
				const lines = body.replace(/\r\n?/g, '\n').split('\n');
				const first = lines.findIndex((line) => line.trim() !== '');
				const expected = first < 0 ? '' : lines.slice(first).join('\n').trimEnd();
				expect(read(skill('name: demo', body)).body).toBe(expected);
			})
		);
	});
});

describe('the YAML', () => {
	test('A23: each key has its line of the file', () => {
		const { lines } = read('\n---\n# remark\nname : demo\ndescription: |\n  not: a key\nlicense: MIT\n---\n');
		expect([...lines]).toEqual([
			['name', 4],
			['description', 5],
			['license', 7]
		]);
		const nested = read(skill(`"name": demo\nmetadata: # of it\n  'env': |\n    deep: x\n  a'b: c\nx: y\nlist: [a]`));
		expect([...nested.lines]).toEqual([
			['name', 2],
			['metadata', 3],
			['metadata.env', 4],
			["metadata.a'b", 6],
			['x', 7],
			['list', 8]
		]);
	});
	test('A5: a repaired value has the line and the fix, wherever the front matter begins', () => {
		const { data, warnings } = read('\n\n---\nname: demo\ndescription: Use when: it rains\n---\n');
		expect(data.description).toBe('Use when: it rains');
		expect(warnings.at(-1)).toMatchObject({ line: 5, severity: 'warning', fix: 'description: "Use when: it rains"' });
	});
	test('A5: a value over several lines is mended whole, and what follows it keeps its line', () => {
		const { data, lines, warnings } = read(
			skill('name: demo\ndescription: Use when: it rains\n  or snows\nlicense: MIT')
		);
		expect({ ...data }).toEqual({ name: 'demo', description: 'Use when: it rains or snows', license: 'MIT' });
		expect(lines.get('license')).toBe(5);
		expect(warnings).toMatchObject([{ line: 3, fix: 'description: "Use when: it rains or snows"' }]);
	});
	test('A5: a value that only begins with a quotation is quoted as a whole', () => {
		expect(read(skill('description: "Quick" fix: all')).data.description).toBe('"Quick" fix: all');
		expect(read(skill("description: 'It''s' here: all")).data.description).toBe("'It''s' here: all");
	});
	test.each([
		['name: demo\n  description: x', 'a key'],
		['name: demo\n\tdescription: x', 'a tab'],
		['name: a: b\n  - item', 'an item']
	])('A5: %j is not mended by taking %s for text', (yaml) => {
		expect(() => read(skill(yaml))).toThrow('isn’t valid YAML');
	});
	test.each([
		['a: 1\na: 2', 'keep one of them'],
		['name: demo\n\tdescription: x', 'replace the tab with spaces'],
		['a: "open', 'close it with "']
	])('A23: the fix of %j fits the fault', (yaml, fix) => {
		expect(readFrontMatter(skill(yaml))).toMatchObject({ field: '_', severity: 'error', fix });
	});
	test('A5: a value that begins like a list goes on as text', () => {
		expect(read(skill('argument-hint: [file] — the one to read')).data['argument-hint']).toBe(
			'[file] — the one to read'
		);
	});
	test.each([
		['a: "open', 'line 2'],
		['name: demo\n\tdescription: x', 'line 3'],
		['- a', 'isn’t a list of “key: value” lines'],
		['just text', 'isn’t a list of “key: value” lines'],
		['a: 1\na: 2', 'line 3']
	])('A5: %j stays broken, with its line', (yaml, message) => {
		expect(() => read(skill(yaml))).toThrow(message);
	});
	test('A4: a key called __proto__ is a key, and no prototype is touched', () => {
		const { data } = read(skill('__proto__:\n  polluted: yes\nconstructor: x\nname: demo'));
		expect(Object.getPrototypeOf(data)).toBeNull();
		expect(Object.keys(data)).toEqual(['__proto__', 'constructor', 'name']);
		expect({}).not.toHaveProperty('polluted');
		expect(data).not.toHaveProperty('polluted');
	});
	test('A4: aliases that would grow a hundred thousandfold, and one that has no end, are refused', () => {
		const rows = Array.from({ length: 6 }, (_, row) => `k${row + 1}: &k${row + 1} [${`*k${row},`.repeat(9)} x]`);
		expect(() => read(skill(`k0: &k0 [lol, lol]\n${rows.join('\n')}\nname: demo`))).toThrow('line 3: has more than');
		expect(() => read(skill('a: &a [*a]\nname: demo'))).toThrow('line 2: uses a YAML alias');
		const texts = Array.from({ length: 16 }, (_, index) => `k${index}: *k`);
		expect(read(skill(`k: &k text\n${texts.join('\n')}`)).data.k15).toBe('text');
	});
	test('A4: the same text is read anew each time, so that no reader changes what another sees', () => {
		const first = read(skill('metadata: {a: b}')).data.metadata as Record<string, string>;
		first.a = 'changed';
		expect(read(skill('metadata: {a: b}')).data.metadata).toEqual({ a: 'b' });
	});
});

// Each of these took seconds or grew without limit in one of the parsers we tried; the test's timeout is the check.
describe('A24: input made to keep a reader busy', () => {
	const long = 65_000;
	test.each([
		['blank lines', skill('\n'.repeat(long) + 'name: demo')],
		['line separators', skill('\u2028'.repeat(long) + 'name: demo')],
		['blanks in a flow map', skill(`{\nname: demo,\nb${' '.repeat(long - 100)}\n}`)],
		['open brackets', skill(`x: ${'['.repeat(long - 100)}`)],
		['lists in lists', skill(`x:\n${'- '.repeat(long / 2 - 100)}a`)],
		['question marks', skill('? '.repeat(long / 2 - 100))],
		['colons', skill(`x: ${': '.repeat(long / 2 - 100)}`)],
		['backslashes', skill(`x: "${'\\'.repeat(long - 101)}`)],
		['a long fence', `---${' '.repeat(2_000_000)}x\n---\n`],
		['many fences', `---\nname: demo\n${'--- \t x\n'.repeat(250_000)}`],
		['nothing but blanks', ' \n'.repeat(1_000_000)]
	])('%s', (_what, contents) => {
		const front = readFrontMatter(contents);
		expect('field' in front ? front.severity : front.data).toBeTruthy();
	});
	test('front matter of more than 64 KiB or 1,000 lines is refused', () => {
		expect(() => read(skill('x'.repeat(65_537)))).toThrow('64 KiB');
		expect(read(skill(`name: ${'x'.repeat(65_530)}`)).data.name).toHaveLength(65_530);
		expect(() => read(skill(`name: ${'x'.repeat(65_531)}`))).toThrow('64 KiB');
		expect(() => read(skill('# x\n'.repeat(1000)))).toThrow('1000 lines');
		expect(read(skill(`${'# x\n'.repeat(999)}name: demo`)).data.name).toBe('demo');
	});
	test('any text is either read or refused with a line', () => {
		const piece = fc.constantFrom(
			'---',
			'\n',
			'\r\n',
			': ',
			'name',
			'a',
			'"',
			"'",
			'[',
			'{',
			'&a ',
			'*a',
			'|',
			'#',
			'\t',
			'!!js ',
			'%'
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
				const front = readFrontMatter(`---\n${pieces.join('')}\n---\nBody`);
				if ('field' in front) expect(front.line).toBeGreaterThan(0);
				else expect(Object.getPrototypeOf(front.data)).toBeNull();
			})
		);
	});
	test(
		'A3, A5: 10,000 mutated files are each read or refused, and none throws',
		() => {
			fc.assert(
				fc.property(mutatedSkills(), (contents) => {
					const front = readFrontMatter(contents);
					if ('field' in front) expect(front).toMatchObject({ field: '_', severity: 'error' });
					else expect(front.repair === null || front.warnings.includes(front.repair)).toBe(true);
				}),
				{ numRuns: 10_000 }
			);
		},
		TIME_LIMIT_MS
	);
	test(
		'A3, A5: 10,000 random texts are each read or refused, and none throws',
		() => {
			const text = fc.oneof(
				fc.string({ unit: 'binary', maxLength: 200 }),
				fc.string({ unit: 'grapheme', maxLength: 200 })
			);
			fc.assert(
				fc.property(text, fc.boolean(), (front, isFenced) => {
					const read = readFrontMatter(isFenced ? skill(front) : front);
					expect('field' in read ? typeof read.message : typeof read.body).toBe('string');
				}),
				{ numRuns: 10_000 }
			);
		},
		TIME_LIMIT_MS
	);
	test.each([
		['one key of continuations', `x: a: b\n${'  c\n'.repeat(900)}`],
		['continuations as long as can be', `x: a: b\n  ${'c '.repeat(long / 2 - 100)}`],
		['quotations without an end', `x: "a" ${'"'.repeat(long - 100)}`],
		['apostrophes', `x: ${"'".repeat(long - 101)}: `],
		['blanks before nothing', `x: a: b\n${' '.repeat(long - 100)}`]
	])('A5: the repair of %s ends', (_what, yaml) => {
		const front = readFrontMatter(skill(yaml));
		expect('field' in front ? front.severity : front.data).toBeTruthy();
	});
});

test.each([
	['a quoted text, of which YAML blames the next line', 'bad: "unclosed\nlicense: MIT', 'a double quote', 4],
	['a list', 'bad: [unclosed\nlicense: MIT', '“[”', 4],
	['a list that goes on', 'metadata:\n  bad: [a,\n    b\n  good: x', '“[”', 5],
	['a map after other values', 'tags: [a, b]\nlicense: "x"\nbad: {a: b', '“{”', 6]
])('A5: %s that is never closed is named, at the line where it begins', (_, yaml, sign, line) => {
	const read = readFrontMatter(`---\nname: x\ndescription: y\n${yaml}\n---\nBody\n`);
	const issue = 'field' in read ? read : read.repair;
	expect(issue).toMatchObject({ line, message: expect.stringContaining(`${sign} is `) as unknown });
	expect(issue?.message).toContain('never closed');
});

test.each([
	['a: b: c', 'there’s a colon in the value'],
	['  a: 1\n b: 2', 'there’s a colon in the value, or the line is indented wrongly'],
	['\ta: 1', 'this line is indented with a tab'],
	['name: y', 'this field is there twice'],
	['no colon', 'this line isn’t “field: value”']
])('A5: why %j can’t be read is said in plain words', (yaml, words) => {
	const read = readFrontMatter(`---\nname: x\n${yaml}\ndescription: y\n---\nBody\n`);
	expect('field' in read ? read.message : read.repair?.message).toContain(words);
});
