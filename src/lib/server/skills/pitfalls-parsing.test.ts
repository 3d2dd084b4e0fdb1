/** What other SKILL.md readers got wrong, and what's easy to get wrong again. */
import { describe, expect, test } from 'vitest';
import { readFacts } from './read/skill-loader.ts';
import { parseManifest } from './read/manifest.ts';
import { parseAllowedTools, parseSkill, parseSkillFile } from './parser.ts';
import { findSkill, versionsOf } from './registry/references.ts';
import { skillOf } from './skill-of.suite.ts';
import { SkillLoadError, type Skill, type SkillIssue } from './types.ts';
import { viewOf } from './registry/visibility.ts';

const PATH = '/skills/demo/SKILL.md';
const skill = (front: string, body = 'Body') => `---\n${front}\n---\n${body}`;
const demo = (front: string) => skill(`name: demo\ndescription: d\n${front}`);
const lenient = (text: string) => parseSkill(text, PATH, { mode: 'lenient' });
const metadataOf = (front: string) => ({ ...lenient(demo(front)).spec.metadata });

function strictIssues(text: string): readonly SkillIssue[] {
	try {
		return parseSkill(text, PATH).warnings;
	} catch (error) {
		if (error instanceof SkillLoadError) return error.issues;
		throw error;
	}
}

describe('the fence', () => {
	test.each([
		['in the middle of a value', 'name: demo\ndescription: one --- two', 'one --- two'],
		['without blanks around it', 'name: demo\ndescription: one---two', 'one---two'],
		['at the end of a value', 'name: demo\ndescription: one ---', 'one ---'],
		['in quotes', 'name: demo\ndescription: "--- one"', '--- one'],
		['on a line of a block', 'name: demo\ndescription: |\n  one\n  ---\n  two', 'one --- two'],
		['on a line of a text that goes on', 'name: demo\ndescription: one\n  --- two', 'one --- two']
	])('A3: three hyphens %s do not end the front matter', (_where, front, description) => {
		const { spec, warnings } = parseSkill(`${skill(front)}\n---\nmore`, PATH);
		expect(spec).toMatchObject({ description, body: 'Body\n---\nmore' });
		expect(warnings).toEqual([]);
	});
	test('A3: a BOM, CRLF and leading blank lines together; the lines of issues are those of the file', () => {
		const text = '\uFEFF\r\n \r\n---\r\nname: demo\r\ndescription: d\r\nlicense: ""\r\n---\r\nBody\r\nmore\r\n';
		expect(lenient(text).spec).toMatchObject({ name: 'demo', description: 'd', body: 'Body\nmore' });
		expect(lenient(text).warnings.map(({ field, line }) => [field, line])).toEqual([
			['_', 1],
			['license', 6]
		]);
	});
});

