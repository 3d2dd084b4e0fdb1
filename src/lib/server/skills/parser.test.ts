import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAllowedTools, parseSkill, parseSkillFile } from './parser.ts';
import { SkillLoadError } from './types.ts';

const PATH = '/skills/demo/SKILL.md';
const lenient = (text: string) => parseSkill(text, PATH, { mode: 'lenient' });
const skill = (front: string, body = 'Body') => `---\n${front}\n---\n${body}`;

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
	test.each(['---js', '--- js', '---javascript', '---json', '---coffee'])('A4: %s front matter is refused, not run', (fence) => {
		const probe = globalThis as { skillProbe?: boolean };
		expect(() => lenient(`${fence}\n{ name: (globalThis.skillProbe = true) }\n---\nx`)).toThrow(SkillLoadError);
		expect(probe.skillProbe).toBeUndefined();
	});
	test('A4: an alias is never expanded; it is kept as the text it is', () => {
		expect(lenient(skill('tags: &a [x]\nsummary: *a\nname: demo')).spec.extra.summary).toBe('*a');
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
	test.each(['Demo', 'de--mo', '-demo', 'demo-', 'a'.repeat(65), 'НАВЫК', 'other'])('A6: the name %s is a violation', (name) => {
		expect(() => parseSkill(skill(`name: ${name}\ndescription: d`), PATH)).toThrow(/name:/);
		expect(lenient(skill(`name: ${name}\ndescription: d`)).warnings.map((issue) => issue.field)).toContain('name');
	});
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
		const { spec, warnings } = lenient(skill(`name: demo\ndescription: d\nlicense: MIT\ncompatibility: ${'c'.repeat(501)}`));
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
	test('A16: an unknown key is a warning in both modes, a known extension of other clients is none', () => {
		const text = skill('name: demo\ndescription: d\nmodel: x\ntags: a\nversion: 1.0');
		expect(parseSkill(text, PATH).warnings).toMatchObject([{ field: 'model', severity: 'warning', line: 4 }]);
		expect({ ...parseSkillFile(text, PATH).extra }).toEqual({ model: 'x', tags: 'a', version: '1.0' });
	});
	test('A6: control and direction characters do not reach the name or the description', () => {
		const { spec } = lenient(skill(String.raw`name: "de\u202Emo\u0007"` + '\n' + String.raw`description: "a\u202E\U000E0041b"`));
		expect(spec.name + spec.description).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u{E0000}-\u{E007F}]/u);
	});
	test('A20: any text gives a spec or a SkillLoadError, in both modes', () => {
		const line = fc.tuple(fc.constantFrom('name', 'description', 'metadata', 'allowed-tools', 'x', '__proto__'), fc.string());
		fc.assert(
			fc.property(fc.array(line, { maxLength: 6 }), fc.constantFrom('strict', 'lenient'), (pairs, mode) => {
				try {
					const { spec } = parseSkill(skill(pairs.map(([key, value]) => `${key}: ${value}`).join('\n')), PATH, { mode });
					expect(spec.name).not.toMatch(/\s/);
					expect(spec.description).not.toMatch(/[\r\n]/);
				} catch (error) {
					expect(error).toBeInstanceOf(SkillLoadError);
				}
			})
		);
	});
	test('A15: allowed tools are split outside parentheses', () => {
		expect(parseAllowedTools('Read, Bash(git: *) Write')).toEqual(['Read', 'Bash(git: *)', 'Write']);
		expect(parseAllowedTools(undefined)).toEqual([]);
	});
});
