/** Reads a question in plain words: which rows it is about, what is compared, and by which number. */

import { conditionText, monthsIn } from './conditions.mjs';
import { likelyValue, namedColumns, ROW_NOUNS, SMALL, stem } from './names.mjs';
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
const EARLY = /\b(first|earliest|oldest|longest)\b/;
const AGES = { high: /\b(oldest|eldest)\b/, low: /\byoungest\b/ };
/** Of several kinds one figure is asked for. */
const TOGETHER = /\b(together|combined|both|altogether|in total)\b/;
const SORTING = /\b(sort|sorted|order|ordered|rank|ranked)( (them|it|all|everything|the rows|rows))? by$/;
/** Says when, and is no name for what rows are. */
const TIME =
	/^(yesterday|today|tomorrow|tonight|now|ago|daily|(week|weekday|weekend|day|month|quarter|year|time|morning|evening|night)s?)$/;
const MISSING = ['', 'na', 'n/a', 'nan', 'null', '-', '--'];
const IS_MISSING = /\b(missing|empty|blank)\b/;
const MORE = /\bmore\b/;
const LESS = /\b(less|fewer)\b/;
/** Right before what isn't meant, small words aside. */
const NOT =
	/(\b(not|never|no|without|except|excluding|has to|have to|had to|must|needs? to)|n't)( (been|yet|have|has|had|is|are|the|for|from|in|of|at|on|to|a))*$/;
/** Stands before what is grouped by. */
const BY = /\b(per|by|each|every|a|across|in which|which|what|whose)$/;
const BEST = /\b(highest|most|lowest|least|best|worst|expensive|cheapest|biggest|smallest|top|common)$/;
const DATE_SIGNS = { since: '>=', after: '>', before: '<', until: '<=', till: '<=' };
const PERIODS = {
	day: /\b(days?|daily)\b/g,
	month: /\b(months?|monthly|over time|trend)\b/g,
	quarter: /\b(quarters?|quarterly)\b/g,
	year: /\b(years?|yearly)\b/g
};
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
const ENDS =
	'first|last|latest|newest|oldest|earliest|recent|biggest|largest|highest|lowest|cheapest|smallest|best|worst|most expensive';
const MOST_CELL_WORDS = 6;

/**
 * Each line after the first goes on with the one before: `how much on food?`, `and in January?`.
 * @param columns of the whole file, summed up
 * @returns `conditions`, `by` (indexes), `period`, `value` (index or null), `measure` (or undefined), `end` (`high`, `low`, `late`, `early` or undefined), `top`,
 * `date` (index of the column of dates that is meant), `isOfKinds` (how many different ones there are), `isOfPeriods` (what a month or year has on average), `isList`, `isChart`, `isPie`, `isOverview`; and `unknown`: words that nothing in the file is called by
 */
export function readQuestion(text, table, columns) {
	const lines = text
		.split('\n')
		.map((line) => line.trim())
		.filter(Boolean);
	const read = lines.map((line) => readLine(line, table, columns)).reduce(goOn);
	// Who names some rows and no number wants to see them.
	const isOfNumber =
		read.measure ||
		read.isOfMoney ||
		read.isShare ||
		(read.value !== null && read.conditions.every(({ index }) => index !== read.value));
	return { ...read, isList: read.isList || (read.conditions.length > 0 && !isOfNumber) };
}

function goOn(before, next) {
	const given = Object.entries(next).filter(([, value]) =>
		Array.isArray(value) ? value.length > 0 : value || value === 0
	);
	const conditions = [
		...before.conditions.filter(({ index }) => next.conditions.every((each) => each.index !== index)),
		...next.conditions
	];
	// What was compared by a column is now about one of it.
	const by =
		next.by.length > 0
			? next.by
			: before.by.filter((index) =>
					next.conditions.every((each) => each.index !== index || each.isSeveral || each.sign !== '=')
				);
	return {
		...before,
		...Object.fromEntries(given),
		conditions,
		by,
		period: next.by.length > 0 ? next.period : before.period,
		isOverview: false
	};
}

function readLine(line, table, columns) {
	const sentence = sentenceOf(line, table.name);
	const { said } = sentence;
	const named = namedColumns(said, columns);
	const all = (isIt) => columns.flatMap((column, index) => (isIt(column) ? [index] : []));
	const dates = all(({ type }) => type === 'date');
	const age = columns.findIndex(({ name, isNumber }) => isNumber && /^age$/i.test(name));
	const ageEnd = age < 0 ? undefined : Object.keys(AGES).find((key) => AGES[key].test(said));
	const value = ageEnd ? age : (named.find(({ index }) => columns[index].isNumber)?.index ?? null);
	const date = named.find(({ index }) => dates.includes(index))?.index ?? dates[0];
	const likely =
		value ??
		likelyValue(
			columns,
			all(({ isNumber }) => isNumber)
		);
	const top = readTop(sentence);
	const conditions = [
		...readLimits(sentence, columns, likely, table.decimalComma),
		...readMonths(sentence, columns, date),
		...readCells(sentence, columns, named)
	];
	const { by, flags, isOfKinds, sortBy } = readColumns(sentence, columns, named, conditions);
	conditions.push(...flags);
	const compared = TOGETHER.test(said) ? undefined : conditions.find(({ isSeveral }) => isSeveral);
	if (compared?.cells && !by.includes(compared.index)) by.unshift(compared.index);
	const isDateNamed = by.includes(date) && named.every(({ index }) => index !== date);
	const periodNamed = date === undefined || isDateNamed ? undefined : readPeriod(sentence);
	const period = periodNamed ?? (compared?.months ? comparedPeriod(compared.months) : undefined);
	if (period) by.unshift(date);

	const meant =
		MEASURES.find(([, pattern]) => pattern.test(said))?.[0] ??
		(value === null && isOfCount(sentence) ? 'count' : undefined);
	// Of a month there's one total, and the average is that of all months.
	const isOfPeriods = meant === 'mean' && period !== undefined;
	const pieces = columns.findIndex(({ name, isNumber }) => isNumber && PIECES.test(name));
	const isOfPieces =
		meant === 'count' && pieces >= 0 && value === null && /\b(sell|sold|sells|buy|bought|ordered|order)\b/.test(said);
	const dated = readEnd(sentence, date !== undefined && by.length === 0 && !ageEnd, compared);
	const end = ageEnd ?? dated;
	// “What did I spend most on?” asks for a kind, not for a row.
	const kinds = kindsOf(columns);
	if (end && by.length === 0 && kinds !== null && /\b(on|for|from) $/.test(said)) by.push(kinds);
	return {
		conditions,
		by: [...new Set(by)],
		period,
		value: isOfPieces ? pieces : value,
		date,
		measure: isOfPeriods || isOfPieces ? 'sum' : meant,
		end,
		top,
		isOfKinds,
		isOfPeriods,
		isOfMoney: /\b(spen[dt]|costs?|pay|earn(ed)?)\b/.test(said),
		isShare: /\b(share|percent|percentage|proportion)\b|%/.test(said),
		sortBy,
		isList: sortBy !== undefined || /\b(list|show|who|whom|which ones|when)\b/.test(said),
		isChart: /\b(draw|chart|graph|plot|diagram|pie|visuali[sz]e|bars?)\b/.test(said),
		isPie: /\bpie\b/.test(said),
		isOverview: /\b(summar\w+|describe|analy[sz]e|overview|statistics)\b/.test(said),
		unknown: unknownIn(sentence, conditions)
	};
}

/** A line in small letters, without marks: `said` as a whole, and what is `left` of it, from which the readers below take what they understand, so that it means nothing else. */
function sentenceOf(line, fileName) {
	const plain = line
		.toLowerCase()
		.replaceAll(fileName.toLowerCase(), ' ')
		.replace(/[’`]/g, "'")
		.replace(/[?!;:"“”()]|[.,](?=\s|$)/g, ' ');
	const said = ` ${plain.replace(/\s+/g, ' ').trim()} `.replace(/\b\p{Ll}{3,5}\b/gu, (word) =>
		NUMBER_WORDS.includes(word) ? String(NUMBER_WORDS.indexOf(word) + 2) : word
	);
	return {
		said,
		left: said,
		before: (at) => said.slice(0, at).trimEnd(),
		take(at, length) {
			this.left = this.left.slice(0, at) + ' '.repeat(length) + this.left.slice(at + length);
		},
		takeAll(pattern, isMeant = () => true) {
			this.left = this.left.replace(pattern, (word, ...rest) =>
				isMeant(
					word,
					rest.find((each) => typeof each === 'number')
				)
					? ' '.repeat(word.length)
					: word
			);
		},
		/** Is what stands here excluded? */
		isDenied(at) {
			const denial = NOT.exec(this.before(at));
			if (denial) this.take(denial.index, denial[0].length);
			return denial !== null;
		}
	};
}

/** `over 100`, `between 5 and 10`: limits of the column that is named, else of the likeliest one. */
function readLimits(sentence, columns, likely, decimalComma) {
	const { said } = sentence;
	const range = new RegExp(` between ${NUMBER} and ${NUMBER}(?![\\d-])`).exec(said);
	const limits = range
		? [
				['>=', range[1], range],
				['<=', range[2], range]
			]
		: LIMITS.flatMap(([sign, pattern]) =>
				[...said.matchAll(new RegExp(` (?:${pattern})(?![\\d-])`, 'g'))].map((found) => [
					sign,
					found[1] ?? found[2],
					found
				])
			);
	const age = columns.findIndex(({ name, isNumber }) => isNumber && /^age$/i.test(name));
	return limits.flatMap(([sign, digits, { 0: text, index: at }]) => {
		const number = parseNumber(digits, decimalComma);
		const index = /older|younger/.test(text) && age >= 0 ? age : likely;
		if (!number || index === null) return [];
		sentence.take(at, text.length);
		return [{ index, sign, number, text: conditionText(columns[index].name, sign, digits) }];
	});
}

/** The 3 of `top 3` and `the 3 biggest`. */
function readTop(sentence) {
	const found = new RegExp(`\\b(?:top|${ENDS}) (\\d{1,2})\\b|\\b(\\d{1,2}) (?:${ENDS})\\b`).exec(sentence.left);
	if (!found) return undefined;
	const digits = found[1] ?? found[2];
	sentence.take(found.index + found[0].indexOf(digits), digits.length);
	return Number(digits);
}

/** `in February`, `since 2025`, `between March and May`, for the column of dates at index `date`. */
function readMonths(sentence, columns, date) {
	const conditions = [];
	if (date === undefined) return conditions;
	let isRange = false;
	for (const { text: word, at, months } of monthsIn(sentence.left)) {
		const text = word.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
		const before = sentence.before(at);
		const isEnd = isRange && /\b(and|to|until|till|through|-|–)$/.test(before);
		isRange = /\bbetween$/.test(before) || /^ (to|until|till|through|-|–) /.test(sentence.said.slice(at + word.length));
		const sign = isRange
			? '>='
			: isEnd
				? '<='
				: (DATE_SIGNS[/\b(since|after|before|until|till)$/.exec(before)?.[1]] ?? '=');
		const same = conditions.find((each) => each.sign === '=' && sign === '=');
		if (same)
			Object.assign(same, { months: [...same.months, months], text: `${same.text} or ${text}`, isSeveral: true });
		else
			conditions.push({
				index: date,
				sign,
				months: [months],
				text: conditionText(columns[date].name, sign, text, true)
			});
		sentence.take(at, word.length);
	}
	sentence.takeAll(/\b(since|after|before|until|till|through)\b/g);
	return conditions;
}

/** Cells, the longest first, so that `New York` is not the `new` of another column. */
function readCells(sentence, columns, named) {
	const conditions = [];
	for (const { text, at, index, cell } of cellsIn(sentence.left, columns)) {
		const isColumn = named.some(
			(each) => each.at < at + text.length && at < each.at + each.text.length && each.text.length >= text.length
		);
		if (isColumn || sentence.left.slice(at, at + text.length) !== text) continue;
		const sign = sentence.isDenied(at) ? '!=' : '=';
		const same = conditions.find((each) => each.index === index && each.sign === sign);
		if (same) Object.assign(same, { cells: [...same.cells, cell], text: `${same.text} or ${cell}`, isSeveral: true });
		else
			conditions.push({
				index,
				sign,
				cells: [cell],
				end: at + text.length,
				text: conditionText(columns[index].name, sign, cell)
			});
		sentence.take(at, text.length);
	}
	return conditions;
}

/** Columns of yes and no are what rows have or lack; others are grouped by, unless a number or a date is what is asked for. */
function readColumns(sentence, columns, named, conditions) {
	const by = [];
	const flags = [];
	let isOfKinds = false;
	let sortBy;
	for (const { text, at, index } of named) {
		const { name, type, isNumber, counts } = columns[index];
		const before = sentence.before(at);
		const isBy = BY.test(before) || BEST.test(before);
		const isUn = /\bun$/.test(sentence.said.slice(0, at));
		const missing =
			IS_MISSING.exec(sentence.left.slice(at + text.length).split(/\b(and|or)\b/)[0]) ??
			(/\b(missing|empty|blank|no|without)( (a|an|the|any))?$/.test(before) && type !== 'yes/no');
		if (missing) {
			flags.push({ index, sign: '=', cells: MISSING, text: `no ${name}` });
			sentence.takeAll(/\b(missing|empty|blank|no|without|not known)\b/g);
		} else if (SORTING.test(before) && (isNumber || type === 'date')) sortBy = index;
		else if (type === 'yes/no' && !isBy) {
			const [answer = '', told] =
				/^ (?:is |are )?(yes|no|true|false)\b/.exec(sentence.said.slice(at + text.length)) ?? [];
			sentence.take(at + text.length, answer.length);
			const isNo = told ? /no|false/.test(told) : sentence.isDenied(at) || isUn;
			const cell = [...counts.keys()].find((each) => /^(no|false)$/i.test(each) === isNo) ?? (isNo ? 'no' : 'yes');
			flags.push({ index, sign: '=', cells: [cell], text: conditionText(name, '=', cell) });
		} else if (
			isBy
				? !isNumber || (/\b(per|by|each|every)$/.test(before) && by.length === 0 && named.length === 1)
				: !isNumber && type !== 'date'
		) {
			isOfKinds ||= /\b(how many|number of)( (different|various|distinct|unique))?$/.test(before);
			if (isBy || conditions.every((each) => each.index !== index)) by.push(index);
		}
		sentence.take(isUn ? at - 2 : at, text.length + (isUn ? 2 : 0));
	}
	return { by, flags, isOfKinds, sortBy };
}

/** `per month`, `the best month`; not `last month`. */
function readPeriod(sentence) {
	for (const [name, pattern] of Object.entries(PERIODS)) {
		const [found] = sentence.left.matchAll(pattern);
		if (!found || /\b(this|last|next)$/.test(sentence.before(found.index))) continue;
		sentence.take(found.index, found[0].length);
		return name;
	}
	return undefined;
}

/** Of `June or May`, what each of them is. */
function comparedPeriod(months) {
	return months.every((key) => /^\d{4}$/.test(key))
		? 'year'
		: months.every((key) => /-\d{2}$/.test(key))
			? 'month'
			: undefined;
}

/** `the most orders`, `more members`: of rows there are many, of a number there is much. */
function isOfCount({ left }) {
	const [, ...next] = /\b(?:most|fewest|more|fewer) +(\p{L}+)(?: +(\p{L}+))?/u.exec(left) ?? [];
	return next.some((word) => word && ROW_NOUNS.has(stem(word))) || Boolean(next[0] && !isSmall(next[0]));
}

function isSmall(word) {
	return SMALL.has(word) || ROW_NOUNS.has(stem(word));
}

/** Which end is asked for; `more` and `less` only of what is compared. */
function readEnd(sentence, isDated, compared) {
	const ends = { ...(isDated && { late: LATE, early: EARLY }), low: LOW, high: HIGH };
	const end =
		Object.keys(ends).find((key) => ends[key].test(sentence.left)) ??
		(compared && (LESS.test(sentence.left) ? 'low' : MORE.test(sentence.left) ? 'high' : undefined));
	for (const pattern of [LATE, EARLY, LOW, HIGH, ...(compared ? [MORE, LESS] : [])])
		sentence.takeAll(new RegExp(pattern, 'g'));
	return end;
}

/** What is left of the sentence and has a meaning of its own. */
function unknownIn(sentence, conditions) {
	for (const pattern of [...Object.values(AGES), TOGETHER]) sentence.takeAll(new RegExp(pattern, 'g'));
	for (const [, pattern] of MEASURES) sentence.takeAll(new RegExp(pattern, 'g'));
	// What every row is, only the person knows: `how many purchases`, `the cheapest trip`.
	sentence.takeAll(/[\p{L}'-]+/gu, (word, at) => isRowNoun(word, sentence.before(at)));
	const unknown = (sentence.left.match(/[\p{L}\p{N}][\p{L}\p{N}'.,-]*/gu) ?? []).filter((word) => !isSmall(word));
	// `purchases over 200`: what all rows are has a name of its own.
	const [only, ...others] = unknown;
	const at = sentence.left.indexOf(only);
	// `bus rides`, as the last word.
	const isAfterCell =
		conditions.some(({ end }) => end === at - 1) &&
		!TIME.test(only) &&
		sentence.left.slice(at + only.length).trim() === '';
	if (others.length === 0 && only && isAfterCell) return [];
	const isRows = others.length === 0 && conditions.length > 0 && /[^s]s$/.test(only ?? '');
	return isRows && !/\b(of|on|for|about|from|in|at|with|and|or)( the| my| all)?$/.test(sentence.before(at))
		? []
		: unknown;
}

function isRowNoun(word, before) {
	return (
		!isSmall(word) &&
		!TIME.test(word) &&
		/\b(how many|number of|which|list( all)?|show( me)?( all)?|all|percentage of|percent of|share of|cheapest|expensive|highest|lowest|biggest|smallest|largest|last|latest|first|earliest|newest|oldest|top|most|average|median|total)( \d{1,2})?( (the|of the))?$/.test(
			before
		)
	);
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
		for (const word of each.cell.toLowerCase().split(/\s+/))
			parts.set(word, parts.has(word) && parts.get(word) !== each ? null : each);
	for (const [word, each] of parts)
		if (each && word.length > 1 && /^\p{L}+$/u.test(word) && !keys.has(word)) keys.set(word, each);
	const tokens = [...open.matchAll(/[^\s,]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
	const found = [];
	for (let size = Math.min(MOST_CELL_WORDS, tokens.length); size > 0; size -= 1)
		for (let place = 0; place + size <= tokens.length; place += 1) {
			const last = tokens[place + size - 1];
			const text = open.slice(tokens[place].at, last.at + last.text.length);
			const known = keys.get(keyOf(text));
			if (known && !(size === 1 && isSmall(text))) found.push({ ...known, text, at: tokens[place].at });
		}
	return found;
}

function keyOf(text) {
	const plain = text.toLowerCase().trim().replace(/'s$/, '');
	const month = monthNumber(plain);
	return month ? `month ${month}` : plain.split(/\s+/).map(stem).join(' ');
}