describe('the YAML', () => {
	test.each(['>-', '>', '>+', '|', '|-', '|+', '>2-', '|-  # remark'])(
		'A4: a description that begins with %s is its text, never the sign',
		(sign) => {
			expect(parseSkillFile(skill(`name: demo\ndescription: ${sign}\n  one\n  two\nlicense: MIT`), PATH)).toMatchObject(
				{
					description: 'one two',
					license: 'MIT'
				}
			);
		}
	);
	test.each([
		'1.0',
		'1.10',
		'0o17',
		'0x1F',
		'1e3',
		'007',
		'yes',
		'no',
		'on',
		'off',
		'true',
		'null',
		'~',
		'.inf',
		'2026-01-02',
		'12:30:45'
	])('A4, A13: %s stays the text that was written', (written) => {
		expect(metadataOf(`metadata:\n  a: ${written}`)).toEqual({ a: written });
		expect(lenient(demo(`version: ${written}`)).spec.extra.version).toBe(written);
	});
	test('A4: a key that other YAML takes for a switch is a key', () => {
		expect(metadataOf('metadata:\n  on: push\n  no: way\n  1: one')).toEqual({ on: 'push', no: 'way', '1': 'one' });
	});
	test.each(['js', 'javascript', 'coffee', 'coffeescript', 'cson', 'json', 'toml', 'yaml', ' js', '\tjs'])(
		'A4: a fence with the language “%s” is refused in both modes and nothing is run',
		(language) => {
			const probe = globalThis as { pitfallProbe?: boolean };
			const text = `---${language}\n{ name: "demo", description: String(globalThis.pitfallProbe = true) }\n---\n`;
			for (const mode of ['strict', 'lenient'] as const) {
				expect(() => parseSkill(text, PATH, { mode })).toThrow('exactly ---');
			}
			expect(probe.pitfallProbe).toBeUndefined();
		}
	);
	test.each([
		'!!js/function "function () { globalThis.pitfallProbe = true }"',
		'!!js/regexp /x/',
		'!!binary aGk=',
		'!own x'
	])('A4: a tag makes nothing but text: %s', (written) => {
		const { spec } = lenient(demo(`x: ${written}`));
		expect(spec.extra.x).toBe(written);
		expect(strictIssues(demo(`x: ${written}`))[0]).toMatchObject({ field: '_', severity: 'error', line: 4 });
	});
	test('A4: a billion laughs are refused, at the top and in metadata', () => {
		const rows = Array.from({ length: 9 }, (_, row) => `l${row + 1}: &l${row + 1} [${`*l${row}, `.repeat(9)}*l${row}]`);
		const laughs = ['l0: &l0 lol', ...rows];
		for (const text of [demo(laughs.join('\n')), demo(`metadata:\n  ${laughs.join('\n  ')}`)]) {
			expect(() => lenient(text)).toThrow('more than 16 YAML aliases');
			expect(strictIssues(text)[0]).toMatchObject({ field: '_', severity: 'error' });
		}
	});
	test('A4: a merge key merges nothing', () => {
		expect(lenient(demo('<<: {license: MIT}')).spec.license).toBeUndefined();
		expect(() => lenient(demo('base: &base {license: MIT}\n<<: *base'))).toThrow(
			'uses a YAML alias for a list or a map. Only text is allowed'
		);
	});
	test.each([
		['at the top', 'license: MIT\nlicense: GPL', 5],
		['in metadata', 'metadata:\n  a: b\n  a: c', 6],
		['beside a value that is mended', 'x: one: two\nlicense: MIT\nlicense: GPL', undefined]
	])('A4: a key twice %s is refused, and neither value is guessed', (_where, front, line) => {
		expect(() => lenient(demo(front))).toThrow(SkillLoadError);
		if (line !== undefined) expect(strictIssues(demo(front))).toMatchObject([{ field: '_', line, severity: 'error' }]);
	});
	test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
		'A4, A13, A16: a key called %s is a key at the top and in metadata, and touches no object',
		(key) => {
			const { spec } = lenient(
				demo(`${key}: {polluted: yes}\nmetadata:\n  ${key}: text\n  nested: {${key}: {polluted: yes}}`)
			);
			expect(Object.keys(spec.extra)).toContain(key);
			expect(Object.entries(spec.metadata)).toEqual([[key, 'text']]);
			expect({}).not.toHaveProperty('polluted');
			expect(readFacts(spec).facts).toEqual({ version: '1.0.0', tags: [], triggers: [] });
		}
	);
});

describe('the repair', () => {
	test('A5: a fault in the map below metadata is mended; strict mode says on which line it is', () => {
		const text = demo('metadata:\n  author: Ada\n  note: Use when: it rains # or snows\n  version: 1.0');
		expect({ ...lenient(text).spec.metadata }).toEqual({ author: 'Ada', note: 'Use when: it rains', version: '1.0' });
		expect(strictIssues(text)).toMatchObject([
			{ field: '_', severity: 'error', line: 6, fix: 'note: "Use when: it rains" # or snows' }
		]);
	});
	test('A13, A23: what is wrong in metadata has its own line, not that of metadata', () => {
		const text = demo('metadata:\n  a: b\n\n  # remark\n  c:\n    d: e\n  "f": [g]\nlicense: MIT');
		expect(strictIssues(text).map(({ field, line, message }) => [field, line, message.slice(0, 3)])).toEqual([
			['metadata', 8, '“c”'],
			['metadata', 10, '“f”']
		]);
	});
	test('A13, A23: a key further in of the same name is another one', () => {
		const text = demo('metadata:\n  a:\n    c: d\n  c: [e]');
		expect(strictIssues(text).map(({ line }) => line)).toEqual([5, 7]);
	});
	test('A13, A23: in metadata on one line the line is that one', () => {
		expect(strictIssues(demo('metadata: {a: b, c: [d]}'))).toMatchObject([{ field: 'metadata', line: 4 }]);
	});
	test('A5: what cannot be mended is an error with a line and a fix in both modes, never silence', () => {
		const text = demo('license: "MIT');
		expect(() => lenient(text)).toThrow(SkillLoadError);
		expect(strictIssues(text)).toMatchObject([{ field: '_', severity: 'error', line: 4, fix: 'close it with "' }]);
	});
});

