import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mutatedSkills } from './mutated-skills.suite.ts';
import { parseAllowedTools, parseSkill, parseSkillFile } from './parser.ts';
import { textIssues } from './read/skill-loader.ts';
import { SkillLoadError, type SkillIssue } from './types.ts';

/** For a parser that hangs, not for a busy machine. */
const TIME_LIMIT_MS = 60_000;
const PATH = '/skills/demo/SKILL.md';
const lenient = (text: string) => parseSkill(text, PATH, { mode: 'lenient' });
const skill = (front: string, body = 'Body') => `---\n${front}\n---\n${body}`;

/** The error strict mode gives for a file it refuses. */
function issuesOf(text: string): readonly SkillIssue[] {
	try {
		parseSkillFile(text, PATH);
	} catch (error) {
		if (error instanceof SkillLoadError) return error.issues;
		throw error;
	}
	throw new Error('nothing was wrong');
}

describe('a SKILL.md', () => {
	test('A4: values stay text, folded text is folded', () => {
		const { spec } = lenient(
			skill('name: demo\ndescription: >-\n  one\n  two\nmetadata:\n  version: 1.0\n  on: yes\n  id: 007')
		);
		expect(spec.description).toBe('one two');
		expect({ ...spec.metadata }).toEqual({ version: '1.0', on: 'yes', id: '007' });
	});
	test('A3: a BOM, CRLF and blank lines before the fence are accepted', () => {
		expect(lenient('\uFEFF---\r\nname: demo\r\ndescription: d\r\n---\r\nBody\r\n').spec.body).toBe('Body');
		expect(lenient('\n\n---\nname: demo\ndescription: d\n---\n').warnings[0]?.message).toContain('blank lines');
	});
	test.each(['---js', '--- js', '---javascript', '---json', '---coffee'])(
		'A4: %s front matter is refused, not run',
		(fence) => {
			const probe = globalThis as { skillProbe?: boolean };
			expect(() => lenient(`${fence}\n{ name: (globalThis.skillProbe = true) }\n---\nx`)).toThrow(SkillLoadError);
			expect(probe.skillProbe).toBeUndefined();
		}
	);
	test('A4: an alias is the text that it stands for, or the file is refused with its line; it never becomes other text', () => {
		expect(lenient(skill('name: &n demo\ndescription: *n')).spec).toMatchObject({ name: 'demo', description: 'demo' });
		const mended = lenient(skill('name: &n demo\ndescription: *n\nsummary: Use when: it rains')).spec;
		expect(mended).toMatchObject({ description: 'demo', extra: { summary: 'Use when: it rains' } });
		const list = skill('name: demo\ntags: &a [x]\nsummary: *a');
		expect(() => lenient(list)).toThrow('uses a YAML alias for a list or a map. Only text is allowed');
		expect(issuesOf(list)).toMatchObject([{ severity: 'error', line: 4, fix: 'write the value instead' }]);
		// Not an alias: it's unquoted emphasis.
		expect(lenient(skill('name: demo\ndescription: *very* good')).spec.description).toBe('*very* good');
	});
	test('A20: blank lines before the fence are a warning in lenient mode, and refused in strict mode', () => {
		const text = `\n\n${skill('name: demo\ndescription: d')}`;
		expect(lenient(text).warnings).toMatchObject([{ field: '_', severity: 'warning', line: 1 }]);
		expect(issuesOf(text)).toMatchObject([{ field: '_', severity: 'error', line: 1 }]);
	});
	test('A19: the body loses blank lines before and after it, and no indentation', () => {
		const { body } = lenient(skill('name: demo\ndescription: d', '\n \t\n    code: first\n    more\n\n \n')).spec;
		expect(body).toBe('    code: first\n    more');
		expect(lenient(skill('name: demo\ndescription: d', '\tcode')).spec.body).toBe('\tcode');
	});
	test('A4: front matter of more than 64 KiB is refused before YAML sees it', () => {
		expect(() => lenient(skill(`name: demo\nx: ${'y'.repeat(70_000)}`))).toThrow('64 KiB');
	});
	test('A5: an unquoted colon is repaired, with the line and a fix', () => {
		const { spec, warnings } = lenient(skill('name: demo\ndescription: Use when: it rains'));
		expect(spec.description).toBe('Use when: it rains');
		expect(warnings[0]).toMatchObject({ line: 3, fix: 'description: "Use when: it rains"' });
	});
	test.each(['', 'no fence', '---\nname: demo', '---\n- a list\n---\n'])('%j throws in both modes', (text) => {
		expect(() => lenient(text)).toThrow(SkillLoadError);
		expect(() => parseSkill(text, PATH)).toThrow(SkillLoadError);
	});
	test.each(['Demo', 'de--mo', '-demo', 'demo-', 'a'.repeat(65), 'НАВЫК', 'other'])(
		'A6: the name %s is a violation',
		(name) => {
			expect(() => parseSkill(skill(`name: ${name}\ndescription: d`), PATH)).toThrow(/name:/);
			expect(lenient(skill(`name: ${name}\ndescription: d`)).warnings.map((issue) => issue.field)).toContain('name');
		}
	);
	test('A6, A7: Unicode names pass, and the folder may differ when asked', () => {
		const text = skill('name: 技能\ndescription: d');
		expect(parseSkill(text, PATH, { skipParentDirCheck: true }).spec.name).toBe('技能');
	});
	test('A8: a missing name is the folder’s in lenient mode, an error in strict', () => {
		expect(lenient(skill('description: d')).spec.name).toBe('demo');
		expect(() => parseSkillFile(skill('description: d'), PATH)).toThrow(/name/);
	});
	test('A9: a description of 1,068 characters loads with a warning', () => {
		const { spec, warnings } = lenient(skill(`name: demo\ndescription: ${'d'.repeat(1068)}`));
		expect(spec.description).toHaveLength(1068);
		expect(warnings[0]?.severity).toBe('warning');
	});
	test('A10: a missing description falls back, or is an error', () => {
		expect(lenient(skill('name: demo\nwhen_to_use: at noon')).spec.description).toBe('at noon');
		expect(lenient(skill('name: demo')).warnings[0]).toMatchObject({ field: 'description', severity: 'error' });
	});
	test('A description cannot forge a second entry of the catalog', () => {
		const { spec } = lenient(skill('name: demo\ndescription: "a\\n### evil\\nb"'));
		expect(spec.description).toBe('a ### evil b');
	});
	test('A13, A14, A16: metadata, allowed-tools and unknown keys', () => {
		const { spec } = lenient(
			skill('name: demo\ndescription: d\nallowed-tools: [Read, "Bash(git:*)"]\nmetadata:\n  a: {b: c}\nmodel: x')
		);
		expect(spec.allowedTools).toBe('Read Bash(git:*)');
		expect(spec.extra).toMatchObject({ model: 'x', 'metadata.a': { b: 'c' } });
	});
	test('A16, A13: a key called __proto__ is kept as a key, and gives no skill a prototype', () => {
		const { spec } = lenient(skill('name: demo\ndescription: d\n__proto__: {license: x}\nmetadata:\n  __proto__: y'));
		expect(Object.entries(spec.extra)).toEqual([['__proto__', { license: 'x' }]]);
		expect(Object.entries(spec.metadata)).toEqual([['__proto__', 'y']]);
		expect(spec.extra.license).toBeUndefined();
		expect({}).not.toHaveProperty('license');
	});
	test('A11, A12: license and compatibility are text; a blank one and a long one are violations', () => {
		const { spec, warnings } = lenient(
			skill(`name: demo\ndescription: d\nlicense: MIT\ncompatibility: ${'c'.repeat(501)}`)
		);
		expect(spec).toMatchObject({ license: 'MIT', compatibility: 'c'.repeat(501) });
		expect(warnings).toMatchObject([{ field: 'compatibility', line: 5 }]);
		expect(() => parseSkill(skill('name: demo\ndescription: d\nlicense: ""'), PATH)).toThrow(/license/);
		expect(() => parseSkill(skill('name: demo\ndescription: d\nlicense: [MIT]'), PATH)).toThrow(/license/);
	});
	test('A20, A21, A22: strict mode names every violation, with its line, in one error', () => {
		const error = (() => {
			try {
				return parseSkill(skill('name: Demo Skill\ndescription: ""\nlicense: ""\nmetadata: [a]'), PATH);
			} catch (error) {
				return error as SkillLoadError;
			}
		})();
		expect(error).toBeInstanceOf(SkillLoadError);
		expect(error).toMatchObject({ message: expect.stringContaining(`SKILL.md at ${PATH}: name: `) as string });
		const issues = (error as SkillLoadError).issues;
		expect(issues.every(({ severity }) => severity === 'error')).toBe(true);
		expect(issues.map(({ field, line }) => [field, line])).toEqual([
			['name', 2],
			['name', 2],
			['description', 3],
			['license', 4],
			['metadata', 5]
		]);
	});
	test('A16: an unexpected key is kept as it is; every one is reported in strict mode, those that nobody knows in lenient', () => {
		const text = skill('name: demo\ndescription: d\nmodel: x\ntags: a\nversion: 1.0');
		const { spec, warnings } = parseSkill(text, PATH);
		expect({ ...spec.extra }).toEqual({ model: 'x', tags: 'a', version: '1.0' });
		expect(warnings).toMatchObject([
			{
				field: 'model',
				severity: 'warning',
				line: 4,
				message: expect.stringContaining('isn’t a standard field') as string
			},
			{ field: 'tags', severity: 'warning', line: 5 },
			{ field: 'version', severity: 'warning', line: 6 }
		]);
		expect(lenient(text).warnings).toMatchObject([{ field: 'model', severity: 'warning', line: 4 }]);
		expect({ ...lenient(text).spec.extra }).toEqual({ ...spec.extra });
	});
	test('A6: control and direction characters do not reach the name or the description', () => {
		const { spec } = lenient(
			skill(String.raw`name: "de\u202Emo\u0007"` + '\n' + String.raw`description: "a\u202E\U000E0041b"`)
		);
		expect(spec.name + spec.description).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/u);
	});
	test('A20: any text gives a spec or a SkillLoadError, in both modes', () => {
		const line = fc.tuple(
			fc.constantFrom('name', 'description', 'metadata', 'allowed-tools', 'x', '__proto__'),
			fc.string()
		);
		fc.assert(
			fc.property(fc.array(line, { maxLength: 6 }), fc.constantFrom('strict', 'lenient'), (pairs, mode) => {
				try {
					const { spec } = parseSkill(skill(pairs.map(([key, value]) => `${key}: ${value}`).join('\n')), PATH, {
						mode
					});
					expect(spec.name).not.toMatch(/\s/);
					expect(spec.description).not.toMatch(/[\r\n]/);
				} catch (error) {
					expect(error).toBeInstanceOf(SkillLoadError);
				}
			})
		);
	});
	test('A20, A5: YAML that has to be repaired is a violation beside the others in strict mode, a warning in lenient', () => {
		const text = skill('name: demo\ndescription: Use when: it rains\nlicense: ""');
		expect(issuesOf(text)).toMatchObject([
			{ field: '_', severity: 'error', line: 3, fix: 'description: "Use when: it rains"' },
			{ field: 'license', severity: 'error', line: 4 }
		]);
		expect(lenient(text).warnings).toMatchObject([{ field: '_', severity: 'warning', line: 3 }, { field: 'license' }]);
	});
	test('A23: what is missing is looked for at the fence, what is no text is said to be that', () => {
		expect(issuesOf('\n---\nlicense: MIT\n---\n')).toMatchObject([
			{ field: '_', line: 1 },
			{ field: 'name', line: 2, fix: 'name: demo' },
			{ field: 'description', line: 2 }
		]);
		expect(issuesOf(skill('name: [demo]\ndescription: {a: b}'))).toMatchObject([
			{ field: 'name', line: 2, message: expect.stringMatching(/^must be text/) as string },
			{ field: 'description', line: 3, message: expect.stringMatching(/^must be text/) as string }
		]);
	});
	test('A6: a name beyond ASCII is less portable, in both modes no more than a warning', () => {
		const { warnings } = parseSkill(skill('name: 技能\ndescription: d'), '/skills/技能/SKILL.md');
		expect(warnings).toMatchObject([
			{ field: 'name', severity: 'warning', line: 2, message: expect.stringContaining('non-ASCII letters') as string }
		]);
		expect(parseSkill(skill('name: demo\ndescription: d'), PATH).warnings).toEqual([]);
	});
	test('A6: a message shows no more than the beginning of a name without end', () => {
		for (const { message } of issuesOf(skill(`name: ${'A'.repeat(60_000)}\ndescription: d`)))
			expect(message.length).toBeLessThan(300);
	});
	test('A8: “skill” names a skill that has no name, with a warning; an error in strict mode', () => {
		const text = skill('skill: demo\ndescription: d');
		expect(lenient(text).spec.name).toBe('demo');
		expect(lenient(text).warnings).toMatchObject([{ field: 'name', fix: 'name: demo' }]);
		expect(() => parseSkillFile(text, PATH)).toThrow('name: is missing');
	});
	test('A12, A9: 500 and 1,024 characters are enough, one more is too many; an emoji is one', () => {
		const of = (description: number, compatibility: number) =>
			skill(`name: demo\ndescription: ${'😀'.repeat(description)}\ncompatibility: ${'😀'.repeat(compatibility)}`);
		expect(parseSkill(of(1024, 500), PATH).warnings).toEqual([]);
		expect(issuesOf(of(1025, 501)).map(({ field }) => field)).toEqual(['description', 'compatibility']);
	});
	test('A14: a list of tools is the text it would be, of anything else nothing is taken', () => {
		const tools = (value: string) =>
			lenient(skill(`name: demo\ndescription: d\nallowed-tools: ${value}`)).spec.allowedTools;
		expect(
			['Read Write', '[Read, "Bash(git:*)"]', '\n  - Read\n  - Write', '[]', '', '{a: b}', '[[Read]]'].map(tools)
		).toEqual(['Read Write', 'Read Bash(git:*)', 'Read Write', undefined, undefined, undefined, undefined]);
		expect(issuesOf(skill('name: demo\ndescription: d\nallowed-tools: {a: b}'))).toMatchObject([
			{ field: 'allowed-tools', line: 4 }
		]);
	});
	test('A13: numbers, switches and nothing are text in metadata; what is nested is kept apart, with a warning in both modes', () => {
		const text = skill('name: demo\ndescription: d\nmetadata:\n  n: 1.0\n  b: true\n  e:\n  x: [y]');
		for (const mode of ['lenient', 'strict'] as const) {
			const { spec, warnings } = parseSkill(text, PATH, { mode });
			expect({ ...spec.metadata }).toEqual({ n: '1.0', b: 'true', e: '' });
			expect(spec.extra).toMatchObject({ 'metadata.x': ['y'] });
			expect(warnings).toMatchObject([{ field: 'metadata', severity: 'warning', line: 8 }]);
		}
	});
	test('A18, A16: what is read is no unexpected field for the app: requires, beside env', () => {
		const text = skill('name: demo\ndescription: d\nenv: [A_KEY]\nrequires: {bins: [jq]}\nmodel: any');
		expect(lenient(text).warnings.map(({ field }) => field)).toEqual(['model']);
	});
	test('A13: metadata of another client, as public skills have it, is a warning for the validator', () => {
		const text = skill(
			'name: demo\ndescription: d\nmetadata: {"openclaw": {"emoji": "🦞", "requires": {"bins": ["jq"]}}}'
		);
		expect(textIssues(text, PATH)).toMatchObject([{ field: 'metadata', severity: 'warning', line: 4 }]);
		expect(parseSkillFile(text, PATH).extra).toMatchObject({ 'metadata.openclaw': { emoji: '🦞' } });
	});
	test.each([
		['CRLF', 'name: demo\r\ndescription: d', 'd'],
		['a literal block', 'name: demo\ndescription: |\n  one: 1\n\n  two', 'one: 1 two'],
		['a folded block', 'name: demo\ndescription: >+\n  one: 1\n  two\n\n', 'one: 1 two'],
		['an emoji', 'name: demo\ndescription: 🎉 it’s a party 👩‍👩‍👧', '🎉 it’s a party 👩‍👩‍👧'],
		['a tab after the colon', 'name: demo\ndescription:\td', 'd'],
		['a colon in quotes', 'name: demo\ndescription: "Use when: it rains"', 'Use when: it rains'],
		['a remark', 'name: demo\ndescription: d # not this', 'd'],
		['lines that go on', 'name: demo\ndescription: one\n  two', 'one two']
	])('A4: a description with %s reads as it was meant, in strict mode', (_what, front, description) => {
		expect(parseSkillFile(skill(front), PATH).description).toBe(description);
	});
	test('A19: a body of 1 MB comes back whole', () => {
		const body = `${'# Line — with text 🎉\n'.repeat(45_000)}end`;
		expect(Buffer.byteLength(body)).toBeGreaterThan(1_000_000);
		expect(parseSkillFile(skill('name: demo\ndescription: d', body), PATH).body).toBe(body);
	});
	test.each([
		['a tab for indentation', 'name: demo\n\tdescription: x', 3],
		['a key twice', 'name: demo\nname: demo\ndescription: d', 3]
	])('A20: %s is refused in both modes, with its line', (_what, front, line) => {
		expect(() => lenient(skill(front))).toThrow(SkillLoadError);
		expect(issuesOf(skill(front))).toMatchObject([{ field: '_', severity: 'error', line }]);
	});
	test('A4, A20: a bomb of tags is never built: text with a warning in lenient mode, refused in strict', () => {
		const text = skill(`name: demo\ndescription: d\nx: ${'!!set {'.repeat(2000)}`);
		expect(lenient(text).spec.extra.x).toBe('!!set {'.repeat(2000));
		expect(issuesOf(text)).toMatchObject([{ field: '_', severity: 'error', line: 4 }]);
	});
	test(
		'A20: 10,000 mutated files give a spec that is safe to show, or a SkillLoadError that says where',
		() => {
			fc.assert(
				fc.property(mutatedSkills(), fc.constantFrom('strict', 'lenient'), (contents, mode) => {
					try {
						const { spec } = parseSkill(contents, PATH, { mode });
						expect(spec.name + spec.description).not.toMatch(/[\r\n\0]/);
						expect(Object.getPrototypeOf(spec.metadata)).toBeNull();
					} catch (error) {
						if (!(error instanceof SkillLoadError)) throw error;
						expect(error.issues.every(({ line, severity }) => (line ?? 0) > 0 && severity === 'error')).toBe(true);
					}
				}),
				{ numRuns: 10_000 }
			);
		},
		TIME_LIMIT_MS
	);
	test(
		'A15: 10,000 random texts are split without a loss, outside parentheses alone',
		() => {
			const piece = fc.oneof(
				fc.constantFrom('(', ')', ' ', ',', '\t', '\n', 'Bash', 'git:*', '\\', '"'),
				fc.string({ maxLength: 5 })
			);
			fc.assert(
				fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
					const raw = pieces.join('');
					const tokens = parseAllowedTools(raw);
					expect(tokens.join('').replace(/[\s,]/g, '')).toBe(raw.replace(/[\s,]/g, ''));
					for (const token of tokens) if (!token.includes('(')) expect(token).not.toMatch(/[\s,]/);
				}),
				{ numRuns: 10_000 }
			);
		},
		TIME_LIMIT_MS
	);
	test.each(['(', ')', ' ', ',', 'a(', '() '])('A15: a megabyte of %j is split, too', (piece) => {
		expect(parseAllowedTools(piece.repeat(1_000_000 / piece.length)).join('').length).toBeLessThanOrEqual(1_000_000);
	});
	test('A15: allowed tools are split outside parentheses', () => {
		expect(parseAllowedTools('Read, Bash(git: *) Write')).toEqual(['Read', 'Bash(git: *)', 'Write']);
		expect(parseAllowedTools(undefined)).toEqual([]);
	});
});
