import { describe, expect, test } from 'vitest';
import { readFacts, statesVersion } from './skill-loader.ts';
import { readFolderName } from './folder-walk.ts';
import { parseSkill } from '../parser.ts';

const text = (front: string) => `---\n${front}\n---\nBody\n`;
const read = (folder: string, front: string) =>
	parseSkill(text(front), `/skills/${folder}/SKILL.md`, { mode: 'lenient' });

describe('A6, A38: a folder that bears a version', () => {
	test.each([
		['weather', { name: 'weather' }],
		['weather@1.2.0', { name: 'weather', version: '1.2.0' }],
		['weather@1.2.0-rc.1', { name: 'weather', version: '1.2.0-rc.1' }],
		['mail@home', { name: 'mail@home' }],
		['weather@1.2', { name: 'weather@1.2' }],
		['@1.2.0', { name: '@1.2.0' }],
		['a@b@1.0.0', { name: 'a@b', version: '1.0.0' }]
	])('%s is read as %j', (folder, expected) => {
		expect(readFolderName(`/skills/${folder}`)).toEqual(expected);
	});

	test('matches the name without it, in strict mode too', () => {
		expect(read('weather@1.2.0', 'name: weather\ndescription: Tells it.').warnings).toEqual([]);
		const path = '/skills/weather@1.2.0/SKILL.md';
		expect(parseSkill(text('name: weather\ndescription: Tells it.'), path).spec.name).toBe('weather');
		expect(() => parseSkill(text('name: other\ndescription: Tells it.'), path)).toThrow('“other” doesn’t match');
	});

	test('gives its name to a skill without one, and its version', () => {
		const { spec } = read('weather@1.2.0', 'description: Tells it.');
		expect(spec.name).toBe('weather');
		expect(readFacts(spec).facts.version).toBe('1.2.0');
		expect(readFacts(read('weather@1.2.0', 'name: weather\nversion: 2.0.0').spec).facts.version).toBe('2.0.0');
		expect(readFacts(read('weather', 'name: weather').spec).facts.version).toBe('1.0.0');
	});

	test('isn’t a version that the SKILL.md says', () => {
		expect(statesVersion(read('weather@1.0.0', 'name: weather').spec)).toBe(false);
		expect(statesVersion(read('weather', 'name: weather\nmetadata:\n  version: 1.0.0').spec)).toBe(true);
	});
});
