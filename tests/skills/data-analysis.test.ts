import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runSkill, temporaryFolder, type SkillRun } from './run-skill.ts';

const SCRIPT = 'data-analysis/scripts/analyze_csv.mjs';
const SALES = fileURLToPath(new URL('../fixtures/sales.csv', import.meta.url));

async function withFile(name: string, content: string | Buffer): Promise<string> {
	const cwd = await temporaryFolder();
	await writeFile(join(cwd, name), content);
	return cwd;
}

async function analyze(content: string | Buffer, ...options: string[]): Promise<SkillRun & { cwd: string }> {
	const cwd = await withFile('data.csv', content);
	return { ...(await runSkill(SCRIPT, ['data.csv', ...options], { cwd })), cwd };
}

async function analyzeSales(...options: string[]): Promise<SkillRun & { cwd: string }> {
	const cwd = await temporaryFolder();
	await copyFile(SALES, join(cwd, 'sales.csv'));
	return { ...(await runSkill(SCRIPT, ['sales.csv', ...options], { cwd })), cwd };
}

/** The cells of the table row that begins with `first`. */
function row(stdout: string, first: string): string[] {
	const line = stdout.split('\n').find((text) => text.startsWith(`| ${first} |`));
	return line ? line.slice(2, -2).split(' | ') : [];
}

