#!/usr/bin/env node
/** Analyzes a CSV file: a table by group, every column, statistics, and a bar chart as SVG. */

import { existsSync, mkdirSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { analyze } from '../lib/analysis.mjs';
import { answer } from '../lib/answer.mjs';
import { chartOf } from '../lib/chart.mjs';
import { monthsIn, onlyRows, readCondition } from '../lib/conditions.mjs';
import { DataError, UsageError } from '../lib/errors.mjs';
import {
	asSaid,
	describe,
	divide,
	fileChosen,
	filesMeant,
	isOfFiles,
	lack,
	lastLine,
	offer,
	partsOf,
	placesOf
} from '../lib/files.mjs';
import { PERIODS } from '../lib/groups.mjs';
import { columnAfter, columnIndex, likelyValue, PLACE, simplify, stem } from '../lib/names.mjs';
import { questionsOf } from '../lib/offers.mjs';
import { DENYING, FIGURE_OF, readQuestion, SUM_OF_PRICES } from '../lib/question.mjs';
import {
	cell,
	columnReport,
	countOf,
	inWords,
	kindsOf,
	lineOf,
	MOST_NAMED,
	numberReport,
	offered
} from '../lib/report.mjs';

const USAGE = `Usage: analyze_csv.mjs FILE... [--question TEXT] [--group-by COLUMN] [--value COLUMN] [--measure {sum,mean,median,count,min,max}]
                       [--period {day,weekday,month,quarter,year}] [--where CONDITION]
                       [--questions] [--details] [--chart] [--chart-file FILE] [--delimiter CHAR] [--encoding NAME] [--no-header]

Analyzes a CSV or TSV file: a table by group, every column, statistics, and a bar chart as SVG.
Of several files, those that have what is named; a question is answered from the one that fits it best.

  --question TEXT    answers a question in plain words; each further line goes on with the one before
  --group-by COLUMN  one line for each value of this column; several with commas
  --value COLUMN     the number column to add up and draw
  --measure          what groups are compared by: sum, unless said
  --period           groups by that of a date column
  --where CONDITION  only rows such as food, January, category=food, amount>100, date>=2025-02; several are all met
  --questions        only how much is in the file and what can be asked about it
  --details          with --group-by: every number by group, every column, statistics
  --chart            draws one, also where a measure is named
  --chart-file FILE  name of the SVG file, and draws it
  --delimiter CHAR   what stands between the cells
  --encoding NAME    such as utf-8 or latin-1
  --no-header        the first row is data`;

const MEASURES = ['sum', 'mean', 'median', 'count', 'min', 'max'];
const SYNONYMS = { total: 'sum', average: 'mean', avg: 'mean', minimum: 'min', maximum: 'max' };
const DELIMITERS = { '\\t': '\t', tab: '\t', comma: ',', semicolon: ';' };
const LONGEST_QUESTION = 5_000;
const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });
/** Says how or when, and is in no column. */
const NOT_A_VALUE =
	/\b(well|online|abroad|together|alone|nearby|early|late|again|enough|extra|today|tonight|tomorrow|yesterday|now|ago|weeks?|\w{3,}ly|than)\b/i;
/** So many are read once more for a chart by group. */
const MOST_ROWS_READ_TWICE = 50_000;

function main(args) {
	const read = readOptions(args);
	if (!read) return console.log(USAGE);
	const options = fileChosen(read);
	const sizes = options.files.map((file) => statSync(file, { throwIfNoEntry: false }));
	for (const [at, size] of sizes.entries())
		if (size?.isFile()) console.log(`Reading ${options.files[at]} (${bytesText(size.size)}) …`);
	console.log();
	if (isOfFiles(options)) return describe(options);
	const places = placesOf(options);
	if (places.length > 0) return console.log(places.map((each) => `- ${each}`).join('\n'));
	const { meant, unknown = [], none } = filesMeant(options, hasColumns);
	if (none) return console.log(none);
	if (unknown.length > 0) return lack(options, meant, unknown);
	if (meant.length === 0) return divide(options);
	if (options.question?.trim() && meant.length > 1)
		return meant.every(({ read }) => read.isOverview) ? describe(options) : offer(meant, options.question);
	for (const { table, all, ...each } of meant)
		for (const question of partsOf({ ...each, table, all })) report({ ...options, table, all, question });
}

function hasColumns(options, table) {
	try {
		readFlags(options, table, []);
		return true;
	} catch (error) {
		if (error instanceof UsageError) return false;
		throw error;
	}
}

