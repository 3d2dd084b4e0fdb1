import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseManifest } from '../read/manifest.ts';
import { parseSkillFile } from '../parser.ts';
import { skillFiles, skillNameOf, toolFiles } from './templates.ts';

test('E21: whatever the description holds, the SKILL.md is valid by the strict rules', () => {
	const description = fc
		.string({ minLength: 1, maxLength: 300, unit: 'grapheme' })
		.filter((text) => text.trim() !== '');
	fc.assert(
		fc.property(description, (text) => {
			const files = skillFiles({ name: 'demo', description: text });
			const spec = parseSkillFile(files['SKILL.md'] ?? '', '/skills/demo/SKILL.md');
			expect(spec.name).toBe('demo');
			expect(spec.description).not.toBe('');
		}),
		{ numRuns: 500 }
	);
	const hostile = 'a: b\n---\nname: other #\u0000 "x" \u{1F600}';
	const { 'SKILL.md': text = '' } = skillFiles({ name: '123', description: hostile });
	expect(parseSkillFile(text, '/skills/123/SKILL.md')).toMatchObject({ name: '123' });
});

test('D25: a tool becomes a folder with SKILL.md, tools.json and scripts/<tool>.js', () => {
	const files = toolFiles({
		name: 'fetch_weather',
		description: 'Tells the weather.',
		parameters: { city: { type: 'string', description: 'Where' } },
		code: 'return { city: args.city };\n'
	});
	expect(Object.keys(files)).toEqual(['SKILL.md', 'tools.json', 'scripts/fetch_weather.js']);
	expect(files['scripts/fetch_weather.js']).toBe(
		'export default async function handler(args) {\n\treturn { city: args.city };\n}\n'
	);
	expect(parseSkillFile(files['SKILL.md'] ?? '', '/skills/fetch-weather/SKILL.md').name).toBe('fetch-weather');
	const { tools, issues } = parseManifest(files['tools.json'] ?? '');
	expect(issues).toEqual([]);
	expect(tools).toMatchObject([{ name: 'fetch_weather', script: 'scripts/fetch_weather.js' }]);
});

test('D25: a module that has a default export already stays as it is', () => {
	const code = 'import { sep } from "node:path";\nexport default (args) => sep + args.a;';
	const files = toolFiles({ name: 'a', description: 'A.', parameters: {}, code });
	expect(files['scripts/a.js']).toBe(`${code}\n`);
});

test('D25: names that cannot be are refused with what can', () => {
	const make = (name: string) => () => toolFiles({ name, description: 'x', parameters: {}, code: 'return 1' });
	for (const name of ['', 'Fetch', '1a', 'a-b', '../x', 'a'.repeat(65)])
		expect(make(name), name).toThrow('isn’t a valid tool name');
	for (const name of ['', 'A', '-a', 'a--b', 'a_b', '../x', 'a/b']) {
		expect(() => skillFiles({ name, description: 'x' }), name).toThrow('isn’t a valid skill name');
	}
	expect(() => skillFiles({ name: 'a', description: ' ' })).toThrow('1 to 1,024');
	expect(skillNameOf('_a__b_')).toBe('a-b');
});