describe('the fields', () => {
	test('A6: a name is compared in its composed form, as the folder’s is', () => {
		const { spec } = parseSkill(skill('name: ｄｅｍｏ\ndescription: d'), PATH);
		expect(spec.name).toBe('demo');
		const decomposed = 'cafe\u0301';
		expect(parseSkillFile(skill(`name: café\ndescription: d`), `/skills/${decomposed}/SKILL.md`).name).toBe('café');
	});
	test.each([['a'], ['a'.repeat(64)], ['a1-2b-c3'], ['1']])('A6: the name %s is right', (name) => {
		expect(strictIssues(skill(`name: ${name}\ndescription: d`).replaceAll('demo', name))).not.toContainEqual(
			expect.objectContaining({ message: expect.stringMatching(/longer|may hold/) as string })
		);
	});
	test('A7: only when asked may the folder be called otherwise; all else is checked as ever', () => {
		const parse = (name: string, skipParentDirCheck: boolean) =>
			parseSkill(skill(`name: ${name}\ndescription: d`), PATH, { skipParentDirCheck });
		expect(() => parse('other', false)).toThrow('doesn’t match the folder “');
		expect(parse('other', true).spec.name).toBe('other');
		expect(() => parse('Other', true)).toThrow('must have only lowercase');
	});
	test.each([500, 501, 1024])('A9: a description of %i characters is right in strict mode', (length) => {
		const { spec, warnings } = parseSkill(skill(`name: demo\ndescription: ${'d'.repeat(length)}`), PATH);
		expect(spec.description).toHaveLength(length);
		expect(warnings).toEqual([]);
	});
	test('A9: one of 1,025 is loaded whole with one warning, and refused in strict mode', () => {
		const text = skill(`name: demo\ndescription: ${'d'.repeat(1025)}`);
		expect(lenient(text).spec.description).toHaveLength(1025);
		expect(lenient(text).warnings).toMatchObject([{ field: 'description', severity: 'warning', line: 3 }]);
		expect(strictIssues(text)).toMatchObject([{ field: 'description', severity: 'error', line: 3 }]);
	});
	test('A10: the names that stand in for a description, in their order', () => {
		const of = (...lines: string[]) => lenient(skill(`name: demo\n${lines.join('\n')}`)).spec.description;
		expect(of('summary: c', 'when-to-use: b', 'when_to_use: a')).toBe('a');
		expect(of('summary: c', 'when-to-use: b', 'when_to_use: " "')).toBe('b');
		expect(of('summary: c', 'description:')).toBe('c');
		expect(of('summary: c', 'description: d')).toBe('d');
		expect(strictIssues(skill('name: demo\nsummary: c'))).toContainEqual(
			expect.objectContaining({ field: 'description', severity: 'error', fix: 'description: c' })
		);
	});
	test('A10, A23: what is to be written instead reads as it was meant', () => {
		const text = skill('name: demo\nsummary: "Use when: it rains # or \\"snows\\""');
		const fix = lenient(text).warnings.find(({ field }) => field === 'description')?.fix ?? '';
		expect(parseSkillFile(skill(`name: demo\n${fix}`), PATH).description).toBe('Use when: it rains # or "snows"');
	});
	test('A10: without any the spec still has its body, so that its first paragraph can be offered', () => {
		const { spec, warnings } = lenient(skill('name: demo', '# Demo\n\nWhat it does.'));
		expect(spec).toMatchObject({ description: '', body: '# Demo\n\nWhat it does.' });
		expect(warnings).toMatchObject([{ field: 'description', severity: 'error' }]);
	});
	test('A13: what is no text in metadata is kept apart, in whatever depth, and the rest is read', () => {
		const text = demo('metadata:\n  a: 1.0\n  b: false\n  c:\n    d: {e: [f]}\n  g:\n    - h\n  i: j');
		const { spec, warnings } = lenient(text);
		expect({ ...spec.metadata }).toEqual({ a: '1.0', b: 'false', i: 'j' });
		expect(spec.extra).toMatchObject({ 'metadata.c': { d: { e: ['f'] } }, 'metadata.g': ['h'] });
		expect(warnings.map(({ severity, line }) => [severity, line])).toEqual([
			['warning', 7],
			['warning', 9]
		]);
	});
	test.each([['text'], ['[a]'], ['\n  - a']])('A13: metadata that is %j is a warning, and empty', (written) => {
		expect(metadataOf(`metadata: ${written}`)).toEqual({});
		expect(strictIssues(demo(`metadata: ${written}`))).toMatchObject([
			{ field: 'metadata', severity: 'error', line: 4 }
		]);
	});
	test('A14: the wish is kept as it was written and takes nothing else from the skill', () => {
		const { allowedTools, ...rest } = parseSkillFile(demo('allowed-tools: Bash(git:*), Read'), PATH);
		const { allowedTools: none, ...without } = parseSkillFile(demo(''), PATH);
		expect(allowedTools).toBe('Bash(git:*), Read');
		expect(none).toBeUndefined();
		expect(rest).toEqual(without);
	});
	test.each<[string | undefined, string[]]>([
		[undefined, []],
		['', []],
		[' ,\t\n, ', []],
		['Read,Write\tEdit\nBash', ['Read', 'Write', 'Edit', 'Bash']],
		['Bash(git:*) Read', ['Bash(git:*)', 'Read']],
		['Bash(git add:*, git commit:*) Read', ['Bash(git add:*, git commit:*)', 'Read']],
		['A(b (c d) e) F', ['A(b (c d) e)', 'F']],
		['A) B', ['A)', 'B']]
	])('A15: %j is %j', (raw, tokens) => {
		expect(parseAllowedTools(raw)).toEqual(tokens);
	});
	test('A22: the error says where, which field and what, one after the other', () => {
		const issues = strictIssues(skill('name: Demo\ndescription: d\nlicense: ""'));
		const expected = issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
		expect(issues.length).toBeGreaterThan(1);
		expect(() => parseSkillFile(skill('name: Demo\ndescription: d\nlicense: ""'), PATH)).toThrow(
			`SKILL.md at ${PATH}: ${expected}`
		);
	});
});

