/** Turns the text of a cell into a number or a date. */

import { decimal } from './decimal.mjs';

const MISSING = new Set(['', 'na', 'n/a', 'nan', 'null', '-', '--']);
const LONGEST_MISSING = 4;
const LONGEST_NUMBER = 60;

// A leading zero means an identifier (007, 01234), not a number.
const POINT = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?$/;
const POINT_GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;
const COMMA = /^[+-]?(?:0|[1-9]\d*)(?:,\d+)?$/;
const COMMA_GROUPED = /^[+-]?[1-9]\d{0,2}(?:[. \u00a0\u202f]\d{3})+(?:,\d+)?$/;
const UNITS = /^[$€£¥%]+|[$€£¥%]+$/g;

const ISO_DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const POINT_DATE = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const MONTHS = 'january february march april may june july august september october november december'.split(' ');

export function isMissing(text) {
	return text.length <= LONGEST_MISSING && MISSING.has(text.toLowerCase());
}

/** The exact value of a trimmed cell, or null when it is no number. */
export function parseNumber(text, decimalComma = false) {
	if (text.length > LONGEST_NUMBER) return null;
	const [sign, rest] = /^[+-][$€£¥%]/.test(text) ? [text[0], text.slice(1)] : ['', text];
	const bare = sign + rest.replace(UNITS, '').trim();
	if (decimalComma) {
		if (COMMA.test(bare) || COMMA_GROUPED.test(bare))
			return decimal(bare.replace(/[. \u00a0\u202f]/g, '').replace(',', '.'));
		return null;
	}
	if (POINT.test(bare)) return decimal(bare);
	return POINT_GROUPED.test(bare) ? decimal(bare.replaceAll(',', '')) : null;
}

/** What stands before and behind the digits, divided by a bar: `$|`, `| €`, `|%`; `|` for nothing. */
export function signOf(text) {
	const [, before = ''] = /^[+-]?([$€£¥])/.exec(text) ?? [];
	const [after = ''] = /\s?[$€£¥%]$/.exec(text) ?? [];
	return `${before}|${after}`;
}

export function capitalized(text) {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** 1 to 12 for the name of a month (January, Jan, Jan.), or null. */
export function monthNumber(text) {
	const name = text.replace(/\.+$/, '').toLowerCase();
	if (name === 'sept') return 9;
	const found = name.length < 3 ? -1 : MONTHS.findIndex((month) => month.startsWith(name));
	return found < 0 ? null : found + 1;
}

/** `January 2025` for 2025-01; null for anything else. */
export function monthText(text) {
	const [, year, month] = /^(\d{4})-(\d{2})$/.exec(text) ?? [];
	return year ? `${capitalized(MONTHS[month - 1])} ${year}` : null;
}

/** The day of an ISO (2025-01-31) or dotted (31.1.2025) date as 2025-01-31, or null. */
export function parseDate(text) {
	const [year, month, day] = ISO_DATE.exec(text)?.slice(1, 4) ?? POINT_DATE.exec(text)?.slice(1).reverse() ?? [];
	if (!year || year === '0000') return null;
	const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
	// A day that a month doesn't have becomes another one, or none.
	const time = Date.parse(iso);
	return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== iso ? null : iso;
}

/** `2025-01` for 2025-01, 2025/1 and January 2025; `2025-Q1` for 2025 Q1 and Q1 2025; `Q1`; null for anything else. */
export function periodKey(text) {
	const [, first, last] = /^([\p{L}\d]+)(?:\.?[-/., ]+([\p{L}\d]+))?$/u.exec(text) ?? [];
	const isYear = (part) => /^\d{4}$/.test(part ?? '');
	const [year, part] = isYear(first) ? [first, last] : [last, first];
	const quarter = /^q([1-4])$/i.exec(part ?? '')?.[1];
	if (quarter && !year) return `Q${quarter}`;
	if (!part || !isYear(year)) return null;
	if (quarter) return `${year}-Q${quarter}`;
	const month = /^(0?[1-9]|1[0-2])$/.test(part) ? Number(part) : /^\p{L}/u.test(part) ? monthNumber(part) : null;
	return month ? `${year}-${String(month).padStart(2, '0')}` : null;
}
