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

/** One line a row, with the two tests that prove it best: one of the running app and one of the part itself, where there are both. */
export function renderFeatures(rows: FeatureRows, tests: readonly NamedTest[]): string {
	const lines = Object.entries(rows).map(([id, capability]) => {
		const proofs = proofsOf(id, tests);
		const best = bestOf(proofs);
		const more = proofs.length > best.length ? [`and ${proofs.length - best.length} more`] : [];
		return `| ${id} | ${cell(capability)} | ${[...best.map(proofCell), ...more].join('<br>') || '–'} |`;
	});
	return `# Features and their tests

Written by \`npm run features\` from the titles of the tests; a test fails if it's stale. Each row shows the two tests that prove it best; after a run, \`test-results/features.md\` has all of them. A dash means that no test names the row yet.

| row | feature | tests |
|---|---|---|
${lines.join('\n')}
`;
}

/** Every test of every row, a list a row. */
export function renderAllTests(rows: FeatureRows, tests: readonly NamedTest[]): string {
	const lists = Object.entries(rows).map(([id, capability]) => {
		const proofs = proofsOf(id, tests).map((test) => `- ${proofCell(test)}`);
		return `## ${id}: ${cell(capability)}\n\n${proofs.join('\n') || 'None.'}\n`;
	});
	return `# Every test of every feature\n\n${lists.join('\n')}`;
}

function proofsOf(id: string, tests: readonly NamedTest[]): NamedTest[] {
	const found = new Map<string, NamedTest>();
	for (const test of tests) if (test.rows.includes(id)) found.set(proofCell(test), test);
	return [...found.values()];
}

function bestOf(proofs: readonly NamedTest[]): NamedTest[] {
	const ranked = proofs.toSorted((a, b) => rank(a) - rank(b));
	const ofTheApp = ranked.find(({ file }) => file.startsWith('tests/'));
	const ofThePart = ranked.find(({ file }) => file.startsWith('src/'));
	const first = [ofTheApp, ofThePart].filter((test) => test !== undefined);
	return [...first, ...ranked.filter((test) => !first.includes(test))].slice(0, 2);
}

/** The lower the better: a whole sentence says more than a form with blanks, and one that names few rows is about this one. */
function rank({ title, rows }: NamedTest): number {
	const isForm = /%[sijdo]|\$\{/.test(title);
	return (isForm ? 1000 : 0) + rows.length * 40 + Math.abs(title.length - 70);
}

function proofCell({ title, file }: NamedTest): string {
	return `${cell(title)} (${file})`;
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
