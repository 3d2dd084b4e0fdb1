import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strToU8, unzipSync, strFromU8, zipSync } from 'fflate';
import { describe, expect, it, test } from 'vitest';
import { runSkill, SKILLS, temporaryFolder, type SkillRun } from './run-skill.ts';

const ORDERS = join(SKILLS, 'spreadsheets/examples/orders.xlsx');

const inFolder = (cwd: string) => (args: string[]) => runSkill('spreadsheets/scripts/spreadsheet.mjs', args, { cwd });

async function run(args: string[], files: Record<string, string | Uint8Array> = {}): Promise<SkillRun> {
	const cwd = await temporaryFolder();
	for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
	return inFolder(cwd)(args);
}

const partsOf = async (path: string) => unzipSync(new Uint8Array(await readFile(path)));

/** A workbook of one sheet, as other programs write it. */
function workbook(sheet: string, parts: Record<string, string> = {}): Uint8Array {
	const all = {
		'xl/workbook.xml': '<workbook xmlns:r="r"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>',
		'xl/_rels/workbook.xml.rels':
			'<Relationships><Relationship Id="rId1" Target="/xl/worksheets/sheet1.xml"/></Relationships>',
		'xl/worksheets/sheet1.xml': `<worksheet>${sheet}</worksheet>`,
		'[Content_Types].xml': '<Types></Types>',
		...parts
	};
	return zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, strToU8(text)])));
}

describe('spreadsheets: reading', () => {
	it('tells of every sheet: size, columns, formulas, merged cells', async () => {
		const { stdout, exitCode } = await run(['info', ORDERS]);
		expect(exitCode).toBe(0);
		for (const line of [
			'2 sheets',
			'48 rows and a header, 6 columns',
			'`F2` = `D2*E2`',
			'## Targets',
			'Merged cells: A1:B1'
		])
			expect(stdout).toContain(line);
	});

	it('counts the rows of a file as data-analysis does: without the header and empty lines', async () => {
		const files = { 'a.csv': 'a,b\n1,2\n\n3,4\n,\n' };
		for (const command of ['info', 'to-xlsx'])
			expect((await run([command, 'a.csv'], files)).stdout).toContain('2 rows and a header');
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'a.csv'), files['a.csv']);
		const analysed = await runSkill('data-analysis/scripts/analyze_csv.mjs', ['a.csv'], { cwd });
		expect(analysed.stdout).toContain('2 rows, 2 columns');
	});

	it('shows cells or formulas, of the sheet that is named', async () => {
		expect((await run(['show', ORDERS, '--sheet', 'targets'])).stdout).toContain('| 5 | East | 2250 |');
		expect((await run(['show', ORDERS, '--rows', '2', '--formulas'])).stdout).toContain('| 24 | =D2*E2 |');
	});

	it('reads shared strings, formatted runs, dates of both calendars, merged cells and numbers that are text', async () => {
		const parts = {
			'xl/sharedStrings.xml':
				'<sst><si><t>Day</t></si><si><t>Team</t></si><si><t>Sum</t></si><si><r><t>A &amp; </t></r><r><t>B</t></r><rPh><t>x</t></rPh></si><si><t>12</t></si></sst>',
			'xl/styles.xml':
				'<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>'
		};
		const cells =
			'<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>' +
			'<row r="2"><c r="A2" s="1"><v>45688</v></c><c r="B2" t="s"><v>3</v></c><c r="C2"><v>30</v></c></row>' +
			'<row r="3"><c r="A3" s="1"><v>45689.5</v></c><c r="C3" t="s"><v>4</v></c></row></sheetData><mergeCells><mergeCell ref="B2:B3"/></mergeCells>';
		const files = { 'a.xlsx': workbook(cells, parts) };
		const { stdout } = await run(['to-csv', 'a.xlsx', '--output', 'a.csv'], files);
		expect(stdout).toContain('1 number stored as text');
		const shown = await run(['show', 'a.xlsx'], files);
		expect(shown.stdout).toContain('| 2 | 2025-01-31 | A & B | 30 |');
		expect(shown.stdout).toContain('| 3 | 2025-02-01 12:00 | A & B | 12 |');
		expect((await run(['summary', 'a.xlsx', '--group-by', 'team'], files)).stdout).toContain('| A & B | 42 | 2 |');
		const old =
			'<workbook xmlns:r="r"><workbookPr date1904="1"/><sheets><sheet name="D" r:id="rId1"/></sheets></workbook>';
		const in1904 = { 'a.xlsx': workbook(cells, { ...parts, 'xl/workbook.xml': old }) };
		expect((await run(['show', 'a.xlsx'], in1904)).stdout).toContain('| 2 | 2029-02-01 |');
	});
});

