/** `npm run features`: docs/features.md, which row of the feature list is proven by which tests, from the tests' own titles. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findTests, readRows, renderAllTests, renderFeatures } from './features/table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const path = `${root}docs/features.md`;
const [rows, tests] = [await readRows(root), await findTests(root)];
const text = renderFeatures(rows, tests);
if ((await readFile(path, 'utf8').catch(() => '')) !== text) await writeFile(path, text);
await mkdir(`${root}test-results`, { recursive: true });
await writeFile(`${root}test-results/features.md`, renderAllTests(rows, tests));