describe('data-analysis: groups', () => {
	it('adds up revenue by region exactly, largest first, with what is missing left out', async () => {
		const { stdout, stderr, exitCode } = await analyzeSales('--group-by', 'region', '--value', 'revenue');
		expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
		const regions = [...stdout.matchAll(/^\| (South|North|West|East) \|/gm)].map(([, name]) => name);
		expect(regions).toEqual(['South', 'North', 'West', 'East']);
		// region, rows, count, sum, mean, min, max, share of the sum
		expect(row(stdout, 'South')).toEqual(['South', '6', '6', '4,072.35', '678.73', '224.50', '1,791.00', '30.7 %']);
		expect(row(stdout, 'North')).toEqual(['North', '6', '6', '3,786.70', '631.12', '359.20', '995.00', '28.5 %']);
		expect(row(stdout, 'West')).toEqual(['West', '6', '6', '3,191.40', '531.90', '188.80', '1,393.00', '24 %']);
		expect(row(stdout, 'East')).toEqual(['East', '6', '5', '2,222.60', '444.52', '269.40', '597.00', '16.7 %']);
		expect(row(stdout, '**All**')).toEqual([
			'**All**',
			'24',
			'23',
			'13,273.05',
			'577.09',
			'188.80',
			'1,791.00',
			'100 %'
		]);
	});

	it('shows one table, of the most likely number, when none is named', async () => {
		const { stdout } = await analyzeSales('--group-by', 'region');
		expect(stdout.match(/^## .* by region$/gm)).toHaveLength(1);
		expect(stdout).not.toContain('## Numbers');
		expect(row(stdout, 'South').slice(0, 4)).toEqual(['South', '6', '6', '4,072.35']);
		expect(stdout).toContain('Chart: sales-by-region.svg.');
	});

	it('with --details shows the sums of every number column first, then each, and the statistics', async () => {
		const { stdout } = await analyzeSales('--group-by', 'region', '--details');
		expect(row(stdout, 'South')).toEqual(['South', '6', '201', '4,072.35']);
		expect(row(stdout, 'East')).toEqual(['East', '6', '297', '2,222.60']);
		expect(row(stdout, 'North')).toEqual(['North', '6', '252', '3,786.70']);
		expect(row(stdout, 'West')).toEqual(['West', '6', '107', '3,191.40']);
		expect(stdout.indexOf('## Sums by region')).toBeLessThan(stdout.indexOf('## Revenue by region'));
		expect(stdout.indexOf('## Revenue by region')).toBeLessThan(stdout.indexOf('## Units by region'));
		expect(stdout.indexOf('## Units by region')).toBeLessThan(stdout.indexOf('## Numbers'));
	});

	it('shows only the number and its share where each group is one row', async () => {
		const { stdout } = await analyze('month,revenue\nJan,20000\nFeb,5000\n', '--group-by', 'month');
		expect(row(stdout, 'month')).toEqual(['month', 'revenue', 'share of sum']);
		expect(row(stdout, 'Jan')).toEqual(['Jan', '20,000', '80 %']);
		expect(row(stdout, '**All**')).toEqual(['**All**', '25,000', '100 %']);
	});

	it('groups by columns that hold the names of months, in the order of the year', async () => {
		const content = 'month,revenue\nMarch,30\nJan,10\nSept.,5\nFeb,20\nJan,5\n';
		for (const options of [[], ['--period', 'month']]) {
			const { stdout, exitCode } = await analyze(content, '--group-by', 'month', '--value', 'revenue', ...options);
			expect(exitCode).toBe(0);
			const months = [...stdout.matchAll(/^\| (\w+\.?) \| \d+ \| \d/gm)].map(([, name]) => name);
			expect(months.slice(0, 4)).toEqual(['Jan', 'Feb', 'March', 'Sept.']);
			expect(stdout).toContain('Chart: data-by-month.svg.');
		}
	});

	it.each([
		['2025-01', '2025-02', '2025-11', '2026-01'],
		['2025/1', '2025/2', '2025/11', '2026/1'],
		['Jan 2025', 'February 2025', 'Nov. 2025', 'Jan 2026'],
		['2025 Q1', '2025 Q2', '2025 Q4', '2026 Q1'],
		['Q1 2025', 'Q2 2025', 'Q4 2025', 'Q1 2026'],
		['Q1', 'Q2', 'Q3', 'Q4']
	])('keeps %s, %s, %s, %s in the order of time, not of size', async (...periods) => {
		const rows = periods.map((period, index) => `${period},${[20, 30, 10, 40][index]}\n`).reverse();
		const { stdout } = await analyze(`when,revenue\n${rows.join('')}`, '--group-by', 'when');
		const order = [...stdout.matchAll(/^\| ([^|*]+?) \| \d+ \|/gm)].map(([, name]) => name);
		expect(order).toEqual(periods);
	});

	it('takes the months of the only column of dates where no column is called month, and says so', async () => {
		const { stdout } = await analyzeSales('--group-by', 'month', '--value', 'revenue');
		expect(row(stdout, '2025-01')[0]).toBe('2025-01');
		expect(stdout).toContain('There is no column "month"; the dates in "date" were grouped by month.');
	});

	it('groups dates by month in their own order', async () => {
		const { stdout, cwd } = await analyzeSales('--group-by', 'date', '--period', 'month', '--value', 'revenue');
		expect(
			[...stdout.matchAll(/^\| (2025-\d\d) \| 8 \| \d \| ([\d.,]+) \|/gm)].map(([, key, sum]) => [key, sum])
		).toEqual([
			['2025-01', '5,169.35'],
			['2025-02', '3,380.40'],
			['2025-03', '4,723.30']
		]);
		expect(await readdir(cwd)).toContain('sales-by-month.svg');
	});

	it('groups by two columns at once', async () => {
		const { stdout } = await analyzeSales('--group-by', 'region,product', '--value', 'revenue');
		expect(row(stdout, 'South · Office chair').slice(1, 4)).toEqual(['2', '2', '2,985.00']);
		expect(row(stdout, 'East · Notebook').slice(1, 4)).toEqual(['2', '1', '354.00']);
	});

	it('sorts by the measure that is asked for', async () => {
		const { stdout } = await analyzeSales('--group-by', 'product', '--value', 'revenue', '--measure', 'average');
		const order = [...stdout.matchAll(/^\| (Office chair|Desk lamp|Monitor stand|Notebook) \|/gm)].map(
			([, name]) => name
		);
		expect(order).toEqual(['Office chair', 'Desk lamp', 'Monitor stand', 'Notebook']);
		expect(row(stdout, 'Office chair').slice(3, 5)).toEqual(['7,164.00', '1,023.43']);
	});

	it('finds a column without regard to case and forgives a misspelling, which it says', async () => {
		const upper = await analyzeSales('--group-by', 'REGION', '--value', 'Revenue');
		expect(row(upper.stdout, 'South')[3]).toBe('4,072.35');
		expect(upper.stdout).not.toContain('was used');
		const misspelt = await analyzeSales('--group-by', 'regoin', '--value', 'revenue');
		expect(row(misspelt.stdout, 'South')[3]).toBe('4,072.35');
		expect(misspelt.stdout).toContain('There is no column "regoin", so "region" was used.');
	});

	it('ends with code 2 and the list of columns for an unknown one', async () => {
		const { stderr, exitCode, cwd } = await analyzeSales('--group-by', 'country');
		expect(exitCode).toBe(2);
		expect(stderr).toBe(
			'There is no column "country" in sales.csv. Its columns are: date, region, product, units, revenue.\n'
		);
		expect(await readdir(cwd)).toEqual(['sales.csv']);
	});

	it('ends with code 2 when the value is no number column or the period no date column', async () => {
		const value = await analyzeSales('--group-by', 'region', '--value', 'product');
		expect(value).toMatchObject({ exitCode: 2 });
		expect(value.stderr).toContain('The column "product" does not hold numbers. These do: units, revenue.');
		expect(await analyzeSales('--group-by', 'region', '--period', 'month')).toMatchObject({ exitCode: 2 });
		const without = await analyze('name,revenue\nA,1\n', '--period', 'month');
		expect(without).toMatchObject({
			exitCode: 2,
			stderr: expect.stringContaining('No column of data.csv holds dates.')
		});
		const two = await analyze('sent,due,revenue\n2025-01-01,2025-02-01,1\n', '--period', 'month');
		expect(two).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Name one of these: sent, due.') });
	});

	it.each([
		['names of months', 'month,revenue\nJanuary,10\nFebruary,30.5\n', 'February', 'January'],
		['months', 'Month,revenue\n2025-01,10\n2025-02,30.5\n', 'February 2025', 'January 2025'],
		['days', 'date,revenue\n2025-01-15,4\n2025-01-31,6\n2025-02-15,30.5\n', 'February 2025', 'January 2025']
	])('groups %s by month without being told the column, and says which is highest and lowest', async (...given) => {
		const [, content, most, least] = given;
		const { stdout, exitCode } = await analyze(content, '--period', 'month', '--value', 'revenue');
		expect(exitCode).toBe(0);
		expect(stdout).toMatch(
			new RegExp(
				`^\\*\\*${most}\\*\\* has the highest (total )?revenue \\(30\\.5\\), \\*\\*${least}\\*\\* the lowest \\(10\\)\\.$`,
				'm'
			)
		);
	});

	it('says the total of a column that nothing is grouped by, before the chart', async () => {
		const { stdout } = await analyzeSales('--value', 'revenue');
		expect(stdout).toContain('The total revenue is **13,273.05**.\n\n23 values: average 577.09, lowest');
		expect(stdout.indexOf('total revenue')).toBeLessThan(stdout.indexOf('Chart:'));
	});

	it('says the figure that was asked for first, and draws nothing beside it', async () => {
		const { stdout, cwd } = await analyzeSales('--value', 'revenue', '--measure', 'average');
		expect(stdout).toContain('The average revenue is **577.09**.\n\n23 values: total 13,273.05, lowest');
		expect(stdout).not.toMatch(/Chart:|## (?!Notes)/);
		expect(existsSync(join(cwd, 'sales-summary.svg'))).toBe(false);
		const drawn = await analyzeSales('--value', 'revenue', '--measure', 'max', '--chart-file', 'a.svg');
		expect(drawn.stdout).toMatch(/The highest revenue is \*\*.*Chart: a\.svg/s);
	});

	it('draws no chart beside a measure by group that was asked for, unless one is asked for', async () => {
		const { stdout, cwd } = await analyzeSales('--group-by', 'region', '--measure', 'average');
		expect(stdout).toMatch(/ has the highest average revenue .*## Revenue by region/s);
		expect(stdout).not.toContain('Chart:');
		expect(existsSync(join(cwd, 'sales-by-region.svg'))).toBe(false);
		const drawn = await analyzeSales('--group-by', 'region', '--measure', 'average', '--chart');
		expect(drawn.stdout).toContain('Chart: sales-average-by-region.svg.');
	});

	it('puts rows without a key into a group of their own and shows no sum where there is no value', async () => {
		const { stdout } = await analyze('k,v\na,1\n,2\nb,\nNA,3\n', '--group-by', 'k');
		expect(row(stdout, '(missing)').slice(0, 4)).toEqual(['(missing)', '2', '2', '5']);
		expect(row(stdout, 'b').slice(0, 4)).toEqual(['b', '1', '0', '–']);
	});
});

describe('data-analysis: columns', () => {
	it('summarises each column and does not group unasked', async () => {
		const { stdout, exitCode } = await analyzeSales();
		expect(exitCode).toBe(0);
		expect(stdout).not.toContain('## Revenue by region');
		expect(stdout).toContain('**sales.csv**: 24 rows, 5 columns. Chart: sales-summary.svg (Revenue by region).');
		expect(row(stdout, 'date')).toEqual(['date', 'date', '24', '0', '24', '2025-01-06 to 2025-03-24']);
		expect(row(stdout, 'region').slice(0, 5)).toEqual(['region', 'text', '24', '0', '4']);
		expect(row(stdout, 'units')).toEqual(['units', 'integer', '23', '1', '20', '2 to 200']);
		const statistics = stdout.slice(stdout.indexOf('## Numbers'));
		expect(row(statistics, 'units')).toEqual(['units', '23', '857', '37.26', '54.1', '2', '6', '11', '42.5', '200']);
		expect(row(statistics, 'revenue').slice(1, 4)).toEqual(['23', '13,273.05', '577.09']);
		expect(stdout).toContain('In "revenue" 1 value is missing and left out of its figures.');
	});

	it('adds decimals without noise', async () => {
		const { stdout } = await analyze('v\n0.1\n0.2\n1234.2\n');
		expect(row(stdout.slice(stdout.indexOf('## Numbers')), 'v').slice(0, 4)).toEqual(['v', '3', '1,234.5', '411.5']);
	});

	it('reads a byte order mark, semicolons, decimal commas, quotes and line breaks in cells', async () => {
		const { stdout } = await analyze(
			'\ufeffName;Betrag\r\n"Müller; Söhne";1.234,50\r\n"zwei\r\n""Zeilen""";-0,25\r\n',
			'--group-by',
			'name'
		);
		expect(stdout).toContain('2 rows, 2 columns, divided by semicolon.');
		expect(row(stdout, 'Müller; Söhne')[1]).toBe('1,234.50');
		expect(row(stdout, 'zwei "Zeilen"')[1]).toBe('-0.25');
	});

	it('reads decimal commas where every number has thousands', async () => {
		const { stdout } = await analyze('Stadt;Betrag\nBonn;1.234,50\nBonn;2.000,00\n', '--group-by', 'stadt');
		expect(row(stdout, 'Bonn')).toContain('3,234.50');
	});

	it('falls back to a Western encoding and says so', async () => {
		const { stdout } = await analyze(Buffer.from('stadt,wert\nK\xf6ln,3\n', 'latin1'), '--group-by', 'stadt');
		expect(row(stdout, 'Köln')[1]).toBe('3');
		expect(stdout).toContain('The file is not valid UTF-8; it was read as Western European (Windows-1252).');
	});

	it('reads tabs in UTF-16', async () => {
		const { stdout } = await analyze(Buffer.from('\ufeffa\tb\nx\t2\nx\t3\n', 'utf16le'), '--group-by', 'a');
		expect(row(stdout, 'x')[2]).toBe('5');
	});

	it('keeps identifiers as text and reads money and percents as numbers', async () => {
		const { stdout } = await analyze('id,price,rate\n007,"$1,234.50",12 %\n010,-$4.50,3%\n');
		expect(row(stdout, 'id')[1]).toBe('text');
		expect(row(stdout, 'price')).toEqual(['price', 'number', '2', '0', '2', '-$4.50 to $1,234.50']);
		expect(row(stdout, 'rate')[5]).toBe('3 to 12');
	});

	it('reports rows of the wrong length, values that are no numbers, and a quotation mark left open', async () => {
		const numbers = Array.from({ length: 10 }, (_, index) => `${index},x`).join('\n');
		const ragged = await analyze(`a,b\n${numbers}\nnone,y\n1\n1,2,3\n`);
		expect(ragged.stdout).toContain('1 row is shorter than the header; their last cells count as missing (line 13).');
		expect(ragged.stdout).toContain('1 row is longer than the header; their extra cells were left out (line 14).');
		expect(ragged.stdout).toContain('In "a" 1 value is not a number and left out of its figures, for example "none".');
		const open = await analyze('a,b\n1,"x\n2,y\n3,z\n');
		expect(open.stdout).toContain('A quotation mark is never closed');
	});

	it('names the columns itself when the first row is data', async () => {
		const { stdout } = await analyze('2024-01-01,x,3.5\n2024-01-02,y,4\n');
		expect(row(stdout, 'column3')).toEqual(['column3', 'number', '2', '0', '2', '3.5 to 4']);
		expect(stdout).toContain('The first row holds data, not names');
		const forced = await analyze('a,b\nc,d\n', '--no-header');
		expect(forced.stdout).toContain('2 rows, 2 columns');
	});

	it('skips lines without a filled cell, also before the header', async () => {
		const { stdout } = await analyze('\ufeff,\n\nk,v\na,1\n,\n a , 2 \n', '--group-by', 'k', '--encoding', 'utf-8');
		expect(stdout).toContain('2 rows, 2 columns');
		expect(row(stdout, 'a')[2]).toBe('3');
	});

	it('groups the digits of all figures, but not of years', async () => {
		const { stdout } = await analyze('year,units\n2024,7764\n2025,98\n');
		expect(row(stdout, 'units').at(-1)).toBe('98 to 7,764');
		expect(row(stdout, 'year').at(-1)).toBe('2024 to 2025');
		expect(stdout).toMatch(/\| units \| 2 \| 7,862 .* 7,764 \|/);
	});

	it('reads years as names of columns', async () => {
		const { stdout } = await analyze('country,2019,2020\nFrance,1,2\n');
		expect(row(stdout, '2020')[5]).toBe('2 to 2');
	});
});

describe('data-analysis: files that cannot be analysed', () => {
	it.each([
		['an empty file', '', 'data.csv is empty (0 bytes)'],
		['blanks', ' \n\n', 'data.csv contains only blanks.'],
		['a binary file', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]), 'data.csv is a binary file, not CSV text.'],
		['an Excel workbook', Buffer.from('PK\x03\x04....'), 'an Excel workbook (.xlsx), not CSV text']
	])('ends with code 1 for %s', async (_, content, message) => {
		const { stderr, exitCode } = await analyze(content);
		expect(exitCode).toBe(1);
		expect(stderr).toContain(message);
		expect(stderr).not.toMatch(/^\s+at /m);
	});

	it('ends with code 1 for a missing file and names those there are', async () => {
		const cwd = await withFile('orders.csv', 'a\n1\n');
		const { stderr, exitCode } = await runSkill(SCRIPT, ['sales.csv'], { cwd });
		expect({ stderr, exitCode }).toEqual({
			stderr: 'There is no file sales.csv. There is: orders.csv.\n',
			exitCode: 1
		});
	});

	it('summarises a header without rows and draws nothing', async () => {
		const { stdout, exitCode, cwd } = await analyze('a,b\n');
		expect(exitCode).toBe(0);
		expect(stdout).toContain('not a single row of data');
		expect(await readdir(cwd)).toEqual(['data.csv']);
	});
});

describe('data-analysis: rows and questions', () => {
	const spent = 'date,category,cost\n2025-01-03,Food,4.5\n2025-01-12,Travel,20\n2025-02-01,Food,11.5\n';

	it('reads only the rows that meet all conditions of --where, and refuses what it can’t find', async () => {
		const { stdout } = await analyze(spent, '--where', 'food');
		expect(stdout).not.toContain('Chart:');
		expect(stdout).toContain('The total cost for category “food” is **16** (2 of 3 rows).');
		const total = async (...conditions: string[]) => {
			const { stdout, stderr } = await analyze(spent, ...conditions.flatMap((each) => ['--where', each]));
			return /total cost.* is \*\*([\d.]+)\*\*/.exec(stdout)?.[1] ?? `${stdout}${stderr}`;
		};
		expect(await total('category=Travel')).toBe('20');
		expect(await total('category!=Travel')).toBe('16');
		expect(await total('food', 'January')).toBe('4.5');
		expect(await total('cost>4.5', 'cost<=20')).toBe('31.5');
		expect(await total('date>=2025-02')).toBe('11.5');
		expect(await total('2025')).toBe('36');
		expect(await total('March')).toContain('No row has date in March.');
		expect(await total('cost>cheap')).toContain('"cheap" in --where "cost>cheap" must be a number');
		expect(await analyze(spent, '--where', 'shoes')).toMatchObject({
			exitCode: 2,
			stderr: expect.stringContaining(
				'No cell of data.csv is "shoes". Its columns are: date, category, cost.'
			) as string
		});
		const monthly = await analyze(spent, '--where', 'food', '--period', 'month');
		expect(monthly.stdout).toContain('Chart: data-food-by-month.svg.');
		expect(await readFile(join(monthly.cwd, 'data-food-by-month.svg'), 'utf8')).toContain(
			'2 rows of data.csv, category food'
		);
		const both = await analyze('a,b,n\nx,y,1\ny,x,2\n', '--where', 'x');
		expect(both.exitCode).toBe(2);
		expect(both.stderr).toContain('"x" is in several columns: a, b. Say which, such as --where "a=x".');
		const years = await analyze('day,n\n2024-01-02,1\n2025-01-02,2\n', '--where', 'January');
		expect(years.stdout).toContain('- day January is of several years: 2024, 2025.');
		expect((await analyze(spent, '--measure', 'median')).stdout).toContain('The median cost is **11.5**');
		expect((await analyze(spent, '--measure', 'median', '--group-by', 'category')).stderr).toContain(
			'The median is only there for all rows together'
		);
		expect((await analyze(spent, '--measure', 'max')).stdout).toContain('| 2025-01-12 | Travel | 20 |');
		expect((await analyze(spent, '--questions')).stdout).toMatch(
			/^Reading .*\n\n\*\*data\.csv\*\*: \d+ rows; \d columns \(.*\n\nYou can ask for:\n\n- summary of this file\n- which category has the highest cost\?\n/
		);
	});

	const volunteers =
		'Name,Town,Age,Hours,Joined\nTom Byrne,York,61,120.5,2018-02-01\nGrace Lee,York,52,,2022-01-30\nCy Dee,Leeds,19,33.5,2024-01-08\n';
	const bakery =
		'Date,Product,Quantity,Unit price,Total\n2024-03-01,Loaf,12,4.50,54.00\n2024-03-01,Croissant,30,2.20,66.00\n2024-03-12,Croissant,42,2.20,92.40\n';
	const shop =
		'date,shop,kind,amount,pieces\n2025-01-03,Aldi,Food,4.20,2\n2025-01-05,Home Depot,Tools,90,1\n2025-02-02,Home Depot,Tools,60,4\n2025-02-10,Aldi,Drinks,18,3\n2025-03-01,Aldi,Food,40,5\n';
	const since = 'Name,Town,Joined\nAnn,Leeds,2019\nBo,Leeds,2022\nCy,Hull,2022\n';
	const guests =
		'name,town,joined,paid\nAnn Lee,Leeds,2024-03-05,yes\nBo Chan,York,2025-01-12,no\nCy Young,Leeds,2025-06-30,yes\nDi Abbot,Hull,2023-11-02,no\n';

	const ages = 'name,town,age,paid\nAnn,Leeds,44,yes\nBo,Hull,61,no\nCy,Hull,19,no\nDi,Leeds,24,yes\n';
	const stock = 'Order ID,Customer,Product,Quantity,Unit Price\n1,Acme,Mug,6,8\n2,Acme,Teapot,2,24\n3,Lena,Mug,1,9\n';

	const bank =
		'Date,Shop,Amount\n01/03/2025,Salary,2000\n13/03/2025,Rent,-870\n20/03/2025,Food,-30\n02/04/2025,Food,-25\n';
	const books = 'Title,Pages,Rating,Shelf,Date Read\nEmma,400,4,1,2024-01-12\nBabel,544,,2,\nDune,300,2,2,2024-03-01\n';

	const clubs =
		'Name,Town,Membership,Joined,Fee paid\nAnn,Leeds,Full,2019-01-02,yes\nBo,Leeds,Student,2021-03-02,no\nCy,Hull,Full,2022-05-01,yes\n';

	const roll =
		'Full Name,Membership Type,Born on,Joined,Phone\nAnn Ash,Full,1950-01-02,2020-03-04,01 23\nBo Birch,Junior,2010-05-06,2019-07-08,\nCy Cole,Full,1980-09-10,2024-11-12,04 56\n';
	const days = 'date,max_temp,rain_mm,sky\n2025-06-01,21.5,0,sun\n2025-06-02,19,4.5,rain\n2025-07-01,24,2,rain\n';

	it.each([
		[shop, 'How much did I spend in February?', 'The total amount in February is **78.00** (2 of 5 rows).'],
		[shop, 'how much went on food in March', 'The total amount for kind “Food” in March is **40.00** (1 of 5 rows).'],
		[
			shop,
			'What was the most expensive month?',
			'**January 2025** has the highest total amount (94.20), **March 2025** the lowest (40.00).'
		],
		[
			shop,
			'which month was the cheapest',
			'**March 2025** has the lowest total amount (40.00), **January 2025** the highest (94.20).'
		],
		[
			shop,
			'Did I spend more on drinks or food?',
			'The total amount is **26.20** higher for **Food** (44.20) than for **Drinks** (18.00).'
		],
		[shop, 'How many purchases over 50?', '**2** of 5 purchases have amount over 50 (40 %).'],
		[shop, 'purchases of 40 or more in March', '**1** of 5 purchases has amount at least 40 and date in March (20 %).'],
		[
			shop,
			'what did I pay between January and February',
			'The total amount from January to February is **172.20** (4 of 5 rows).'
		],
		[
			shop,
			'average per month',
			'The average amount per month is **70.73** (3 months). **January 2025** has the highest total amount (94.20), **March 2025** the lowest (40.00).'
		],
		[shop, 'average amount at home depot', 'The average amount for shop “Home Depot” is **75.00** (2 of 5 rows).'],
		[shop, 'highest amount of the whole file', '| 2025-01-05 | Home Depot | Tools | 90 | 1 |'],
		[shop, 'the cheapest item', 'The lowest amount is **4.20** (shop Aldi).'],
		[shop, 'the two biggest purchases', 'Here are the 2 purchases with the highest amount.'],
		[shop, 'top 2 kinds', 'The 2 with the highest total amount are **Tools** (150.00) and **Food** (44.20).'],
		[
			shop,
			'What did I spend the most on?',
			'**Home Depot** has the highest total amount (150.00), **Aldi** the lowest (62.20).'
		],
		[shop, 'how many shops are there?', 'There are **2** different values of shop: Aldi and Home Depot.'],
		[bank, 'When was my salary paid?', '**1** of 4 rows has Shop “Salary”'],
		[since, 'Who joined in 2022?', '**2** of 3 rows have Joined in 2022: Bo and Cy.'],
		[since, 'How many joined in 2022?', '**2** of 3 rows have Joined in 2022 (66.7 %).'],
		[since, 'Who joined first?', 'The lowest Joined is **2019**: Ann.'],
		[since, 'members with Joined over 2020', '**2** of 3 members have Joined over 2020: Bo and Cy.'],
		[since, 'Who are from Hull and when did they join?', '**1** of 3 rows has Town “Hull”: Cy.'],
		[shop, 'which stores are there?', 'There are **2** different values of shop: Aldi and Home Depot.'],
		[clubs, 'which cities are used?', 'There are **2** different values of Town: Leeds and Hull.'],
		[clubs, 'which towns have paid?', 'There are **2** different values of Town for Fee paid “yes”: Hull and Leeds.'],
		[
			shop,
			'how many purchases per shop',
			'**Aldi** has the highest number of purchases (3), **Home Depot** the lowest (2).'
		],
		[shop, 'everything except food', '**3** of 5 rows have kind not “Food” (60 %). Their total amount is **168.00**.'],
		[shop, 'amuont by kind', '**Tools** has the highest total amount (150.00), **Drinks** the lowest (18.00).'],
		[shop, 'how many tools did I buy?', 'The total pieces for kind “Tools” is **5** (2 of 5 rows).'],
		[shop, 'summarise this file for my boss', 'The total amount is **212.20**.'],
		[shop, 'a pie chart of kinds', '\n\nIt draws bars, no pies. **'],
		[
			shop,
			'How much on food?\nand in January?',
			'The total amount for kind “Food” in January is **4.20** (1 of 5 rows).'
		],
		[
			shop,
			'How much did I spend in January?\nwhat about February\nonly at Aldi',
			'The total amount for shop “Aldi” in February is **18.00** (1 of 5 rows).'
		],
		[
			shop,
			'which kind costs most?\nand in February?',
			'**Tools** has the highest amount in February (60.00), **Drinks** the lowest (18.00).'
		],
		[guests, 'How many are from Leeds?', '**2** of 4 rows have town “Leeds” (50 %).'],
		[guests, 'How many are not from Leeds?', '**2** of 4 rows have town not “Leeds” (50 %).'],
		[guests, 'unpaid guests from York', '**1** of 4 guests has town “York” and paid “no”: Bo Chan.'],
		[guests, 'Who still has to pay?', '**2** of 4 rows have paid “no”: Bo Chan and Di Abbot.'],
		[guests, "who hasn't paid", '| Di Abbot | Hull | 2023-11-02 | no |'],
		[guests, 'Who joined last?', 'The latest joined is **2025-06-30**: Cy Young.'],
		[guests, 'When did Ann join?', '| Ann Lee | Leeds | 2024-03-05 | yes |'],
		[guests, 'Has Bo paid?', 'No: paid is “no” for **Bo Chan**.'],
		[guests, 'who joined before 2025', '**2** of 4 rows have joined before 2025: Ann Lee and Di Abbot.'],
		[
			guests,
			'how many members joined each year',
			'**2025** has the highest number of members (2), **2023** and **2024** the lowest (1).'
		],
		[guests, 'how many guests?', 'There are **4** guests.'],
		[
			guests,
			"who hasn't paid?\nhow many of them are from York?",
			'**1** of 4 rows has paid “no” and town “York” (25 %).'
		],
		[
			guests,
			'are there more members in Leeds or York?',
			'The number of members is **1** higher for **Leeds** (2) than for **York** (1).'
		],
		[guests, 'how many have paid no?', '**2** of 4 rows have paid “no” (50 %).'],
		[guests, 'who has been a member longest?', 'The earliest joined is **2023-11-02**: Di Abbot.'],
		['name,town,age\nAnn,Leeds,44\nBo,,61\nCy,Hull,19\n', 'who is the oldest?', '| Bo |  | 61 |'],
		['name,town,age\nAnn,Leeds,44\nBo,,61\nCy,Hull,19\n', 'whose town is missing?', '**1** of 3 rows has no town: Bo.'],
		['name,town,age\nAnn,Leeds,44\nBo,,61\nCy,Hull,19\n', 'sort by age', '|---|---|---:|\n| Cy | Hull | 19 |\n| Ann |'],
		['name,town,age\nAnn,Leeds,44\nBo,,61\nCy,Hull,19\n', 'number of people in each town', 'Rows by town'],
		[
			shop,
			'top 2 shops by amount',
			'The 2 with the highest total amount are **Home Depot** (150.00) and **Aldi** (62.20).'
		],
		[
			shop,
			'how much do I spend per month on average?',
			'The average amount per month is **70.73** (3 months). **January 2025** has the highest total amount (94.20), **March 2025** the lowest (40.00).'
		],
		[
			shop,
			'which kind costs me the most?\nand without tools?',
			'**Food** has the highest total amount for kind not “Tools” (44.20), **Drinks** the lowest (18.00).'
		],
		[
			shop,
			'did I spend more in February than in March?',
			'Yes: the total amount is **38.00** higher for **February 2025** (78.00) than for **March 2025** (40.00).'
		],
		[
			shop,
			'how much for food and drinks together?',
			'The total amount for kind “Food” or “Drinks” is **62.20** (3 of 5 rows).'
		],
		[
			shop,
			'which shop has the most purchases?',
			'**Aldi** has the highest number of purchases (3), **Home Depot** the lowest (2).'
		],
		[shop, 'a chart of spending per month', 'Chart: data-by-month.svg.'],
		[shop, 'the cheapest food trip', 'The lowest amount for kind “Food” is **4.20** (shop Aldi).'],
		[
			shop,
			'total without food and drinks',
			'The total amount for kind not “Food” or “Drinks” is **150.00** (2 of 5 rows).'
		],
		[
			shop,
			'everything except tools or food in February',
			'**1** of 5 rows has date in February and kind not “Tools” or “Food” (20 %).'
		],
		[shop, 'highest purchase per shop', '**Home Depot** has the highest amount (90.00).'],
		[shop, 'food and drinks in january', '**1** of 5 rows has date in January and kind “Food” or “Drinks” (20 %).'],
		[
			shop,
			'how many purchases per month',
			'**January 2025** and **February 2025** have the highest number of purchases (2), **March 2025** the lowest (1).'
		],
		[
			guests,
			'list guests from Leeds or Hull who have not paid',
			'**1** of 4 guests has town “Leeds” or “Hull” and paid “no”: Di Abbot.'
		],
		[guests, 'how many of them havent paid?', '**2** of 4 rows have paid “no” (50 %).'],
		[
			guests,
			'who joined first, Ann or Bo?',
			'The earliest joined for name “Ann Lee” or “Bo Chan” is **2024-03-05**: Ann Lee.'
		],
		[ages, 'average age of those who have not paid', 'The average age for paid “no” is **40** (2 of 4 rows).'],
		[ages, 'who has not paid?\nhow old are they on average', 'The average age for paid “no” is **40** (2 of 4 rows).'],
		[ages, 'oldest in each town', '**Hull** has the highest age (61).'],
		[ages, 'which town has the highest age', '**Hull** has the highest average age (40), **Leeds** the lowest (34).'],
		[ages, 'sort by age, oldest first', '|---|---|---:|---|\n| Bo | Hull | 61 | no |\n| Ann |'],
		[ages, 'top 2 by age', '|---|---|---:|---|\n| Bo | Hull | 61 | no |\n| Ann | Leeds | 44 | yes |'],
		[ages, 'How many people are over 60?', '**1** of 4 people has age over 60 (25 %).'],
		[ages, 'How many are older than 60?\nWho is the youngest?', 'The lowest age is **19**: Cy.'],
		[volunteers, 'Which day was our best day?\nWho is the youngest?', 'The lowest Age is **19**: Cy Dee.'],
		[volunteers, 'Hours per town\nWho is the youngest?', 'The lowest Age is **19**: Cy Dee.'],
		[volunteers, 'Hours per town\nwhich is the highest?', '**York** has the highest total Hours (120.5)'],
		[shop, 'Who is the youngest?', "data.csv can't answer that: I find nothing for “youngest” in it."],
		[shop, 'Draw a line chart per month', '\n\nIt draws bars, no lines. **'],
		[guests, 'What must Bo do?', "data.csv can't answer that: I find nothing for “must” in it."],
		[volunteers, 'who is over 40', '**2** of 3 rows have Age over 40: Tom Byrne and Grace Lee.'],
		[volunteers, 'How many hours did Grace Lee do?', 'There is no Hours for Name “Grace Lee” in data.csv.'],
		[bakery, 'How many croissants did we sell in total?', 'The total Quantity for Product “Croissant” is **72**'],
		[bakery, 'Which day was our best day?', '**2024-03-01** has the highest Total (120.00)'],
		[bakery, 'On which date did we take the most money?', '**2024-03-01** has the highest Total (120.00)'],
		[ages, 'who is over 40', '**2** of 4 rows have age over 40: Ann and Bo.'],
		[ages, 'what percentage of people have paid', '**50 %** of people have paid “yes” (2 of 4).'],
		[stock, 'cheapest product', '**Mug** has the lowest Unit Price (8).'],
		[stock, 'orders with more than 5 items', '**1** of 3 orders has Quantity over 5: Acme.'],
		[stock, 'who is our best customer', '**Acme** has the highest Total (96), **Lena** the lowest (9).'],
		[stock, 'how much is a mug?', 'The average Unit Price for Product “Mug” is **8.5** (2 of 3 orders).'],
		[bank, 'How much did I spend in March?', 'The total spending in March is **900** (2 of 4 rows).'],
		[bank, 'How much did I earn?', 'The total income is **2,000** (1 of 4 rows).'],
		[bank, 'What was my biggest expense?', 'The highest payment is **870** (Shop Rent).'],
		[bank, 'What did I spend the most on?', '**Rent** has the highest total spending (870), **Food** the lowest (55).'],
		[books, 'How many pages did I read in total?', 'The total Pages for a Date Read is **700** (2 of 3 rows).'],
		[books, 'Which books haven’t I read yet?', '**1** of 3 books has no Date Read: Babel.'],
		[books, 'the worst book', 'The lowest Rating is **2**: Dune.'],
		[
			clubs,
			'which town has the most members?',
			'**Leeds** has the highest number of members (2), **Hull** the lowest (1).'
		],
		[clubs, 'which members haven’t paid the fee?', '**1** of 3 members has Fee paid “no”: Bo.'],
		[clubs, 'who joined between 2020 and 2022?', '**2** of 3 rows have Joined from 2020 to 2022: Bo and Cy.'],
		[clubs, 'who joined on 2 March 2021?', '**1** of 3 rows has Joined on 2 March 2021: Bo.'],
		[
			shop,
			'which shop did I visit most often?',
			'**Aldi** has the highest number of rows (3), **Home Depot** the lowest (2).'
		],
		[
			'Datum;Winkel;Bedrag\n03-01-2025;AH;€ 54,20\n09-01-2025;NS;€ 1.240,00\n',
			'total for AH',
			'The total Bedrag for Winkel “AH” is **€54.20** (1 of 2 rows).'
		],
		[clubs, 'Is Bo a full member?', 'No: Membership is “Student” for **Bo**.'],
		[clubs, 'Is Ann a full member?', 'Yes: Membership is “Full” for **Ann**.'],
		[clubs, 'Has everyone paid the fee?', 'No: **2** of 3 rows have Fee paid “yes”: Ann and Cy.'],
		[clubs, 'Are there any members in Hull?', 'Yes: **1** of 3 members has Town “Hull”: Cy.'],
		[
			clubs,
			'how many of each membership type',
			'**Full** has the highest number of rows (2), **Student** the lowest (1).'
		],
		[clubs, 'How many are from Leeds?\ntheir names?', '**2** of 3 rows have Town “Leeds”: Ann and Bo.'],
		[ages, 'Is Ann older than 50?', 'No: age is “44” for **Ann**.'],
		[ages, 'How old is Bo?', 'The age for name “Bo” is **61** (1 of 4 rows).'],
		[ages, 'Is the average age over 30?', 'Yes: the average age is **37**.'],
		[ages, 'Are there more than 2 people from Hull?', 'No: **2** of 4 people have town “Hull”.'],
		[
			shop,
			'how much more did I spend on food than drinks?',
			'The total amount is **26.20** higher for **Food** (44.20) than for **Drinks** (18.00).'
		],
		[
			shop,
			'Did I spend more on drinks than on food?',
			'No: the total amount is **26.20** lower for **Drinks** (18.00) than for **Food** (44.20).'
		],
		[shop, 'Did I spend more than 50 on food?', 'No: the total amount for kind “Food” is **44.20** (2 of 5 rows).'],
		[shop, 'Did I buy anything in February?', 'Yes: **2** of 5 rows have date in February'],
		[shop, 'my average food shop', 'The average amount for kind “Food” is **22.10** (2 of 5 rows).'],
		[shop, 'my biggest single purchase', 'The highest amount is **90.00** (shop Home Depot).'],
		[shop, 'what share of the amount is food?', '**20.8 %** of the total amount is for kind “Food” (44.20 of 212.20).'],
		['item,price\nA,$1.50\nB,$2\n', 'total price', 'The total price is **$3.50**.'],
		[roll, 'How many full members are there?', '**2** of 3 members have Membership Type “Full” (66.7 %).'],
		[roll, 'Is Bo a full member?', 'No: Membership Type is “Junior” for **Bo Birch**.'],
		[roll, "What's Ann's phone number?", 'The Phone of Ann Ash is **01 23**.'],
		[roll, 'When did Cy join?', 'The Joined of Cy Cole is **2024-11-12**.'],
		[roll, 'Who is the newest member?', 'The latest Joined is **2024-11-12**: Cy Cole.'],
		[roll, 'Who is the youngest member?', 'The latest Born on is **2010-05-06**: Bo Birch.'],
		[days, 'How much did it rain in June?', 'The total rain_mm in June is **4.5** (2 of 3 rows).'],
		[days, 'how many days had max temp over 20', '**2** of 3 days have max_temp over 20 (66.7 %).'],
		[days, 'what was the sky on 1 july', 'The sky on 1 July is **rain**.'],
		[bank, 'Show payments over 100', '**1** of 4 payments has Amount over 100'],
		[
			bank,
			'Which month was the most expensive?',
			'**March 2025** has the highest total spending (900), **April 2025** the lowest (25).'
		],
		[bank, 'Did I spend more than 100 on food?', 'No: the total spending for Shop “Food” is **55** (2 of 4 rows).'],
		[
			'id,customer,total\n1,T. Novak,$5.00\n2,K. Li,$2.50\n',
			'revenue from T. Novak',
			'The total of T. Novak is **$5.00**'
		],
		[books, 'how many books are at shelf 2?', '**2** of 3 books have Shelf 2 (66.7 %).']
	])('answers a question in plain words: %#', async (text, question, expected) => {
		const { stdout, exitCode } = await analyze(text, '--question', question);
		expect(stdout).toContain(expected);
		expect(exitCode).toBe(0);
	});

	// An answer that leaves a word out is a wrong one.
	it.each([
		[shop, 'How much did I spend on shoes?', '“shoes”'],
		[shop, 'What did I spend last month?', '“last”, “month”'],
		[shop, 'food or shoes in March', '“shoes”'],
		[shop, 'what did I spend compared to last year', '“last”, “year”'],
		[shop, 'how much was not yet refunded', '“refunded”'],
		[shop, 'food yesterday', '“yesterday”'],
		[guests, 'when is the annual show?', '“annual”'],
		[guests, 'how many women are there', '“women”'],
		[guests, 'what share of guests in Leeds have paid?', '“percentage”'],
		[shop, 'average pace', '“pace”'],
		['Title,Year,Rating\nA,1999,4\nB,2010,5\n', 'average rating of the last books', '“last”'],
		[shop, 'the first half of february', '“half”'],
		[shop, 'shops where I spent over 50 in total', '“in total”'],
		[books, 'how much did they cost?', '“cost”'],
		[shop, 'How much is a ticket?', '“ticket”'],
		[stock, 'who bought both mugs and teapots', '“both”'],
		[guests, 'explain photosynthesis', '“photosynthesis”'],
		[guests, 'which towns have more than 5 guests', '“more than 5”'],
		[roll, 'how many single members', '“single”'],
		[roll, 'Is Ann the oldest member?', '“oldest”'],
		[clubs, 'Is Leeds the town with the most members?', '“most”'],
		[clubs, 'did every town pay', '“every”'],
		[days, 'days since the last rain', '“days”'],
		[stock, 'average number of orders per customer', '“average”'],
		['day,rain,wind\n2025-01-01,3,8\n2025-01-02,0,5\n', 'was it ever below 2?', '“below 2”']
	])('says what it finds nothing for: %#', async (text, question, unknown) => {
		const { stdout } = await analyze(text, '--question', question);
		expect(stdout).toContain(`data.csv can't answer that: I find nothing for ${unknown}`);
		expect(stdout).toContain('You can ask for:');
	});

	it('reads a long question of the same words at once, and refuses one that is longer still', async () => {
		for (const words of ['a', '?', 'not ', 'over ', '1 ', 'paid is ', 'been ', '1 march ', 'most '])
			expect((await analyze(guests, '--question', words.repeat(5_000).slice(0, 5_000))).exitCode).toBe(0);
		expect(await analyze(guests, '--question', 'a '.repeat(3_000))).toMatchObject({
			exitCode: 2,
			stderr: expect.stringContaining('--question takes at most 5,000 characters.') as string
		});
	});

	it('offers questions that fit its columns beside a summary, and nothing else', async () => {
		const { stdout } = await analyze(spent);
		expect(stdout.split('You can ask for:\n\n')[1]?.split('\n\n', 1)[0]?.split('\n')).toEqual([
			'- which category has the highest cost?',
			'- average cost per category',
			'- total cost for Food',
			'- total cost per month'
		]);
		expect((await analyze(spent, '--group-by', 'category')).stdout).not.toContain('You can ask for');
	});
});

describe('data-analysis: the chart', () => {
	it('draws each group with its exact value on a background of its own', async () => {
		const { cwd } = await analyzeSales('--group-by', 'region', '--value', 'revenue');
		const svg = await readFile(join(cwd, 'sales-by-region.svg'), 'utf8');
		expect(svg).toContain('<title id="chart-title">Revenue by region</title>');
		for (const text of [
			'South',
			'4,072.35',
			'North',
			'3,786.70',
			'West',
			'3,191.40',
			'East',
			'2,222.60',
			'revenue (sum)',
			'region'
		]) {
			expect(svg).toContain(`>${text}</text>`);
		}
		expect(svg).toMatch(/<rect width="760" height="\d+" fill="#ffffff"/);
		// Each color has a dark-mode counterpart.
		const [style = ''] = /@media \(prefers-color-scheme:dark\).*/.exec(svg) ?? [];
		const colors = new Set(
			[...svg.matchAll(/ (fill|stroke)="(#\w+)"/g)].map(([, name, color]) => `[${name}="${color}"]`)
		);
		expect([...colors].filter((color) => !style.includes(color))).toEqual([]);
	});

	it('is drawn in a second form for a phone, with every value and text of 10 pixels where it is 320 pixels wide', async () => {
		const { cwd } = await analyzeSales('--group-by', 'region', '--value', 'revenue');
		const svg = await readFile(join(cwd, 'sales-by-region.svg'), 'utf8');
		expect(svg).toContain('@media (max-width:500px){.wide{display:none}.narrow{display:inline}}');
		const [narrow = ''] = /<g class="narrow" display="none">.*?<\/g>/s.exec(svg) ?? [];
		for (const text of ['Revenue by region', 'South', '4,072.35', 'East', '2,222.60', 'revenue (sum)'])
			expect(narrow).toContain(`>${text}</text>`);
		const sizes = [...narrow.matchAll(/font-size="(\d+)"/g)].map(([, size]) => (Number(size) * 320) / 760);
		expect(Math.min(...sizes)).toBeGreaterThanOrEqual(10);
		// Names of two ticks never touch.
		const ticks = [...narrow.matchAll(/x="([\d.]+)" y="[\d.]+" font-size="24" font-weight="400"[^>]*>([\d,.]+)</g)];
		const spans = ticks.map(([, x, text = '']) => ({ x: Number(x), half: text.length * 7.5 }));
		for (const [index, { x, half }] of spans.slice(1).entries())
			expect(x - half).toBeGreaterThan((spans[index]?.x ?? 0) + (spans[index]?.half ?? 0));
	});

	it('has names of 22 characters whole in the form for a phone, beside bars that can be compared', async () => {
		const { cwd } = await analyze('k,v\nSoutheast Asia Pacific,100\nb,50\n', '--group-by', 'k');
		const svg = await readFile(join(cwd, 'data-by-k.svg'), 'utf8');
		const [narrow = ''] = /<g class="narrow" display="none">.*?<\/g>/s.exec(svg) ?? [];
		expect(narrow).toContain('>Southeast Asia Pacific</text>');
		const [longest = 0] = [...narrow.matchAll(/width="([\d.]+)" height="24"/g)].map(([, width]) => Number(width));
		expect(longest).toBeGreaterThan(200);
	});

	it('draws bars in proportion', async () => {
		const { cwd } = await analyze('k,v\na,100\nb,50\nc,-25\n', '--group-by', 'k');
		const svg = await readFile(join(cwd, 'data-by-k.svg'), 'utf8');
		const [a = 0, b = 0, c = 0] = [...svg.matchAll(/width="([\d.]+)" height="24"/g)].map(([, width]) => Number(width));
		expect(a / b).toBeCloseTo(2, 1);
		expect(b / c).toBeCloseTo(2, 1);
	});

	it('escapes names and leaves out what XML forbids', async () => {
		const { cwd } = await analyze('k,v\n"<script>&""\u0007",1\nb,2\n', '--group-by', 'k', '--chart-file', 'mine');
		const svg = await readFile(join(cwd, 'mine.svg'), 'utf8');
		expect(svg).toContain('&lt;script&gt;&amp;&quot;');
		expect(svg).not.toContain('<script>');
		expect(svg).not.toContain('\u0007');
	});

	it('shows rows beside the count only where they differ', async () => {
		const few = 'k,v\na,61\na,82\nb,240\nb,950\nb,950\nb,980\n';
		const grouped = async (text: string) => (await analyze(text, '--group-by', 'k')).stdout;
		expect(await grouped(few)).toContain('| k | count | sum |');
		expect(await grouped(`${few}a,\n`)).toContain('| k | rows | count | sum |');
	});

	it('of a summary has a bar for each kind of row, or ranges where nothing but numbers is there', async () => {
		const { cwd } = await analyzeSales();
		expect(await readFile(join(cwd, 'sales-summary.svg'), 'utf8')).toContain('>South</text>');
		const few = await analyze('what,cost\nrent,900\ntea,3.5\nbus,2\n');
		expect(await readFile(join(few.cwd, 'data-summary.svg'), 'utf8')).toMatch(/>rent<.*>tea<.*>bus</s);
		const numbers = await analyze('a,cost\n1,4.5\n2,2.8\n3,11.9\n4,12\n5,3.2\n6,24\n');
		expect(numbers.stdout).toContain('Chart: data-summary.svg (How cost is spread).');
		const ranges = (await readFile(join(numbers.cwd, 'data-summary.svg'), 'utf8')).match(/\d+ to under \d+<\/text>/g);
		expect(new Set(ranges).size).toBeGreaterThan(3);
	});

	it('stays in the workspace', async () => {
		const { stderr, exitCode } = await analyzeSales('--chart-file', '../outside.svg');
		expect(exitCode).toBe(2);
		expect(stderr).toContain('The chart must be in the working directory');
	});
});

describe('data-analysis: large files', () => {
	it('adds up more values than it keeps for quantiles, exactly, and marks the quantiles', async () => {
		const lines = Array.from({ length: 210_000 }, (_, index) => `${'xyz'[index % 3]},${index % 100}.25`);
		const { stdout, exitCode } = await analyze(`k,v\n${lines.join('\n')}\n`, '--group-by', 'k');
		expect(exitCode).toBe(0);
		expect(row(stdout, 'x').slice(1, 3)).toEqual(['70,000', '3,482,500.00']);
		expect(row(stdout, '**All**').slice(1, 3)).toEqual(['210,000', '10,447,500.00']);
		expect(stdout).toContain('The quantiles of "v" come from a random sample of 200,000 values (≈).');
	}, 60_000);
});

const MEMBERS =
	'Name,Town,Age,Joined,Paid\nAnn Lee,Leeds,34,2019-04-12,yes\nBo Ek,York,52,2015-09-01,no\nCy Day,Leeds,27,2022-01-20,no\n';
const SPENT =
	'Date,Category,Shop,Amount\n2026-01-03,Food,Aldi,10.00\n2026-01-05,Rent,Owner,900.00\n2026-01-12,Food,Lidl,20.00\n';
const POWER = 'Date,Meter,kWh,Cost (EUR)\n2026-01-28,Gas,100,20.00\n2026-02-28,Power,300,90.00\n';

describe('data-analysis: several files', () => {
	async function analyzeBoth(...options: string[]): Promise<SkillRun> {
		const cwd = await withFile('club.csv', MEMBERS);
		await writeFile(join(cwd, 'spent.csv'), SPENT);
		return runSkill(SCRIPT, ['club.csv', 'spent.csv', ...options], { cwd });
	}

	it.each([
		['How many members are from Leeds?', '**2** of 3 members', 'club.csv'],
		['Who joined since 2020?', 'Cy Day', 'club.csv'],
		['Total amount per category', '**Rent** has the highest total Amount (900.00)', 'spent.csv'],
		['What is the total?', 'The total Amount is **930.00**', 'spent.csv'],
		['Who is the youngest?', 'The lowest Age is **27**: Cy Day.', 'club.csv'],
		['How many people are over 50?', '**1** of 3 people has Age over 50', 'club.csv'],
		[
			'How much on food?\nonly at Aldi',
			'The total Amount for Category “Food” and Shop “Aldi” is **10.00**',
			'spent.csv'
		]
	])('a question is answered from the one that has what it names: %s', async (question, answer, file) => {
		const { stdout } = await analyzeBoth('--question', question);
		expect(stdout).toContain(answer);
		expect(stdout).toContain(`**${file}**: `);
	});

	const SALES = 'date,item,qty,unit_price,seller\n';
	const [FEB, MAR] = [
		'2025-02-01,Bread,10,4,Amy\n2025-02-03,Cake,1,20,Dan\n',
		'2025-03-02,Bread,8,4,Amy\n2025-03-09,Bun,30,2,Kit\n'
	];
	const STAFF =
		'name,start_date,hourly_pay,target\nAmy,2021-05-10,13.20,400\nKit,2025-03-05,11.80,100\nLeo,2024-11-01,11.90,150\n';

	async function analyzeSales(question: string, header = SALES, rows = (text: string) => text): Promise<string> {
		const cwd = await withFile('sales-feb.csv', header + rows(FEB));
		await writeFile(join(cwd, 'sales-mar.csv'), header + rows(MAR));
		await writeFile(join(cwd, 'staff.csv'), STAFF);
		const { stdout } = await runSkill(SCRIPT, ['sales-feb.csv', 'sales-mar.csv', 'staff.csv', '--question', question], {
			cwd
		});
		return stdout;
	}

	it.each([
		['Total revenue', 'The Total is **152**.'],
		['What was the total revenue in February?', 'The Total in February is **60** (2 of 4 sales).'],
		['Who sold the most in March?', '**Kit** has the highest Total in March (60), **Amy** the lowest (32).'],
		['Total revenue per seller over both months', '**Amy** has the highest Total (72)'],
		[
			'Did we sell more bread in February or in March?',
			'is **8** higher for **February 2025** (40) than for **March 2025** (32)'
		],
		[
			'Compare sales-feb.csv with sales-mar.csv',
			'**sales-mar.csv** has the highest Total (92), **sales-feb.csv** the lowest (60).'
		]
	])('files with the same columns are one table, and the answer says so: %s', async (question, answer) => {
		const stdout = await analyzeSales(question);
		expect(stdout).toContain(answer);
		expect(stdout).toContain('From **sales-feb.csv and sales-mar.csv**: ');
	});

	it('where no column has dates the month is a word of the name of a file', async () => {
		const undated = (question: string) =>
			analyzeSales(question, SALES.slice(5), (text) => text.replace(/^\S{10},/gm, ''));
		expect(await undated('Total revenue in February?')).toMatch(
			/The Total is \*\*60\*\*\.[^]*\*\*sales-feb\.csv\*\*: 2 rows/
		);
		const both = await undated('Did we sell more bread in February or in March?');
		expect(both).toContain('**sales-feb.csv** has the highest Total for item “Bread” (40)');
	});

	it.each([
		['Did Leo sell anything?', 'No: no row has “Leo” in seller (of sales-feb.csv and sales-mar.csv).'],
		['Who was there?', "can't answer that: I find nothing for “Who was there” in them."],
		['Has Kit paid?', "staff.csv can't answer that: I find nothing for “paid” in it."],
		['Who earns the most per hour?', 'The highest hourly_pay is **13.20**: Amy.'],
		['When did Kit start?', 'The start_date of Kit is **2025-03-05**.'],
		['Does everyone on the staff list appear in the sales?', 'One question can look at one file at a time']
	])(
		'a name that is only mentioned is no answer, and a file with the column is asked first: %s',
		async (question, answer) => {
			expect(await analyzeSales(question)).toContain(answer);
		}
	);

	it.each([
		['What are these two files about?', '- **club.csv**: 3 rows; '],
		['Sum up all files', '- **club.csv**: 3 rows; '],
		['Describe club.csv and spent.csv', '- **club.csv**: 3 rows; '],
		['Which file has more rows?', '**club.csv** and **spent.csv** have the most rows (3).\n\n- **club.csv**: ']
	])('a line tells of each, where the files are asked about: %s', async (question, answer) => {
		const { stdout } = await analyzeBoth('--question', question);
		expect(stdout).toContain(answer);
		expect(stdout).toMatch(/\n- \*\*spent\.csv\*\*: 3 rows; 4 columns \(.*\); Date from 2026-01-03 to 2026-01-12\.\n/);
		expect(stdout).toContain('You can ask for:\n\n- summary of club.csv\n- summary of spent.csv');
	});

	it.each(['Did any club member buy food?', 'What did people from Leeds spend at Aldi?', 'total of all files'])(
		'says that one question looks at one file, and offers a question for each: %s',
		async (question) => {
			const { stdout } = await analyzeBoth('--question', question);
			expect(stdout).toContain('One question can look at one file at a time, and this is of club.csv and spent.csv.');
			expect(stdout).toMatch(/You can ask for:\n\n- .* in club\.csv\?\n- .* in spent\.csv\?\n$/);
		}
	);

	it('the best is of what adds up or is a mark, not of ages; what is still to be isn’t when somebody joined', async () => {
		expect((await analyzeBoth('--question', 'Which day was our best day?')).stdout).toContain('**spent.csv**: ');
		const best = await analyze(MEMBERS, '--question', 'Which day was our best day?');
		expect(best.stdout).toContain("can't answer that: I find nothing for “best”");
		const most = await analyze(MEMBERS, '--question', 'Who paid most?');
		expect(most.stdout).toContain("can't answer that: I find nothing for “most”");
		const start = await analyze(MEMBERS, '--question', 'When does Cy start?');
		expect(start.stdout).toContain("can't answer that: I find nothing for “start”");
	});

	it('offers the question once for each where they fit alike', async () => {
		const { stdout } = await analyzeBoth('--question', 'How many rows?');
		expect(stdout).toContain('You can ask for:\n\n- How many rows in club.csv?\n- How many rows in spent.csv?');
	});

	it('options are for those that have the columns, and without any each is told', async () => {
		const grouped = await analyzeBoth('--group-by', 'Town');
		expect(grouped).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('**Leeds** has the highest') });
		expect(grouped.stdout).not.toContain('Rent');
		const { stdout } = await analyzeBoth();
		expect(stdout).toMatch(/\*\*club\.csv\*\*: 3 rows[^]*\*\*spent\.csv\*\*: 3 rows/);
	});

	it('refuses one chart file for several', async () => {
		const { stderr, exitCode } = await analyzeBoth('--chart-file', 'x.svg');
		expect({ stderr, exitCode }).toEqual({ stderr: '--chart-file is for one file.\n', exitCode: 2 });
	});
});

describe('data-analysis: what it has no figure for', () => {
	it.each([
		[POWER, 'What does one kWh cost?', 'I find nothing for “the price of one kwh”'],
		[POWER, 'cost per kWh', 'I find nothing for “per kWh”'],
		[SPENT, 'What does one trip cost?', 'I find nothing for “the price of one trip”'],
		[SPENT, 'What will we spend in April?', 'it has what was, and nothing of what will be.']
	])('refuses rather than tell a total: %#', async (text, question, reason) => {
		const { stdout } = await analyze(text, '--question', question);
		expect(stdout).toContain(`data.csv can't answer that: ${reason}`);
		expect(stdout).not.toContain('The total');
		if (reason.includes('what will be')) expect(stdout).toContain('You can ask for:\n\n- total Amount per month\n');
	});

	it('of an average per day it counts the days without a row, and says so', async () => {
		const { stdout } = await analyze(SPENT, '--question', 'How much do we spend per day on average?');
		expect(stdout).toContain(
			'The average Amount per day is **93.00** over all 10 days from 2026-01-03 to 2026-01-12; of the 3 days that have a row it is **310.00**.'
		);
	});
});

const CLUB =
	'Name,Town,Hours this year,Has car\nAnn Lee,Lund,40,yes\nBo Falk,Lund,10,no\nCy Ode,Ystad,20,yes\nDi Roe,Ystad,5,no\n';
const SHOP =
	'Date,Item,Quantity,Unit price,Paid by\n2024-03-01,Oat scones,14,2.35,card\n2024-03-02,Honey jar,3,7.90,cash\n2024-04-02,Oat scones,5,2.40,cash\n';
const TRIP =
	'date,what,category,paid_by,amount_eur\n2026-05-01,Train,Transport,Ada,19.50\n2026-05-01,Dinner,Food,Bo,46.20\n2026-05-02,Museum,Fun,Bo,12.00\n';
const KONTO = 'Datum;Wer;Betrag\n01.09.2026;REWE;-43,17 €\n03.09.2026;Miete;-890,00 €\n05.09.2026;Gehalt;2.450,00 €\n';
const PLOTS =
	'Name,Plot,Size m2,Fee,Paid,Joined,Children\nJun Sato,A1,120,40.00,yes,2018-04-12,2\nBo Falk,A2,110,30.00,no,2021-09-30,0\nCy Ode,B1,85,50.00,yes,2020-01-05,\n';
const STOCK =
	'SKU,Product,In stock,Supplier,Cost,Last delivery\nB7,Pens blue,12,Stiftco,0.45,2026-09-12\nC3,Stapler,5,Stiftco,6.90,2026-08-30\nD9,Folders,0,Nordpapier,1.10,2026-07-19\n';
const REFUND =
	'Date,Customer,Amount,Paid by\n2026-04-01,Okoro,60,card\n2026-04-02,Novak,20,cash\n2026-04-03,Dubois,15,card\n2026-04-04,Diaz,15,card\n2026-04-05,Haddad,-30,card\n';
const BORN =
	'Name,Born,Helmet,Member since\nOwen,1958,yes,2012-05-01\nInes,1985,no,2021-03-01\nTom,2001,yes,2023-07-01\n';
const TASKS = 'Task,Owner,Done,Hours\nOrder paint,Ann,yes,2\nBook hall,Bo,yes,1.5\nPrint flyers,Ann,no,3\n';
const BOOKS =
	'Title,Author,Genre,Pages,Stars,Finished\nDune,Frank Herbert,Fiction,612,5,2026-01-12\nEmma,Jane Austen,Classic,474,,\nPersuasion,Jane Austen,Classic,249,4,2025-11-02\n';
const RUNS = 'Date,Distance (km),Minutes,Pace (min/km)\n2026-07-02,10.1,62,6.14\n2026-07-05,5.2,31,5.96\n';
const POTS = 'Name,Room,Price\nFicus,Hall,£24.99\nBasil,Kitchen,£2.50\n';
const LOG =
	'day,station,temp_c,rain_mm\n2026-07-01,Hill,18,12.4\n2026-07-01,Bay,19,0\n2026-07-02,Hill,28.5,0\n2026-07-02,Bay,20,1.2\n';
const RENT =
	'Date,Payee,Amount\n2025-01-04,Rent Weber,-980.00\n2025-01-05,Pay,2840.00\n2025-02-04,Rent Weber,-1010.00\n';

describe('data-analysis: rows that have something', () => {
	it.each([
		[CLUB, 'What percentage has no car?', '**50 %** of rows have Has car “no” (2 of 4).'],
		[CLUB, 'What percentage of hours is from Lund?', '**66.7 %** of the total Hours this year is for Town “Lund”'],
		[CLUB, 'Do they all have a car?', 'No: **2** of 4 rows have Has car “yes”'],
		[
			CLUB,
			'Total hours by town\nWhat about only those with a car?',
			'**Lund** has the highest Hours this year for Has car “yes” (40)'
		],
		[SHOP, 'How many scones were sold in March?', 'The total Quantity for Item “Oat scones” in March is **14**'],
		[SHOP, 'How many jars of honey were sold?', 'The total Quantity for Item “Honey jar” is **3**'],
		[SHOP, 'How much did we take in total?', 'The Total is **68.60**.'],
		[SHOP, 'What did we earn in March?', 'The Total in March is **56.60** (2 of 3 rows).'],
		[SHOP, 'Which product made the most?', '**Oat scones** has the highest Total (44.90)'],
		[SHOP, 'how many units per product', '**Oat scones** has the highest total Quantity (19)'],
		[SHOP, 'most popular item', '**Oat scones** has the highest total Quantity (19)'],
		[SHOP, 'What does a honey jar cost?', 'The Unit price for Item “Honey jar” is **7.90**'],
		[SHOP, 'What share was paid by cash?', 'Of the Total it is **52 %** (35.70 of 68.60).'],
		['Item;Pieces;Price\nMug;3;€ 2,50\nCup;2;€ 1,25\n', 'total revenue', 'The Total is **€10.00**.'],
		[LOG, 'how many days did it rain at the hill?', '**1** day has rain_mm over 0'],
		[LOG, 'did it rain on 2 July?', 'Yes: **1** of 4 rows has rain_mm over 0 and day on 2 July'],
		[LOG, 'how many rows without rain', '**2** of 4 rows have rain_mm 0'],
		[LOG, 'how cold did it get', 'The lowest temp_c is **18**'],
		[SHOP, 'busiest month', '**March 2024** has the highest number of entries (2)'],
		[SHOP, 'average units per sale', 'The average Quantity is **7.33**'],
		[SHOP, 'revenue per unit', 'I find nothing for “per unit”'],
		[SHOP, 'compare card and cash by month', '**2024-03 · card** has the highest'],
		['Item,Quantity,Total\nMug,3,9\nCup,2,4\n', 'total quantity', 'The total Quantity is **5**.'],
		[RENT, 'what percent of my spending is rent', '**100 %** of the total spending is'],
		[RENT, 'How much did I spend?\nand on food?\nin January', 'The total spending in January is **980.00**'],
		[TRIP, 'How much was spent by each person?', '**Bo** has the highest total amount_eur (58.20)'],
		[TRIP, 'total for food in euros', 'The total amount_eur for category “Food” is **46.20**'],
		[BOOKS, 'unfinished books', '**1** of 3 books has no Finished: Emma.'],
		[BOOKS, 'my favourite book', 'The highest Stars is **5**: Dune.'],
		[BOOKS, 'average rating by genre', '**Fiction** has the highest average Stars (5)'],
		[BOOKS, 'how many classic books have 4 stars', '**1** of 3 books has Genre “Classic” and Stars 4'],
		[BOOKS, 'which author have I read most', '**Jane Austen** has the highest number of rows (2)'],
		[BOOKS, 'how many pages per book', 'The average Pages is **445**.'],
		[RUNS, 'how long did I run', 'The total Minutes is **93**.'],
		[RUNS, 'how many km in July', 'The total Distance (km) in July is **15.3**'],
		[POTS, 'how much did they cost', 'The total Price is **£27.49**.'],
		[KONTO, 'How much did I spend in September', 'in September is **933.17 €**'],
		[TASKS, 'what is still to do?', '**1** of 3 rows has Done “no”: Print flyers.'],
		[TASKS, 'which tasks are done', '**2** of 3 rows have Done “yes”: Order paint and Book hall.'],
		[TASKS, 'who has the most work', '**Ann** has the highest total Hours (5), **Bo** the lowest (1.5).'],
		[PLOTS, 'Has Jun Sato paid?', 'Yes: Paid is “yes” for **Jun Sato**.'],
		[PLOTS, 'How many have no children?', '**1** of 3 rows has Children 0'],
		[PLOTS, 'What is the average plot size?', 'The average Size m2 is **105**.'],
		[PLOTS, 'Who has the biggest plot?', 'The highest Size m2 is **120**: Jun Sato.'],
		[PLOTS, 'biggest fee', 'The highest Fee is **50.00**: Cy Ode.'],
		[PLOTS, 'Who has a plot over 100 m2?', '**2** of 3 rows have Size m2 over 100: Jun Sato and Bo Falk.'],
		[PLOTS, 'chart of paid and unpaid', '**yes** has the highest total Fee (90.00)'],
		[PLOTS, 'sort by joining date', 'Here are all **3** rows, by Joined, lowest first.'],
		[SHOP, 'rows with more than 10 sold', '**1** of 3 rows has Quantity over 10'],
		[SHOP, 'Which product did we sell the least of?', '**Honey jar** has the lowest total Quantity (3)'],
		[SHOP, 'Which weekday is the best?', '**Friday** has the highest Total (32.90), **Tuesday** the lowest (12.00).'],
		[PLOTS, 'How much money is still owed?', 'The total Fee for Paid “no” is **30.00**'],
		[SHOP, 'how does March compare to April', 'for **March 2024**'],
		[SHOP, 'rows over 20 euros', '**2** of 3 rows have Total over 20'],
		[STOCK, 'What is out of stock?', '**1** of 3 rows has In stock 0: Folders.'],
		[STOCK, 'how many pens do we have?', 'The total In stock for Product “Pens blue” is **12**'],
		[STOCK, 'when was the last delivery?', 'The latest Last delivery is **2026-09-12**'],
		[STOCK, 'which supplier has the most products', '**Stiftco** has the highest number of rows (2)'],
		[STOCK, 'which supplier is used most', '**Stiftco** has the highest number of rows (2)'],
		[REFUND, 'How much was paid in cash?', 'The total Amount for Paid by “cash” is **20**'],
		[REFUND, 'Which customer spent the most?', '**Okoro** has the highest Amount (60)'],
		[REFUND, 'Did Okoro ever pay cash?', 'No: Paid by is “card” for **Okoro**.'],
		[BORN, 'Who was born after 1990?', '**1** of 3 rows has Born after 1990: Tom.'],
		[BORN, 'Who is the oldest?', 'The lowest Born is **1958**: Owen.'],
		[BORN, 'Who joined before 2020?', '**1** of 3 rows has Member since before 2020: Owen.'],
		[BORN, 'Who doesn’t wear a helmet?', '**1** of 3 rows has Helmet “no”: Ines.'],
		[
			'Date,Amount,Balance EUR\n2026-09-01,5,105\n2026-09-02,-10,95\n',
			'What is my balance?',
			'The Balance EUR on 2026-09-02 is **95**.'
		],
		[LOG, 'hottest day', 'The highest temp_c is **28.5**: 2026-07-02.'],
		[LOG, 'which station is warmer?', '**Hill** has the highest average temp_c (23.25)'],
		[LOG, 'how hot was it on 2 July', 'The average temp_c on 2 July is **24.25**'],
		[LOG, 'wettest day', 'The highest rain_mm is **12.4**: 2026-07-01.'],
		[LOG, 'how many readings are there', 'There are **4** readings.'],
		[RENT, 'How much is left over?', 'The total Amount is **850.00**.'],
		[RENT, 'How much did I save?', 'The total Amount is **850.00**.'],
		[RENT, 'total for Rent Weber', 'The total spending for Payee “Rent Weber” is **1,990.00**'],
		[RENT, 'highest for Rent Weber', 'The highest payment for Payee “Rent Weber” is **1,010.00**'],
		[RENT, 'How much did I spend?\nWhich was the smallest?', 'The lowest payment is **980.00**'],
		[RENT, 'When was the rent?', '**2** of 3 rows have Payee “Rent Weber”: 2025-01-04 and 2025-02-04.']
	])('counts and filters them: %#', async (text, question, expected) => {
		expect((await analyze(text, '--question', question)).stdout).toContain(expected);
	});

	it.each([
		[SHOP, 'On which days did we sell no honey?', '“no honey”'],
		[SHOP, 'Total quantity by item without honey', null],
		[RENT, 'How much did my rent go up?', '“go up”'],
		[PLOTS, 'who joined in the last 5 years', '“last 5 years”'],
		[TASKS, 'is the paint ordered?', '“ordered”'],
		[TRIP, 'how long was the trip', '“long”'],
		[TRIP, 'how much for each child', '“child”'],
		[POTS, 'my favourite one', '“favourite”']
	])('refuses what it can’t tell: %#', async (text, question, unknown) => {
		const { stdout } = await analyze(text, '--question', question);
		if (unknown === null) expect(stdout).toContain('for Item not “Honey jar”');
		else expect(stdout).toContain(`data.csv can't answer that: I find nothing for ${unknown}`);
	});

	it.each([
		[SHOP, 'How much honey jar did we sell?', '(1 of 3 rows). The total Quantity is **3**.'],
		[SHOP, 'total unit price', "can't answer that: prices of one are not added up. Ask for their average."],
		[SHOP, 'quantity per item', 'Chart: data-quantity-by-item.svg'],
		[SHOP, 'total per item', 'Chart: data-by-item.svg'],
		[CLUB, 'How many live in London?', '**None**: no row has “London” in Town. It has Lund and Ystad.'],
		[CLUB, 'Where does Bo live?', 'The Town of Bo Falk is **Lund**.'],
		[CLUB, 'Does Bo have a car?', 'No: Has car is “no” for **Bo Falk**.'],
		[TRIP, 'show Bo', '**2** of 3 rows have paid_by “Bo”: Dinner and Museum.'],
		[SHOP, 'Which customers bought oat scones?', '**2** of 3 rows have Item “Oat scones”'],
		[SHOP, 'How many customers bought oat scones?', '**2** of 3 rows have Item “Oat scones”'],
		[SHOP, 'sales between 2 and 10 March', '**1** of 3 rows has Date from 2 March to 10 March'],
		[SHOP, 'sales from 2nd to 10th March 2024', '**1** of 3 rows has Date from 2 March 2024 to 10 March 2024'],
		[SHOP, 'total for the first week of March', 'The Total from 1 March to 7 March is **56.60** (2 of 3 rows).']
	])('answers as a person would: %#', async (text, question, expected) => {
		const { stdout } = await analyze(text, '--question', question);
		expect(stdout).toContain(expected);
	});

	it('takes all cells that have a word, and says which; of people it asks for one', async () => {
		const { stdout } = await analyze(`${SHOP}2024-04-03,Cheese scones,2,3.10,cash\n`, '--question', 'How many scones?');
		expect(stdout).toContain('**3** of 4 rows have Item “Oat scones” or “Cheese scones”');
		const people = await analyze('Name,Age\nAnn Lee,30\nAnn Falk,40\nBo Ode,50\n', '--question', 'How old is Ann?');
		expect(people.stdout).toContain("data.csv can't answer that: “Ann” can be Ann Lee or Ann Falk. Say which.");
	});
});

const SALES_BY_REGION = 'region,units,revenue\nNorth,5,10.50\nSouth,4,90.00\nWest,6,40.00\n';

describe('data-analysis: a bank account and a list of volunteers', () => {
	const BANK = [
		'Date,Payee,Category,Amount,Balance',
		'2026-01-02,Opening salary Harbor Ltd,Income,2450.00,3112.45',
		'2026-01-03,Rent January,Housing,-890.00,2222.45',
		'2026-01-28,Cafe Luna,Eating out,-12.40,2210.05',
		'2026-02-01,Salary Harbor Ltd,Income,2450.00,4660.05',
		'2026-02-02,Rent February,Housing,-890.00,3770.05',
		'2026-02-19,Refund shoes,Shopping,59.99,3830.04',
		'2026-02-19,Bookshop,Shopping,-27.49,3802.55',
		'2026-03-02,Rent March,Housing,-905.00,2897.55',
		''
	].join('\n');
	const HELPERS = [
		'Name,Town,Age,Hours per month,Driving licence,First aid,Joined',
		'Amira Costa,Leeds,34,12,yes,no,2023-05-14',
		'Ben Okafor,York,52,8,yes,yes,2019-09-02',
		'Chloe Martin,Leeds,27,20,no,yes,2024-01-20',
		'Elsa Nyberg,York,63,15,no,no,2018-03-30',
		''
	].join('\n');

	it.each([
		[BANK, 'What was my highest balance?', 'The highest Balance is **4,660.05**: 2026-02-01.'],
		[BANK, 'When was my balance highest?', 'The highest Balance is **4,660.05**: 2026-02-01.'],
		[BANK, 'What was my minimum balance?', 'The lowest Balance is **2,210.05**: 2026-01-28.'],
		[BANK, 'What’s my current balance?', 'The Balance on 2026-03-02 is **2,897.55**.'],
		[BANK, 'What is my balance at the end?', 'The Balance on 2026-03-02 is **2,897.55**.'],
		[BANK, 'What was my balance at the end of February?', 'The Balance on 2026-02-19 is **3,802.55**.'],
		[BANK, 'How much did I pay for rent?', /“Rent January” or “Rent February” or “Rent March” is \*\*2,685\.00\*\*/],
		[BANK, 'How much was the February rent?', '“Rent February”'],
		[BANK, 'How much did I get from Harbor?', 'is **4,900.00** (2 of 8 rows)'],
		[
			BANK,
			'How much money came in and how much went out?',
			/The total income is \*\*4,959\.99\*\*[^]*The total spending is \*\*2,724\.89\*\*/
		],
		[
			BANK,
			'How much did I spend in January and how much in March?',
			/spending in January is \*\*902\.40\*\*[^]*spending in March is \*\*905\.00\*\*/
		],
		[
			BANK,
			'Total income and total spending',
			/The total income is \*\*4,959\.99\*\* \(3 of 8 rows\)\. With Category “Income” it is \*\*4,900\.00\*\*\.[^]*total spending is/
		],
		[
			BANK,
			'Which category has the most income?',
			'**Income** has the highest total income (4,900.00), **Shopping** the'
		],
		[BANK, 'income over 2000', 'The total income for Amount over 2000 is **4,900.00** (2 of 8 rows).'],
		[
			BANK,
			'How much did I spend on shopping?\nand on rent?',
			'for Payee “Rent January” or “Rent February” or “Rent March” is'
		],
		[
			BANK,
			'How much did I spend on shopping?\nWhat share is that?',
			'**1 %** of the total spending is for Category “Shopping”'
		],
		[BANK, 'Which was the biggest payment?\nWhen was it?', 'The highest payment is **905.00**: 2026-03-02.'],
		[HELPERS, 'Who is the oldest?\nWhat is the total?', 'The total Hours per month is **55**.'],
		[HELPERS, 'Who is the oldest?\nand the average?', 'The average Age is **44**.'],
		[BANK, 'income and spending', 'it tells one thing at a time, and not income and spending at once. Ask for one.'],
		[BANK, 'Chart amount and balance per month', 'not amount and balance at once. Ask for one.'],
		[
			BANK.replaceAll(',Balance', ',Code').replace(/,\d+\.\d+$/gm, ',x'),
			'How much is left after January?',
			'for “left” in it'
		],
		[
			BANK,
			'What about unicorns?',
			/\n- spending per Category\n- spending per month\n- income per month\n- the biggest payment\n/
		],
		[HELPERS, 'Which town gives the most hours?', '**Leeds** has the highest total Hours per month (32), **York** the'],
		[HELPERS, 'Which town has the most hours, and how many?', '**Leeds** has the highest total Hours per month (32)'],
		[
			HELPERS,
			'Who is the oldest and who is the youngest?',
			/is \*\*63\*\*: Elsa Nyberg[^]*is \*\*27\*\*: Chloe Martin/
		],
		[BANK, 'cheapest and most expensive payment', 'not both ends at once. Ask for one.'],
		[HELPERS, 'average age and hours', 'not age and hours at once'],
		[BANK, 'How much is left after January?', 'The Balance on 2026-01-28 is **2,210.05**.'],
		[HELPERS, 'Who joined first?', 'The earliest Joined is **2018-03-30**: Elsa Nyberg.'],
		[HELPERS, 'Chart hours by town, lowest first', '**York** has the lowest total Hours per month (23), **Leeds** the'],
		[HELPERS, 'Who are the two youngest?', 'The 2 rows with the lowest Age are Chloe Martin and Amira Costa.'],
		[
			HELPERS,
			'Which two towns have the most hours?',
			'The 2 with the highest total Hours per month are **Leeds** (32)'
		],
		[
			HELPERS,
			'How many have a licence and no first aid?\nWhat percentage is that?',
			/^\*\*25 %\*\* of [^\n]*\(1 of 4\)\.$/m
		],
		[HELPERS, 'How many are in York?\nWhat share is that?\nWho there has a licence?', '“yes”: Ben Okafor.'],
		[HELPERS, 'Who in York can drive?\nHow many of them are under 60?', 'I find nothing for “drive”']
	])('answers what a stranger asked: %#', async (text, question, expected) => {
		const { stdout } = await analyze(text, '--question', question);
		expect(stdout).toMatch(expected);
	});

	it.each([
		['Which file mentions York?', /^- \*\*helpers\.csv\*\* has “York” in Town \(2 rows\)\.$/m],
		['Which of my files has Bookshop?', '- **bank.csv** has “Bookshop” in Payee (1 row).'],
		['Which file has a column called Balance?', '- **bank.csv** has a column Balance.'],
		['Which file has Tom?', "bank.csv and helpers.csv can't answer that: I find nothing for “Tom” in them."],
		[
			'When is the plant sale?',
			"bank.csv and helpers.csv can't answer that: I find nothing for “plant”, “sale” in them."
		],
		['Who lives in York and can drive?', "helpers.csv can't answer that: I find nothing for “drive” in it."],
		['How many members are there?', 'There are **4** members.'],
		['What is the total?\nIn bank.csv\nand in helpers.csv?', 'The total Hours per month is **55**.'],
		['Is Ben Okafor first aid trained?', 'Yes: First aid is “yes” for **Ben Okafor**.']
	])('of two files the one is asked that can answer: %s', async (question, expected) => {
		const cwd = await withFile('bank.csv', BANK);
		await writeFile(join(cwd, 'helpers.csv'), HELPERS);
		const { stdout } = await runSkill(SCRIPT, ['bank.csv', 'helpers.csv', '--question', question], { cwd });
		expect(stdout).toMatch(expected);
	});

	it('keeps the order and the number of groups that was asked for, in the table and in the chart', async () => {
		const groups = async (question: string) => {
			const { stdout, cwd } = await analyze(SALES_BY_REGION, '--question', question);
			const [, chart = ''] = /Chart: (\S+\.svg)/.exec(stdout) ?? [];
			const names = (text: string) => [...new Set(text.match(/(?<=\| |>)(South|North|West)(?= \||<)/g))];
			const drawn = names(await readFile(join(cwd, chart), 'utf8'));
			expect(drawn).toEqual(names(stdout));
			return drawn;
		};
		expect(await groups('Chart revenue by region')).toEqual(['South', 'West', 'North']);
		expect(await groups('Chart revenue by region, lowest first')).toEqual(['North', 'West', 'South']);
		expect(await groups('Chart revenue by region, sorted by name')).toEqual(['North', 'South', 'West']);
		expect(await groups('Chart revenue by region, top 2 regions only')).toEqual(['South', 'West']);
		expect(await groups('Chart revenue by region\nonly the top 2')).toEqual(['South', 'West']);
		expect(await groups('Chart revenue by region, units instead of revenue')).toEqual(['West', 'North', 'South']);
	});
});
