/** What is said first, as a person would: the figure, the groups or the rows that were asked for. */

import { sortedRows } from './analysis.mjs';
import { isWithin, phraseOf } from './conditions.mjs';
import { quantile } from './columns.mjs';
import { compare, decimal, divide, subtract, ZERO } from './decimal.mjs';
import { MISSING_KEY } from './groups.mjs';
import { isAmount, labelOf, sortOf, WHO } from './names.mjs';
import { ranked } from './sentence.mjs';
import { monthText, parseNumber } from './values.mjs';
import { cell, groupReport, hasBothSigns, rowReport, share, inWords } from './report.mjs';

/** So many rows are shown. */
const MOST_ROWS = 20;
/** So many are named in a sentence. */
const MOST_NAMED = 8;
/** Money that goes out and comes in: all of it, and one payment. */
const FLOWS = { out: { all: 'spending', one: 'payment' }, in: { all: 'income', one: 'income' } };
const WORDS = { sum: 'total', mean: 'average', median: 'median', min: 'lowest', max: 'highest' };

/**
 * @param wanted as `readQuestion` gives it; of options `by`, `period`, `value` and `measure` alone
 * @param found `table` and `analysis` of the rows that are meant, `all` of the whole file (or null, where that's the same), `value`: index of the number column, or null
 * @returns `text`; `isDrawn`: a chart belongs to it; `isOfRows`: it's of the number of rows; `isWhole`: columns and statistics follow
 */
