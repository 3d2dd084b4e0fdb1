import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findTests, namedTests, readRows, renderFeatures, unprovenRows } from './table.ts';

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

test('docs/features.md says what the tests say', async () => {
	const text = renderFeatures(await readRows(root), await findTests(root));
	expect(await readFile(join(root, 'docs/features.md'), 'utf8'), 'run npm run features').toBe(text);
});

test('each row of the skills library is named by a test', async () => {
	const isLibrary = (id: string) =>
		/^[ABC]/.test(id) || (id.startsWith('D') && Number(id.slice(1)) <= 26) || id === 'F10';
	expect(unprovenRows(await readRows(root), await findTests(root), isLibrary)).toEqual([]);
});
