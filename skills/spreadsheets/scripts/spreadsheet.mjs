#!/usr/bin/env node
/** Reads and writes workbooks (.xlsx) and CSV files; sums by group, with a chart in the workbook and as SVG. */

import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { barChart } from '../lib/bar-chart.mjs';
import { DataError, UsageError } from '../lib/errors.mjs';
import { columnLetters, openTables, sheetOf } from '../lib/read.mjs';
import { addChartSheet, createWorkbook } from '../lib/write.mjs';

const USAGE = `Usage: spreadsheet.mjs info FILE                  sheets, columns, formulas, merged cells
       spreadsheet.mjs show FILE [--rows NUMBER] [--formulas]
       spreadsheet.mjs to-csv FILE                a CSV file of one sheet
       spreadsheet.mjs to-xlsx FILE               a workbook of a CSV file
       spreadsheet.mjs summary FILE --group-by COLUMN [--value COLUMN]
                       [--measure {sum,mean,count,min,max}] [--period {day,month,quarter,year}]

--sheet NAME takes another sheet than the first, --output FILE names the new file.
Without --measure, it adds up. --period is that of a date.
What was there stays as it is: a summary is a new sheet in a copy of the workbook.`;

const MEASURES = ['sum', 'mean', 'count', 'min', 'max'];
const PERIODS = ['day', 'month', 'quarter', 'year'];
const LIKELY = ['revenue', 'sales', 'amount', 'total', 'turnover', 'income', 'value', 'price', 'cost'];
const [MOST_SHOWN, MOST_GROUPS, MOST_BARS] = [60, 10_000, 20];
const COMMANDS = { info, show, 'to-csv': toCsv, 'to-xlsx': toXlsx, summary };