describe('names of other clients', () => {
	const factsOf = (front: string) => readFacts(lenient(demo(front)).spec).facts;
	test.each(['allowed_tools', 'tools'])('A17: %s is read as allowed-tools, with a warning', (alias) => {
		for (const written of ['Read Bash(git:*)', '[Read, "Bash(git:*)"]', '\n  - Read\n  - Bash(git:*)']) {
			const { spec, warnings } = lenient(demo(`license: MIT\n${alias}: ${written}`));
			expect(spec.allowedTools).toBe('Read Bash(git:*)');
			expect(warnings).toMatchObject([
				{ field: 'allowed-tools', severity: 'warning', line: 5, fix: 'allowed-tools: "Read Bash(git:*)"' }
			]);
			expect(Object.keys(spec.extra)).toEqual([alias]);
		}
		expect(lenient(demo(`metadata:\n  ${alias}: Read`)).spec.allowedTools).toBe('Read');
	});
	test('A17: allowed-tools comes first, even when it is blank; then allowed_tools, then tools', () => {
		const of = (front: string) => lenient(demo(front)).spec.allowedTools;
		expect(of('tools: c\nallowed_tools: b\nallowed-tools: a')).toBe('a');
		expect(of('tools: c\nallowed-tools: ""')).toBeUndefined();
		expect(of('tools: c\nallowed_tools: b')).toBe('b');
		expect(of('tools: c\nallowed_tools: ""')).toBe('c');
	});
	test('A17: tools that are neither text nor texts are a warning', () => {
		expect(lenient(demo('tools: {bash: true}')).spec.allowedTools).toBeUndefined();
		expect(lenient(demo('tools: {bash: true}')).warnings).toMatchObject([
			{ field: 'tools', severity: 'warning', line: 4 }
		]);
	});
	test('A17, A16: in strict mode they are unexpected fields, and not read', () => {
		const { spec, warnings } = parseSkill(demo('allowed_tools: Read\ntools: [Write]'), PATH);
		expect(spec.allowedTools).toBeUndefined();
		expect({ ...spec.extra }).toEqual({ allowed_tools: 'Read', tools: ['Write'] });
		expect(warnings.map(({ field, line }) => [field, line])).toEqual([
			['allowed_tools', 4],
			['tools', 5]
		]);
	});
	test.each([
		['tags', ['tags', 'tag']],
		['triggers', ['triggers', 'trigger_patterns', 'trigger', 'activation']]
	] as const)(
		'A17: %s under each name, at the top and in metadata, as list and as text; the first name wins',
		(fact, keys) => {
			for (const [index, key] of keys.entries()) {
				for (const written of ['"one, two"', '[one, two]', '\n    - one\n    - two']) {
					expect(factsOf(`${key}: ${written}`)[fact], key).toEqual(['one', 'two']);
					expect(factsOf(`metadata:\n  ${key}: ${written}`)[fact], key).toEqual(['one', 'two']);
				}
				for (const later of keys.slice(index + 1)) {
					expect(factsOf(`${later}: other\n${key}: this`)[fact], `${key} before ${later}`).toEqual(['this']);
					expect(factsOf(`${key}:\n${later}: this`)[fact], `a blank ${key}`).toEqual(['this']);
				}
				expect(factsOf(`metadata:\n  ${key}: other\n${key}: this`)[fact], key).toEqual(['this']);
			}
		}
	);
	test('A17: tags without a comma are divided by blanks, phrases are not', () => {
		expect(factsOf('tags: csv data\ntriggers: make a chart')).toMatchObject({
			tags: ['csv', 'data'],
			triggers: ['make a chart']
		});
	});
	test('A17, A38: version and author at the top come before those in metadata', () => {
		expect(factsOf('version: 2.0.0\nauthor: Ada\nmetadata:\n  version: 1.5.0\n  author: Bob')).toMatchObject({
			version: '2.0.0',
			author: 'Ada'
		});
		expect(factsOf('metadata:\n  version: 1.5.0\n  author: Bob')).toMatchObject({ version: '1.5.0', author: 'Bob' });
	});
});

