/** One pass over a table: its columns, its groups, and what was odd about its rows. */

import { Column, MOST_QUANTILE_VALUES } from './columns.mjs';
import { compare } from './decimal.mjs';
import { Groups } from './groups.mjs';
import { parseDate, parseNumber } from './values.mjs';

const PROGRESS_ROWS = 250_000;
/** A cell over so many lines is more likely a quotation mark that was never closed. */
const LONG_CELL_LINES = 50;

/** `columns`, `groups` (or null), `rows` and `notes` of a table that was read to its end. */
export function analyze(table, by, period) {
	const columns = table.columns.map((name) => new Column(name, table.decimalComma));
	const groups = by.length > 0 ? new Groups(by, columns, period, table.dates) : null;
	const odd = { short: [], long: [], tall: [], isOpen: false };
	let rows = 0;
	let lastLine = null;
	for (const { line, cells, isOpen } of table.rows()) {
		if (cells.length !== columns.length) (cells.length < columns.length ? odd.short : odd.long).push(line);
		if (lastLine !== null && line - lastLine > LONG_CELL_LINES) odd.tall.push(line);
		lastLine = line;
		odd.isOpen = isOpen;
		const texts = columns.map((_, index) => cells[index]?.trim() ?? '');
		const numbers = columns.map((column, index) => column.add(texts[index]));
		groups?.add(texts, numbers);
		rows += 1;
		if (rows % PROGRESS_ROWS === 0) console.error(`${rows} rows read …`);
	}
	return { columns, groups, rows, notes: [...notesOn(table, columns, odd)] };
}

/** Up to `most` rows: those with the highest or lowest number or date in the column at `index`, or, without one, the first. */
export function sortedRows(table, index, isHigh, most) {
	const keyOf = (text) => parseDate(text) ?? parseNumber(text, table.decimalComma);
	const inTurn = (one, other) =>
		typeof one === 'string' || typeof other === 'string'
			? Number(String(one) > String(other)) - Number(String(one) < String(other))
			: compare(one, other);
	const best = [];
	for (const { cells } of table.rows()) {
		const key = index === null ? null : keyOf(cells[index]?.trim() ?? '');
		if (index === null ? best.length === most : key === null) continue;
		let place = best.length;
		while (
			index !== null &&
			place > 0 &&
			(isHigh ? inTurn(key, best[place - 1].key) > 0 : inTurn(key, best[place - 1].key) < 0)
		)
			place -= 1;
		if (place < most) best.splice(place, 0, { key, cells });
		if (best.length > most) best.pop();
	}
	return best;
}

function* notesOn(table, columns, { short, long, tall, isOpen }) {
	if (table.encodingNote) yield table.encodingNote;
	if (table.productNote) yield table.productNote;
	if (!table.hasHeader) yield 'The first row holds data, not names, so the columns are called column1, column2, ….';
	if (short.length > 0)
		yield `${are(short.length, 'row')} shorter than the header; their last cells count as missing (${linesOf(short)}).`;
	if (long.length > 0)
		yield `${are(long.length, 'row')} longer than the header; their extra cells were left out (${linesOf(long)}).`;
	if (isOpen)
		yield 'A quotation mark is never closed: the end of the file was read as one cell, and its rows are missing from the figures.';
	if (tall.length > 0)
		yield `A field spans more than ${LONG_CELL_LINES} lines (${linesOf(tall)}); a quotation mark may never be closed.`;
	for (const { name, isNumber, missing, filled, numbers, odd, isSampled } of columns) {
		if (!isNumber) continue;
		if (missing > 0) yield `In "${name}" ${are(missing, 'value')} missing and left out of its figures.`;
		if (numbers.count < filled)
			yield `In "${name}" ${are(filled - numbers.count, 'value')} not a number and left out of its figures, for example "${odd}".`;
		if (isSampled)
			yield `The quantiles of "${name}" come from a random sample of ${MOST_QUANTILE_VALUES.toLocaleString('en')} values (≈).`;
	}
}

function are(count, noun) {
	return count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`;
}

function linesOf(lines) {
	return `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 5).join(', ')}${lines.length > 5 ? ', …' : ''}`;
}
