/** `npm run features`: docs/features.md, which row of the feature list is proven by which tests, from the tests' own titles. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findTests, readRows, renderFeatures } from './features/table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const path = `${root}docs/features.md`;
const text = renderFeatures(await readRows(root), await findTests(root));
if ((await readFile(path, 'utf8').catch(() => '')) !== text) await writeFile(path, text);
