/** One column summed up while its cells go by: type, missing cells, values, statistics. */

import { add, compare, decimal, divide, grouped, multiply, plain, subtract, toNumber, ZERO } from './decimal.mjs';
import { OF_COIN } from './names.mjs';
import { isMissing, parseDate, parseNumber, signOf } from './values.mjs';

export const MOST_QUANTILE_VALUES = 200_000;
const MOST_DIFFERENT_VALUES = 10_000;
/** After so many filled cells of which fewer than half are numbers, a column is text and no longer parsed. */
const ENOUGH_TO_JUDGE = 20_000;

/** How many numbers, their sum, how many are below 0 and their sum, the smallest and the largest. */
export class Sum {
	count = 0;
	sum = ZERO;
	below = ZERO;
	countBelow = 0;
	min = null;
	max = null;

	add(number) {
		this.count += 1;
		this.sum = add(this.sum, number);
		if (number.units < 0n) {
			this.below = add(this.below, number);
			this.countBelow += 1;
		}
		if (this.min === null || compare(number, this.min) < 0) this.min = number;
		if (this.max === null || compare(number, this.max) > 0) this.max = number;
	}

	/** sum, mean, count, min or max; null when there is no value to take it from. */
	measure(name) {
		if (name === 'count') return decimal(this.count);
		if (this.count === 0) return null;
		return name === 'mean' ? divide(this.sum, decimal(this.count)) : this[name];
	}
}

export class Column {
	filled = 0;
	missing = 0;
	numbers = new Sum();
	#counts = new Map();
	/** The same, with one spelling for `Leeds` and `leeds`. */
	#merged = null;
	hasMoreValues = false;
	/** The first value that is no number. */
	odd = null;
	/** The first value that is neither a number nor a date. */
	undated = null;
	firstDate = null;
	lastDate = null;
	#dates = 0;
	#booleans = 0;
	#squares = ZERO;
	#decimals = 0;
	/** What each number has before and behind it; nothing where that differs. */
	#sign = null;
	#values = [];
	#random = randomNumbers();
	#numberOf;
	#dateOf = remembered(parseDate);

	constructor(name, decimalComma) {
		this.name = name;
		this.#numberOf = remembered((text) => parseNumber(text, decimalComma));
	}

	/** Takes a trimmed cell; returns its number, or null. */
	add(text) {
		if (isMissing(text)) {
			this.missing += 1;
			return null;
		}
		const isText = this.filled > ENOUGH_TO_JUDGE && this.numbers.count * 2 < this.filled;
		const number = isText ? null : this.#numberOf(text);
		this.filled += 1;
		const times = this.#counts.get(text);
		this.#merged = null;
		if (times !== undefined) this.#counts.set(text, times + 1);
		else if (this.#counts.size < MOST_DIFFERENT_VALUES) this.#counts.set(text, 1);
		else this.hasMoreValues = true;
		if (number) this.#addNumber(number, signOf(text));
		else this.#addOther(text);
		return number;
	}

	#addNumber(number, sign) {
		this.#sign = this.#sign === null || this.#sign === sign ? sign : '|';
		this.numbers.add(number);
		this.#squares = add(this.#squares, multiply(number, number));
		this.#decimals = Math.max(this.#decimals, number.scale);
		const { count } = this.numbers;
		const place = count <= MOST_QUANTILE_VALUES ? count - 1 : Math.floor(this.#random() * count);
		if (place < MOST_QUANTILE_VALUES) this.#values[place] = toNumber(number);
	}

	#addOther(text) {
		this.odd ??= text;
		if (/^(true|false|yes|no)$/i.test(text)) this.#booleans += 1;
		const day = this.#dateOf(text);
		if (!day) this.undated ??= text;
		if (!day) return;
		this.#dates += 1;
		if (this.firstDate === null || day < this.firstDate) this.firstDate = day;
		if (this.lastDate === null || day > this.lastDate) this.lastDate = day;
	}