test('A36: one tool that stands in no array is said to need one', () => {
	expect(parseManifest('{"name":"count","description":"Counts."}')).toMatchObject({
		tools: [],
		issues: [{ field: 'tools.json', message: expect.stringContaining('array') as string }]
	});
});

describe('references', () => {
	const at = (version: string, changes: Partial<Skill> = {}) =>
		skillOf('fetch', { version, dir: `/skills/fetch-${version}`, ...changes });
	const library = (...skills: Skill[]) => ({
		skills: skills.slice(0, 1),
		shadowed: skills.slice(1),
		broken: [],
		revision: 'r'
	});
	const versions = library(at('2.1.0'), at('2.0.0'), at('1.10.0'), at('1.9.0'), at('0.2.0'), at('0.1.9'), at('0.1.0'));

	test('A37: a name in bold, in capitals, with blanks or underscores', () => {
		const all = library(skillOf('data-tool', { dir: '/skills/Data_Folder' }));
		for (const name of ['**Data Tool**', 'DATA_TOOL', '\tdata  tool\n', 'data folder', 'data-FOLDER']) {
			expect(findSkill(all, name)?.name, name).toBe('data-tool');
		}
	});
	test('A38: a bare name is found, and name@version is that version exactly', () => {
		expect(findSkill(versions, 'fetch')?.version).toBe('2.1.0');
		for (const version of versionsOf(versions, 'fetch')) {
			expect(findSkill(versions, `fetch@${version}`)?.version).toBe(version);
		}
		expect(findSkill(versions, 'fetch@9.9.9')).toBeUndefined();
	});
	test.each([
		['>=1.9.0', '2.1.0'],
		['>= 1.9.0', '2.1.0'],
		['>2.1.0', undefined],
		['<=1.9.0', '1.9.0'],
		['<1.9.0', '0.2.0'],
		['==1.9.0', '1.9.0'],
		['== 1.9.0', '1.9.0'],
		['=1.9.0', '1.9.0'],
		['1.9.0', '1.9.0'],
		['v1.9.0', '1.9.0'],
		['^0.1.0', '0.1.9'],
		['~0.1.0', '0.1.9'],
		['^1', '1.10.0'],
		['~1.9', '1.9.0'],
		['1.x', '1.10.0'],
		['1.9.0 - 2.0.0', '2.0.0'],
		['>=0.1 <0.2 || 2.0.0', '2.0.0'],
		['latest', '2.1.0'],
		['*', '2.1.0'],
		['', '2.1.0'],
		['^3', undefined]
	])('A39: fetch@%s is %s', (range, version) => {
		expect(findSkill(versions, `fetch@${range}`)?.version).toBe(version);
	});
	test.each(['bare', 'fetch', 'fetch@*', 'fetch@latest', 'fetch@^1', 'fetch@1.9.0', 'skills/fetch'])(
		'A39: a skill that is off is not found as %s',
		(reference) => {
			const { library: seen, off } = viewOf(versions, { modeOf: () => 'off' });
			expect(findSkill(seen, reference)).toBeUndefined();
			expect(off).toHaveLength(7);
		}
	);
	test('A39: latest and * take a preview only where there is nothing else', () => {
		expect(findSkill(library(at('1.0.0'), at('2.0.0-beta.1')), 'fetch@latest')?.version).toBe('1.0.0');
		expect(findSkill(library(at('2.0.0-beta.1'), at('2.0.0-beta.2')), 'fetch@latest')?.version).toBe('2.0.0-beta.2');
		expect(findSkill(library(at('2.0.0-beta.1')), 'fetch@*')?.version).toBe('2.0.0-beta.1');
		expect(findSkill(library(at('2.0.0-beta.1')), 'fetch@')?.version).toBe('2.0.0-beta.1');
		expect(findSkill(library(at('2.0.0-beta.1')), 'fetch@^1')).toBeUndefined();
	});
	test('A40: versions are sorted as numbers, not as text', () => {
		expect(versionsOf(versions, 'Fetch')).toEqual(['2.1.0', '2.0.0', '1.10.0', '1.9.0', '0.2.0', '0.1.9', '0.1.0']);
	});
	test('A41: an installed skill, the system’s, is seen by every caller and by none; another’s own by nobody else', () => {
		const all = library(at('1.0.0', { owner: 'system', source: 'installed' }), at('3.0.0', { owner: 'bob' }));
		for (const owner of [undefined, 'ada', 'system']) {
			const { library: seen } = viewOf(all, { owner });
			expect(findSkill(seen, 'fetch')?.version).toBe('1.0.0');
			expect(findSkill(seen, 'fetch@latest')?.version).toBe('1.0.0');
			expect(findSkill(seen, 'fetch@3.0.0')).toBeUndefined();
			expect(versionsOf(seen, 'fetch')).toEqual(['1.0.0']);
		}
	});
	test('A41: of one identity the caller’s own wins, whichever lies first', () => {
		const own = at('1.0.0', { owner: 'ada', dir: '/ada/fetch' });
		const common = at('1.0.0', { owner: 'system', dir: '/system/fetch' });
		for (const all of [library(own, common), library(common, own)]) {
			const { library: seen } = viewOf(all, { owner: 'ada' });
			expect([findSkill(seen, 'fetch'), findSkill(seen, 'fetch@1.0.0')]).toEqual([own, own]);
			expect(findSkill(viewOf(all, { owner: 'bob' }).library, 'fetch')).toEqual(common);
		}
	});
});
