/** A question as words, and what can be read from them one by one: limits, months, cells and columns. */

import { ZERO } from './decimal.mjs';
import { conditionText, monthsIn } from './conditions.mjs';
import { isOrder, labelOf, nounsOf, ofCells, ROW_NOUNS, SMALL, sortOf, stem, WHO } from './names.mjs';
import { WEEKDAYS } from './groups.mjs';
import { monthNumber, parseNumber } from './values.mjs';
import { inOwnWords } from './wording.mjs';

/** `table 3` */
export const A_VALUE = /^ (?:is |= ?|no |number )?(\d+(?:\.\d+)?)\b/;
const A_YEAR = /^(19|20)\d\d$/;
const A_MONTH = /^(st|nd|rd|th)?( of)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/;
const SORTING = /\b(sort|sorted|order|ordered|rank|ranked|list|show|top|first)\b.* by$/;
/** Stands before an age that isn't called so. */
const AGED = /\b(is|are|was|were|people|persons?|anyone|anybody|someone|somebody|everyone|everybody)$/;
const COINS = /^ ?(pounds|euros?|dollars|bucks|quid|kroner|francs)$/;
const MISSING = ['', 'na', 'n/a', 'nan', 'null', '-', '--'];
/** `has not paid` */
const IS_DONE =
	/\b(who|which|what|how many)\b.* (has|have|had|is|are|was|were|hasn't|haven't|isn't|aren't)( been| not| already| yet| never)* (paid|\p{L}+ed)$/u;
