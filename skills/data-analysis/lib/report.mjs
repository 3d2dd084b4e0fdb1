/** What was found, as Markdown. */

import { quantile } from './columns.mjs';
import { isAmount, WHO } from './names.mjs';
import { capitalized } from './values.mjs';
import { compare, decimal, divide, multiply, plain, ZERO } from './decimal.mjs';

const MOST_ROWS = 60;
const LONGEST_CELL = 60;
/** Of columns or cells in a sentence. */
export const MOST_NAMED = 8;
const QUANTILES = { '25 %': 0.25, median: 0.5, '75 %': 0.75 };

/** `numeric` says per column whether it is aligned to the right. */
function markdownTable(headers, rows, numeric) {
	const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
	const rule = `|${numeric.map((isRight) => (isRight ? '---:' : '---')).join('|')}|`;
	return [line(headers), rule, ...rows.map(line)].join('\n');
}

export function cell(value) {
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
	const { most } = groups.arranged;
	if (values.length === 0) {
		const rows = groups.ordered(null).map(({ label, rows }) => [label, rows, share(decimal(rows), decimal(total))]);
		return section(`Rows by ${cell(title)}`, [title, 'rows', 'share'], rows, [total, '100 %'], most);
	}
	const parts = [];
	/** One row a group: count, mean, minimum and maximum would only repeat its number. */
	const isSingle = groups.ordered(first).every(({ rows }) => rows === 1);
	if (values.length > 1) {
		const rows = groups.ordered(first).map(({ label, rows, sums }) => {
			return [
				label,
				rows,
				...values.map((value) => (sums[value].count > 0 ? columns[value].show(sums[value].sum) : '–'))
			];
		});
		const headers = [title, 'rows', ...values.map((value) => columns[value].name)];
		const all = [total, ...values.map((value) => columns[value].show(columns[value].numbers.sum))];
		parts.push(section(`Sums by ${cell(title)}`, headers, rows, all, most));
	}
	for (const value of [first, ...values.filter((index) => index !== first)]) {
		const { name, numbers } = columns[value];
		const hasShares =
			isAmount(name) && numbers.min && compare(numbers.min, ZERO) >= 0 && compare(numbers.sum, ZERO) > 0;
		/** Where no value is missing, the count is the number of rows. */
		const isFilled = groups.ordered(value).every(({ rows, sums }) => sums[value].count === rows);
		const rowsBeside = (rows) => (isFilled ? [] : [rows]);
		const rows = groups.ordered(value, measure).map(({ label, rows, sums }) => {
			const found = sums[value];
			const shares = hasShares ? [share(found.sum, numbers.sum)] : [];
			if (isSingle) return [label, found.count > 0 ? columns[value].show(found.sum) : '–', ...shares];
			return [label, ...rowsBeside(rows), ...numbersOf(found, columns[value]), ...shares];
		});
		const headers = isSingle ? [title, name] : [title, ...rowsBeside('rows'), 'count', 'sum', 'mean', 'min', 'max'];
		const all = isSingle
			? [columns[value].show(numbers.sum)]
			: [...rowsBeside(total), ...numbersOf(numbers, columns[value])];
		if (hasShares) {
			headers.push('share of sum');
			all.push('100 %');
		}
		parts.push(section(`${capitalized(cell(name))} by ${cell(title)}`, headers, rows, all, most));
	}
	return parts.join('\n\n');
}

/** `revenue`, `average revenue`, `min of revenue`. */
export function measured(measure, name) {
	return measure === 'sum' ? name : measure === 'mean' ? `average ${name}` : `${measure} of ${name}`;
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

function section(heading, headers, rows, total, most = MOST_ROWS) {
	const shown = [...rows.slice(0, most), ['**All**', ...total]];
	const table = markdownTable(
		headers,
		shown,
		headers.map((_, index) => index > 0)
	);
	const leftOut = rows.length - most;
	const rest =
		leftOut > 0
			? `\n\n${leftOut} more ${leftOut === 1 ? 'group is' : 'groups are'} not shown; **All** includes ${leftOut === 1 ? 'it' : 'them'}.`
			: '';
	return `## ${heading}\n\n${table}${rest}`;
}

function numbersOf(found, column) {
	if (found.count === 0) return [0, '–', '–', '–', '–'];
	return [found.count, ...['sum', 'mean', 'min', 'max'].map((name) => column.show(found.measure(name)))];
}

export function share(part, whole) {
	return whole.units === 0n ? '–' : `${plain(divide(multiply(part, decimal(100)), whole), 1)} %`;
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
function figureText(column) {
	return column.isOfYears ? (number) => plain(number, column.places) : (number) => column.show(number);
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
			const { numbers } = column;
			const ordered = column.sortedValues();
			const deviation = column.deviation();
			const mark = column.isSampled ? '≈' : '';
			const text = figureText(column);
			return [
				column.name,
				numbers.count,
				column.show(numbers.sum),
				text(numbers.measure('mean')),
				deviation ? text(deviation) : '–',
				text(numbers.min),
				...Object.values(QUANTILES).map((part) => mark + text(quantile(ordered, part))),
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

/** So many different values can be told apart in a chart, and are kinds of something rather than names. */
const MOST_KINDS = 30;

/** The column that sorts the rows into kinds, else one with a name for each of a few rows; null where there is none. */
export function kindsOf(columns) {
	const named = columns.flatMap(({ name, isNumber, type, counts, filled }, index) => {
		const isFew = !isNumber && counts.size > 1 && counts.size <= MOST_KINDS;
		// Two people of one name are no kind.
		const isOfPeople = WHO.test(name) && 2 * counts.size > filled;
		return isFew ? [{ index, isKind: type !== 'date' && counts.size < filled && !isOfPeople }] : [];
	});
	return (named.find(({ isKind }) => isKind) ?? named[0])?.index ?? null;
}

/** Does money go out and come in? A refund among sales is no spending. */
export function hasBothSigns(column) {
	const { max, count, countBelow } = column?.numbers ?? {};
	return Boolean(max) && compare(max, ZERO) > 0 && 4 * countBelow >= count;
}

export function offered(list) {
	return list.length === 0 ? '' : `You can ask for:\n\n${list.map((each) => `- ${each}`).join('\n')}`;
}

/** `sales.csv: 3 rows; 2 columns (Date, Amount); Date from … to ….` */
export function lineOf(table, { columns: all, rows }) {
	const columns = table.productNote ? all.slice(0, -1) : all;
	const dates = columns
		.filter(({ type }) => type === 'date')
		.map(({ name, firstDate, lastDate }) => `${cell(name)} from ${firstDate} to ${lastDate}`);
	const names = columns.slice(0, MOST_NAMED).map(({ name }) => cell(name));
	const more = columns.length > names.length ? ' and more' : '';
	const size = [countOf(rows, 'row'), `${countOf(columns.length, 'column')} (${names.join(', ')}${more})`];
	return `**${table.name}**: ${[...size, ...dates].join('; ')}.`;
}

/** `Ann, Bo and Cy`. */
export function inWords(names) {
	return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

export function countOf(count, noun) {
	return `${count.toLocaleString('en-US')} ${count === 1 ? noun : `${noun}s`}`;
}
