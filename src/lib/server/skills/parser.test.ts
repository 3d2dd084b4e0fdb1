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
	test('A15: allowed tools are split outside parentheses', () => {
		expect(parseAllowedTools('Read, Bash(git: *) Write')).toEqual(['Read', 'Bash(git: *)', 'Write']);
		expect(parseAllowedTools(undefined)).toEqual([]);
	});
});
