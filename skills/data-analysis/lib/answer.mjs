/** What is said first: the figure, the groups or the rows that were asked for. */

import { isAmount } from './names.mjs';
import { sortedRows } from './analysis.mjs';
import { MISSING_KEY } from './groups.mjs';
import { averageOf, extremes, groupReport, ranking, rowReport, shareOf, totals } from './report.mjs';

/** So many rows are shown. */
const MOST_ROWS = 20;

/**
 * @param wanted as `readQuestion` gives it; of options `by`, `period`, `value` and `measure` alone
 * @param found `table` and `analysis` of the rows that are meant, `all` of the whole file (or null, where that's the same), `value`: index of the number column, or null
 * @returns `text`; `isDrawn`: a chart belongs to it; `isOfRows`: it's of the number of rows; `isWhole`: columns and statistics follow
 */
export function answer(wanted, { details, all, table, analysis, value }) {
	const { by, period, measure = 'sum', top, isOfKinds, isQuestion } = wanted;
	const { columns, groups, rows } = analysis;
	if (rows === 0) return { text: table.only ? `No row has ${table.only}.` : '', isWhole: !table.only };
	const isOfRows = isOfKinds || value === null || Boolean(isQuestion && measure === 'count' && wanted.value === null);
	const shownValue = isOfRows ? null : value;
	const count = `**${rows.toLocaleString('en-US')}** ${rows === 1 ? 'row' : 'rows'}`;
	const of = table.only ? `Rows with ${table.only}: ` : '';
	const said = (parts, more) => {
		const sentence = parts.filter(Boolean).join(' ');
		return {
			text: [sentence && of + sentence, more].filter(Boolean).join('\n\n'),
			isOfRows,
			isDrawn: Boolean(wanted.isChart)
		};
	};
	if (groups) return { ...ofGroups(), isDrawn: isQuestion || wanted.measure === undefined, isWhole: details };
	const end = wanted.end ?? { min: 'low', max: 'high' }[measure];
	if (/late|early/.test(end) && wanted.sortBy === undefined) {
		const index = wanted.date ?? columns.findIndex(({ type }) => type === 'date');
		return said([`${end === 'late' ? 'Latest' : 'Earliest'} ${columns[index].name}:`], rowsAt(index, end === 'late'));
	}
	if (end && value !== null && wanted.sortBy === undefined) {
		const which = top
			? `The ${top} rows with the ${end === 'high' ? 'highest' : 'lowest'} ${columns[value].name}:`
			: totals(columns[value], end === 'high' ? 'max' : 'min');
		return said([which], rowsAt(value, end === 'high'));
	}
	const isPart = Boolean(wanted.isShare || table.only);
	if (wanted.isList || (isQuestion && isOfRows)) {
		const listed =
			wanted.isList || table.only
				? rowReport(columns, sortedRows(table, wanted.sortBy ?? null, wanted.isDescending, top ?? MOST_ROWS), rows)
				: '';
		return said(
			[
				`${count}${isPart ? shareOf((all ?? analysis).rows, rows) : ''}.`,
				wanted.isList && value !== null && isAmount(columns[value].name) && totals(columns[value], measure)
			],
			listed
		);
	}
	const isWhole = details || (wanted.measure === undefined && !isPart);
	const part =
		isPart && value !== null && measure === 'sum'
			? shareOf((all ?? analysis).columns[value].numbers.sum, columns[value].numbers.sum)
			: '';
	const figure = said(value === null ? [] : [totals(columns[value], measure), part && `That is${part} of all.`]);
	return { ...figure, isDrawn: figure.isDrawn || isWhole, isWhole };

	function ofGroups() {
		const isLowest = wanted.end === 'low';
		const headline = isOfKinds
			? [
					`**${groups.ordered(null).filter(({ keys }) => keys[0] !== MISSING_KEY).length}** different values of ${columns[by[0]].name}.`
				]
			: top
				? [ranking(analysis, shownValue, measure, isLowest, top)]
				: [
						wanted.isOfPeriods && !isOfRows && averageOf(analysis, value, period),
						extremes(analysis, shownValue, measure, isLowest)
					];
		if (table.only && !headline.some(Boolean)) headline.push(`${count}.`);
		const numbers = columns.flatMap(({ isNumber }, index) => (isNumber && !by.includes(index) ? [index] : []));
		const shown = isOfRows ? [] : details && wanted.value === null ? numbers : [value];
		return said(headline, groupReport(analysis, shown, shownValue, measure));
	}

	/** Those with the highest or the lowest of a column: all that have it, or the first so many. */
	function rowsAt(index, isHigh) {
		const found = sortedRows(table, index, isHigh, top ?? MOST_ROWS);
		const best = top ? found : found.filter(({ cells }) => cells[index] === found[0].cells[index]);
		return rowReport(columns, best, best.length);
	}
}
