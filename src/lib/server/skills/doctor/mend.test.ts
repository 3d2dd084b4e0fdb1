import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mutatedSkills } from '../mutated-skills.suite.ts';
import { parseSkillFile } from '../parser.ts';
import { textIssues } from '../read/skill-loader.ts';
import { fixIdOf } from './fixes.ts';
import { splitSkill } from './lines.ts';
import { createMender, mendAll } from './doctor.ts';

/** For an endless loop, not for a busy machine. */
const TIME_LIMIT_MS = 60_000;
const DIR = '/skills/demo';
const PATH = `${DIR}/SKILL.md`;
const skill = (front: string, body = 'Body.\n') => `---\n${front}\n---\n${body}`;
const fixable = (text: string, dir = DIR) => {
	const mend = createMender(text, dir);
	return textIssues(text, `${dir}/SKILL.md`).filter((issue) => mend(issue) !== null);
};

describe('F1: what can be mended, and how', () => {
	test.each<[what: string, before: string, after: string]>([
		[
			'an unquoted “: ”',
			skill('name: demo\ndescription: Use when: it rains'),
			skill('name: demo\ndescription: "Use when: it rains"')
		],
		[
			'a value over lines that needs quotes',
			skill("name: demo\ndescription: Use when: it's late\n  or early\nlicense: MIT"),
			skill('name: demo\ndescription: "Use when: it\'s late or early"\nlicense: MIT')
		],
		[
			'a value that begins like a list',
			skill('name: demo\ndescription: x\nargument-hint: [file] — what to read'),
			skill('name: demo\ndescription: x\nargument-hint: "[file] — what to read"')
		],
		[
			'a quotation that never ends',
			skill('name: demo\ndescription: "Does it.\nlicense: MIT'),
			skill('name: demo\ndescription: "Does it."\nlicense: MIT')
		],
		[
			'tabs before keys',
			skill('name: demo\ndescription: x\nmetadata:\n\tauthor: me\n\t# why\n\tteam: us'),
			skill('name: demo\ndescription: x\nmetadata:\n  author: me\n  # why\n  team: us')
		],
		[
			'a key that stands twice',
			skill('name: demo\ndescription: One.\nlicense: MIT\ndescription: >-\n  Two\n  lines.\n\nversion: 1.0.0'),
			skill('name: demo\ndescription: One.\nlicense: MIT\n# description: >-\n  # Two\n  # lines.\n\nversion: 1.0.0')
		],
		[
			'a key that stands twice, at first without a value',
			skill('name: demo\ndescription:\nlicense: MIT\ndescription: Two.'),
			skill('name: demo\n# description:\nlicense: MIT\ndescription: Two.')
		],
		[
			'a name that may not be',
			skill('name: Demo_Skill # mine\ndescription: x'),
			skill('name: demo # mine\ndescription: x')
		],
		[
			'a name that is not the folder\u2019s',
			skill('description: x\n"name": \'other\'\n# end'),
			skill('description: x\nname: demo\n# end')
		],
		['no name', skill('description: x'), skill('name: demo\ndescription: x')],
		[
			'“skill” in place of a name',
			skill('skill: demo\ndescription: x'),
			skill('name: demo\nskill: demo\ndescription: x')
		],
		['a name that is a list', skill('name:\n  - demo\ndescription: x'), skill('name: demo\ndescription: x')],
		[
			'no description',
			skill(
				'# first\nname: demo\nlicense: MIT',
				'# Demo\n\n```sh\nno\n```\n\nReads **invoices**: all of [them](x.md).\n\nMore.\n'
			),
			skill(
				'# first\nname: demo\ndescription: "Reads invoices: all of them."\nlicense: MIT',
				'# Demo\n\n```sh\nno\n```\n\nReads **invoices**: all of [them](x.md).\n\nMore.\n'
			)
		],
		[
			'a blank description',
			skill('name: demo\ndescription:', '# Makes tea\n'),
			skill('name: demo\ndescription: Makes tea', '# Makes tea\n')
		],
		[
			'another name for the description',
			skill('name: demo\nwhen_to_use: When it rains.'),
			skill('name: demo\ndescription: When it rains.\nwhen_to_use: When it rains.')
		],
		[
			'a description that is too long',
			skill(`name: demo\ndescription: >-\n  ${'Sentence number one. '.repeat(60)}\nlicense: MIT`),
			skill(`name: demo\ndescription: ${'Sentence number one. '.repeat(48).trim()}\nlicense: MIT`)
		],
		[
			'a description too long, without sentences',
			skill(`name: demo\ndescription: ${'word '.repeat(300)}`),
			skill(`name: demo\ndescription: "${'word '.repeat(204).trim()}…"`)
		],
		[
			'a compatibility that is too long',
			skill(`name: demo\ndescription: x\ncompatibility: ${'Needs it. '.repeat(60)}`),
			skill(`name: demo\ndescription: x\ncompatibility: ${'Needs it. '.repeat(50).trim()}`)
		],
		['a blank license', skill('name: demo\ndescription: x\nlicense:'), skill('name: demo\ndescription: x\n# license:')],
		[
			'a license that is a list',
			skill('name: demo\ndescription: x\nlicense: [MIT, ISC]'),
			skill('name: demo\ndescription: x\nlicense: MIT, ISC')
		],
		[
			'metadata that is no text, and not the settings of another client',
			skill(
				'name: demo\ndescription: x\nmetadata:\n  tags:\n    - a\n    - b # two\n  # kept\n  deep: {a: [b]}\n  plain: 1'
			),
			skill('name: demo\ndescription: x\nmetadata:\n  tags: a, b\n  # kept\n  deep: {a: [b]}\n  plain: 1')
		],
		[
			'metadata on one line that is no text',
			skill('name: demo\ndescription: x\nmetadata: {a: [b], c: d}'),
			skill('name: demo\ndescription: x\nmetadata:\n  a: b\n  c: d')
		],
		[
			'metadata on one line with the settings of another client',
			skill('name: demo\ndescription: x\nmetadata: {a: [b], openclaw: {requires: {bins: [jq]}}}'),
			skill('name: demo\ndescription: x\nmetadata:\n  a: b\n  "openclaw": {"requires":{"bins":["jq"]}}')
		],
		[
			'metadata that is no map',
			skill('name: demo\ndescription: x\nmetadata: [a]'),
			skill('name: demo\ndescription: x\n# metadata: [a]')
		],
		[
			'a wish for tools that YAML took apart',
			skill('name: demo\ndescription: x\nallowed-tools:\n- Read\n- Bash(git: push)'),
			skill('name: demo\ndescription: x\nallowed-tools: "Read Bash(git: push)"')
		],
		[
			'another name for the wish for tools',
			skill('name: demo\ndescription: x\ntools: [Read, Grep]'),
			skill('name: demo\ndescription: x\ntools: [Read, Grep]\nallowed-tools: Read Grep')
		],
		[
			'a version of two numbers',
			skill('name: demo\ndescription: x\nversion: v1.2'),
			skill('name: demo\ndescription: x\nversion: "1.2.0"')
		],
		[
			'a version that is none, in metadata',
			skill('name: demo\ndescription: x\nmetadata:\n  version: "new" # yes'),
			skill('name: demo\ndescription: x\nmetadata:\n  version: "1.0.0" # yes')
		],
		[
			'a byte order mark and blank lines',
			`\uFEFF\n \n${skill('name: demo\ndescription: x')}`,
			skill('name: demo\ndescription: x')
		],
		['a byte order mark alone', `\uFEFF${skill('name: demo\ndescription: x')}`, skill('name: demo\ndescription: x')],
		[
			'a fence with a language',
			'---js\nname: demo\ndescription: x\n---\nBody',
			'---\nname: demo\ndescription: x\n---\nBody'
		],
		[
			'fences of other dashes',
			' ----\nname: demo\ndescription: x\n———\nBody',
			'---\nname: demo\ndescription: x\n---\nBody'
		],
		...['-', '--', '----', '–––', ' ---', '- - -', '***', 'oops'].map((line): [string, string, string] => [
			`an opening fence that is “${line}”`,
			`${line}\nname: demo\ndescription: x\n---\nBody`,
			'---\nname: demo\ndescription: x\n---\nBody'
		]),
		['no opening fence', 'name: demo\ndescription: x\n---\nBody', '---\nname: demo\ndescription: x\n---\nBody'],
		[
			'no closing fence',
			'---\nname: demo\ndescription: x\n\n# Title\n\nBody: this\n',
			'---\nname: demo\ndescription: x\n---\n\n# Title\n\nBody: this\n'
		],
		[
			'no closing fence, and no end of line',
			'---\nname: demo\ndescription: x',
			'---\nname: demo\ndescription: x\n---\n'
		],
		['no fence at all', 'name: demo\ndescription: x\n\nBody\n', '---\nname: demo\ndescription: x\n---\n\nBody\n'],
		[
			'no front matter',
			'# Demo\n\nMakes tea.\n',
			'---\nname: demo\ndescription: Makes tea.\n---\n# Demo\n\nMakes tea.\n'
		],
		['an empty front matter', '---\n---\nMakes tea.\n', '---\nname: demo\ndescription: Makes tea.\n---\nMakes tea.\n'],
		[
			'CRLF, kept in every line',
			'---\r\nname: Demo\r\nlicense: MIT # x\r\nmetadata:\r\n  a: [b]\r\n---\r\nMakes tea.\r\n',
			'---\r\nname: demo\r\ndescription: Makes tea.\r\nlicense: MIT # x\r\nmetadata:\r\n  a: b\r\n---\r\nMakes tea.\r\n'
		],
		[
			'one fault behind another',
			'\uFEFF---js\nname: Demo\ndescription: Use when: it rains\nversion: 1\n---\nBody',
			'---\nname: demo\ndescription: "Use when: it rains"\nversion: "1.0.0"\n---\nBody'
		]
	])('%s', (_what, before, after) => {
		expect(mendAll(before, DIR)).toBe(after);
		expect(fixable(after)).toEqual([]);
		expect(() => parseSkillFile(after, PATH)).not.toThrow();
	});

	test.each<[what: string, text: string]>([
		['an empty file', ''],
		['no front matter, and nothing to describe it with', '```\ncode\n```\n'],
		['no description, and no instructions', skill('name: demo', '')],
		['YAML beyond repair', skill('name: demo\n{{{ ]\n- - :')],
		['code in place of YAML', '---js\nmodule.exports = { name: "demo" };\n---\nBody'],
		['front matter that is a text', skill('just some words')],
		['more lines of front matter than are read', skill(`name: demo\ndescription: x\n${'#\n'.repeat(1100)}`)]
	])('%s is for a person', (_what, text) => {
		expect(fixable(text)).toEqual([]);
		expect(mendAll(text, DIR)).toBe(text);
		expect(() => parseSkillFile(text, PATH)).toThrow();
	});

	test('A6: a folder that may not name a skill has to be renamed by a person; the name is made right all the same', () => {
		const text = skill('name: My Skill\ndescription: x');
		expect(mendAll(text, '/skills/My Skill')).toBe(skill('name: my-skill\ndescription: x'));
		expect(mendAll(text, '/skills/weather@1.2.0')).toBe(skill('name: weather\ndescription: x'));
		expect(mendAll(skill('name: ???\ndescription: x'), '/skills/!!')).toBe(skill('name: ???\ndescription: x'));
	});

	test('A4: what an alias stands for is left to a person', () => {
		const text = skill('name: &n Demo Skill\ndescription: *n');
		expect(fixable(text)).toEqual([]);
		expect(mendAll(text, DIR)).toBe(text);
	});

	test('only what is wanted is mended', () => {
		const text = skill('name: Demo\nversion: v1\ndescription: x');
		expect(mendAll(text, DIR, { wanted: new Set(['version']) })).toBe(
			skill('name: Demo\nversion: "1.0.0"\ndescription: x')
		);
		expect(mendAll(text, DIR, { wanted: new Set(['license']) })).toBe(text);
	});
});

