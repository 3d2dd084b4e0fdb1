/** Reads a question in plain words: which rows it is about, what is compared, and by which number. */

import { conditionText, monthsIn } from './conditions.mjs';
import { likelyValue, namedColumns, SMALL, stem } from './names.mjs';
import { kindsOf } from './report.mjs';
import { monthNumber, parseNumber } from './values.mjs';

const MEASURES = [
	['count', /\b(how many|number of|count|how often)\b/],
	['median', /\bmedian\b/],
	['mean', /\b(average|averages|mean|avg|on average|typical|typically)\b/],
	['sum', /\b(total|totals|sum|sums|how much|altogether|add up|in all)\b/]
];
const HIGH = /\b(most expensive|highest|most|maximum|max|biggest|largest|greatest|top|best|dearest|priciest)\b/;
const LOW = /\b(least expensive|lowest|least|minimum|min|smallest|fewest|cheapest|worst)\b/;
const LATE = /\b(last(?! (day|week|month|quarter|year)\b)|latest|newest|most recent|recent|recently)\b/;
const EARLY = /\b(first|earliest|oldest)\b/;
const MORE = /\bmore\b/;
const LESS = /\b(less|fewer)\b/;
const NEGATIONS = /\b(not|never|no|without|except|excluding)\b|n't\b/g;
/** Right before what isn't meant, small words aside. */
const NOT = /(\b(not|never|no|without|except|excluding|has to|have to|had to|must|needs? to)|n't)( (been|yet|have|has|had|is|are|the|for|from|in|of|at|on|to|a))*$/;
/** Stands before what is grouped by. */
const BY = /\b(per|by|each|every|a|across|in which|which|what|whose)$/;
const PERIODS = { day: /\b(days?|daily)\b/g, month: /\b(months?|monthly|over time|trend)\b/g, quarter: /\b(quarters?|quarterly)\b/g, year: /\b(years?|yearly|annual|annually)\b/g };
const NUMBER = '[$€£¥]?\\s?(\\d[\\d,.]*\\d|\\d)';
const LIMITS = [
	['>=', `(?:at least|minimum of|>=|≥) ?${NUMBER}|${NUMBER} or (?:more|over|above|higher)`],
	['<=', `(?:at most|up to|maximum of|no more than|<=|≤) ?${NUMBER}|${NUMBER} or (?:less|fewer|under|below|lower)`],
	['>', `(?:over|above|more than|greater than|higher than|bigger than|larger than|older than|exceeding|>) ?${NUMBER}`],
	['<', `(?:under|below|less than|fewer than|lower than|smaller than|cheaper than|younger than|<) ?${NUMBER}`],
	['=', `(?:exactly|equal to|equals|=) ?${NUMBER}`]
];
const NUMBER_WORDS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
/** What is sold by the piece is counted by a column of these. */
const PIECES = /^(units?|quantity|qty|pieces|count)$/i;
const ENDS = 'first|last|latest|newest|oldest|earliest|recent|biggest|largest|highest|lowest|cheapest|smallest|best|worst|most expensive';
const MOST_CELL_WORDS = 6;

/**
 * Each line after the first goes on with the one before: `how much on food?`, `and in January?`.
 * @param columns of the whole file, summed up
 * @returns `conditions`, `by` (indexes), `period`, `value` (index or null), `measure` (or undefined), `end` (`high`, `low`, `late`, `early` or undefined), `top`,
 * `isOfKinds` (how many different ones there are), `isOfPeriods` (what a month or year has on average), `isList`, `isChart`, `isPie`, `isOverview`; and `unknown`: words that nothing in the file is called by
 */
export function readQuestion(text, table, columns) {
	const lines = text.split('\n').map((line) => line.trim()).filter(Boolean);
	const read = lines.map((line) => readLine(line, table, columns)).reduce(goOn);
	// Who names some rows and no number wants to see them.
	const isOfNumber = read.measure || read.isOfMoney || read.isShare || (read.value !== null && read.conditions.every(({ index }) => index !== read.value));
	return { ...read, isList: read.isList || (read.conditions.length > 0 && !isOfNumber) };
}

function goOn(before, next) {
	const given = Object.entries(next).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value || value === 0));
	const conditions = [...before.conditions.filter(({ index }) => next.conditions.every((each) => each.index !== index)), ...next.conditions];
	// What was compared by a column is now about one of it.
	const by = next.by.length > 0 ? next.by : before.by.filter((index) => next.conditions.every((each) => each.index !== index || each.isSeveral));
	return { ...before, ...Object.fromEntries(given), conditions, by, period: next.by.length > 0 ? next.period : before.period, isOverview: false };
}