export function answer(wanted, { details, all, whole, table, analysis, value, beside }) {
	const { by, period, measure = 'sum', rank, top, isOfKinds, isQuestion, isYesNo, noun = 'rows' } = wanted;
	const { columns, groups, rows } = analysis;
	const total = (all ?? analysis).rows;
	const conditions = joined((wanted.conditions ?? []).filter(({ isOfFlow }) => !isOfFlow));
	const phrases = conditions.map((each) => phraseOf(each, columns));
	const label = labelOf((all ?? analysis).columns);
	const isOfWhen = wanted.isOfWhen && by.length === 0;
	const who = columns.findIndex(({ name, type }) => type === 'text' && WHO.test(name));
	const named = (wanted.isOfWho ? (who < 0 ? label : who) : null) ?? wanted.shown ?? (isOfWhen ? wanted.date : label);
	// In a file of income and spending, a part that only goes out is spending, whether or not it is called so.
	const hasNoIncome = value !== null && all && isOutgoing(columns[value]) && hasBothSigns(all.columns[value]);
	const flow = wanted.flow ?? (hasNoIncome ? 'out' : undefined);
	const askedEnd = hasNoIncome && !wanted.flow ? ({ low: 'high', high: 'low' }[wanted.end] ?? wanted.end) : wanted.end;
	const isOut = flow === 'out';
	if (rows === 0) return { text: table.only ? nothing() : '', isWhole: !table.only };
	// Her hours are asked for, and the cell is empty.
	if (
		isQuestion &&
		table.only &&
		value === null &&
		(wanted.value ?? null) !== null &&
		by.length === 0 &&
		!wanted.isList &&
		conditions.every(({ index }) => index !== wanted.value)
	)
		return { text: `There is no ${cell(columns[wanted.value].name)}${scopeOf(conditions)} in ${table.name}.` };
	const isOfRows = isOfKinds || value === null || Boolean(isQuestion && measure === 'count');
	const shownValue = isOfRows ? null : value;
	const scope = scopeOf(conditions);
	const of = table.only ? ` (${rows.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} ${noun})` : '';
	const said = (parts, more) => ({
		text: [parts.filter(Boolean).join(' '), more].filter(Boolean).join('\n\n'),
		isOfRows,
		isDrawn: Boolean(wanted.isChart)
	});
	// One bar compares nothing.
	const isBars = wanted.isChart || !isQuestion || groups?.ordered(null).length > 1;
	if (groups)
		return { ...ofGroups(), isDrawn: isBars && (isQuestion || wanted.measure === undefined), isWhole: details };
	const end = askedEnd ?? { min: 'low', max: 'high' }[measure];
	if (/late|early/.test(end) && wanted.sortBy === undefined) {
		const index = wanted.date ?? columns.findIndex(({ type }) => type === 'date');
		return { ...ofEnd(index, end === 'late', end === 'late' ? 'latest' : 'earliest'), isOfRows: !wanted.isOfBalance };
	}
	if (end && value !== null && wanted.sortBy === undefined)
		return ofEnd(value, end === 'high', (end === 'high') !== isOut ? 'highest' : 'lowest');
	if (wanted.isList || (isQuestion && isOfRows)) return ofRows();
	const isPart = Boolean(wanted.isShare || table.only);
	const isWhole = details || (wanted.measure === undefined && !isPart);
	const figure = value === null ? said([]) : ofFigure();
	return { ...figure, isDrawn: figure.isDrawn || isWhole, isWhole };

	/** `for Category “Food” in January`: after the figure's name. */
	function scopeOf(those) {
		const isTime = ({ index, months }) =>
			months && table.dates.length === 1 && /date|day|time|month/i.test(columns[index].name);
		const others = those.filter((each) => !isTime(each)).map((each) => phraseOf(each, columns));
		const times = those.filter(isTime).map((each) => ` ${phraseOf(each, columns, true)}`);
		return (others.length > 0 ? ` for ${others.join(' and ')}` : '') + times.join('');
	}

	/** `since March` and `until May` are one time. */
	function joined(all) {
		const since = all.find(({ months, sign }) => months && sign === '>=');
		const until = all.find(({ index, months, sign }) => months && index === since?.index && sign === '<=');
		if (!until) return all;
		const text =
			since.text.replace(' since ', ' from ') + until.text.replace(`${columns[until.index].name} until`, ' to');
		return all.flatMap((each) => (each === since ? { ...since, text } : each === until ? [] : each));
	}

	/** `has Town “Leeds”` */
	function having(count) {
		return `${count === 1 ? 'has' : 'have'} ${[...phrases, ...(wanted.flow && !conditions.some(({ isFlipped }) => isFlipped) ? [flowText()] : [])].join(' and ')}`;
	}

	function flowText() {
		return wanted.conditions.find(({ isOfFlow }) => isOfFlow).text;
	}

	/** No row meets it: of someone who is named it's told what they have instead. */
	function nothing() {
		const own = whole && isYesNo ? ofOne(whole) : '';
		// Whether it is so isn't known.
		if (own) return own.includes(' is missing') ? own : `No: ${own}`;
		const none = `no row ${having(1)}.`;
		return isYesNo ? `No: ${none}` : `N${none.slice(1)}`;
	}

	/** `Paid is “yes” for Ann Lee.`, with what the row of her, who is named, has in the columns that are asked about; '' for others. */
	function ofOne({ rows: read }) {
		const [one, ...more] = conditions.filter(
			({ index, cells, sign }) => index === label && cells?.length === 1 && sign === '='
		);
		const asked = conditions.filter((each) => each !== one);
		if (!one || more.length > 0) return '';
		const found = [...read()].filter(({ cells }) => cells[label]?.trim() === one.cells[0]);
		if (found.length !== 1) return '';
		if (asked.length === 0) return `**${cell(one.cells[0])}** is one of the ${total.toLocaleString('en-US')} ${noun}.`;
		const cellOf = (index) => cell(found[0].cells[index] ?? '');
		const has = asked.map(
			({ index }) => `${columns[index].name} is ${cellOf(index) ? `“${cellOf(index)}”` : 'missing'}`
		);
		return `${[...new Set(has)].join(' and ')} for **${cell(one.cells[0])}**.`;
	}

	/** Money that goes out is told without its sign. */
	function statOf(found, name) {
		const raw = found.measure(isOut ? ({ min: 'max', max: 'min' }[name] ?? name) : name);
		return isOut && raw ? subtract(ZERO, raw) : raw;
	}

	function shown(number) {
		return columns[value].show(number);
	}

	function shownCell(text) {
		const number = parseNumber(text, table.decimalComma);
		return number ? shown(number) : cell(text);
	}

	function thingOf(index) {
		return flow && index === value ? FLOWS[flow].one : cell(columns[index].name);
	}

	/** `total amount`, `average age`, `total spending` */
	function nameOf(name) {
		const thing = name === 'sum' && flow ? FLOWS[flow].all : thingOf(value);
		return name === 'sum' && /^total\b/i.test(thing) ? thing : `${WORDS[name]} ${thing}`;
	}

	function ofFigure() {
		const { numbers } = columns[value];
		const kinds = Object.keys(WORDS).filter(
			(name) => name !== 'median' && (name !== 'sum' || isAmount(columns[value].name))
		);
		const others = kinds
			.filter((name) => name !== measure)
			.map((name) => `${WORDS[name]} ${shown(statOf(numbers, name))}`);
		if (measure === 'count')
			return said([`**${numbers.count.toLocaleString('en-US')}** ${noun} have ${cell(columns[value].name)}${of}.`]);
		const mark = measure === 'median' && columns[value].isSampled ? '≈' : '';
		const number = measure === 'median' ? quantile(columns[value].sortedValues(), 0.5) : statOf(numbers, measure);
		const { sum, below, min } = (all ?? analysis).columns[value].numbers;
		const whole = { out: subtract(ZERO, below), in: subtract(sum, below) }[flow] ?? sum;
		const isPart =
			table.only &&
			measure === 'sum' &&
			(flow ? conditions.length > 0 : compare(min, ZERO) >= 0) &&
			compare(whole, ZERO) > 0;
		if (isPart && wanted.isShare)
			return said([
				`**${share(number, whole)}** of the ${nameOf('sum')} is${scope} (${shown(number)} of ${shown(whole)}).`
			]);
		const { limit } = wanted;
		const verdict = limit ? (isWithin(compare(number, limit.number), limit.sign) ? 'Yes: the' : 'No: the') : 'The';
		// Where all are the same, it's no average, and what one row has is no total.
		const isOne = isQuestion && wanted.measure === undefined && rows === 1 && !flow;
		const isSame = isOne || (measure !== 'sum' && compare(numbers.min, numbers.max) === 0);
		const more =
			numbers.count > 1 && !isSame ? `${numbers.count.toLocaleString('en-US')} values: ${others.join(', ')}.` : '';
		const part =
			isPart && numbers.count > 1 ? ` That is ${share(number, whole)} of all${flow ? ` ${FLOWS[flow].all}` : ''}.` : '';
		const named = isSame ? thingOf(value) : nameOf(measure);
		const isOwn = isOne && conditions.length === 1 && conditions[0].index === label && conditions[0].cells;
		const whose = isOwn ? ` of ${cell(conditions[0].cells[0])}` : scope;
		return said(
			[`${verdict} ${named}${whose} is **${mark}${shown(number)}**${of}.`, partBeside(), piecesBeside()],
			(more + part).trim()
		);
	}

	/** Of all that came in, what has the category Income. */
	function partBeside() {
		const found = beside?.columns[value].numbers;
		if (!found || found.count === 0 || found.count === columns[value].numbers.count || measure !== 'sum') return '';
		return `With ${phraseOf(wanted.beside, columns)} it is **${shown(found.sum)}**.`;
	}

	/** `How much coffee did we sell?` may be meant of money or of pieces: both are told. */
	function piecesBeside() {
		const pieces = columns.find(({ isNumber, name }) => isNumber && sortOf(name) === 'pieces');
		const isMeant =
			isQuestion && measure === 'sum' && (wanted.value ?? null) === null && !wanted.isOfMoney && !wanted.limit;
		if (!isMeant || !pieces || pieces === columns[value] || pieces.numbers.count === 0) return '';
		return `The total ${cell(pieces.name)} is **${pieces.show(pieces.numbers.sum)}**.`;
	}

	/** A percentage of rows is often meant of the money in them: both are told. */
	function shareOfSum() {
		if (wanted.isShareOfRows || value === null || !isAmount(columns[value].name)) return '';
		const [part, sum] = [columns[value], (all ?? analysis).columns[value]].map(({ numbers }) => numbers);
		if (part.count === 0 || compare(sum.min, ZERO) < 0 || compare(sum.sum, ZERO) === 0) return '';
		return `Of the ${nameOf('sum')} it is **${share(part.sum, sum.sum)}** (${shown(part.sum)} of ${shown(sum.sum)}).`;
	}

	function ofRows() {
		const { limit } = wanted;
		const isListed = wanted.isList || table.only;
		const listed = isListed ? sortedRows(table, wanted.sortBy ?? null, wanted.isDescending, top ?? MOST_ROWS) : [];
		const list = isListed ? rowReport(columns, listed, rows) : '';
		const count = `**${rows.toLocaleString('en-US')}**`;
		const names = wanted.isList && table.only && rows <= MOST_NAMED ? namesIn(listed) : '';
		const sum =
			wanted.isList &&
			!wanted.isOfWho &&
			wanted.shown === undefined &&
			!wanted.isOfAll &&
			value !== null &&
			isAmount(columns[value].name) &&
			!columns[value].isOfYears &&
			rows > 1
				? `Their ${nameOf('sum')} is **${shown(statOf(columns[value].numbers, 'sum'))}**.`
				: '';
		const one = conditions.length === 1 && conditions[0].index === label && conditions[0].cells?.[0];
		if (one && rows === 1 && wanted.shown !== undefined && wanted.shown !== label) {
			const has = listed[0].cells[wanted.shown]?.trim();
			const { name } = columns[wanted.shown];
			return said(
				[has ? `The ${name} of ${cell(one)} is **${cell(has)}**.` : `The ${name} of ${cell(one)} is missing.`],
				list
			);
		}
		if (one && rows === 1 && wanted.isList && !isYesNo && conditions[0].sign === '=') {
			const has = columns.flatMap(({ name }, index) => {
				const text = listed[0].cells[index]?.trim();
				return index === label || !text ? [] : [`${cell(name)} ${cell(text)}`];
			});
			return said([`**${cell(one)}**: ${has.join(', ')}.`], list);
		}
		const parted = `${count} of ${total.toLocaleString('en-US')} ${noun} ${having(rows)}`;
		const isMet = wanted.isOfAll ? rows === total : true;
		const own = isYesNo && !wanted.isOfAll && !limit ? ofOne(table) : '';
		if (own) return said([`Yes: ${own}`], list);
		if (limit) {
			const isYes = isWithin(compare(decimal(rows), limit.number), limit.sign);
			return said([`${isYes ? 'Yes' : 'No'}: ${table.only ? parted : `there are ${count} ${noun}`}.`], list);
		}
		if (table.only && wanted.isShare)
			return said(
				[`**${share(decimal(rows), decimal(total))}** of ${noun} ${having(2)} (${rows} of ${total}).`, shareOfSum()],
				list
			);
		if (table.only) {
			const verdict = isYesNo ? `${isMet ? 'Yes' : 'No'}: ` : '';
			return said(
				[`${verdict}${parted}${names ? `: ${names}` : ` (${share(decimal(rows), decimal(total))})`}.`, sum],
				list
			);
		}
		if (!wanted.isList) return said([`There are ${count} ${noun}.`], list);
		const sorted =
			wanted.sortBy === undefined
				? ''
				: `, by ${columns[wanted.sortBy].name}, ${wanted.isDescending ? 'highest' : 'lowest'} first`;
		const some = listed.length < rows ? `${listed.length} of the` : 'all';
		return said([`Here are ${some} ${count} ${noun}${sorted}.`], list);
	}

	/** `Ann, Bo and Cy`, of somebody's rows what they are of; '' where nothing names the rows. */
	function namesIn(found, given = named) {
		const isSaid = (at) => conditions.some((each) => each.index === at && each.sign === '=' && !each.isSeveral);
		const other = columns.findIndex(({ type }, at) => type === 'text' && !isSaid(at));
		const index = given === null || !isSaid(given) ? given : other < 0 || !WHO.test(columns[given].name) ? null : other;
		const names = index === null ? [] : [...new Set(found.map(({ cells }) => cells[index]?.trim()).filter(Boolean))];
		return inWords(names.map(cell));
	}

	/** Those with the highest or the lowest of a column: all that have it, or the first so many. */
	function ofEnd(index, isHigh, word) {
		const found = sortedRows(table, index, isHigh, top ?? MOST_ROWS);
		const first = found[(rank ?? 1) - 1];
		if (!first) return said([`There are only ${rows} ${noun}${scopeOf(conditions)}.`]);
		const same = found.filter(({ cells }) => cells[index] === first.cells[index]);
		// Of several on the last day, the last in a file that goes on in time.
		const isLastRow = wanted.isOfBalance && !columns[index].isNumber;
		const isBackwards =
			same.length < found.length && sortedRows(table, null, false, 1)[0].cells[index] === same[0].cells[index];
		const best = top ? found : isLastRow ? [same.at(isBackwards ? 0 : -1)] : same;
		const text = columns.findIndex(({ type }) => type === 'text');
		const isNamed = named !== null || top || text < 0;
		const few = named === index || best.length > MOST_NAMED ? '' : namesIn(best, isNamed ? named : text);
		const names = few && !isNamed ? ` (${columns[text].name} ${few})` : few && `: ${few}`;
		const own = columns[index].isNumber ? null : best[0].cells[index].trim();
		const thing = thingOf(index);
		const figure = own ?? shown(isOut ? subtract(ZERO, first.key) : first.key);
		const scope = scopeOf(conditions.filter((each) => each.index !== index || each.months));
		const lead = isLastRow
			? `The ${cell(columns[value].name)} on ${own} is **${shownCell(best[0].cells[value])}**.`
			: top
				? `${few ? 'The' : 'Here are the'} ${best.length} ${noun} with the ${word} ${thing}${scope}${few ? ` are ${few}` : ''}.`
				: `The ${ranked(rank, word)} ${thing}${scope} is **${figure}**${names}.`;
		return said([lead], rowReport(columns, best, best.length));
	}

	function ofGroups() {
		const [first] = groups.ordered(null);
		if (isQuestion && rows === 1 && by.length === 1 && !period && !isOfKinds && measure !== 'count')
			return said(
				[`The ${cell(columns[by[0]].name)}${scope} is **${cell(first.label)}**.`],
				rowReport(columns, sortedRows(table, null, false, 1), 1)
			);
		const numbers = columns.flatMap(({ isNumber }, index) => (isNumber && !by.includes(index) ? [index] : []));
		const tables = isOfRows ? [] : details && wanted.value === null ? numbers : [value];
		const none = period ? undefined : groups.ordered(null).find(({ label: key }) => key === MISSING_KEY)?.rows;
		const missing =
			none && `${none} of ${rows} ${noun} ${none === 1 ? 'has' : 'have'} no ${cell(columns[by[0]].name)}.`;
		return said([...headlines(), missing], groupReport(analysis, tables, shownValue, measure));
	}

	/** `January 2025` for 2025-01. */
	function keyText(key) {
		return cell(monthText(key) ?? key);
	}

	function headlines() {
		const sizes = groups.ordered(shownValue, measure).flatMap(({ keys, label: key, rows: count, sums }) => {
			const size = shownValue === null ? decimal(count) : statOf(sums[value], measure);
			// What has no name is no winner.
			return size && !keys.includes(MISSING_KEY) ? [{ key, size }] : [];
		});
		if (isOfKinds) {
			const names = sizes.length > MOST_NAMED ? '' : `: ${inWords(sizes.map(({ key }) => keyText(key)))}`;
			if (columns[by[0]].type === 'date')
				return [
					`${table.only ? `**${sizes.length}** ${sizes.length === 1 ? 'day' : 'days'} ${having(sizes.length)}` : `There are **${sizes.length}** different days`}${names}.`
				];
			return [`There are **${sizes.length}** different values of ${columns[by[0]].name}${scope}${names}.`];
		}
		if (sizes.length === 0) return [];
		const isOfCount = shownValue === null || measure === 'count';
		const isSingle = groups.ordered(null).every(({ rows: count }) => count === 1);
		const text = (size) => (isOfCount ? size.units.toLocaleString('en-US') : shown(size));
		const thing = isOfCount
			? `number of ${noun}`
			: measure === 'min' || measure === 'max' || (isSingle && !flow)
				? cell(columns[value].name)
				: nameOf(measure);
		const isLowest = measure === 'min' || (measure !== 'max' && (askedEnd === 'low') !== isOut && Boolean(askedEnd));
		const ordered = sizes.toSorted((one, other) => compare(other.size, one.size) * (isLowest ? -1 : 1));
		const bold = ({ key, size }) => `**${keyText(key)}** (${text(size)})`;
		if (top)
			return [
				`The ${Math.min(top, ordered.length)} with the ${isLowest ? 'lowest' : 'highest'} ${thing}${scope} are ${inWords(ordered.slice(0, top).map(bold))}.`
			];
		const average = wanted.isOfPeriods && !isOfRows && averageText();
		const first = ordered[(rank ?? 1) - 1];
		if (!first) return [`There are only ${ordered.length} different values of ${columns[by[0]].name}${scope}.`];
		const last = ordered.at(-1);
		if (ordered.length === 1)
			return [
				average,
				`The ${thing}${scope} is **${text(first.size)}** for ${keyText(first.key)}, and there is no other.`
			];
		if (compare(first.size, last.size) === 0)
			return [
				average,
				`${isYesNo && wanted.isThan ? 'No: the' : 'The'} ${thing}${scopeOf(conditions.filter(({ isSeveral }) => !isSeveral))} is the same for ${ordered.length > MOST_NAMED ? `all ${ordered.length}` : inWords(ordered.map(({ key }) => keyText(key)))}: **${text(first.size)}**.`
			];
		const pair = pairOf(sizes);
		if (pair) return [pair(thing, text)];
		const those = (size) => {
			const same = ordered.filter((each) => compare(each.size, size) === 0).map(({ key }) => `**${keyText(key)}**`);
			const rest = same.length > 3 ? [`${same.length - 3} more`] : [];
			return { names: inWords([...same.slice(0, 3), ...rest]), has: same.length === 1 ? 'has' : 'have' };
		};
		const [top1, bottom] = [those(first.size), those(last.size)];
		const [high, low] = (isLowest ? ['lowest', 'highest'] : ['highest', 'lowest']).map((end) => ranked(rank, end));
		// Of the highest or lowest of each group, one is the highest of all; of the others that says nothing.
		const other = rank || /min|max/.test(measure) ? '' : `, ${bottom.names} the ${low} (${text(last.size)})`;
		return [average, `${top1.names} ${top1.has} the ${high} ${thing}${scope} (${text(first.size)})${other}.`];
	}

	/** What a month or year has on average, which the average of its rows doesn't say; those without a row count, too. */
	function averageText() {
		const keys = groups.ordered(null).flatMap(({ keys: [key] }) => (key === MISSING_KEY ? [] : [key]));
		const sum = statOf(columns[value].numbers, 'sum');
		const each = (count) => `**${shown(divide(sum, decimal(count)))}**`;
		const many = (count) => `${count.toLocaleString('en-US')} ${count === 1 ? period : `${period}s`}`;
		const thing = flow ? FLOWS[flow].all : cell(columns[value].name);
		const lead = `The average ${thing} per ${period}${scope} is`;
		const [first, last] = [keys.toSorted()[0], keys.toSorted().at(-1)];
		const span = spanOf(first, last, period);
		if (span <= keys.length) return `${lead} ${each(keys.length)} (${many(keys.length)}).`;
		return `${lead} ${each(span)} over all ${many(span)} from ${keyText(first)} to ${keyText(last)}; of the ${many(keys.length)} that have a row it is ${each(keys.length)}.`;
	}

	/** Of two that are compared, what the first has more than the second; null where it isn't two. */
	function pairOf(sizes) {
		const { pair } = wanted;
		if (!pair || sizes.length !== 2 || wanted.isOfPeriods) return null;
		const at = (one) =>
			sizes.find(({ key }) => key.toLowerCase() === one.toLowerCase() || (one.startsWith('-') && key.endsWith(one)));
		const named = pair.map(at);
		if (named.includes(undefined) || named[0] === named[1]) return null;
		const isMore = compare(named[0].size, named[1].size) > 0;
		// Which of both is asked for stands first, unless the question names one before the other.
		const [one, other] = wanted.isThan || isMore !== wanted.isLess ? named : named.toReversed();
		const isHigher = compare(one.size, other.size) > 0;
		const verdict = isYesNo && wanted.isThan ? (isHigher !== wanted.isLess ? 'Yes: the' : 'No: the') : 'The';
		const by = subtract(isHigher ? one.size : other.size, isHigher ? other.size : one.size);
		// What is compared is told by its names.
		const rest = scopeOf(conditions.filter(({ isSeveral }) => !isSeveral));
		return (thing, text) =>
			`${verdict} ${thing}${rest} is **${text(by)}** ${isHigher ? 'higher' : 'lower'} for **${keyText(one.key)}** (${text(one.size)}) than for **${keyText(other.key)}** (${text(other.size)}).`;
	}
}

/** Is each of its numbers below 0? */
function isOutgoing({ numbers }) {
	return numbers.max !== null && compare(numbers.max, ZERO) < 0;
}

/** How many days, months or years there are from one to another; 0 where the calendar doesn't tell. */
function spanOf(first, last, period) {
	const [from, to] = [first, last].map((key) => new Date(key));
	if (isNaN(from) || isNaN(to)) return 0;
	const years = to.getUTCFullYear() - from.getUTCFullYear();
	const months = 12 * years + to.getUTCMonth() - from.getUTCMonth();
	const days = Math.round((to - from) / 86_400_000);
	return ({ year: years, month: months, day: days }[period] ?? -1) + 1;
}