function main(args) {
	const word = { type: 'string' };
	const options = { sheet: word, rows: word, output: word, 'group-by': word, value: word, measure: word, period: word };
	let read;
	try {
		read = parseArgs({ args, allowPositionals: true, options: { ...options, formulas: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
	} catch (error) {
		throw new UsageError(`${error.message}\n\n${USAGE}`);
	}
	if (read.values.help) return console.log(USAGE);
	const [command, file, ...rest] = read.positionals;
	if (!Object.hasOwn(COMMANDS, command ?? '') || file === undefined || rest.length > 0) throw new UsageError(USAGE);
	COMMANDS[command](openTables(file), read.values);
}

function info({ file, sheets }) {
	console.log(`**${basename(file)}**: ${countOf(sheets.length, 'sheet')}.\n`);
	for (const sheet of sheets) {
		const { rows, merged, formulas, start } = { ...sheet, start: headerOf(sheet) };
		const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
		console.log(`## ${oneLine(sheet.name)}\n\n- Size: ${sizeOf(sheet)}, ${countOf(width, 'column')}`);
		if (rows.length > 0) console.log(`- Columns: ${rows[start].map((cell) => oneLine(cell ?? '–')).join(', ')}`);
		if (formulas.length > 0) console.log(`- Formulas: ${formulas.length}, such as ${formulas.slice(0, 3).map(formulaText).join(', ')}`);
		if (merged.length > 0) console.log(`- Merged cells: ${merged.slice(0, 10).map(({ ref }) => ref).join(', ')}${merged.length > 10 ? ', …' : ''}`);
		for (const note of notesOn(sheet)) console.log(`- ${note}`);
		console.log('');
	}
}

function show(tables, { sheet: wanted, rows: most = '30', formulas: showsFormulas }) {
	if (!/^[1-9]\d{0,3}$/.test(most)) throw new UsageError('--rows must be a whole number from 1 to 9999.');
	const sheet = filledSheet(tables, wanted);
	const byPlace = new Map(showsFormulas ? sheet.formulas.map((each) => [`${each.row}:${each.column}`, `=${each.text}`]) : []);
	const shown = sheet.rows.slice(0, Number(most)).map((row, at) => row.map((cell, column) => byPlace.get(`${at}:${column}`) ?? cell));
	const width = shown.reduce((wide, { length }) => Math.max(wide, length), 0);
	const letters = Array.from({ length: width }, (_, index) => columnLetters(index));
	console.log(`**${oneLine(sheet.name)}** of ${basename(tables.file)}\n`);
	console.log(table(['', ...letters], shown.map((row, index) => [index + 1, ...letters.map((_, column) => row[column])])));
	if (sheet.rows.length > shown.length) console.log(`\n${countOf(sheet.rows.length - shown.length, 'more row')}.`);
	for (const note of notesOn(sheet)) console.log(`\n${note}`);
}

function toCsv(tables, { sheet: wanted, output }) {
	const sheet = filledSheet(tables, wanted);
	const cell = (value) => {
		const text = value === null || value === undefined ? '' : String(value);
		return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	};
	const width = sheet.rows.reduce((most, { length }) => Math.max(most, length), 0);
	const lines = sheet.rows.map((row) => Array.from({ length: width }, (_, index) => cell(row[index])).join(','));
	const ending = tables.sheets.length > 1 ? `-${sheet.name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}` : '';
	const target = output ?? nameFor(tables.file, `${ending}.csv`);
	writeNew(target, `${lines.join('\r\n')}\r\n`, tables.file);
	console.log(`${sizeOf(sheet)} of the sheet ${oneLine(sheet.name)}: ${target}`);
	for (const note of notesOn(sheet)) console.log(`\n${note}`);
}

function toXlsx(tables, { output }) {
	if (tables.zip) throw new UsageError(`${tables.file} is a workbook already.`);
	const sheet = filledSheet(tables);
	const { name, rows } = sheet;
	const target = output ?? nameFor(tables.file, '.xlsx');
	writeNew(target, createWorkbook(name, rows).toBuffer(), tables.file);
	console.log(`${sizeOf(sheet)}: ${target}`);
}

function summary(tables, { sheet: wanted, output, measure: givenMeasure = 'sum', ...options }) {
	const measure = choice('--measure', { total: 'sum', average: 'mean' }[givenMeasure] ?? givenMeasure, MEASURES);
	const sheet = filledSheet(tables, wanted);
	const start = headerOf(sheet);
	const header = sheet.rows[start].map((cell, index) => oneLine(cell ?? columnLetters(index)));
	const data = sheet.rows.slice(start + 1).filter((row) => row.some((cell) => cell !== null));
	if (data.length === 0) throw new DataError(`The sheet ${sheet.name} has a header, but no rows below it.`);
	const isDates = (column) => data.slice(0, 20).some((row) => /^\d{4}-\d\d-\d\d/.test(row[column] ?? ''));
	const dates = header.flatMap((_, column) => (isDates(column) ? [column] : []));
	// `--group-by month` means a column of that name, else the months of the only column of dates.
	const said = options['group-by']?.toLowerCase();
	const isPeriod = PERIODS.includes(said) && !header.some((name) => same(name, said));
	const given = options.period ?? (isPeriod && dates.length === 1 ? said : undefined);
	const period = given && choice('--period', given, PERIODS);
	if (!options['group-by'] && !(period && dates.length > 0)) throw new UsageError(`--group-by takes one of: ${header.join(', ')}.`);
	const by = options['group-by'] && !(period && isPeriod) ? columnOf(options['group-by'], header) : dates[0];
	const isNumeric = (column) => column !== by && data.some((row) => numberOf(row[column]) !== null);
	const numeric = header.flatMap((_, column) => (isNumeric(column) && !isDates(column) ? [column] : []));
	const value = options.value ? columnOf(options.value, header) : likelyValue(header, numeric);
	if (value !== undefined && !numeric.includes(value)) throw new UsageError(`The column ${header[value]} doesn't hold numbers. These do: ${numeric.map((each) => header[each]).join(', ') || 'none'}.`);
	const kind = value === undefined ? 'count' : measure;
	const groups = groupsOf(data, { by, value, period });
	const measured = groups.map((group) => ({ ...group, result: resultOf(group, kind) }));
	const isOrdered = period || isDates(by);
	measured.sort((a, b) => (isOrdered ? (a.label < b.label ? -1 : 1) : b.result - a.result));
	const [name, what] = [period ? `${header[by]} by ${period}` : header[by], kind === 'count' ? 'Rows' : `${header[value]} (${kind})`];
	const rows = [[name, what, 'Rows'], ...measured.map(({ label, result, count }) => [label, result, count])].map((row) => (kind === 'count' ? row.slice(0, 2) : row));
	const title = `${kind === 'count' ? 'Rows' : header[value]} by ${period ?? header[by]}`;
	const charted = measured.slice(0, MOST_BARS);

	const zip = tables.zip ?? createWorkbook(sheet.name, sheet.rows);
	const names = tables.sheets.map((each) => each.name);
	const target = output ?? nameFor(tables.file, '-summary.xlsx');
	const added = addChartSheet(zip, { name: `By ${period ?? header[by]}`, names, rows, charted: charted.length, title });
	writeNew(target, zip.toBuffer(), tables.file);
	const picture = target.replace(/(\.xlsx)?$/i, '.svg');
	const bars = charted.map(({ label, result }) => ({ label, number: result, text: numberText(result) }));
	const subtitle = `${what}${charted.length < measured.length ? `, the first ${MOST_BARS} of ${measured.length}` : ''} · ${countOf(data.length, 'row')} of ${sheet.name}`;
	writeNew(picture, barChart({ title, subtitle, valueAxis: what, labelAxis: name, bars }), tables.file);

	const best = measured.toSorted((a, b) => b.result - a.result);
	if (best.length > 1) console.log(`Highest: **${oneLine(best[0].label)}** (${numberText(best[0].result)}). Lowest: **${oneLine(best.at(-1).label)}** (${numberText(best.at(-1).result)}).\n`);
	console.log(table(rows[0], rows.slice(1, MOST_SHOWN + 1).map(([label, ...numbers]) => [label, ...numbers.map(numberText)])));
	if (measured.length > MOST_SHOWN) console.log(`\n${measured.length - MOST_SHOWN} more groups are in the workbook.`);
	if (kind === 'sum') console.log(`\nTotal: ${numberText(rounded(measured.reduce((sum, { result }) => sum + result, 0)))}`);
	console.log(`\nWorkbook with the new sheet **${oneLine(added)}** and a chart: ${target}\n\nChart: ${picture}`);
	for (const note of notesOn(sheet)) console.log(`\n${note}`);
}

function likelyValue(header, numeric) {
	const named = LIKELY.map((name) => numeric.find((column) => same(header[column], name)));
	return named.find((column) => column !== undefined) ?? numeric.at(-1);
}

function groupsOf(data, { by, value, period }) {
	const groups = new Map();
	for (const row of data) {
		const label = periodOf(row[by] ?? '(empty)', period);
		let group = groups.get(label);
		if (!group) {
			if (groups.size >= MOST_GROUPS) throw new DataError(`There are more than ${MOST_GROUPS.toLocaleString('en-US')} groups: choose another column.`);
			groups.set(label, (group = { label, count: 0, numbers: 0, sum: 0, min: Infinity, max: -Infinity }));
		}
		group.count += 1;
		const number = value === undefined ? null : numberOf(row[value]);
		if (number === null) continue;
		group.numbers += 1;
		group.sum += number;
		group.min = Math.min(group.min, number);
		group.max = Math.max(group.max, number);
	}
	return [...groups.values()];
}

function resultOf({ count, numbers, sum, min, max }, measure) {
	if (measure === 'count') return count;
	if (numbers === 0) return 0;
	return rounded({ sum, mean: sum / numbers, min, max }[measure]);
}

function periodOf(cell, period) {
	const text = String(cell).trim();
	const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? [];
	if (!period || !year) return text;
	if (period === 'quarter') return `${year} Q${Math.ceil(Number(month) / 3)}`;
	return [year, period !== 'year' && month, period === 'day' && day].filter(Boolean).join('-');
}

/** Numbers that are stored as text count; dates and `12 km` don't. */
function numberOf(cell) {
	if (typeof cell === 'number') return cell;
	const text = typeof cell === 'string' ? cell.trim().replace(/^[$€£]\s?/, '') : '';
	return /^-?\d{1,15}([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? Number(text.replaceAll(',', '')) : null;
}

/** A sheet in which each of some merged cells has the value that they show; it must not be empty. */
function filledSheet(tables, wanted) {
	const sheet = sheetOf(tables, wanted);
	if (!sheet || sheet.rows.length === 0) throw new DataError(`${tables.file} has no cells${sheet && tables.zip ? ` in the sheet ${sheet.name}` : ''}.`);
	const start = headerOf(sheet);
	for (const { top, bottom, left, right } of sheet.merged) {
		// A title over the table is no value of each column.
		if (top <= start || left !== right) continue;
		const value = sheet.rows[top]?.[left] ?? null;
		for (let row = top; row <= Math.min(bottom, sheet.rows.length - 1); row += 1) sheet.rows[row][left] ??= value;
	}
	return sheet;
}

/** The first of the early rows that fills most columns: titles may stand above it. */
function headerOf({ rows }) {
	const filled = (row) => row.filter((cell) => cell !== null).length;
	const most = Math.max(...rows.slice(0, 15).map(filled));
	return Math.max(0, rows.slice(0, 15).findIndex((row) => filled(row) >= Math.max(1, most * 0.8)));
}

function notesOn({ unsaved, numbersAsText }) {
	return [
		unsaved > 0 && `Note: ${countOf(unsaved, 'formula')} without a stored result. Open the file in a spreadsheet program and save it once.`,
		numbersAsText > 0 && `Note: ${countOf(numbersAsText, 'number')} stored as text; a summary counts them as numbers.`
	].filter(Boolean);
}

function columnOf(wanted, header) {
	const index = header.findIndex((name) => same(name, wanted));
	const near = index < 0 ? header.findIndex((name) => name.toLowerCase().includes(wanted.toLowerCase())) : index;
	if (near < 0) throw new UsageError(`There's no column “${oneLine(wanted)}”. The columns are: ${header.join(', ')}.`);
	return near;
}

function choice(option, given, choices) {
	const found = choices.find((each) => same(each, given));
	if (!found) throw new UsageError(`${option} is one of: ${choices.join(', ')}.`);
	return found;
}

function same(one, other) {
	return one.trim().toLowerCase() === other.trim().toLowerCase();
}

function formulaText({ row, column, text }) {
	return `\`${columnLetters(column)}${row + 1}\`${text ? ` = \`${oneLine(text).slice(0, 60)}\`` : ''}`;
}

function table(headers, rows) {
	const line = (cells) => `| ${cells.map((cell) => oneLine(cell ?? '').slice(0, 60).replace(/[\\|]/g, '\\$&')).join(' | ')} |`;
	return [line(headers), `|${headers.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** Sums of decimals end in 0.30000000000000004. */
function rounded(number) {
	return Number(number.toPrecision(12));
}

function numberText(number) {
	return number.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** As `data-analysis` counts: the rows below the header that have something in them. */
function sizeOf(sheet) {
	if (sheet.rows.length === 0) return '0 rows';
	const data = sheet.rows.slice(headerOf(sheet) + 1).filter((row) => row.some((cell) => cell !== null && cell !== ''));
	return `${countOf(data.length, 'row')} and a header`;
}

function countOf(count, noun) {
	return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function oneLine(value) {
	return String(value).replace(/\p{C}/gu, ' ').trim().replace(/\s+/g, ' ').slice(0, 200);
}

function nameFor(file, ending) {
	return `${basename(file).replace(/\.\w+$/, '')}${ending}`;
}

function writeNew(target, content, source) {
	if (resolve(target) === resolve(source)) throw new UsageError(`${target} is the file that was given. Name another one with --output.`);
	try {
		writeFileSync(target, content);
	} catch (error) {
		throw new DataError(`Can't write ${target}: ${error.code === 'ENOENT' ? 'there is no such folder' : error.message}.`);
	}
}

try {
	main(process.argv.slice(2));
} catch (error) {
	console.error(error instanceof DataError || error instanceof UsageError ? error.message : `Couldn't do this: ${error.message}`);
	process.exitCode = error instanceof UsageError ? 2 : 1;
}
