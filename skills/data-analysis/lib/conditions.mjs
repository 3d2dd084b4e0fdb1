/** Which rows are meant: those with a cell, a number within a limit, or a date in a month or year. */

import { compare } from './decimal.mjs';
import { UsageError } from './errors.mjs';
import { weekdayOf } from './groups.mjs';
import { columnIndex } from './names.mjs';
import { capitalized, monthNumber, parseDate, parseNumber, periodKey } from './values.mjs';

const SIGN_WORDS = { '!=': 'not', '>': 'over', '<': 'under', '>=': 'at least', '<=': 'at most' };
const DATE_WORDS = { '!=': 'not', '>': 'after', '<': 'before', '>=': 'since', '<=': 'until' };
const MOST_CELLS = 6;
const SIGNED = /^(.+?)\s*(!=|>=|<=|=|>|<)\s*(.*)$/s;
const MONTHS =
	/\b(\d{4}-\d{2}(?:-\d{2})?|(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?(?: \d{4})?|(?:19|20)\d{2})(?![\w-])/g;

/** `category Food`, `amount over 200`, `date since February`. */
export function conditionText(name, sign, what, isDate = false) {
	return [name, (isDate ? DATE_WORDS : SIGN_WORDS)[sign], what].filter(Boolean).join(' ');
}

/** As a sentence has it: `Category “Food”`, `Date in March`, or, of a time, `in March` alone. */
export function phraseOf({ index, sign, cells, months, text }, columns, isBare = false) {
	const { name } = columns[index];
	if (months) {
		const when = text
			.replace(`${name} `, '')
			.replace(/\p{Ll}{3,}/gu, (word) => (monthNumber(word) ? capitalized(word) : word));
		const at = sign !== '=' ? '' : months.some((key) => key.length > 4 && key.length !== 7) ? 'on ' : 'in ';
		return `${isBare ? '' : `${name} `}${at}${when}`;
	}
	// `no Table`
	if (!cells || cells.includes('')) return text;
	const shown = cells.slice(0, MOST_CELLS).map((cell) => `“${cell}”`);
	const more = cells.length > shown.length ? [`${cells.length - shown.length} more`] : [];
	return `${name} ${sign === '=' ? '' : 'not '}${[...shown, ...more].join(' or ')}`;
}

/** The months and years in a sentence of small letters: `{ text, at, months }`, where `months` starts a date: 2025, 2025-01, 2025-01-31, or `-01` of any year. */
export function monthsIn(sentence) {
	return [...sentence.matchAll(MONTHS)].flatMap(({ 0: text, index: at }) => {
		const isVerb =
			text === 'may' &&
			!/\b(in|of|for|since|and|or|to|from|until|before|after|by|vs|between|does|did|was|than) $/.test(sentence.slice(0, at));
		const months = monthsOf(text);
		return isVerb || months === null ? [] : [{ text, at, months }];
	});
}

/** null for what is no month and no year. */
function monthsOf(text) {
	const [, day, name, year] = /^(\d{1,2})(?:st|nd|rd|th)?(?: of)? (\p{L}+)\.?(?: (\d{4}))?$/u.exec(text) ?? [];
	const monthOfDay = day && monthNumber(name);
	if (monthOfDay) return `${year ?? ''}-${String(monthOfDay).padStart(2, '0')}-${day.padStart(2, '0')}`;
	const month = monthNumber(text);
	if (month) return `-${String(month).padStart(2, '0')}`;
	if (/^\d{4}$/.test(text) || parseDate(text)) return text;
	const key = periodKey(text.replace('.', ''));
	return key?.includes('Q') ? null : key;
}

/** Of `food`, `January`, `category=food`, `paid!=yes`, `amount>100`, `date>=2025-02`. */
export function readCondition(wanted, table, notes) {
	const [, named, sign = '=', rest] = SIGNED.exec(wanted) ?? [];
	const what = (rest ?? wanted).trim();
	const made = (index, more) => ({
		index,
		sign,
		...more,
		text: conditionText(table.columns[index], sign, what, 'months' in more)
	});
	const months = monthsOf(what);
	if (named !== undefined) {
		const index = columnIndex(named.trim(), table, notes);
		if (months !== null && table.dates.includes(table.columns[index])) return made(index, { months: [months] });
		if (/^!?=$/.test(sign)) return made(index, { cells: [what] });
		const number = parseNumber(what, table.decimalComma);
		if (!number)
			throw new UsageError(`"${what}" in --where "${wanted}" must be a number, or a date of a column of dates.`);
		return made(index, { number });
	}
	const [at, ...others] = columnsWith(what, table);
	const names = [at, ...others].map((index) => table.columns[index]);
	if (others.length > 0)
		throw new UsageError(
			`"${wanted}" is in several columns: ${names.join(', ')}. Say which, such as --where "${names[0]}=${wanted}".`
		);
	if (at !== undefined) return made(at, { cells: [what] });
	const { dates } = table;
	if (months !== null && dates.length === 1) return made(table.columns.indexOf(dates[0]), { months: [months] });
	const which =
		months !== null && dates.length > 1 ? ` Say which column of dates, such as --where "${dates[0]}=${what}".` : '';
	throw new UsageError(`No cell of ${table.name} is "${what}". Its columns are: ${table.columns.join(', ')}.${which}`);
}

/** Indexes of the columns that have this cell. */
function columnsWith(wanted, table) {
	const found = new Set();
	for (const { cells } of table.rows())
		for (const [index, text] of cells.entries())
			if (isCell(text, wanted) && index < table.columns.length) found.add(index);
	return found;
}

function isCell(text, wanted) {
	return text.trim().toLowerCase() === wanted.toLowerCase();
}

/** The table with only the rows that meet all conditions; `only` says which those are. */
export function onlyRows(table, conditions, notes) {
	if (conditions.length === 0) return table;
	/** Of a month that is said without its year. */
	const years = new Set();
	const isMet = ({ index, sign, cells, number, months, days }, row) => {
		const text = row[index]?.trim() ?? '';
		if (cells) return cells.some((cell) => isCell(text, cell)) === (sign === '=');
		if (number) {
			const here = parseNumber(text, table.decimalComma);
			return here !== null && isWithin(compare(here, number), sign);
		}
		const day = parseDate(text);
		if (days) return day !== null && days.includes(weekdayOf(day)) === (sign === '=');
		const isIn =
			day !== null &&
			months.some((key) =>
				isWithin(inTurn(key.startsWith('-') ? day.slice(4, 4 + key.length) : day.slice(0, key.length), key), sign)
			);
		if (isIn && sign === '=' && months.some((key) => key.startsWith('-'))) years.add(day.slice(0, 4));
		return isIn;
	};
	const rows = function* () {
		for (const row of table.rows()) if (conditions.every((each) => isMet(each, row.cells))) yield row;
	};
	if (conditions.some(({ months }) => months?.some((key) => key.startsWith('-')))) for (const _ of rows());
	if (years.size > 1)
		notes.push(`${conditions.find(({ months }) => months).text} is of several years: ${[...years].sort().join(', ')}.`);
	return { ...table, only: conditions.map(({ text }) => text).join(', '), rows };
}

function inTurn(one, other) {
	return one < other ? -1 : Number(one > other);
}

export function isWithin(order, sign) {
	return { '=': order === 0, '!=': order !== 0, '>': order > 0, '<': order < 0, '>=': order >= 0, '<=': order <= 0 }[
		sign
	];
}