test(
	'F1: of 300 mutated files, all that can be mended is, in one go, and the instructions stay as they are',
	() => {
		fc.assert(
			fc.property(mutatedSkills(), (before) => {
				const after = mendAll(before, DIR);
				const left = textIssues(after, PATH);
				expect(fixable(after)).toEqual([]);
				if (after !== before) {
					const [from, to] = [splitSkill(before), splitSkill(after)];
					if (from) expect(to?.rest).toBe(from.rest);
					else expect(before.endsWith(to?.rest.replace(/^---[ \t]*(?:\r\n|\r|\n|$)/, '') ?? '\0')).toBe(true);
				}
				// Errors that remain need a person; without any, the file passes strict mode.
				if (left.every(({ severity }) => severity === 'warning')) parseSkillFile(after, PATH);
				const mended = textIssues(before, PATH).filter((issue) => createMender(before, DIR)(issue) !== null);
				const ids = new Set(mended.map(fixIdOf));
				for (const { field, message } of mended) {
					expect(left.some((issue) => issue.field === field && issue.message === message)).toBe(false);
				}
				if (ids.size === 0) expect(after).toBe(before);
			}),
			{ numRuns: 300 }
		);
	},
	TIME_LIMIT_MS
);

test(
	'F1: 200 random texts are mended or left as they are, and nothing throws',
	() => {
		const text = fc.oneof(
			fc.string({ unit: 'binary', maxLength: 200 }),
			fc.string({ unit: 'grapheme', maxLength: 200 })
		);
		fc.assert(
			fc.property(text, fc.constantFrom('plain', 'fenced', 'valued'), (given, kind) => {
				const contents =
					kind === 'plain' ? given : skill(kind === 'fenced' ? given : `name: demo\ndescription: ${given}`);
				const after = mendAll(contents, DIR);
				expect(fixable(after)).toEqual([]);
			}),
			{ numRuns: 200 }
		);
	},
	TIME_LIMIT_MS
);