const IS_MISSING = /\b(missing|empty|blank)\b/;
/** Right before what isn't meant, small words aside. */
const NOT = denial("\\b(not|never|no|without|except|excluding|neither|other than|not counting)|n't");
/** Right before what isn't done yet. */
const TO_DO = denial('\\b(has to|have to|had to|must|needs? to)');
/** Stands before what is grouped by. */
const BY = /\b(per|by|each|every|a|across|in which|which|what|whose)$/;
const BEST = /\b(highest|most|lowest|least|best|worst|expensive|cheapest|biggest|smallest|top|common)$/;
const DATE_SIGNS = { since: '>=', after: '>', before: '<', until: '<=', till: '<=' };
export const PERIODS = {
	weekday: /\b(weekdays?|days? of the week)\b/g,
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
const RANKS = ['first', 'second', 'third', 'fourth', 'fifth'];
const DAYS = new RegExp(
	`\\b(?:on |at |over |during )?(?:a |the |every )?(?:(${WEEKDAYS.join('|').toLowerCase()})s?|weekends?|(?<=on )weekdays)\\b`,
	'g'
);
const ENDS =
	'first|last|latest|newest|oldest|youngest|eldest|earliest|recent|biggest|largest|highest|lowest|cheapest|smallest|best|worst|most expensive';
const MOST_CELL_WORDS = 6;

/** A line in small letters, without marks: `said` as a whole, and what is `left` of it, from which the readers below take what they understand, so that it means nothing else. */
export function sentenceOf(line, fileName, columns) {
	const plain = withNames(withoutUnits(line, columns), columns)
		.toLowerCase()
		.replaceAll(fileName.toLowerCase(), ' ')
		.replace(/[’`]/g, "'")
		.replace(/\b(have|has|did|do|does|is|are|were|was)nt\b/g, "$1n't")
		.replace(/\b(what|who|where|how|that|it|there|when)'s\b/g, '$1')
		.replace(/[?!;:"“”()]|[.,](?=\s|$)/g, ' ');
	const counted = ` ${plain.replace(/\s+/g, ' ').trim()} `.replace(/\b\p{Ll}{3,5}\b/gu, (word) =>
		NUMBER_WORDS.includes(word) ? String(NUMBER_WORDS.indexOf(word) + 2) : word
	);
	return wordsOf(inOwnWords(counted, columns), new Set(nounsOf(fileName)));
}

/** Of a name that is said with what it has in brackets, `Fee paid (£)`, what stands before them, unless other columns are called so, too. */
function withoutUnits(line, columns) {
	const bare = (name) => name.replace(/\s*\([^()]*\)$/, '');
	const isOwn = (one) => columns.every(({ name }) => name === one || bare(name) !== bare(one));
	return columns.reduce((text, { name }) => {
		const at = isOwn(name) ? text.toLowerCase().indexOf(name.toLowerCase()) : -1;
		return at < 0 ? text : text.slice(0, at + bare(name).length) + text.slice(at + name.length);
	}, line);
}

/** Cells with a capital letter, their words, and the words of people's names. */
const namesOf = ofCells((columns) => {
	const cells = columns.flatMap(({ type, counts }) =>
		type === 'text' ? [...counts.keys()].filter((cell) => /^\p{Lu}/u.test(cell)) : []
	);
	const wordsIn = (texts) => new Set(texts.flatMap((cell) => cell.split(/\s+/)));
	const people = wordsIn(columns.flatMap(({ name, counts }) => (WHO.test(name) ? [...counts.keys()] : [])));
	return { cells, names: wordsIn(cells), people };
});

/**
 * Marks words that are written with a capital letter in a cell and in the line, and have a meaning of their own, too: `Per` of
 * `Per Sand` is a name.
 */
function withNames(line, columns) {
	const { cells, names, people } = namesOf(columns);
	const whole = cells.filter((cell) => cell.includes(' ') && line.includes(cell));
	const spans = whole.map((cell) => [line.indexOf(cell), line.indexOf(cell) + cell.length]);
	// `Has May paid?`, but not `in May`
	const isName = (word, at) =>
		monthNumber(word)
			? people.has(word) && /\b(does|did|has|have|had|is)( not)? $/i.test(line.slice(0, at))
			: SMALL.has(word.toLowerCase()) || isOrder(word.toLowerCase()) || word === 'Will';
	return line.replace(/(?<![\p{L}\p{N}'’_-])\p{L}+/gu, (word, at) => {
		const isOwn = at > 0 && /^\p{Lu}/u.test(word) && names.has(word) && isName(word, at);
		return isOwn || spans.some(([from, to]) => at >= from && at < to) ? `_${word}` : word;
	});
}

/** @param beside `text` that stands for a row which is named, and `name` */
export function wordsOf(said, nouns, beside) {
	return {
		said,
		beside,
		left: said,
		/** What the file is of: `run` for `runs.csv`. */
		nouns,
		/** Parts of the names of columns that are meant. */
		known: new Set(),
		/** `said`, in which `no` of a column `Member no` denies nothing. */
		plain: said,
		before(at) {
			return this.plain.slice(0, at).trimEnd();
		},
		learnNames(named) {
			const isIn = (place) => named.some(({ at, text }) => place >= at && place < at + text.length);
			this.plain = said.replace(/\b(no|not|never|without)\b/g, (word, own, at) =>
				isIn(at) ? '_'.repeat(word.length) : word
			);
		},
		/** `62 (Lars Holm)` */
		named: (text) => (beside?.text === text ? `${text} (${beside.name})` : text),
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
		isDenied(at, patterns = [NOT]) {
			const found = patterns.map((pattern) => pattern.exec(this.before(at))).find(Boolean);
			if (found) this.take(found.index, found[0].length);
			return Boolean(found);
		}
	};
}

function denial(words) {
	return new RegExp(
		`(${words})( (been|yet|have|has|had|is|are|the|any|for|from|in|of|at|on|to|a|by|with|live|come|go|play|own|wear|pay|paid|spend|spent|buy|bought|sell|sold))*$`
	);
}

/** `over 100`, `between 5 and 10`: limits of the column that is named, else of the likeliest one. */
export function readLimits(sentence, columns, likely, age, decimalComma, { hasDates, isRowNoun }) {
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
	const limitsOfRows = [];
	const who = columns[labelOf(columns)];
	/** Is each row somebody, with an age? */
	const isOfPeople = age !== undefined && WHO.test(who?.name) && who.counts.size === who.filled;
	const found = limits.flatMap(([sign, digits, { 0: text, index: at }]) => {
		const number = parseNumber(digits, decimalComma);
		// `over 100 m2`, where a column is called Size m2
		const [unit] = /^ ?[\p{L}%°]+\d?/u.exec(said.slice(at + text.length)) ?? [''];
		const ofUnit = columns.findIndex(
			(column) => column.isNumber && unit.trim() !== '' && unitOf(column.name) === unit.trim()
		);
		// `members who are over 60`, `people under 30`
		const isOfAge =
			/older|younger/.test(text) ||
			(isOfPeople &&
				ofUnit < 0 &&
				/^( years?)?$/.test(SMALL.has(unit.trim()) ? '' : unit) &&
				AGED.test(said.slice(0, at)));
		const isOther = COINS.test(unit) && !columns[likely]?.isOfMoney;
		const ofCoin = isOther ? columns.findIndex((column) => column.isNumber && column.isOfMoney) : -1;
		const index = isOfAge ? age : ofUnit >= 0 ? ofUnit : ofCoin >= 0 ? ofCoin : likely;
		if (ofUnit >= 0 || (columns[index]?.isOfMoney && COINS.test(unit))) sentence.take(at + text.length, unit.length);
		// `more than 5 members` are rows.
		const next = /^ (\p{L}+)/u.exec(said.slice(at + text.length));
		if (number && next && isRowNoun(next[1], at + text.length + 1)) {
			sentence.take(at, text.length);
			limitsOfRows.push({ sign, number, said: text.trim() });
			return [];
		}
		// `between 10 and 20 March` are days.
		if (
			!number ||
			index === undefined ||
			index === null ||
			A_MONTH.test(said.slice(at + text.length)) ||
			(hasDates && A_YEAR.test(digits) && (range || !/^ (over|above|under|below|more|less|at least)\b/.test(text)))
		)
			return [];
		sentence.take(at, text.length);
		return [
			{
				index,
				sign,
				number,
				said: text.trim(),
				isNamed: isOfAge || ofUnit >= 0,
				text: conditionText(columns[index].name, sign, sentence.named(digits))
			}
		];
	});
	return { limits: found, limitsOfRows };
}

/** `m2` of `Size m2`, `km` of `Distance (km)` */
function unitOf(name) {
	const parts = name.toLowerCase().match(/[\p{L}%°]+\d?/gu) ?? [];
	return parts.length > 1 ? parts.at(-1) : undefined;
}

/** The 3 of `top 3`, `the 3 biggest` and `which 3 months have the highest sales`. */
export function readTop(sentence) {
	const found = new RegExp(
		`\\b(?:top|${ENDS}) (\\d{1,2})\\b|\\b(\\d{1,2}) (?:${ENDS})\\b|\\bwhich (\\d{1,2}) \\p{L}.*\\b(?:most|least|fewest|${ENDS})\\b`,
		'u'
	).exec(sentence.left);
	if (!found) return undefined;
	const digits = found.slice(1).find(Boolean);
	sentence.take(found.index + found[0].indexOf(digits), digits.length);
	return Number(digits);
}

/** The 2 of `second best`, `third most expensive`. */
export function readRank(sentence) {
	const [all, word] =
		new RegExp(`\\b(${RANKS.join('|')}|[2-5](?:nd|rd|th))(?=[ -](?:${ENDS}|most|least)\\b)`).exec(sentence.left) ?? [];
	if (!all) return undefined;
	sentence.take(sentence.left.indexOf(all), all.length);
	return RANKS.indexOf(word) + 1 || Number(word[0]);
}

/** `second highest` */
export function ranked(rank, word) {
	return rank ? `${RANKS[rank - 1]} ${word}` : word;
}

/** `on Saturdays`, `at the weekend`, for the column of dates at index `date`. */
export function readDays(sentence, columns, date) {
	const found = date === undefined ? [] : [...sentence.left.matchAll(DAYS)];
	if (found.length === 0) return [];
	const days = found.flatMap(({ 0: text, 1: day }) =>
		day
			? WEEKDAYS.filter((name) => name.toLowerCase() === day)
			: /weekend/.test(text)
				? ['Saturday', 'Sunday']
				: WEEKDAYS.slice(1, -1)
	);
	const sign = sentence.isDenied(found[0].index) ? '!=' : '=';
	for (const { 0: text, index } of found) sentence.take(index, text.length);
	const text = `${columns[date].name} ${sign === '=' ? '' : 'not '}on ${days.join(' or ')}`;
	return [{ index: date, sign, days, text, isSeveral: found.length > 1 }];
}

/** `born after 1990`, where the column has but years */
export function readYears(sentence, columns, named) {
	const found = named.find(({ index }) => columns[index].isOfYears);
	const [all, word = '', year] =
		(found && / (?:(in|since|after|before|until) )?((?:18|19|20)\d\d)(?= )/.exec(sentence.left)) ?? [];
	if (!all) return [];
	const { name } = columns[found.index];
	sentence.take(sentence.left.indexOf(all), all.length);
	const sign = DATE_SIGNS[word] ?? '=';
	return [{ index: found.index, sign, number: parseNumber(year), text: `${name} ${word || 'in'} ${year}` }];
}

/** `in February`, `since 2025`, `between March and May`, for the column of dates at index `date`. */
export function readMonths(sentence, columns, date) {
	const conditions = [];
	if (date === undefined) return conditions;
	let isRange = false;
	// `Jun Sato` is no month.
	const names = cellsIn(sentence.left, columns).filter(({ text }) => text.includes(' '));
	const isOfName = (at) => names.some((each) => at >= each.at && at < each.at + each.text.length);
	for (const { text: word, at, months } of monthsIn(sentence.left)) {
		if (isOfName(at)) continue;
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
				text: conditionText(columns[date].name, sign, sentence.named(text), true)
			});
		sentence.take(at, word.length);
	}
	sentence.takeAll(/\b(since|after|before|until|till|through)\b/g);
	return conditions;
}

/** Cells, the longest first, so that `New York` is not the `new` of another column. */
export function readCells(sentence, columns, named, shared) {
	const conditions = [];
	// In the order of the sentence: what is denied goes on.
	for (const { text, at, index: first, cells, also } of cellsIn(sentence.left, columns, shared)) {
		const [own] = [first, also].filter((column) => named.some((each) => each.index === column));
		const isTwin = own === undefined && areTwins(columns[first], columns[also]);
		const index = own ?? first;
		const isColumn = named.some(
			(each) => each.at < at + text.length && at < each.at + each.text.length && each.text.length >= text.length
		);
		if (isColumn || sentence.left.slice(at, at + text.length) !== text) continue;
		const isMore = conditions.some(
			(each) =>
				each.sign === '!=' &&
				each.index === index &&
				each.ends.some((end) => /^ *(,|and|or|nor)( the)? *$/.test(sentence.said.slice(end, at)))
		);
		const sign = sentence.isDenied(at) || isMore ? '!=' : '=';
		const same = conditions.find((each) => each.index === index && each.sign === sign);
		same?.ends.push(at + text.length);
		const more = cells.filter((cell) => !same?.cells.includes(cell)).join(' or ');
		const both = same?.cells.filter((cell) => cells.includes(cell)) ?? [];
		// `the train to York` is a cell that has both.
		if (both.length > 0 && (cells.length > 1 || same.cells.length > 1))
			Object.assign(same, {
				cells: both,
				text: conditionText(columns[index].name, sign, both.join(' or ')),
				isSeveral: both.length > 1
			});
		else if (same && more)
			Object.assign(same, {
				cells: [...new Set([...same.cells, ...cells])],
				text: `${same.text} or ${more}`,
				isSeveral: true
			});
		else if (!same)
			conditions.push({
				index,
				sign,
				cells,
				ends: [at + text.length],
				isPart: keyOf(text) !== keyOf(cells[0]),
				twins: isTwin && `${cells[0]} in ${columns[first].name} and ${columns[also].name} at once`,
				isSeveral: cells.length > 1,
				text: conditionText(columns[index].name, sign, more)
			});
		sentence.take(at, text.length);
	}
	return conditions;
}

/** `Home and Away`, where the same clubs are in both: a cell may be meant of either. */
function areTwins(one, other) {
	return [...one.counts.keys()].filter((cell) => other?.counts.has(cell)).length > 1;
}

/** Columns of yes and no are what rows have or lack; others are grouped by, unless a number or a date is what is asked for. */
export function readColumns(sentence, columns, named, conditions) {
	const by = [];
	const flags = [];
	let [isOfKinds, isOfWhich] = [false, false];
	let [sortedBy, shown] = [];
	const label = labelOf(columns);
	const isOne = (each) =>
		each.index === label &&
		each.sign === '=' &&
		each.cells?.length === 1 &&
		columns[label].counts.get(each.cells[0]) === 1;
	for (const { text, at, index } of named) {
		const { name, type, counts } = columns[index];
		// The number of a table or a room is a name.
		const isNumber = columns[index].isNumber && sortOf(name) !== 'id';
		const before = sentence.before(at);
		const isBy =
			/\b(per|by|each|every)$/.test(before) ||
			(type !== 'date' && (BY.test(before) || BEST.test(before)) && !(type === 'yes/no' && /\ba$/.test(before)));
		const isUn = /\bun$/.test(sentence.said.slice(0, at));
		// `flats with 3 rooms`
		const [, many] = (columns[index].isNumber && /\b(?:have|has|with|of|exactly) (\d+(?:\.\d+)?)$/.exec(before)) || [];
		// `How much does she pay?` isn't whether she has paid.
		const isOfHabit =
			type === 'yes/no' && /^pay(s|ing)?$/.test(text) && !/\b(did|has|have|had|to|must|n't)\b/.test(before);
		const missing =
			IS_MISSING.exec(sentence.left.slice(at + text.length).split(/\b(and|or)\b/)[0]) ??
			(/\b(missing|empty|blank|no|without)( (a|an|the|any))?$/.test(before) && type !== 'yes/no');
		// Who paid 0 has not paid.
		const zeros = isNumber ? [...counts.keys()].filter((cell) => /^\D?0([.,]0+)?\D?$/.test(cell)) : [];
		// `Who has an email?`
		const isHad = type === 'text' && /\b(have|has|had|with|gave|got|sent|brought) (an?|any)$/.test(before);
		// `my average grocery shop`: a row.
		const isOfCell = conditions.some(
			({ ends, index: own }) => own !== index && own !== label && ends?.includes(at - 1)
		);
		// Of Dan, who is named, it's told what he has; nothing is grouped or compared.
		const isOfOne = index !== label && type !== 'yes/no' && !isNumber && conditions.some(isOne);
		if (isOfHabit) {
			// Taken below.
		} else if (many) {
			flags.push({ index, sign: '=', number: parseNumber(many), text: conditionText(name, '=', many) });
			sentence.take(before.length - many.length, many.length);
		} else if (isOfOne) {
			// `her membership number` is not her membership.
			const isPart = (name.match(/[\p{L}\p{N}]+/gu) ?? []).length > (text.match(/[\p{L}\p{N}]+/gu) ?? []).length;
			const isOther = isPart && /^ (number|no|id|code)\b/.test(sentence.said.slice(at + text.length));
			// Of several, all is told.
			if (!isOther) shown = shown === undefined || shown === index ? index : label;
		} else if (columns[index].isOfDigits && !isBy) {
			shown ??= index;
		} else if (isOfCell && !isBy && type === 'text' && !/s$/.test(text)) {
			// Taken below.
		} else if (missing) {
			// A day without rain has a 0.
			const isNone = isNumber && (columns[index].missing === 0 || counts.has('0'));
			const none = isNone
				? { number: ZERO, text: conditionText(name, '=', '0') }
				: { cells: MISSING, text: `no ${name}` };
			flags.push({ index, sign: '=', ...none });
			sentence.takeAll(/\b(missing|empty|blank|no|without|not known)\b/g);
		} else if (columns[index].isNumber && A_VALUE.test(sentence.said.slice(at + text.length)) && !BEST.test(before)) {
			const [all, digits] = A_VALUE.exec(sentence.said.slice(at + text.length));
			flags.push({ index, sign: '=', number: parseNumber(digits), text: conditionText(name, '=', digits) });
			sentence.take(at + text.length, all.length);
		} else if (
			(isHad || ((type === 'date' || ((isNumber || type === 'text') && IS_DONE.test(`${before} ${text}`))) && !isBy)) &&
			columns[index].missing + zeros.length > 0 &&
			conditions.every((each) => each.index !== index)
		) {
			// `which books have I read?`: those that have the date; `who has paid?`: those that have the sum.
			const isNone = isUn || sentence.isDenied(at, [NOT, TO_DO]) || /n't( \p{L}+){1,3}$/u.test(before);
			if (isNone) sentence.takeAll(/\p{L}+n't\b/gu);
			const article = isNone ? 'no' : /^[aeiou]/i.test(name) ? 'an' : 'a';
			flags.push({ index, sign: isNone ? '=' : '!=', cells: [...MISSING, ...zeros], text: `${article} ${name}` });
		} else if (SORTING.test(before) && (isNumber || type === 'date')) sortedBy = index;
		else if (type === 'yes/no' && !isBy) {
			const [answer = '', told] =
				/^ (?:(?:is |are )?(yes|no|true|false)|trained|training|qualified|certified)\b/.exec(
					sentence.said.slice(at + text.length)
				) ?? [];
			sentence.take(at + text.length, answer.length);
			const isNo = told ? /no|false/.test(told) : sentence.isDenied(at, [NOT, TO_DO]) || isUn;
			const cell = [...counts.keys()].find((each) => /^(no|false)$/i.test(each) === isNo) ?? (isNo ? 'no' : 'yes');
			flags.push({ index, sign: '=', cells: [cell], text: conditionText(name, '=', cell) });
		} else if (
			isBy ? !isNumber || (/\b(per|each|every)$/.test(before) && by.length === 0) : !isNumber && type !== 'date'
		) {
			// `how many bills are unpaid` in bills.csv: rows.
			const isRow =
				(!isBy || /\b(most|fewest)$/.test(before)) &&
				(sentence.nouns.has(stem(text)) ||
					(conditions.length > 0 && /\bhow many$/.test(before) && !isBy) ||
					(ROW_NOUNS.has(stem(text)) && flags.length + conditions.length > 0 && !/how many$/.test(before)));
			isOfKinds ||= !isRow && /\b(how many|number of)( (different|various|distinct|unique))?$/.test(before);
			isOfWhich ||= /s$/.test(text) && /\b(which|what)( (other|different|various|kinds of|sorts of))?$/.test(before);
			const isOwn = counts.size === columns[index].filled && conditions.length > 0 && !isBy;
			// `average plot size`, where each row has a plot of its own
			const isOfEach =
				!isBy && counts.size === columns[index].filled && named.some((each) => columns[each.index].isNumber);
			if (!isOwn && !isRow && !isOfEach && (isBy || conditions.every((each) => each.index !== index))) by.push(index);
		}
		// Rows are still to be counted.
		if (!(sentence.nouns.has(stem(text)) && /\b(most|fewest)$/.test(before)))
			sentence.take(isUn ? at - 2 : at, text.length + (isUn ? 2 : 0));
	}
	return { by, flags, isOfKinds, isOfWhich, sortedBy, shown };
}

/** `per month`, `the best month`; not `last month`. */
export function readPeriod(sentence) {
	for (const [name, pattern] of Object.entries(PERIODS)) {
		const isBy = ({ 0: word, index }) =>
			[BY, BEST, /\b(over|under|more|fewer|less|each)$|\d$/].some((each) => each.test(sentence.before(index))) ||
			/ly$|^over|^trend/.test(word);
		const found = [...sentence.left.matchAll(pattern)];
		if (!found[0] || !isBy(found[0])) continue;
		// `Which day was the best day?`
		for (const each of found.filter(isBy)) sentence.take(each.index, each[0].length);
		return name;
	}
	return undefined;
}

/** Of `June or May`, what each of them is. */
export function comparedPeriod(months) {
	return months.every((key) => /^\d{4}$/.test(key))
		? 'year'
		: months.every((key) => /-\d{2}-\d{2}$/.test(key))
			? 'day'
			: months.every((key) => /^(\d{4})?-\d{2}$/.test(key))
				? 'month'
				: undefined;
}

/** The cells of text, by what they are looked up as. */
const cellKeys = ofCells((columns) => {
	const keys = new Map();
	for (const [index, { type, isNumber, counts }] of columns.entries()) {
		if (isNumber || type === 'date' || type === 'yes/no') continue;
		for (const cell of counts.keys()) {
			const key = keyOf(cell);
			const known = keys.get(key);
			if (known && known.index !== index) known.also ??= index;
			else if (key && !known) keys.set(key, { index, cells: [cell] });
		}
	}
	// `Ann` of `Ann Lee`, if nobody else is called so.
	const parts = new Map();
	for (const each of keys.values())
		for (const word of each.cells[0].toLowerCase().split(/\s+/))
			parts.set(word, parts.has(word) && parts.get(word) !== each ? null : each);
	for (const [word, each] of parts)
		if (each && word.length > 1 && /^\p{L}+$/u.test(word) && !keys.has(keyOf(word))) keys.set(keyOf(word), each);
	return keys;
});

/** Cells of text that are said, the longest first; a month is found by its short name, too. */
export function cellsIn(open, columns, shared = new Map()) {
	const own = new Map([...shared].map(([word, each]) => [keyOf(word), each]));
	const cellOf = (text) => own.get(keyOf(text)) ?? cellKeys(columns).get(keyOf(text));
	const tokens = [...open.matchAll(/[^\s,]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
	const found = [];
	for (let size = Math.min(MOST_CELL_WORDS, tokens.length); size > 0; size -= 1)
		for (let place = 0; place + size <= tokens.length; place += 1) {
			const last = tokens[place + size - 1];
			const text = open.slice(tokens[place].at, last.at + last.text.length);
			const known = cellOf(text);
			const isVague =
				size === 1 &&
				((SMALL.has(text) && !isSaidOf(open, tokens[place])) ||
					(isOrder(text) && keyOf(known?.cells[0] ?? '') !== keyOf(text)) ||
					(/^(yes|no|none)$/.test(text) &&
						!open.slice(0, tokens[place].at).trimEnd().endsWith(columns[known?.index]?.name.toLowerCase())));
			// `the bakers` are no Paul Baker.
			const isOther =
				size === 1 &&
				WHO.test(columns[known?.index]?.name) &&
				!known.cells[0]
					.toLowerCase()
					.split(/[\s,]+/)
					.includes(text.replace(/^_|'s$/g, ''));
			if (known && !isVague && !isOther) found.push({ ...known, text, at: tokens[place].at });
		}
	return found;
}

/** `Which jobs are done?`: of a cell `done`. */
function isSaidOf(open, { text, at }) {
	return /\b(is|are|was|were|not) +$/.test(open.slice(0, at)) && open.slice(at + text.length).trim() === '';
}

/** `rent`, where several cells of one column have the word: all of them are meant; of people only one can be, unless `isOfPeople`. */
export function sharedBy(word, columns, isOfPeople = false) {
	const found = columns.flatMap(({ name, type, counts }, index) => {
		// `violinists`, `a cellist`
		const [, base] = /^(\p{L}{3,})ists?$/u.exec(word) ?? [];
		const hasWord = (cell) =>
			cell.toLowerCase().split(/\s+/).map(stem).includes(stem(word)) ||
			(base !== undefined && new RegExp(`^${base}[aoe]?$`, 'i').test(cell));
		const cells = type === 'text' && (isOfPeople || !WHO.test(name)) ? [...counts.keys()].filter(hasWord) : [];
		return cells.length > 0 ? [{ index, cells }] : [];
	});
	return found.length === 1 ? found[0] : undefined;
}

function keyOf(text) {
	const plain = text
		.toLowerCase()
		.trim()
		.replace(/(?<!\S)_|'s$/g, '')
		.replace(/[.,](?=\s|$)/g, '');
	const month = monthNumber(plain);
	return month ? `month ${month}` : plain.split(/\s+/).map(stem).join(' ');
}