	get type() {
		if (this.filled === 0) return 'empty';
		if (this.isNumber) return this.hasDecimals ? 'number' : 'integer';
		if (this.#dates > 0 && this.#dates * 10 >= this.filled * 9) return 'date';
		// There may be some who say maybe.
		return this.#booleans * 2 > this.filled ? 'yes/no' : 'text';
	}

	/** Of a column of dates, how many cells are none. */
	get countUndated() {
		return this.type === 'date' ? this.filled - this.#dates : 0;
	}

	/** How often each value is there, in the spelling that most of its cells have. */
	get counts() {
		if (this.#merged) return this.#merged;
		const rarestFirst = [...this.#counts].toReversed().sort(([, one], [, other]) => one - other);
		const spellings = new Map(rarestFirst.map(([text]) => [text.toLowerCase(), text]));
		this.#merged = new Map();
		for (const [text, times] of this.#counts) {
			const spelling = spellings.get(text.toLowerCase());
			this.#merged.set(spelling, (this.#merged.get(spelling) ?? 0) + times);
		}
		return this.#merged;
	}

	/** At least nine in ten filled cells are numbers; the others are reported, not added. */
	get isNumber() {
		return this.numbers.count > 0 && this.numbers.count * 10 >= this.filled * 9;
	}

	/** Of what can't be added up though it has digits: 31:10, 60 kg. */
	get isOfDigits() {
		return this.type === 'text' && /^[$€£¥]? ?\d[\d.,:]*\D{0,3}$/.test([...this.counts.keys()][0]);
	}

	/** By its name or the sign of its cells. */
	get isOfMoney() {
		return OF_COIN.test(this.name) || /[$€£¥]/.test(this.#sign ?? '');
	}

	get hasDecimals() {
		return this.#decimals > 0;
	}

	/** Digits after the point for what has to be rounded: means, quantiles, deviations. */
	get places() {
		return Math.max(2, this.#decimals);
	}

	/** Of some of the rows, figures look as those of all do. */
	showLike(other) {
		this.#decimals = other.#decimals;
		this.#sign = other.#sign;
	}

	/** Whole years, of which a sum says nothing. */
	get isOfYears() {
		if (!this.isNumber || this.hasDecimals || this.numbers.count === 0) return false;
		const isNamed = /year|born|birth|joined|since|founded|opened|built|published/i.test(this.name);
		return isNamed && toNumber(this.numbers.min) >= 1800 && toNumber(this.numbers.max) <= 2100;
	}

	/** A figure as the cells have it: cents with both digits, and the sign that all of them have. */
	show(number) {
		// A year has no comma.
		if (this.isOfYears) return plain(number, this.places);
		const [before, after] = (this.#sign ?? '|').split('|');
		const text = grouped(number, this.places);
		const [digits, minus] = text.startsWith('-') ? [text.slice(1), '-'] : [text, ''];
		const [whole, part = ''] = digits.split('.');
		const isOfCents = this.#decimals === 2 || (part !== '' && /[$€£¥]/.test(before + after));
		const isShort = isOfCents && !digits.includes('e');
		return `${minus}${before}${isShort ? `${whole}.${part.padEnd(2, '0')}` : digits}${after}`;
	}

	get isSampled() {
		return this.numbers.count > MOST_QUANTILE_VALUES;
	}

	sortedValues() {
		return Float64Array.from(this.#values).sort();
	}

	/** Standard deviation of a sample, or null below two values. */
	deviation() {
		const { count, sum } = this.numbers;
		if (count < 2) return null;
		const spread = subtract(this.#squares, divide(multiply(sum, sum), decimal(count)));
		return decimal(Math.sqrt(Math.max(0, toNumber(divide(spread, decimal(count - 1))))));
	}
}

/** Between the two nearest values, in proportion (as spreadsheets do); `ordered` is sorted and not empty. */
export function quantile(ordered, share) {
	const place = (ordered.length - 1) * share;
	const low = Math.floor(place);
	const below = decimal(ordered[low]);
	const above = decimal(ordered[Math.min(low + 1, ordered.length - 1)]);
	return add(below, multiply(subtract(above, below), decimal(place - low)));
}

/** `parse` with a bounded memory, since most columns repeat their values. */
function remembered(parse) {
	const known = new Map();
	return (text) => {
		let value = known.get(text);
		if (value === undefined) {
			value = parse(text);
			if (known.size < MOST_DIFFERENT_VALUES) known.set(text, value);
		}
		return value;
	};
}

/** The same numbers from 0 to 1 each time (mulberry32), so that a file is always summed up the same way. */
function randomNumbers() {
	let state = 0;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
