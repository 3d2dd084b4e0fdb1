/** What was found as a chart. */

import { barChart, roundStep } from './bar-chart.mjs';
import { decimal, grouped, plain, toNumber } from './decimal.mjs';
import { measured } from './report.mjs';
import { capitalized } from './values.mjs';

const MOST_BARS = 30;
const BINS = 10;

/** `{ title, svg }`. `value` is the index of a number column, or null. */
export function chartOf(analysis, value, measure, tableName) {
	const column = value === null ? null : analysis.columns[value];
	const chart = {
		show: grouped,
		...(analysis.groups
			? byGroup(analysis.groups, value, column, measure)
			: column
				? bySize(column)
				: byColumn(analysis.columns))
	};
	const title = capitalized(chart.title);
	const rows = `${analysis.rows} ${analysis.rows === 1 ? 'row' : 'rows'}`;
	const subtitle = `${chart.subtitle} · ${rows} of ${tableName}`;
	const bars = chart.bars.map(({ label, value }) => {
		return { label, number: toNumber(value), text: chart.show(value) };
	});
	return { title, svg: barChart({ ...chart, title, subtitle, bars }) };
}

function byGroup(groups, value, column, measure) {
	const found = groups.ordered(value, measure).map(({ label, rows, sums }) => {
		return { label, value: column ? sums[value].measure(measure) : decimal(rows) };
	});
	const all = found.filter((bar) => bar.value !== null);
	const inOrder = groups.isInOrder;
	const { most = MOST_BARS, isLowestFirst } = groups.arranged;
	const bars = all.length <= most ? all : inOrder ? all.slice(-most) : all.slice(0, most);
	const end = inOrder ? 'last' : isLowestFirst ? 'smallest' : 'largest';
	const some = bars.length < all.length ? `, the ${end} ${most} of ${all.length} groups` : '';
	const labelAxis = groups.title;
	if (!column)
		return { title: `Rows by ${labelAxis}`, subtitle: `Number of rows${some}`, valueAxis: 'rows', labelAxis, bars };
	return {
		title: `${measured(measure, column.name)} by ${labelAxis}`,
		subtitle: `${measure === 'mean' ? 'Average' : capitalized(measure)} of ${column.name}${some}`,
		valueAxis: `${column.name} (${measure === 'mean' ? 'average' : measure})`,
		labelAxis,
		bars,
		show: (number) => (measure === 'count' ? grouped(number) : column.show(number))
	};
}

/** How many values of a number column fall into each of about ten ranges with round ends; of few values into about five, for most would be empty. */
function bySize(column) {
	const ordered = column.sortedValues();
	const bins = Math.min(BINS, Math.max(5, Math.ceil(ordered.length / 2)));
	const step = roundStep((ordered.at(-1) - ordered[0]) / bins || 1);
	const lowest = Math.floor(ordered[0] / step);
	const counts = new Array(Math.floor(ordered.at(-1) / step) - lowest + 1).fill(0);
	for (const number of ordered) counts[Math.floor(number / step) - lowest] += 1;
	const end = (index) => plain(decimal(Number((step * (lowest + index)).toPrecision(10))));
	return {
		title: `How ${column.name} is spread`,
		subtitle: `Values in each range${column.isSampled ? ' (a sample)' : ''}`,
		valueAxis: 'number of values',
		labelAxis: column.name,
		bars: counts.map((count, index) => ({ label: `${end(index)} to under ${end(index + 1)}`, value: decimal(count) }))
	};
}

function byColumn(columns) {
	return {
		title: 'Filled cells in each column',
		subtitle: 'Cells that are not missing',
		valueAxis: 'filled cells',
		labelAxis: 'column',
		bars: columns.slice(0, MOST_BARS).map(({ name, filled }) => ({ label: name, value: decimal(filled) }))
	};
}
