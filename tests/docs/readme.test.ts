/** README.md calls the cards of the first page what the page calls them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('each card that README.md says to click has the title of an example of a bundled skill', () => {
	const titles = readdirSync(join(root, 'skills')).flatMap((name) => {
		const skill = read(`skills/${name}/SKILL.md`);
		const found = /^ +example-title: (.+)$/m.exec(skill) ?? /^ +example: (.+)$/m.exec(skill);
		return found?.[1]?.replaceAll(/^"|"$/g, '') ?? [];
	});
	const clicked = [...read('README.md').matchAll(/\bClick “([^”]+)”/g)].map(([, title]) => title);
	expect(clicked.length).toBeGreaterThanOrEqual(2);
	expect(clicked.filter((title) => !titles.includes(title ?? ''))).toEqual([]);
});
