#!/usr/bin/env node
/** Analyzes a CSV file: a table by group, every column, statistics, and a bar chart as SVG. */

import { existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, parse as parsePath, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { analyze } from '../lib/analysis.mjs';
import { chartOf } from '../lib/chart.mjs';
import { compare } from '../lib/decimal.mjs';
import { DataError, UsageError } from '../lib/errors.mjs';
import { PERIODS } from '../lib/groups.mjs';
import { columnReport, extremes, groupReport, kindsOf, numberReport, questions, totals } from '../lib/report.mjs';
import { openTable } from '../lib/table.mjs';
import { monthNumber, parseDate, parseNumber, periodKey } from '../lib/values.mjs';

const USAGE = `Usage: analyze_csv.mjs FILE [--group-by COLUMN] [--value COLUMN] [--measure {sum,mean,median,count,min,max}]
                       [--period {day,month,quarter,year}] [--for CELL] [--in PERIOD]
                       [--lowest] [--rows] [--questions] [--details] [--chart] [--chart-file FILE] [--delimiter CHAR] [--encoding NAME] [--no-header]

Analyzes a CSV or TSV file: a table by group, every column, statistics, and a bar chart as SVG.

  --group-by COLUMN  one line for each value of this column; several with commas
  --value COLUMN     the number column to add up and draw
  --measure          what groups are compared by: sum, unless said
  --period           groups by that of a date column
  --for CELL         only rows in which a cell holds this text; or COLUMN=CELL
  --in PERIOD        only rows whose date is in this month or year
  --lowest           the lowest group first, or the row with the lowest number
  --rows             counts the rows, and adds nothing up
  --questions        only what can be asked about the file
  --details          with --group-by: every number by group, every column, statistics
  --chart            draws one, also where a measure is named
  --chart-file FILE  name of the SVG file, and draws it
  --delimiter CHAR   what stands between the cells
  --encoding NAME    such as utf-8 or latin-1
  --no-header        the first row is data`;

const MEASURES = ['sum', 'mean', 'median', 'count', 'min', 'max'];
const SYNONYMS = { total: 'sum', average: 'mean', avg: 'mean', minimum: 'min', maximum: 'max' };
/** Words that stand for the number itself, and say which end of it is asked for. */
const LOW = /^(lowest|least|cheapest|smallest|minimum|min|fewest)$/i;
const HIGH = /^(highest|most|dearest|most expensive|expensive|biggest|largest|maximum|max)$/i;
const ROWS = /^(rows?|entries|records|lines)$/i;
const DELIMITERS = { '\\t': '\t', tab: '\t', comma: ',', semicolon: ';' };
/** So many rows with the lowest number are named. */
const MOST_ROWS_NAMED = 3;
/** So many are read once more for a chart by group. */
const MOST_ROWS_READ_TWICE = 50_000;
const LIKELY_VALUES = ['revenue', 'sales', 'amount', 'total', 'turnover', 'income', 'value', 'price', 'cost'];

function main(args) {
	const options = readOptions(args);
	if (!options) return console.log(USAGE);
	const size = statSync(options.file, { throwIfNoEntry: false });
	if (size?.isFile()) console.log(`Reading ${options.file} (${bytesText(size.size)}) …\n`);
	const notes = [];
	const table = readWords(options, openTable(options.file, options), notes);
	const { groupBy, period } = readPeriod(options, table, notes);
	const by = groupColumns(groupBy, table, notes);
	let wanted = options.value ? columnIndex(options.value, table, notes) : null;
	const chartPath = checkedChartPath(options, table, by, period);
	const analysis = analyze(table, by, period);
	const { columns, groups, rows } = analysis;
	notes.push(...analysis.notes);
	let numbers = columns.flatMap(({ isNumber }, index) => (isNumber && !by.includes(index) ? [index] : []));
	// The cheapest item: of the rows, whatever its column holds.
	if (wanted !== null && options.isLowest && !groups && !columns[wanted].isNumber) wanted = null;
	if (wanted !== null) {
		if (!columns[wanted].isNumber && rows > 0) {
			const names = numbers.map((index) => columns[index].name).join(', ');
			const hint = names ? `These do: ${names}.` : 'No column does.';
			throw new UsageError(`The column "${columns[wanted].name}" does not hold numbers. ${hint}`);
		}
		numbers = columns[wanted].isNumber ? [wanted] : [];
	}
	const value = options.isOfRows ? null : (wanted ?? likelyValue(columns, numbers));
	if (options.questions) return console.log(questions(columns, value, table.dates, ['summary of this file']) || 'There is no column of numbers to ask about.');
	const of = table.only ? `Rows with ${table.only}: ` : '';
	if (groups && rows > 0) {
		const shown = options.isOfRows ? [] : options.details || value === null ? numbers : [value];
		const headline = extremes(analysis, value, options.measure, options.isLowest);
		if (headline) console.log(`${of}${headline}\n`);
		console.log(`${groupReport(analysis, shown, value, options.measure)}\n`);
	}
	if (!groups && value !== null && rows > 0) console.log(`${of}${totals(columns[value], options.measure)}\n`);
	if (!groups && value !== null && rows > 0 && /^(min|max)$/.test(options.measure)) console.log(`${rowsWith(table, value, columns[value].numbers[options.measure])}\n`);
	// Who asks for one figure is given that.
	const isNumberAsked = options.isMeasureAsked || (table.only !== undefined && !groups);
	const isFigure = !groups && (value !== null || options.isOfRows) && isNumberAsked && !options.details;
	// Who names a measure asked for numbers.
	const isDrawn = !isNumberAsked || options.chart || options['chart-file'] !== undefined;
	let drawn = '';
	if (rows > 0 && isDrawn) {
		const kinds = groups || value === null || rows > MOST_ROWS_READ_TWICE ? null : kindsOf(columns);
		const shown = kinds === null ? analysis : analyze(table, [kinds]);
		const { title, svg } = chartOf(shown, value, options.measure, table.only ? `${table.name}, ${table.only}` : table.name);
		writeChart(chartPath, svg);
		// What is grouped has its title above.
		drawn = ` Chart: ${chartPath}${groups ? '' : ` (${title})`}.`;
	} else if (rows === 0) notes.push("There's a header but not a single row of data, so there's no chart.");
	const facts = [countOf(rows, 'row'), countOf(columns.length, 'column')];
	// Nobody needs to be told what nearly every file has.
	if (!/^(comma|tab)$/.test(table.delimiterName)) facts.push(`divided by ${table.delimiterName}`);
	if (table.encodingName !== 'UTF-8') facts.push(table.encodingName);
	console.log(`**${table.name}**: ${facts.join(', ')}.${drawn}\n`);
	const more = rows === 0 || groups || isFigure ? '' : questions(columns, value, table.dates);
	if (more) console.log(`${more}\n`);
	// The groups stand above.
	if (options.details || (!groups && !isFigure)) {
		const statistics = numberReport(columns);
		console.log(columnReport(columns) + (statistics && `\n\n${statistics}`));
	}
	if (notes.length > 0) console.log(`\n## Notes\n\n${notes.map((note) => `- ${note}`).join('\n')}`);
}

/** null when help is asked for. */
function readOptions(args) {
	const text = { type: 'string' };
	const flag = { type: 'boolean' };
	let read;
	try {
		read = parseArgs({
			args,
			allowPositionals: true,
			options: {
				'group-by': { ...text, multiple: true, default: [] },
				value: text,
				measure: text,
				period: text,
				for: { ...text, multiple: true, default: [] },
				in: { ...text, multiple: true, default: [] },
				lowest: flag,
				cheapest: flag,
				rows: flag,
				questions: flag,
				details: flag,
				chart: flag,
				'chart-file': text,
				delimiter: text,
				encoding: text,
				'no-header': flag,
				help: { ...flag, short: 'h' }
			}
		});
	} catch (error) {
		throw new UsageError(`${error.message}\n\n${USAGE}`);
	}
	const { values, positionals } = read;
	if (values.help) return null;
	if (positionals.length !== 1) throw new UsageError(USAGE);
	const delimiter = values.delimiter && (DELIMITERS[values.delimiter] ?? values.delimiter);
	if (delimiter && (delimiter.length !== 1 || '"\r\n'.includes(delimiter)))
		throw new UsageError('--delimiter must be one character.');
	const named = values.measure?.toLowerCase() ?? 'sum';
	const isLowest = Boolean(values.lowest || values.cheapest);
	const isGrouped = values['group-by'].length > 0 || values.period !== undefined;
	const measure = isLowest && !isGrouped && values.measure === undefined ? 'min' : (SYNONYMS[named] ?? named);
	checkChoice('--measure', measure, MEASURES);
	if (measure === 'median' && isGrouped) throw new UsageError('The median is only there for all rows together, not by group.');
	if (values.period) checkChoice('--period', values.period, PERIODS);
	return {
		...values,
		file: positionals[0],
		groupBy: values['group-by'],
		measure,
		isLowest,
		isOfRows: Boolean(values.rows),
		only: [...values.for, ...values.in],
		isMeasureAsked: values.rows || values.measure !== undefined || (isLowest && !isGrouped),
		delimiter,
		header: values['no-header'] ? false : undefined
	};
}

function checkChoice(option, value, choices) {
	if (choices.includes(value)) return;
	throw new UsageError(`${option} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, not "${value}".`);
}

/**
 * `--group-by month` and `--period month` mean a column of that name, else the months of the only column of dates.
 * @returns what to group by, and the period if its cells are dates
 */
function readPeriod({ groupBy, period }, table, notes) {
	const word = groupBy[0]?.toLowerCase() ?? period;
	if (!PERIODS.includes(word) || (period && word !== period)) return { groupBy, period };
	const named = table.columns.find((name) => simplify(name) === word);
	if (named !== undefined) return { groupBy: [named], period: table.dates.includes(named) ? period : undefined };
	if (table.dates.length !== 1) {
		if (!period) return { groupBy, period };
		const which = table.dates.length > 1 ? `Name one of these: ${table.dates.join(', ')}.` : `No column of ${table.name} holds dates.`;
		throw new UsageError(`--period needs --group-by with a column of dates. ${which}`);
	}
	notes.push(`There is no column "${word}"; the dates in "${table.dates[0]}" were grouped by ${word}.`);
	return { groupBy: table.dates, period: word };
}

/** What `--value` says that is no column: a cell, a month, the rows themselves, or the highest or lowest of the number; then only those rows. */
function readWords(options, table, notes) {
	const { value } = options;
	const isColumn = value === undefined || nearColumns(value, table).length > 0;
	if (!isColumn && (ROWS.test(value) || simplify(value) === simplify(parsePath(table.name).name))) {
		Object.assign(options, { value: undefined, isOfRows: true, isMeasureAsked: true });
	} else if (!isColumn && (LOW.test(value) || HIGH.test(value))) {
		Object.assign(options, { value: undefined, isLowest: LOW.test(value) });
	} else if (!isColumn && (periodIn(value) || columnsWith(value, table).size > 0)) {
		Object.assign(options, { value: undefined, only: [value, ...options.only] });
	}
	return options.only.reduce((rows, wanted) => onlyRows(rows, wanted, notes), table);
}

/** The rows with this cell in the one column that has such, else of this month or year; `COLUMN=CELL` names the column. */
function onlyRows(table, wanted, notes) {
	const [, named, rest] = /^([^=]+)=(.*)$/.exec(wanted) ?? [];
	const column = named === undefined ? null : columnIndex(named, table, notes);
	const cell = rest ?? wanted;
	const found = columnsWith(cell, table);
	const [at, ...others] = column === null ? found : [column];
	const names = [at, ...others].map((index) => table.columns[index]);
	if (others.length > 0)
		throw new UsageError(`"${wanted}" is in several columns: ${names.join(', ')}. Say which, such as --for "${names[0]}=${wanted}".`);
	const period = found.has(at) ? null : periodIn(cell);
	const dates = column === null ? table.dates : table.dates.filter((name) => name === names[0]);
	if (!found.has(at) && (!period || dates.length !== 1)) {
		const which = period && dates.length > 1 ? ` Say which column of dates, such as --for "${dates[0]}=${cell}".` : '';
		throw new UsageError(`No cell of ${table.name} is "${cell}". Its columns are: ${table.columns.join(', ')}.${which}`);
	}
	const { rows, only } = table;
	const index = period ? table.columns.indexOf(dates[0]) : at;
	const isIt = period ? (text) => period.test(parseDate(text?.trim() ?? '') ?? '') : (text) => isCell(text, cell);
	const years = new Set();
	if (period) for (const { cells } of rows()) if (isIt(cells[index])) years.add(parseDate(cells[index].trim()).slice(0, 4));
	if (period && years.size === 0) throw new UsageError(`No ${dates[0]} of ${table.name} is in ${cell}.`);
	if (years.size > 1) notes.push(`${cell} is of several years: ${[...years].sort().join(', ')}.`);
	return {
		...table,
		only: [only, `${table.columns[index]} ${cell}`].filter(Boolean).join(', '),
		*rows() {
			for (const row of rows()) if (isIt(row.cells[index])) yield row;
		}
	};
}

function isCell(text, wanted) {
	return text?.trim().toLowerCase() === wanted.trim().toLowerCase();
}

/** Indexes of the columns that have this cell. */
function columnsWith(wanted, table) {
	const found = new Set();
	for (const { cells } of table.rows())
		for (const [index, text] of cells.entries()) if (isCell(text, wanted) && index < table.columns.length) found.add(index);
	return found;
}

/** Which days as 2025-01-31 are in it: January, Jan 2025, 2025-01, 2025; null for what is no month and no year. */
function periodIn(text) {
	const month = monthNumber(text.trim());
	if (month) return new RegExp(`^\\d{4}-${String(month).padStart(2, '0')}-`);
	const key = /^\d{4}$/.test(text.trim()) ? text.trim() : periodKey(text.trim());
	return key && !key.includes('Q') ? new RegExp(`^${key}-`) : null;
}

/** The rows that hold this number, with all their cells. */
function rowsWith(table, value, number) {
	const found = [];
	for (const { cells } of table.rows()) {
		const here = parseNumber(cells[value]?.trim() ?? '', table.decimalComma);
		if (here && compare(here, number) === 0) found.push(table.columns.map((name, index) => `${name} ${cells[index]?.trim() ?? ''}`).join(', '));
	}
	const more = found.length > MOST_ROWS_NAMED ? ` and ${found.length - MOST_ROWS_NAMED} more` : '';
	return `${found.length === 1 ? 'Its row' : 'Its rows'}: ${found.slice(0, MOST_ROWS_NAMED).join('; ')}${more}.`;
}

/** Indexes of the columns to group by; a name is tried whole before it is divided at its commas. */
function groupColumns(wanted, table, notes) {
	const names = wanted.flatMap((name) => (table.columns.includes(name) ? [name] : name.split(',')));
	return [...new Set(names.map((name) => columnIndex(name.trim(), table, notes)))];
}

/** Indexes of the columns that may be meant: by the exact name, then without regard to case and punctuation, then near misses. */
function nearColumns(wanted, { columns }) {
	if (columns.includes(wanted)) return [columns.indexOf(wanted)];
	const plain = columns.map(simplify);
	const target = simplify(wanted);
	const same = plain.flatMap((name, index) => (target && name === target ? [index] : []));
	if (same.length === 1) return same;
	const matches = (isNear) => plain.flatMap((name, index) => (isNear(name) ? [index] : []));
	let near = target.length > 2 ? matches((name) => name.length > 2 && (name.startsWith(target) || target.startsWith(name))) : [];
	if (near.length === 0 && target.length > 2) near = matches((name) => likeness(name, target) >= 0.8);
	return near;
}

/** A near miss is noted. */
function columnIndex(wanted, table, notes) {
	const { columns, name } = table;
	const [index, ...others] = nearColumns(wanted, table);
	if (index === undefined || others.length > 0)
		throw new UsageError(`There is no column "${wanted}" in ${name}. Its columns are: ${columns.join(', ')}.`);
	if (columns[index] !== wanted && simplify(columns[index]) !== simplify(wanted))
		notes.push(`There is no column "${wanted}", so "${columns[index]}" was used.`);
	return index;
}

function simplify(name) {
	return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** The share of letters that two names have in common, in the same order: 0 to 1. */
function likeness(one, other) {
	let row = new Array(other.length + 1).fill(0);
	for (const letter of one) {
		const next = [0];
		for (let index = 0; index < other.length; index += 1)
			next.push(letter === other[index] ? row[index] + 1 : Math.max(row[index + 1], next[index]));
		row = next;
	}
	return (2 * row.at(-1)) / (one.length + other.length);
}

/** The number column that a reader most likely means: by its name, else the first that has decimals, else the first. */
function likelyValue(columns, numbers) {
	for (const word of LIKELY_VALUES) {
		const named = numbers.find((index) => simplify(columns[index].name).includes(word));
		if (named !== undefined) return named;
	}
	return numbers.find((index) => columns[index].hasDecimals) ?? numbers[0] ?? null;
}

/** A path inside the working directory that doesn't replace the analyzed file. */
function checkedChartPath(options, table, by, period) {
	const base = slug(`${parsePath(table.name).name} ${options.only.join(' ')}`) || 'data';
	const named = options['chart-file'];
	let path = named ?? `${base}-summary.svg`;
	if (named === undefined && by.length > 0) {
		const names = period ? [period] : by.map((index) => slug(table.columns[index]) || 'group');
		path = `${base}-by-${names.join('-')}.svg`;
	}
	if (!/\.svg$/i.test(path)) path += '.svg';
	let folder = dirname(resolve(path));
	while (!existsSync(folder)) folder = dirname(folder);
	const place = relative(realpathSync('.'), realpathSync(folder));
	if (/^\.\.(?:$|[/\\])/.test(place) || isAbsolute(place))
		throw new UsageError(`The chart must be in the working directory, but ${path} isn't.`);
	if (existsSync(path) && realpathSync(path) === realpathSync(options.file))
		throw new UsageError(`The chart can't replace the analyzed file (${path}).`);
	return path;
}

/** Beside the place, then moved there: a link is replaced, never written through. */
function writeChart(path, svg) {
	mkdirSync(dirname(path), { recursive: true });
	const draft = `${path}.${process.pid}.part`;
	writeFileSync(draft, svg, { flag: 'wx' });
	renameSync(draft, path);
}

function slug(text) {
	const words = text.normalize('NFKD').replace(/[^\0-\x7f]/g, '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
	return words.join('-').slice(0, 60).replace(/-$/, '');
}

function bytesText(size) {
	const [limit, unit] = [[1024 ** 3, 'GB'], [1024 ** 2, 'MB'], [1024, 'KB']].find(([least]) => size >= least) ?? [];
	return limit ? `${(size / limit).toFixed(1)} ${unit}` : `${size} bytes`;
}

function countOf(count, noun) {
	return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

try {
	main(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof UsageError || error instanceof DataError || error.syscall)) throw error;
	console.error(error.message);
	process.exitCode = error instanceof UsageError ? 2 : 1;
}