function readLine(line, table, columns) {
	const said = ` ${line.toLowerCase().replaceAll(table.name.toLowerCase(), ' ').replace(/[’`]/g, "'").replace(/[?!;:"“”()]|[.,](?=\s|$)/g, ' ').replace(/\s+/g, ' ').trim()} `
		.replace(/\b\p{Ll}{3,5}\b/gu, (word) => NUMBER_WORDS.includes(word) ? String(NUMBER_WORDS.indexOf(word) + 2) : word);
	/** What is understood is blanked out, so that its words mean nothing else. */
	let open = said;
	const take = (start, length) => {
		open = open.slice(0, start) + ' '.repeat(length) + open.slice(start + length);
	};
	const before = (at) => said.slice(0, at).trimEnd();
	const isDenied = (at) => {
		const denial = NOT.exec(before(at));
		if (denial) take(denial.index, denial[0].length);
		return denial !== null;
	};
	const dates = columns.flatMap((column, index) => (column.type === 'date' ? [index] : []));
	const conditions = [];
	const by = [];
	let period;

	const named = namedColumns(said, columns);
	const value = named.find(({ index }) => columns[index].isNumber)?.index ?? null;
	const dateAt = named.find(({ index }) => dates.includes(index))?.index ?? dates[0];
	const numbers = columns.flatMap(({ isNumber }, index) => (isNumber ? [index] : []));
	const likely = value ?? likelyValue(columns, numbers);

	// Numbers are limits of the column that is named, else of the likeliest one.
	const range = new RegExp(`between ${NUMBER} and ${NUMBER}`).exec(said);
	const limits = range
		? [['>=', range[1], range], ['<=', range[2], range]]
		: LIMITS.flatMap(([sign, pattern]) => [...said.matchAll(new RegExp(` ${pattern}(?![\\d-])`, 'g'))].map((found) => [sign, found[1] ?? found[2], found]));
	const age = columns.findIndex(({ name, isNumber }) => isNumber && /^age$/i.test(name));
	for (const [sign, digits, { 0: all, index: at }] of limits) {
		const number = parseNumber(digits, table.decimalComma);
		const index = /older|younger/.test(all) && age >= 0 ? age : likely;
		if (!number || index === null) continue;
		conditions.push({ index, sign, number, text: conditionText(columns[index].name, sign, digits) });
		take(at, all.length);
	}
	const ranked = new RegExp(`\\b(?:top|${ENDS}) (\\d{1,2})\\b|\\b(\\d{1,2}) (?:${ENDS})\\b`).exec(open);
	const top = ranked ? Number(ranked[1] ?? ranked[2]) : undefined;
	if (ranked) open = open.replace(ranked[0], ranked[0].replace(/\d/g, ' '));

	// Months and years of the dates.
	if (dateAt !== undefined) {
		let isRange = false;
		for (const { text: said, at, months } of monthsIn(open)) {
			const text = said.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
			const isTo = /^ (to|until|till|through|-|–) /.test(open.slice(at + said.length));
			const isEnd = isRange && /\b(and|to|until|till|through|-|–)$/.test(before(at));
			isRange = isTo || /\bbetween$/.test(before(at));
			const [, word] = /\b(since|after|before|until|till)$/.exec(before(at)) ?? [];
			const sign = isRange ? '>=' : isEnd ? '<=' : ({ since: '>=', after: '>', before: '<', until: '<=', till: '<=' }[word] ?? '=');
			const same = conditions.find((each) => each.index === dateAt && each.sign === '=' && sign === '=');
			if (same) Object.assign(same, { months: [...same.months, months], text: `${same.text} or ${text}`, isSeveral: true });
			else conditions.push({ index: dateAt, sign, months: [months], text: conditionText(columns[dateAt].name, sign, text, true) });
			take(at, said.length);
		}
		open = open.replace(/\b(since|after|before|until|till|through)\b/g, (word) => ' '.repeat(word.length));
	}

	// Cells: the longest first, so that `New York` is not the `new` of another column.
	for (const { text, at, index, cell } of cellsIn(open, columns)) {
		if (open.slice(at, at + text.length) !== text || named.some((each) => each.at < at + text.length && at < each.at + each.text.length && each.text.length >= text.length)) continue;
		const sign = isDenied(at) ? '!=' : '=';
		const same = conditions.find((each) => each.index === index && each.sign === sign && each.cells);
		if (same) Object.assign(same, { cells: [...same.cells, cell], text: `${same.text} or ${cell}`, isSeveral: true });
		else conditions.push({ index, sign, cells: [cell], text: conditionText(columns[index].name, sign, cell) });
		take(at, text.length);
	}
	const compared = conditions.find(({ isSeveral, cells }) => isSeveral && cells);

	// Columns: one of yes and no is what rows have or lack; others are grouped by, unless a number or a date is what is asked for.
	let isOfKinds = false;
	for (const { text, at, index } of named) {
		const { type, isNumber } = columns[index];
		const isBy = BY.test(before(at)) || /\b(highest|most|lowest|least|best|worst|expensive|cheapest|biggest|smallest|top|common)$/.test(before(at));
		const isUn = /\bun$/.test(said.slice(0, at));
		if (type === 'yes/no' && !isBy) {
			const isNo = isUn || isDenied(at);
			const cell = [...columns[index].counts.keys()].find((each) => /^(no|false)$/i.test(each) === isNo) ?? (isNo ? 'no' : 'yes');
			conditions.push({ index, sign: '=', cells: [cell], text: conditionText(columns[index].name, '=', cell) });
		} else if (isBy && (!isNumber || /\b(per|by|each|every)$/.test(before(at)))) by.push(index);
		else if (!isNumber && type !== 'date') {
			isOfKinds ||= /\b(how many|number of)( (different|various|distinct|unique))?$/.test(before(at));
			if (conditions.every((each) => each.index !== index)) by.push(index);
		}
		take(isUn ? at - 2 : at, text.length + (isUn ? 2 : 0));
	}
	if (compared && !by.includes(compared.index)) by.unshift(compared.index);
	if (dateAt !== undefined && !by.some((index) => dates.includes(index) && named.every((each) => each.index !== index))) {
		for (const [name, pattern] of Object.entries(PERIODS)) {
			const [found] = open.matchAll(pattern);
			if (!found || period || /\b(this|last|next)$/.test(before(found.index))) continue;
			period = name;
			by.unshift(dateAt);
			take(found.index, found[0].length);
		}
	}

	const meant = MEASURES.find(([, pattern]) => pattern.test(said))?.[0];
	// Of a month there's one total, and the average is that of all months.
	const isOfPeriods = meant === 'mean' && period !== undefined;
	const pieces = columns.findIndex(({ name, isNumber }) => isNumber && PIECES.test(name));
	const isOfPieces = meant === 'count' && pieces >= 0 && value === null && /\b(sell|sold|sells|buy|bought|ordered|order)\b/.test(said);
	const measure = isOfPeriods || isOfPieces ? 'sum' : meant;
	const isDated = dateAt !== undefined && by.length === 0;
	const end = isDated && LATE.test(open) ? 'late' : isDated && EARLY.test(open) ? 'early' : LOW.test(open) || (compared && LESS.test(open)) ? 'low' : HIGH.test(open) || (compared && MORE.test(open)) ? 'high' : undefined;
	// “What did I spend most on?” asks for a kind, not for a row.
	const kinds = kindsOf(columns);
	if (end && by.length === 0 && kinds !== null && /\b(on|for|from) $/.test(said)) by.push(kinds);
	for (const pattern of [LATE, EARLY, LOW, HIGH, ...(compared ? [MORE, LESS] : []), ...MEASURES.map(([, each]) => each)])
		open = open.replace(new RegExp(pattern, 'g'), (all) => ' '.repeat(all.length));
	// What every row is, only the person knows: `how many purchases`, `the cheapest trip`.
	open = open.replace(/[\p{L}'-]+/gu, (word, at) => (isRowNoun(word, before(at)) ? ' '.repeat(word.length) : word));
	const unknown = [...open.matchAll(/[\p{L}\p{N}][\p{L}\p{N}'.,-]*/gu)].map(([word]) => word).filter((word) => !SMALL.has(word) && !/^(shares?|percent|percentage|proportion|expensive|common)$/.test(word));
	// `purchases over 200`: what all rows are has a name of its own.
	const [only, ...others] = unknown;
	const isRows = others.length === 0 && conditions.length > 0 && /[^s]s$/.test(only ?? '') && !new RegExp(`\\b(of|on|for|about|from|in|at|with|and|or) (the |my |all )?${only} `).test(said);
	return {
		conditions,
		by: [...new Set(by)],
		period,
		value: isOfPieces ? pieces : value,
		date: dateAt,
		measure,
		end,
		top,
		isOfKinds,
		isOfPeriods,
		isShare: /\b(share|percent|percentage|proportion)\b|%/.test(said),
		isOfMoney: /\b(spen[dt]|costs?|pay|earn(ed)?)\b/.test(said),
		isList: /\b(list|show|who|whom|which ones|when)\b/.test(said),
		isChart: /\b(draw|chart|graph|plot|diagram|pie|visuali[sz]e|bars?)\b/.test(said),
		isPie: /\bpie\b/.test(said),
		isOverview: /\b(summar\w+|describe|analy[sz]e|overview|statistics)\b/.test(said),
		unknown: isRows ? [] : unknown
	};
}

function isRowNoun(word, before) {
	return !SMALL.has(word) && !/^(day|week|month|quarter|year|time)s?$/.test(word) && /\b(how many|number of|which|list( all)?|show( me)?( all)?|all|percentage of|percent of|share of|cheapest|expensive|highest|lowest|biggest|smallest|largest|last|latest|first|earliest|newest|oldest|top|most|average|median|total)( \d{1,2})?( (the|of the))?$/.test(before);
}

/** Cells of text that are said, the longest first; a month is found by its short name, too. */
function cellsIn(open, columns) {
	const keys = new Map();
	for (const [index, { type, isNumber, counts }] of columns.entries()) {
		if (isNumber || type === 'date' || type === 'yes/no') continue;
		for (const cell of counts.keys()) {
			const key = keyOf(cell);
			if (key && !keys.has(key)) keys.set(key, { index, cell });
		}
	}
	// `Ann` of `Ann Lee`, if nobody else is called so.
	const parts = new Map();
	for (const each of keys.values())
		for (const word of each.cell.toLowerCase().split(/\s+/)) parts.set(word, parts.has(word) && parts.get(word) !== each ? null : each);
	for (const [word, each] of parts) if (each && word.length > 1 && /^\p{L}+$/u.test(word) && !keys.has(word)) keys.set(word, each);
	const tokens = [...open.matchAll(/[^\s,]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
	const found = [];
	for (let size = Math.min(MOST_CELL_WORDS, tokens.length); size > 0; size -= 1)
		for (let place = 0; place + size <= tokens.length; place += 1) {
			const last = tokens[place + size - 1];
			const text = open.slice(tokens[place].at, last.at + last.text.length);
			const known = keys.get(keyOf(text));
			if (known && !(size === 1 && SMALL.has(text))) found.push({ ...known, text, at: tokens[place].at });
		}
	return found;
}

function keyOf(text) {
	const plain = text.toLowerCase().trim().replace(/'s$/, '');
	const month = monthNumber(plain);
	return month ? `month ${month}` : plain.split(/\s+/).map(stem).join(' ');
}
