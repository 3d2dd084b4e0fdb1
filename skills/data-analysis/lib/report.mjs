/** What was found, as Markdown. */

import { quantile } from './columns.mjs';
import { MISSING_KEY } from './groups.mjs';
import { isAmount } from './names.mjs';
import { compare, decimal, divide, grouped, multiply, plain, ZERO } from './decimal.mjs';

const MOST_ROWS = 60;
const LONGEST_CELL = 60;
const QUANTILES = { '25 %': 0.25, median: 0.5, '75 %': 0.75 };

/** `numeric` says per column whether it is aligned to the right. */
function markdownTable(headers, rows, numeric) {
	const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
	const rule = `|${numeric.map((isRight) => (isRight ? '---:' : '---')).join('|')}|`;
	return [line(headers), rule, ...rows.map(line)].join('\n');
}

function cell(value) {
	const text = (typeof value === 'number' ? value.toLocaleString('en-US') : String(value))
		.replace(/\p{C}/gu, ' ')
		.trim()
		.replace(/\s+/g, ' ');
	return shortened(text, LONGEST_CELL).replace(/[\\|]/g, '\\$&');
}

function shortened(text, most) {
	const characters = [...text];
	return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** A table by group for each number column of `values` (indexes), `first` leading; when there are several, a table of all sums before. */
export function groupReport({ groups, columns, rows: total }, values, first, measure) {
	const { title } = groups;
	if (values.length === 0) {
		const rows = groups.ordered(null).map(({ label, rows }) => [label, rows, share(decimal(rows), decimal(total))]);
		return section(`Rows by ${cell(title)}`, [title, 'rows', 'share'], rows, [total, '100 %']);
	}
	const parts = [];
	/** One row a group: count, mean, minimum and maximum would only repeat its number. */
	const isSingle = groups.ordered(first).every(({ rows }) => rows === 1);
	if (values.length > 1) {
		const rows = groups.ordered(first).map(({ label, rows, sums }) => {
			return [label, rows, ...values.map((value) => (sums[value].count > 0 ? grouped(sums[value].sum) : '–'))];
		});
		const headers = [title, 'rows', ...values.map((value) => columns[value].name)];
		const all = [total, ...values.map((value) => grouped(columns[value].numbers.sum))];
		parts.push(section(`Sums by ${cell(title)}`, headers, rows, all));
	}
	for (const value of [first, ...values.filter((index) => index !== first)]) {
		const { name, numbers, places } = columns[value];
		const hasShares =
			isAmount(name) && numbers.min && compare(numbers.min, ZERO) >= 0 && compare(numbers.sum, ZERO) > 0;
		/** Where no value is missing, the count is the number of rows. */
		const isFilled = groups.ordered(value).every(({ rows, sums }) => sums[value].count === rows);
		const rowsBeside = (rows) => (isFilled ? [] : [rows]);
		const rows = groups.ordered(value, measure).map(({ label, rows, sums }) => {
			const found = sums[value];
			const shares = hasShares ? [share(found.sum, numbers.sum)] : [];
			if (isSingle) return [label, found.count > 0 ? grouped(found.sum) : '–', ...shares];
			return [label, ...rowsBeside(rows), ...numbersOf(found, places), ...shares];
		});
		const headers = isSingle ? [title, name] : [title, ...rowsBeside('rows'), 'count', 'sum', 'mean', 'min', 'max'];
		const all = isSingle ? [grouped(numbers.sum)] : [...rowsBeside(total), ...numbersOf(numbers, places)];
		if (hasShares) {
			headers.push('share of sum');
			all.push('100 %');
		}
		parts.push(section(`${capitalized(cell(name))} by ${cell(title)}`, headers, rows, all));
	}
	return parts.join('\n\n');
}

/** The groups with the largest and the smallest number, in words; '' where all are the same or there's nothing to compare. */
export function extremes({ groups, columns }, value, measure, isLowest = false) {
	const { name, places } = value === null ? { name: 'rows' } : columns[value];
	const found = groups.ordered(value, measure).flatMap(({ label, rows, sums }) => {
		const size = value === null ? decimal(rows) : sums[value].measure(measure);
		// What has no name is no winner.
		if (label === MISSING_KEY) return [];
		return size ? [{ label, size }] : [];
	});
	const [low, high] = found.reduce(
		([least, most], { size }) => [
			!least || compare(size, least) < 0 ? size : least,
			!most || compare(size, most) > 0 ? size : most
		],
		[]
	);
	if (!low || compare(low, high) === 0) return '';
	// A sum is no single number.
	const isSingle = groups.ordered(null).every(({ rows }) => rows === 1);
	const what =
		value === null
			? 'number of rows'
			: measure === 'sum' && !isSingle
				? `total ${cell(name)}`
				: measured(measure, cell(name));
	const those = (size) => {
		const labels = found.filter((group) => compare(group.size, size) === 0).map(({ label }) => `**${cell(label)}**`);
		const rest = labels.length > 3 ? ` and ${labels.length - 3} more` : '';
		return `${labels.slice(0, 3).join(', ')}${rest} (${grouped(size, measure === 'mean' ? places : undefined)})`;
	};
	return isLowest
		? `Lowest ${what}: ${those(low)}. Highest: ${those(high)}.`
		: `Highest ${what}: ${those(high)}. Lowest: ${those(low)}.`;
}

/** The first so many groups in words, the largest or the smallest first. */
export function ranking({ groups, columns }, value, measure, isLowest, most) {
	const sizes = groups.ordered(value, measure).flatMap(({ label, rows, sums }) => {
		const size = value === null ? decimal(rows) : sums[value].measure(measure);
		return size ? [{ label, size }] : [];
	});
	sizes.sort((one, other) => compare(other.size, one.size) * (isLowest ? -1 : 1));
	return `${isLowest ? 'Lowest' : 'Top'} ${most}: ${sizes
		.slice(0, most)
		.map(
			({ label, size }) => `**${cell(label)}** (${grouped(size, value === null ? undefined : columns[value].places)})`
		)
		.join(', ')}.`;
}

/** What a month or year has on average, which the average of its rows doesn't say. */
export function averageOf({ groups, columns }, value, period) {
	const { name, places, numbers } = columns[value];
	const count = groups.ordered(null).length;
	return `Average ${cell(name)} per ${period}: **${grouped(divide(numbers.sum, decimal(count)), places)}** (${count} ${count === 1 ? period : `${period}s`}).`;
}

/** `revenue`, `average revenue`, `min of revenue`. */
export function measured(measure, name) {
	return measure === 'sum' ? name : measure === 'mean' ? `average ${name}` : `${measure} of ${name}`;
}

/** A column in words, the wanted measure first. */
export function totals(column, measure) {
	const { name, numbers, places } = column;
	const figures = {
		sum: ['total', grouped(numbers.sum)],
		mean: ['average', grouped(numbers.measure('mean'), places)],
		min: ['lowest', grouped(numbers.min)],
		max: ['highest', grouped(numbers.max)],
		count: ['count of', numbers.count.toLocaleString('en-US')]
	};
	if (measure === 'median') {
		const mark = column.isSampled ? '≈' : '';
		figures.median = ['median', mark + grouped(quantile(column.sortedValues(), QUANTILES.median), places)];
	}
	const {
		[measure]: [word, figure],
		count: _,
		...all
	} = figures;
	if (numbers.count === 1) return `${word[0].toUpperCase()}${word.slice(1)} ${cell(name)}: **${figure}**.`;
	if (!isAmount(name)) delete all.sum;
	const others = Object.entries(all).flatMap(([key, [other, value]]) => (key === measure ? [] : `${other} ${value}`));
	const count = `${numbers.count.toLocaleString('en-US')} ${numbers.count === 1 ? 'value' : 'values'}`;
	return `${word[0].toUpperCase()}${word.slice(1)} ${cell(name)}: **${figure}** (${count}; ${others.join(', ')}).`;
}

/** The rows as they are, `total` of which there may be more. */
export function rowReport(columns, rows, total) {
	const table = markdownTable(
		columns.map(({ name }) => name),
		rows.map(({ cells }) => columns.map((_, index) => cells[index]?.trim() ?? '')),
		columns.map(({ isNumber }) => isNumber)
	);
	return total > rows.length ? `${table}\n\n${total - rows.length} more rows are not shown.` : table;
}

/** ` (25 % of 12 rows)`, ` 25 %`; '' where that says nothing. */
export function shareOf(whole, part) {
	if (typeof whole === 'number')
		return ` of ${whole.toLocaleString('en-US')} (${share(decimal(part), decimal(whole))})`;
	return compare(whole, ZERO) > 0 && compare(part, ZERO) >= 0 ? ` ${share(part, whole)}` : '';
}

function section(heading, headers, rows, total) {
	const shown = [...rows.slice(0, MOST_ROWS), ['**All**', ...total]];
	const table = markdownTable(
		headers,
		shown,
		headers.map((_, index) => index > 0)
	);
	const leftOut = rows.length - MOST_ROWS;
	const rest = leftOut > 0 ? `\n\n${leftOut} more groups are not shown; **All** includes them.` : '';
	return `## ${heading}\n\n${table}${rest}`;
}

function numbersOf(found, places) {
	if (found.count === 0) return [0, '–', '–', '–', '–'];
	return [
		found.count,
		grouped(found.sum),
		grouped(found.measure('mean'), places),
		grouped(found.min),
		grouped(found.max)
	];
}

function share(part, whole) {
	return whole.units === 0n ? '–' : `${plain(divide(multiply(part, decimal(100)), whole), 1)} %`;
}

export function capitalized(text) {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export function columnReport(columns) {
	const rows = columns.map((column) => [
		column.name,
		column.type,
		column.filled,
		column.missing,
		`${column.counts.size.toLocaleString('en-US')}${column.hasMoreValues ? '+' : ''}`,
		contents(column)
	]);
	const headers = ['column', 'type', 'filled', 'missing', 'different', 'contents'];
	return `## Columns\n\n${markdownTable(headers, rows, [false, false, true, true, true, false])}`;
}

/** A year has no comma. */
function figureText({ name }) {
	return /year/i.test(name) ? plain : grouped;
}

function contents(column) {
	const text = figureText(column);
	if (column.isNumber) return `${text(column.numbers.min)} to ${text(column.numbers.max)}`;
	if (column.type === 'date') return `${column.firstDate} to ${column.lastDate}`;
	const top = [...column.counts].sort(
		([one, times], [other, otherTimes]) => otherTimes - times || (one < other ? -1 : 1)
	);
	return top
		.slice(0, 3)
		.map(([text, times]) => `${shortened(text, 16)} (${times})`)
		.join(', ');
}

/** The statistics of every number column; '' when there is none. */
export function numberReport(columns) {
	const rows = columns
		.filter(({ isNumber }) => isNumber)
		.map((column) => {
			const { numbers, places } = column;
			const ordered = column.sortedValues();
			const deviation = column.deviation();
			const mark = column.isSampled ? '≈' : '';
			const text = figureText(column);
			return [
				column.name,
				numbers.count,
				grouped(numbers.sum),
				text(numbers.measure('mean'), places),
				deviation ? text(deviation, places) : '–',
				text(numbers.min),
				...Object.values(QUANTILES).map((part) => mark + text(quantile(ordered, part), places)),
				text(numbers.max)
			];
		});
	if (rows.length === 0) return '';
	const headers = ['column', 'count', 'sum', 'mean', 'std. deviation', 'min', ...Object.keys(QUANTILES), 'max'];
	return `## Numbers\n\n${markdownTable(
		headers,
		rows,
		headers.map((_, index) => index > 0)
	)}`;
}

const MOST_QUESTIONS = 4;
/** So many different values can be told apart in a chart, and are kinds of something rather than names. */
const MOST_KINDS = 30;

/** The column that sorts the rows into kinds, else one with a name for each of a few rows; null where there is none. */
export function kindsOf(columns) {
	const named = columns.flatMap(({ isNumber, type, counts, filled }, index) => {
		const isFew = !isNumber && counts.size > 1 && counts.size <= MOST_KINDS;
		return isFew ? [{ index, isKind: type !== 'date' && counts.size < filled }] : [];
	});
	return (named.find(({ isKind }) => isKind) ?? named[0])?.index ?? null;
}

/** What else can be asked about the file, as a list after `first`; '' where there is nothing. */
export function questions(columns, value, dates, first = []) {
	const kinds = kindsOf(columns);
	const name = (column) => (/^[\p{L}\p{N} _-]+$/u.test(column.name) ? column.name : `"${column.name}"`);
	const list = [];
	if (value === null) {
		const flag = columns.find(({ type }) => type === 'yes/no');
		if (kinds !== null && columns[kinds].type !== 'date') {
			const [[cell]] = columns[kinds].counts;
			list.push(`how many per ${name(columns[kinds])}?`, `how many are ${name({ name: cell })}?`);
		}
		if (flag) list.push(`how many have ${name(flag)} no?`);
		if (dates.length > 0) list.push(`the latest ${name({ name: dates[0] })}`);
		const shown = [...first, ...list.slice(0, MOST_QUESTIONS)];
		return shown.length === 0 ? '' : `You can ask for:\n\n${shown.map((each) => `- ${each}`).join('\n')}`;
	}
	const amount = name(columns[value]);
	if (kinds !== null && columns[kinds].type !== 'date') {
		const [[cell]] = columns[kinds].counts;
		const by = name(columns[kinds]);
		list.push(
			`which ${by} has the highest ${amount}?`,
			`average ${amount} per ${by}`,
			`total ${amount} for ${name({ name: cell })}`
		);
	}
	if (dates.length === 1) list.push(`total ${amount} per month`);
	list.push(`average ${amount}`);
	return `You can ask for:\n\n${[...first, ...list.slice(0, MOST_QUESTIONS)].map((each) => `- ${each}`).join('\n')}`;
}