describe('spreadsheets: writing', () => {
	it('adds a sheet with a chart to a copy, in which all that was there stays as it was', async () => {
		const cwd = await temporaryFolder();
		const { stdout } = await inFolder(cwd)(['summary', ORDERS, '--group-by', 'region']);
		expect(stdout).toMatch(/^Highest: \*\*\w+\*\* \([\d,.]+\)\. Lowest:/);
		const [before, after] = [await partsOf(ORDERS), await partsOf(join(cwd, 'orders-summary.xlsx'))];
		for (const name of ['xl/worksheets/sheet1.xml', 'xl/worksheets/sheet2.xml', 'xl/styles.xml'])
			expect(strFromU8(after[name]!)).toBe(strFromU8(before[name]!));
		const chart = strFromU8(after['xl/charts/chart1.xml']!);
		expect(chart).toContain("<c:f>'By Region'!$B$2:$B$5</c:f>");
		expect(chart).toContain('Revenue by Region');
		expect(strFromU8(after['xl/workbook.xml']!)).toMatch(/name="By Region" sheetId="3"/);
		expect(await readFile(join(cwd, 'orders-summary.svg'), 'utf8')).toContain(
			'<title id="chart-title">Revenue by Region'
		);
		// A second one goes beside it.
		const again = [
			'summary',
			'orders-summary.xlsx',
			'--group-by',
			'region',
			'--measure',
			'count',
			'--output',
			'b.xlsx'
		];
		expect((await inFolder(cwd)(again)).stdout).toContain('**By Region 2**');
		expect((await inFolder(cwd)(['show', 'b.xlsx', '--sheet', 'By Region'])).exitCode).toBe(0);
	});

	it.each([[['--period', 'month']], [[]]])('sums by month of the only column of dates, %j or not', async (more) => {
		const { stdout } = await run(['summary', ORDERS, '--group-by', 'month', ...more]);
		expect(stdout).toMatch(/\| 2026-01 \| [\d,.]+ \| 8 \|\n\| 2026-02 /);
	});

	it('makes a workbook of a CSV file and the same CSV of the workbook: dates are dates, 007 stays text', async () => {
		const cwd = await temporaryFolder();
		const text = 'code,day,sum,note\r\n007,2026-01-31,12.5,"a, ""b"""\r\n12,,-3,=1+1\r\n';
		await writeFile(join(cwd, 'a.csv'), text);
		await inFolder(cwd)(['to-xlsx', 'a.csv']);
		const sheet = strFromU8((await partsOf(join(cwd, 'a.xlsx')))['xl/worksheets/sheet1.xml']!);
		expect(sheet).toContain('<c r="B2" s="2"><v>46053</v></c>');
		expect(sheet).toContain('<t xml:space="preserve">007</t>');
		// What looks like a formula is text.
		expect(sheet).toContain('<t xml:space="preserve">=1+1</t>');
		await inFolder(cwd)(['to-csv', 'a.xlsx', '--output', 'b.csv']);
		expect(await readFile(join(cwd, 'b.csv'), 'utf8')).toBe(text);
	});

	it('reads UTF-16, as Excel saves Unicode text', async () => {
		const text = Buffer.from('\ufeffStadt\tUmsatz\nKöln\t3\n', 'utf16le');
		for (const bytes of [text, Buffer.from(text).swap16()]) {
			const { stdout } = await run(['show', 'a.txt'], { 'a.txt': bytes });
			expect(stdout).toContain('| 2 | Köln | 3 |');
		}
	});

	it('reads Latin-1, semicolons and decimal commas', async () => {
		const latin = Buffer.from('Stadt;Umsatz\nKöln;1.234,50\nKöln;0,5\n', 'latin1');
		expect((await run(['summary', 'a.csv', '--group-by', 'Stadt'], { 'a.csv': latin })).stdout).toContain(
			'| Köln | 1,235 | 2 |'
		);
	});

	it('takes 100,000 rows', async () => {
		const lines = Array.from({ length: 100_000 }, (_, index) => `${index},Team ${index % 9},${index % 50}`);
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'big.csv'), `id,team,sum\n${lines.join('\n')}\n`);
		await inFolder(cwd)(['to-xlsx', 'big.csv']);
		const { stdout } = await inFolder(cwd)(['summary', 'big.xlsx', '--group-by', 'team']);
		expect(stdout).toContain('Total: 2,450,000');
	});
});

