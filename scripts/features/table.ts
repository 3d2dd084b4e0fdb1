/** Finds the rows that tests name, and writes them as a table. */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Capability by row id, e.g. `A8`. */
export type FeatureRows = Record<string, string>;

export interface NamedTest {
	rows: string[];
	title: string;
	/** From the project's root. */
	file: string;
}

const FILES = ['src/**/*.{test,suite}.ts', 'tests/**/*.{test,spec}.ts'];
/** A text that begins with rows: `A8: …`, `D2, D4: …`, `D15–D23: …`. */
const TITLE = /(['"`])((?:[A-F]\d+(?:–[A-F]\d+)?(?:, )?)+): ((?:\\.|(?!\1)[^\\])*)\1/g;

export async function readRows(root: string): Promise<FeatureRows> {
	return JSON.parse(await readFile(join(root, 'scripts/features/rows.json'), 'utf8')) as FeatureRows;
}

export async function findTests(root: string): Promise<NamedTest[]> {
	const found: NamedTest[] = [];
	for (const pattern of FILES) {
		for await (const file of glob(pattern, { cwd: root })) {
			found.push(...namedTests(await readFile(join(root, file), 'utf8'), file.replaceAll('\\', '/')));
		}
	}
	return found.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
}

/** The titles of one file that name rows. */
export function namedTests(source: string, file: string): NamedTest[] {
	return [...source.matchAll(TITLE)].map(([, , rows = '', title = '']) => {
		return { rows: rows.split(', ').flatMap(expand), title: readable(title), file };
	});
}

/** Rows of a section up to a number that no test names. */
export function unprovenRows(
	rows: FeatureRows,
	tests: readonly NamedTest[],
	isWanted: (id: string) => boolean
): string[] {
	const proven = new Set(tests.flatMap((test) => test.rows));
	return Object.keys(rows).filter((id) => isWanted(id) && !proven.has(id));
}

export function renderFeatures(rows: FeatureRows, tests: readonly NamedTest[]): string {
	const lines = Object.entries(rows).map(([id, capability]) => {
		const proofs = tests.filter((test) => test.rows.includes(id)).map(({ title, file }) => `${cell(title)} (${file})`);
		return `| ${id} | ${cell(capability)} | ${[...new Set(proofs)].join('<br>') || '–'} |`;
	});
	return `# Features and their tests

Made by \`npm run features\` from the titles of the tests; a test fails when this page does not say what the tests say. A dash: no test names the row yet.

| row | capability | tests |
|---|---|---|
${lines.join('\n')}
`;
}

/** `D15–D17` is three rows. */
function expand(part: string): string[] {
	const range = /^([A-F])(\d+)–[A-F](\d+)$/.exec(part);
	if (!range) return [part];
	const [, section = '', first = '0', last = '0'] = range;
	return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${section}${Number(first) + index}`);
}

function readable(title: string): string {
	return title.replaceAll('\\u2019', '’').replace(/\\(['"`])/g, '$1');
}

function cell(text: string): string {
	return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replace(/\s+/g, ' ').trim();
}
