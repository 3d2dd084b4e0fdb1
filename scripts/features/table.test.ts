import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findTests, namedTests, readRows, renderAllTests, renderFeatures, unprovenRows } from './table.ts';

const root = join(import.meta.dirname, '../..');

test('titles name rows one by one, in lists and in ranges', () => {
	const source = `test('A8: it\\'s so', x); test.each([['B1: no']])("D2, D4: %s", x); describe(\`D15–D17: all\`, x); test('none', x);`;
	expect(namedTests(source, 'a.test.ts').map(({ rows, title }) => [rows.join(), title])).toEqual([
		['A8', 'it\u0027s so'],
		['B1', 'no'],
		['D2,D4', '%s'],
		['D15,D16,D17', 'all']
	]);
});

test('a row shows a test of the app and one of the part, whole sentences first, and says how many more there are', () => {
	const proof = (title: string, file: string) => ({ rows: ['A1'], title, file });
	const tests = [
		proof('%s is read', 'src/a.test.ts'),
		proof('a folder with a SKILL.md is a skill', 'src/a.test.ts'),
		proof('a folder that is dropped into skills/ is listed', 'tests/e2e/a.spec.ts')
	];
	const line = renderFeatures({ A1: 'Folder' }, tests).split('\n').at(-2);
	expect(line).toBe(
		'| A1 | Folder | a folder that is dropped into skills/ is listed (tests/e2e/a.spec.ts)<br>a folder with a SKILL.md is a skill (src/a.test.ts)<br>and 1 more |'
	);
	expect(renderAllTests({ A1: 'Folder' }, tests).match(/^- /gm)).toHaveLength(3);
});

test('docs/features.md says what the tests say', async () => {
	const text = renderFeatures(await readRows(root), await findTests(root));
	expect(await readFile(join(root, 'docs/features.md'), 'utf8'), 'run npm run features').toBe(text);
});

test('each row of the skills library is named by a test', async () => {
	const isLibrary = (id: string) =>
		/^[ABC]/.test(id) || (id.startsWith('D') && Number(id.slice(1)) <= 26) || id === 'F10';
	expect(unprovenRows(await readRows(root), await findTests(root), isLibrary)).toEqual([]);
});