describe('spreadsheets: bad input', () => {
	const zip = (text: string) => zipSync({ 'a.txt': strToU8(text) });
	it.each<[string, string, () => string | Uint8Array | Promise<Uint8Array>, string]>([
		[
			'a workbook that unpacks to 160 MB',
			'a.xlsx',
			() => workbook(' '.repeat(160 * 1024 * 1024)),
			'unpacks to more than 150 MB'
		],
		['one that is cut off', 'a.xlsx', async () => (await readFile(ORDERS)).subarray(0, 2000), 'a.xlsx is damaged'],
		['a zip file without a workbook', 'a.xlsx', () => zip('x'), "a.xlsx isn't a workbook"],
		[
			'one with a password',
			'a.xlsx',
			() => Buffer.from('d0cf11e0a1b11ae1', 'hex'),
			'protected with a password, or an old .xls file'
		],
		[
			'a picture',
			'a.png',
			() => Buffer.from('89504e470d0a1a0a0000', 'hex'),
			'neither a workbook (.xlsx) nor a CSV file'
		],
		['an empty file', 'a.csv', () => '', 'a.csv is empty.'],
		['a quotation mark that is never closed', 'a.csv', () => 'a,b\n1,"x', 'is never closed'],
		['a header alone', 'a.csv', () => 'a,b\n', 'no rows below it'],
		['a missing file', 'b.csv', () => '', 'there is no such file']
	])('%s ends with exit code 1 and a sentence', async (_, name, content, message) => {
		const file = name === 'b.csv' ? 'a.csv' : name;
		const { exitCode, stdout, stderr } = await run(['summary', file, '--group-by', 'a'], { [name]: await content() });
		expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
		expect(stderr).toContain(message);
		expect(stderr.trim().split('\n')).toHaveLength(1);
	});

	it.each([
		[['summary', ORDERS, '--group-by', 'Colour'], 'The columns are: Date, Region, Product, Units, Price, Revenue.'],
		[['summary', ORDERS, '--group-by', 'Region', '--value', 'Product'], "The column Product doesn't hold numbers."],
		[['summary', ORDERS], '--group-by takes one of: Date, Region'],
		[['show', ORDERS, '--sheet', 'Nope'], 'It has: Orders, Targets.'],
		[['to-xlsx', ORDERS], 'is a workbook already']
	])('%j ends with exit code 2 and says what there is', async (args, message) => {
		const { exitCode, stderr } = await run(args);
		expect(exitCode).toBe(2);
		expect(stderr).toContain(message);
	});
});

test('two skills draw the same bar chart', async () => {
	const [one, other] = await Promise.all(
		['data-analysis', 'spreadsheets'].map((skill) => readFile(join(SKILLS, skill, 'lib/bar-chart.mjs'), 'utf8'))
	);
	expect(one).toBe(other);
});
