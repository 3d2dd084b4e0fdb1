/** The tables of docs/protocols.md, from what the tests of a run have shown (tests/support/protocol-report.ts). */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** By column. */
type Row = Record<string, string>;

interface Manifest {
	devDependencies: Row;
}

const PAGE = 'docs/protocols.md';
const SUITE = '@modelcontextprotocol/conformance';
/** The newest version of the suite, installed beside the stable one. */
const NEXT = 'mcp-conformance-next';
const REPORTS = 'test-results/protocols';

/** What an earlier run has shown must not stand in for a test that did not run. */
export async function clearReports(root: string): Promise<void> {
	await rm(join(root, REPORTS), { recursive: true, force: true });
}

/**
 * Writes the tables into the page; false when they were there already.
 * @throws Error when a report is missing, or the page has no place for the tables
 */
export async function writeResults(root: string): Promise<boolean> {
	const read = async (area: string): Promise<Row[]> =>
		JSON.parse(await readFile(join(root, REPORTS, `${area}.json`), 'utf8')) as Row[];
	const path = join(root, PAGE);
	const page = await readFile(path, 'utf8');
	const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
	const clients = await read('clients');
	const conformance = [
		{ suite: `${SUITE} ${devDependencies[SUITE]}`, rows: await read('mcp-conformance') },
		{ suite: `${SUITE} ${devDependencies[NEXT]?.split('@').at(-1)}`, rows: await read('mcp-conformance-next') }
	];
	const results = renderResults({ clients, conformance, tck: await read('a2a-tck') });
	// A machine without the programs can't say anything about them.
	const programs = existsSync(join(root, REPORTS, 'programs.json')) ? table(await read('programs')) : null;
	const shown = withResults(page, 'results', results);
	const written = programs === null ? shown : withResults(shown, 'programs', programs);
	if (written === page) return false;
	await writeFile(path, written);
	return true;
}

export interface Results {
	clients: readonly Row[];
	/** Each suite with its version. */
	conformance: readonly { suite: string; rows: readonly Row[] }[];
	/** Requirements of A2A's TCK. */
	tck: readonly Row[];
}

export function renderResults({ clients, conformance, tck }: Results): string {
	const met = countOf(tck, 'passed');
	return `### Clients that run the tasks in the tests

${table(clients)}

### MCP conformance

${conformance.map(({ suite, rows }) => `${summaryOf(suite, rows)}\n\n${table(rows)}`).join('\n\n')}

### A2A requirements

Of ${tck.length} requirements of the A2A TCK 1.0.0, as our tests have them, ${met} passed, and ${tck.length - met} do not apply.

${table(tck)}`;
}

function summaryOf(suite: string, rows: readonly Row[]): string {
	const inPart = countOf(rows, 'passed in part');
	const parts = inPart > 0 ? `, ${inPart} passed but for checks that do not apply` : '';
	return `Of ${rows.length} scenarios of ${suite}, ${countOf(rows, 'passed')} passed${parts}, and ${countOf(rows, 'does not apply')} do not apply.`;
}

function countOf(rows: readonly Row[], result: string): number {
	return rows.filter(({ Result }) => Result === result).length;
}

/** @throws Error when the page has not one place of this name */
export function withResults(page: string, place: 'results' | 'programs', results: string): string {
	const [begin, end] = [`<!-- ${place} -->`, `<!-- /${place} -->`];
	const [before, rest, ...more] = page.split(begin);
	const [, after, ...others] = rest?.split(end) ?? [];
	if (before === undefined || after === undefined || more.length > 0 || others.length > 0) {
		throw new Error(`${PAGE} must have ${begin} and ${end} once, in this order`);
	}
	return `${before}${begin}\n${results}\n${end}${after}`;
}

function table(rows: readonly Row[]): string {
	const columns = Object.keys(rows[0] ?? {});
	const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
	return [
		line(columns),
		line(columns.map(() => '---')),
		...rows.map((row) => line(columns.map((column) => row[column] ?? '')))
	].join('\n');
}