function report(options) {
	const notes = [];
	const whole = options.table;
	const isAsked = Boolean(options.question?.trim());
	/** Of the whole file, where only some of its rows may be meant. */
	const all = options.all ?? (options.where.length > 0 ? analyze(whole, []) : null);
	const asked = isAsked ? readQuestion(options.question, whole, all.columns) : null;
	if (asked && asked.unknown.length > 0 && !asked.isOverview) {
		const none = noneThere(asked, options.question, all.columns);
		return none ? console.log(none) : refuse(asked, options.question, whole, all.columns);
	}
	const wanted = asked && !isPlain(asked) ? { ...asked, isQuestion: true } : readFlags(options, whole, notes);
	const isNone =
		wanted.conditions.some(({ isPerhaps }) => isPerhaps) && isEmpty(onlyRows(whole, wanted.conditions, []));
	if (isNone) wanted.conditions = wanted.conditions.filter(({ isPerhaps }) => !isPerhaps);
	// `When was my salary paid?`, by somebody else
	if (wanted.isOfWhen && wanted.flow && isEmpty(onlyRows(whole, wanted.conditions, []))) {
		wanted.conditions = wanted.conditions.filter(({ isOfFlow }) => !isOfFlow);
		wanted.flow = undefined;
	}
	const table = onlyRows(whole, wanted.conditions, notes);
	const analysis = all && table === whole && wanted.by.length === 0 ? all : analyze(table, wanted.by, wanted.period);
	if (all && analysis !== all)
		for (const [index, column] of analysis.columns.entries()) column.showLike(all.columns[index]);
	notes.push(...analysis.notes);
	const { columns, groups, rows } = analysis;
	if (groups) groups.arranged = { by: wanted.order, isLowestFirst: wanted.end === 'low', most: wanted.top };
	const numbers = columns.flatMap(({ isNumber }, index) => (isNumber && !wanted.by.includes(index) ? [index] : []));
	const chartPath = checkedChartPath(options, table, wanted, likelyValue(columns, numbers));
	const named = wanted.value;
	if (named !== null && rows > 0 && !(all ?? analysis).columns[named].isNumber) {
		const names = numbers.map((index) => columns[index].name).join(', ');
		throw new UsageError(
			`The column "${columns[named].name}" does not hold numbers. ${names ? `These do: ${names}.` : 'No column does.'}`
		);
	}
	const likely = named ?? likelyValue(columns, numbers);
	const value = likely !== null && columns[likely].numbers.count === 0 ? null : likely;
	if (options.questions) {
		const list = offered(['summary of this file', ...questionsOf(whole, columns)]);
		return console.log(`${lineOf(table, analysis)}\n\n${list}`);
	}
	const beside = asked?.beside && value !== null ? analyze(onlyRows(table, [asked.beside], []), []) : null;
	const answered = answer(wanted, { details: options.details, all, whole, table, analysis, value, beside });
	if (rows === 0 && !table.only) notes.push("There's a header but not a single row of data, so there's no chart.");
	const bars = asked?.isPie || asked?.isLine ? `It draws bars, no ${asked.isPie ? 'pies' : 'lines'}.` : '';
	const lead = [bars, answered.text].filter(Boolean).join(' ');
	if (lead) console.log(`${lead}\n`);
	const isDrawn = rows > 0 && (options.chart || options['chart-file'] !== undefined || answered.isDrawn);
	let drawn = '';
	if (isDrawn) {
		const kinds = groups || rows > MOST_ROWS_READ_TWICE ? null : kindsOf(columns);
		const shown = kinds === null ? analysis : analyze(table, [kinds]);
		const { title, svg } = chartOf(
			shown,
			answered.isOfRows ? null : value,
			wanted.measure ?? 'sum',
			table.only ? `${table.name}, ${table.only}` : table.name
		);
		writeChart(chartPath, svg);
		// What is grouped has its title above.
		drawn = ` Chart: ${chartPath}${groups ? '' : ` (${title})`}.`;
	}
	const facts = [
		table.only ? `${rows.toLocaleString('en-US')} of ${countOf(all.rows, 'row')}` : countOf(rows, 'row'),
		countOf(columns.length - Number(Boolean(table.productNote)) - Number(Boolean(table.isOfSeveral)), 'column')
	];
	// Nobody needs to be told what nearly every file has.
	if (!/^(comma|tab)$/.test(table.delimiterName)) facts.push(`divided by ${table.delimiterName}`);
	if (table.encodingName !== 'UTF-8') facts.push(table.encodingName);
	if (!asked || drawn || options.files.length > 1)
		console.log(`${table.isOfSeveral ? 'From ' : ''}**${table.name}**: ${facts.join(', ')}.${drawn}\n`);
	if (answered.isWhole) {
		const more = rows === 0 || groups ? '' : offered(questionsOf(whole, columns));
		const statistics = numberReport(columns);
		console.log([more, columnReport(columns), statistics].filter(Boolean).join('\n\n'));
	}
	// What can't be read as a date is neither before nor after one.
	const isOfDate = (index) =>
		!asked ||
		(wanted.date === index && /late|early/.test(wanted.end)) ||
		[...wanted.by, wanted.sortBy].includes(index) ||
		wanted.conditions.some((each) => each.index === index && (each.months || each.days));
	for (const [index, { name, countUndated, undated }] of (all ?? analysis).columns.entries())
		if (countUndated > 0 && isOfDate(index))
			notes.push(
				`${countOf(countUndated, 'date')} in ${cell(name)} can't be read: ${countUndated > 1 ? 'such as ' : ''}${cell(undated)}.`
			);
	const told = asked
		? notes.filter(
				(note) => !note.startsWith('In "') || (!answered.isOfRows && note.startsWith(`In "${columns[value]?.name}"`))
			)
		: notes;
	if (told.length > 0) console.log(`\n## Notes\n\n${told.map((note) => `- ${note}`).join('\n')}`);
}

