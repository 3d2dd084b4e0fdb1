/** Numbers summed up by the values of one or more columns. */

import { Sum } from './columns.mjs';
import { compare, decimal } from './decimal.mjs';
import { DataError, UsageError } from './errors.mjs';
import { isMissing, monthNumber, parseDate, periodKey } from './values.mjs';

const MOST_GROUPS = 50_000;
export const MISSING_KEY = '(missing)';
export const PERIODS = ['day', 'weekday', 'month', 'quarter', 'year'];
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

export class Groups {
	#by;
	#dates;
	#period;
	#columns;
	#all = new Map();
	/** `by` (`name` or `size`, if it's said), `isLowestFirst`, `most` that are shown. */
	arranged = {};

	/** `by` are column indexes; `period` makes days into weekdays, months, quarters or years. */
	constructor(by, columns, period, dates) {
		this.#by = by;
		this.#dates = dates;
		this.#columns = columns;
		this.#period = period;
	}

	/** Takes a row: for each column its trimmed cell, and its number or null. */
	add(cells, numbers) {
		const keys = this.#by.map((index) => this.#keyOf(cells[index], index));
		const id = keys.join('\0').toLowerCase();
		let group = this.#all.get(id);
		if (!group) {
			if (this.#all.size === MOST_GROUPS)
				throw new DataError(
					`There are more than ${MOST_GROUPS} groups by ${this.title}; choose a column with fewer values.`
				);
			group = { rows: 0, spellings: new Map(), sums: this.#columns.map(() => new Sum()) };
			this.#all.set(id, group);
		}
		group.rows += 1;
		// `Leeds` and `leeds` are one, in the spelling that most of its rows have.
		const label = keys.join(' · ');
		const times = (group.spellings.get(label) ?? 0) + 1;
		group.spellings.set(label, times);
		if (!group.label || times > group.spellings.get(group.label)) Object.assign(group, { keys, label });
		for (const [index, number] of numbers.entries()) if (number) group.sums[index].add(number);
	}

	#keyOf(text, index) {
		if (isMissing(text)) return MISSING_KEY;
		if (!this.#period) return text;
		const day = parseDate(text);
		if (!day && ((this.#period === 'month' && monthNumber(text)) || this.#by.length > 1)) return text;
		if (!day && this.#dates.includes(this.#columns[index].name)) return MISSING_KEY;
		if (!day)
			throw new UsageError(
				`--period needs dates such as 2025-01-31, but the column "${this.#columns[index].name}" holds "${text}".`
			);
		if (this.#period === 'weekday') return weekdayOf(day);
		const [year, month] = day.split('-');
		if (this.#period === 'quarter') return `${year}-Q${Math.ceil(month / 3)}`;
		return { year, month: `${year}-${month}`, day }[this.#period];
	}

	get title() {
		const name = this.#by.map((index) => this.#columns[index].name).join(', ');
		return this.#period && this.#period !== name.toLowerCase() ? `${name} (${this.#period})` : name;
	}

	/** Dates, months, quarters and numbers keep their own order; other names are ordered by size, unless something else is said. */
	get isInOrder() {
		if (this.arranged.by) return this.arranged.by === 'name';
		if (this.#period || ['date', 'integer', 'number'].includes(this.#columns[this.#by[0]].type)) return true;
		const names = [...this.#all.values()].map(({ keys }) => keys[0]).filter((name) => name !== MISSING_KEY);
		return names.length > 0 && names.every((name) => monthNumber(name) ?? periodKey(name));
	}

	/** Dates, numbers and months ascending, others by `measure` of the column at index `value` (or by rows), largest first, if nothing else is said. */
	ordered(value, measure = 'sum') {
		const inOrder = this.isInOrder;
		const entries = [...this.#all.values()].map((group) => ({
			group,
			order: group.keys.flatMap((key) => (inOrder ? natural(key) : [key])),
			size: value === null ? decimal(group.rows) : group.sums[value].measure(measure)
		}));
		const turn = this.arranged.isLowestFirst ? -1 : 1;
		entries.sort(
			(one, other) => (inOrder ? 0 : compareSizes(other.size, one.size, turn)) || inTurn(one.order, other.order)
		);
		return entries.map(({ group }) => group);
	}
}

export function weekdayOf(day) {
	return WEEKDAYS[new Date(day).getUTCDay()];
}

function compareSizes(one, other, turn) {
	return one && other ? compare(one, other) * turn : Number(Boolean(one)) - Number(Boolean(other));
}

function inTurn(one, other) {
	const index = one.findIndex((part, place) => part !== other[place]);
	return index < 0 ? 0 : one[index] < other[index] ? -1 : 1;
}

/** Sorts days, then numbers, then months, then words, and what is missing last. */
function natural(text) {
	if (text === MISSING_KEY) return [4, 0, ''];
	const time = parseDate(text) ?? periodKey(text);
	if (time) return [0, time, text];
	const number = Number(text.replaceAll(',', ''));
	if (!Number.isNaN(number)) return [1, number, text];
	const weekday = WEEKDAYS.indexOf(text);
	if (weekday >= 0) return [2, (weekday + 6) % 7, text];
	const month = monthNumber(text);
	return month ? [2, month, text] : [3, 0, text];
}