function isEmpty(table) {
	return Boolean(table.rows().next().done);
}

/** Of a question that asks for no more than what the script prints without one. */
function isPlain({ conditions, by, value, measure, end, isList }) {
	return conditions.length === 0 && by.length === 0 && value === null && !measure && !end && !isList;
}

/** What the options ask for, as a question would. */
function readFlags(options, table, notes) {
	const { groupBy, period } = readPeriod(options, table, notes);
	return {
		conditions: options.where.map((each) => readCondition(each, table, notes)),
		by: groupColumns(groupBy, table, notes),
		period,
		value: options.value ? columnIndex(options.value, table, notes) : null,
		measure: options.measure
	};
}

/** `How many live in London?`, `Does anyone play the harp?`, where the column that is meant has no such cell; '' for others. */
function noneThere({ unknown: words, isYesNo, end, limit }, question, columns) {
	const line = lastLine(question).replace(/[\s?.!]+$/, '');
	// The verb that tells the column is no value: `Do I grow tulips?`
	const unknown = words.filter((word) => !columnAfter(word, columns));
	const at = line.toLowerCase().lastIndexOf(` ${unknown.join(' ')}`);
	const said = line.slice(at + 1, at + 1 + unknown.join(' ').length);
	const isLast = line.length === at + 1 + said.length;
	const column = at < 0 ? undefined : columnAfter(line.slice(0, at), columns);
	const isMeant = isYesNo
		? !/ than /.test(line) && !end && !limit && !NOT_A_VALUE.test(said)
		: isLast && PLACE.test(column?.name);
	// A year, a month or a day is no value of a column of texts.
	const isOfTime = /\d/.test(said) || monthsIn(said.toLowerCase()).length > 0;
	if (!column || !isMeant || isOfTime || /\b(not|never|no)\b|n['’]t\b/i.test(line)) return '';
	const known = [...column.counts.keys()].slice(0, MOST_NAMED).map(cell);
	const more = column.counts.size > known.length ? [`${column.counts.size - known.length} more`] : [];
	return `${isYesNo ? 'No' : '**None**'}: no row has “${said}” in ${cell(column.name)}. It has ${inWords([...known, ...more])}.`;
}

function refuse(asked, question, table, columns) {
	const { unknown, isOfFuture } = asked;
	const words = asSaid(unknown, question).join(', ');
	// `scones`, where there are oat scones and cheese scones.
	const isIn = (cell, word) =>
		cell
			.toLowerCase()
			.split(/\s+/)
			.some((part) => stem(part) === stem(word));
	const [[word, cells] = []] = unknown
		.map((each) => [
			each,
			columns.flatMap(({ type, counts }) =>
				type === 'text' ? [...counts.keys()].filter((cell) => isIn(cell, each)) : []
			)
		])
		.filter(([, found]) => found.length > 1);
	const figure = unknown.find((each) => FIGURE_OF.test(each.split(' ')[0]) && each.includes(' '));
	const reason = isOfFuture
		? 'it has what was, and nothing of what will be.'
		: unknown.includes('why')
			? 'it tells what is in it, and not why.'
			: unknown.every((each) => DENYING.test(each))
				? `I can't tell what is or was ${words} so.`
				: figure
					? `${asSaid([figure], question)} can't be worked out from what that column holds.`
					: words.includes(' at once”')
						? `it tells one thing at a time, and not ${unknown.find((word) => word.endsWith(' at once'))}. Ask for one.`
						: unknown.includes(SUM_OF_PRICES)
							? 'prices of one are not added up. Ask for their average.'
							: cells
								? `${asSaid([word], question)} can be ${OR.format(cells.slice(0, 5))}. Say which.`
								: `I find nothing for ${words} in it. Its columns are ${table.columns.join(', ')}.`;
	console.log(`${table.name} can't answer that: ${reason}\n`);
	const list = questionsOf(table, columns, asked);
	const isOfTime = (each) => Number(isOfFuture && / per month$/.test(each));
	console.log(offered(list.toSorted((one, other) => isOfTime(other) - isOfTime(one))));
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
				question: text,
				where: { ...text, multiple: true, default: [] },
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
	if (positionals.length === 0) throw new UsageError(USAGE);
	if (positionals.length > 1 && values['chart-file']) throw new UsageError('--chart-file is for one file.');
	if (values.question?.length > LONGEST_QUESTION)
		throw new UsageError(`--question takes at most ${LONGEST_QUESTION.toLocaleString('en-US')} characters.`);
	const delimiter = values.delimiter && (DELIMITERS[values.delimiter] ?? values.delimiter);
	if (delimiter && (delimiter.length !== 1 || '"\r\n'.includes(delimiter)))
		throw new UsageError('--delimiter must be one character.');
	const named = values.measure?.toLowerCase() ?? 'sum';
	const isGrouped = values['group-by'].length > 0 || values.period !== undefined;
	const measure = SYNONYMS[named] ?? named;
	checkChoice('--measure', measure, MEASURES);
	if (measure === 'median' && isGrouped)
		throw new UsageError('The median is only there for all rows together, not by group.');
	if (values.period) checkChoice('--period', values.period, PERIODS);
	return {
		...values,
		files: positionals,
		groupBy: values['group-by'],
		measure: values.measure === undefined ? undefined : measure,
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
		const which =
			table.dates.length > 1
				? `Name one of these: ${table.dates.join(', ')}.`
				: `No column of ${table.name} holds dates.`;
		throw new UsageError(`--period needs --group-by with a column of dates. ${which}`);
	}
	notes.push(`There is no column "${word}"; the dates in "${table.dates[0]}" were grouped by ${word}.`);
	return { groupBy: table.dates, period: word };
}

/** Indexes of the columns to group by; a name is tried whole before it is divided at its commas. */
function groupColumns(wanted, table, notes) {
	const names = wanted.flatMap((name) => (table.columns.includes(name) ? [name] : name.split(',')));
	return [...new Set(names.map((name) => columnIndex(name.trim(), table, notes)))];
}

/** A path inside the working directory that doesn't replace the analyzed file. */
function checkedChartPath(options, table, { by, period, conditions, value, measure }, likely) {
	const flow = conditions.find(({ isOfFlow }) => isOfFlow);
	const only = conditions
		.map((each) =>
			each === flow
				? flow.sign === '<'
					? 'spending'
					: 'income'
				: each.text.replace(`${table.columns[each.index]} `, '')
		)
		.join(' ');
	const base = slug(`${table.name.replace(/\.\w+(?=$|,| and )/g, '')} ${only}`) || 'data';
	// Another figure is another chart.
	const figure = slug(
		[
			{ mean: 'average', count: 'number' }[measure],
			value === null || value === likely ? '' : table.columns[value]
		].join(' ')
	);
	const named = options['chart-file'];
	let path = named ?? `${base}-summary.svg`;
	if (named === undefined && by.length > 0) {
		const names = period ? [period] : by.map((index) => slug(table.columns[index]) || 'group');
		path = `${[base, figure].filter(Boolean).join('-')}-by-${names.join('-')}.svg`;
	}
	if (!/\.svg$/i.test(path)) path += '.svg';
	let folder = dirname(resolve(path));
	while (!existsSync(folder)) folder = dirname(folder);
	const place = relative(realpathSync('.'), realpathSync(folder));
	if (/^\.\.(?:$|[/\\])/.test(place) || isAbsolute(place))
		throw new UsageError(`The chart must be in the working directory, but ${path} isn't.`);
	if (existsSync(path) && options.files.some((file) => realpathSync(path) === realpathSync(file)))
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
	const words =
		text
			.normalize('NFKD')
			.replace(/[^\0-\x7f]/g, '')
			.toLowerCase()
			.match(/[a-z0-9]+/g) ?? [];
	return words.join('-').slice(0, 60).replace(/-$/, '');
}

function bytesText(size) {
	const [limit, unit] =
		[
			[1024 ** 3, 'GB'],
			[1024 ** 2, 'MB'],
			[1024, 'KB']
		].find(([least]) => size >= least) ?? [];
	return limit ? `${(size / limit).toFixed(1)} ${unit}` : `${size} bytes`;
}

try {
	main(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof UsageError || error instanceof DataError || error.syscall)) throw error;
	console.error(error.message);
	process.exitCode = error instanceof UsageError ? 2 : 1;
}
