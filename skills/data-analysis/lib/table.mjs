/** Opens a delimited text file: which encoding, which delimiter, which names the columns have. */

import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { multiply, plain } from './decimal.mjs';
import { DataError } from './errors.mjs';
import { OF_COIN, sortOf } from './names.mjs';
import { isMissing, monthNumber, parseDate, parseNumber, signOf } from './values.mjs';

const BLOCK = 256 * 1024;
const SAMPLE_CHARACTERS = 64 * 1024;
const SAMPLE_ROWS = 200;
const LONGEST_CELL = 1024 * 1024;
const DELIMITERS = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'vertical bar' };
const ENCODINGS = { 'utf-8': 'UTF-8', 'utf-16le': 'UTF-16', 'utf-16be': 'UTF-16', 'windows-1252': 'Windows-1252' };
const KNOWN_FORMATS = [
	['PK\x03\x04', 'a ZIP archive or an Excel workbook (.xlsx)'],
	['\xd0\xcf\x11\xe0', 'an old Excel workbook (.xls)'],
	['%PDF', 'a PDF document'],
	['\x1f\x8b', 'a gzip archive']
];
/** What Windows-1252 has at 0x80 to 0x9f. Some versions of Node decode these as Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const ONLY_COMMA = /^[+-]?(?:\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:[. \u00a0\u202f]\d{3})+,\d+)$/;
const ONLY_POINT = /^[+-]?(?:\d+\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:,\d{3})+\.\d+)$/;

/** Facts about the file; `rows()` reads it from the start. */
export function openTable(path, { encoding, delimiter, header } = {}) {
	const name = basename(path);
	checkFile(path, name);
	const found = encoding ? { encoding } : findEncoding(path, name);
	const texts = () => decoded(path, name, found.encoding);
	const sample = firstCharacters(texts());
	if (!sample.trim()) throw new DataError(`${name} contains only blanks.`);
	const hasMark = /^sep=/i.test(sample);
	const body = hasMark ? sample.replace(/^.*(?:\r\n|\n|\r|$)/, '') : sample;
	const mark = delimiter ?? (hasMark ? sample[4] : undefined) ?? findDelimiter(body);
	const rows = sampleRows(body, mark);
	if (rows.length === 0) throw new DataError(`${name} has no rows.`);
	const isHeader = header ?? hasHeader(rows);
	const columns = isHeader ? columnNames(rows[0]) : rows[0].map((_, index) => `column${index + 1}`);
	const data = isHeader && rows.length > 1 ? rows.slice(1) : rows;
	const readers = columns.map((_, index) => dateReader(data.map((cells) => cells[index]?.trim() ?? '')));
	const readable = (cells) => cells.map((text, index) => readers[index]?.(text.trim()) ?? text);
	const decimalComma = mark !== ',' && countCells(rows, ONLY_COMMA) > countCells(rows, ONLY_POINT);
	const product = productOf(columns, data, decimalComma);
	if (product) columns.push(product.name);
	return {
		name,
		encodingName: ENCODINGS[decoderOf(found.encoding).encoding] ?? found.encoding,
		encodingNote: found.note,
		delimiterName: DELIMITERS[mark] ?? `'${mark}'`,
		decimalComma,
		hasHeader: isHeader,
		columns,
		/** Says where the last column comes from; undefined where it's the file's own. */
		productNote: product?.note,
		/** Names of the columns of dates. */
		dates: columns.filter((_, index) => readers[index]),
		/** `{ line, cells, isOpen }` of each data row; lines without a single filled cell are skipped. */
		*rows() {
			let skip = isHeader;
			for (const row of csvRows(texts(), mark, name)) {
				if ((hasMark && row.line === 1) || row.cells.every((cell) => !cell.trim())) continue;
				if (skip) skip = false;
				else {
					const cells = readable(row.cells);
					// A row that is too short or too long stays so.
					if (product)
						cells.splice(columns.length - 1, 0, ...(cells.length < columns.length - 1 ? [] : [product.of(cells)]));
					yield { ...row, cells };
				}
			}
		}
	};
}

const PRODUCT = 'Total';

/** Where there are quantities and prices of one, and no money that can be added up: what they make, as one more column. */
function productOf(columns, rows, decimalComma) {
	const numberAt = (cells, index) => parseNumber(cells[index]?.trim() ?? '', decimalComma);
	const isNumber = (index) => rows.every((cells) => isMissing(cells[index]?.trim() ?? '') || numberAt(cells, index));
	const found = columns.flatMap((name, index) => (isNumber(index) ? [{ name, index, sort: sortOf(name) }] : []));
	const factors = [
		found.filter(({ sort }) => sort === 'pieces'),
		found.filter(({ name, sort }) => sort === 'level' && /price/i.test(name))
	];
	if (
		factors.some(({ length }) => length !== 1) ||
		found.some(({ name, sort }) => sort === 'amount' && OF_COIN.test(name))
	)
		return null;
	const [pieces, price] = factors.flat();
	return {
		name: PRODUCT,
		note: `In "${PRODUCT}" each row’s ${pieces.name} and ${price.name} are multiplied: the file has no such column.`,
		of(cells) {
			const [count, each] = [numberAt(cells, pieces.index), numberAt(cells, price.index)];
			if (!count || !each) return '';
			const [before, after] = signOf(cells[price.index].trim()).split('|');
			const [whole, part = ''] = plain(multiply(count, each)).split('.');
			// As many digits as the price has.
			const digits = part.padEnd(each.scale, '0');
			return `${before}${whole}${digits && (decimalComma ? ',' : '.')}${digits}${after}`;
		}
	};
}

const ISO = /^\d{4}-\d\d-\d\d(?=$|[ T])/;
const SLASHED = /^(?<one>\d{1,2})([/-])(?<other>\d{1,2})\2(?<year>\d{4})(?=$|[ T])/;
/** `3 May 1990`, `May 3rd, 1990` */
const NAMED = [
	/^(?<day>\d{1,2})(?:st|nd|rd|th)?[ -](?<month>\p{L}{3,9})\.?,?[ -](?<year>\d{4})$/u,
	/^(?<month>\p{L}{3,9})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?,? (?<year>\d{4})$/u
];

/** Reads the cells of a column of dates, each by itself, as 2025-12-31; undefined where fewer than nine in ten of `cells` are one. */
function dateReader(cells) {
	const filled = cells.filter((text) => !isMissing(text));
	// Of 31/12/2025 or 12/31/2025: which part is the day. 5/6/2025 is as others of the column are, where they agree.
	const isOver = (part) => filled.some((text) => Number(SLASHED.exec(text)?.groups[part]) > 12);
	const [isFirst, isSecond] = [isOver('one'), isOver('other')];
	const read = (text) => {
		if (ISO.test(text) || parseDate(text)) return text;
		const found = [SLASHED, ...NAMED].map((pattern) => pattern.exec(text)?.groups).find(Boolean);
		if (!found) return undefined;
		const { one, other, year } = found;
		const isDayFirst = one > 12 || (!(other > 12) && isFirst);
		if (one && isFirst === isSecond && !(one > 12 || other > 12 || one === other)) return undefined;
		const { day, month } = one ? (isDayFirst ? { day: one, month: other } : { day: other, month: one }) : found;
		const two = (part) => String(part).padStart(2, '0');
		return parseDate(`${year}-${two(one ? month : monthNumber(month))}-${two(day)}`) ?? undefined;
	};
	const count = filled.filter(read).length;
	return count > 0 && count * 10 >= filled.length * 9 ? read : undefined;
}

/** Rows with the number of their last line. `isOpen`: the text ended inside of quotation marks. */
function* csvRows(texts, delimiter, name) {
	const separator = delimiter.charCodeAt(0);
	let cells = [];
	let cell = '';
	let line = 1;
	let isQuoted = false;
	/** A quotation mark inside of a quoted cell: its end, or the first of two. */
	let isAfterQuote = false;
	let isAtStart = true;
	let isAfterReturn = false;
	for (const text of texts) {
		let start = 0;
		for (let index = 0; index < text.length; index += 1) {
			const code = text.charCodeAt(index);
			const isLineEnd = code === 10 || code === 13;
			const isSecondHalf = code === 10 && isAfterReturn;
			isAfterReturn = code === 13;
			if (isQuoted) {
				if (code === 34) {
					cell += text.slice(start, index);
					start = index + 1;
					isQuoted = false;
					isAfterQuote = true;
				} else if (isLineEnd && !isSecondHalf) line += 1;
			} else if (isSecondHalf) {
				start = index + 1;
			} else if (code === 34 && (isAtStart || isAfterQuote)) {
				if (isAfterQuote) cell += '"';
				start = index + 1;
				isQuoted = true;
				isAtStart = isAfterQuote = false;
			} else if (code === separator || isLineEnd) {
				cells.push(cell + text.slice(start, index));
				cell = '';
				start = index + 1;
				isAtStart = true;
				isAfterQuote = false;
				if (isLineEnd) {
					yield { line, cells, isOpen: false };
					line += 1;
					cells = [];
				}
			} else isAtStart = isAfterQuote = false;
		}
		cell += text.slice(start);
		if (cell.length > LONGEST_CELL)
			throw new DataError(
				`Line ${line} of ${name} can't be read (a cell is longer than 1 MB). A quotation mark may never be closed.`
			);
	}
	// An open cell that ends with a line end has no text on the line after it.
	if (/[\r\n]$/.test(cell)) line -= 1;
	if (cell || cells.length > 0) yield { line, cells: [...cells, cell], isOpen: isQuoted };
}

function checkFile(path, name) {
	let facts;
	try {
		facts = statSync(path);
	} catch (error) {
		if (error.code === 'ENOENT') throw new DataError(`There is no file ${path}.${hintOfFiles(dirname(path))}`);
		throw new DataError(`${path} can't be opened (${error.code}).`);
	}
	if (!facts.isFile()) throw new DataError(`${path} is not a file.${hintOfFiles(path)}`);
	if (facts.size === 0) throw new DataError(`${name} is empty (0 bytes), so there's nothing to analyze.`);
}

function hintOfFiles(folder) {
	try {
		const names = readdirSync(folder).filter((name) => /\.(csv|tsv|txt|tab)$/i.test(name));
		return names.length > 0 ? ` There is: ${names.sort().slice(0, 10).join(', ')}.` : '';
	} catch {
		return '';
	}
}

function* blocks(path) {
	const file = openSync(path, 'r');
	try {
		for (;;) {
			const block = Buffer.allocUnsafe(BLOCK);
			const length = readSync(file, block);
			if (length === 0) return;
			yield block.subarray(0, length);
		}
	} finally {
		closeSync(file);
	}
}

function* decoded(path, name, encoding) {
	const decoder = decoderOf(encoding);
	if (decoder.encoding === 'windows-1252') {
		for (const block of blocks(path))
			yield block.toString('latin1').replace(/[\x80-\x9f]/g, (one) => WINDOWS_1252[one.charCodeAt(0) - 0x80]);
		return;
	}
	try {
		for (const block of blocks(path)) yield decoder.decode(block, { stream: true });
		yield decoder.decode();
	} catch (error) {
		// Strict: with an encoding that doesn't fit, wrong text must not be counted as data.
		if (error.code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
		throw new DataError(`${name} is not written in ${encoding}.`);
	}
}

/** A decoder by the name that the web or Python has for it: latin-1 is latin1. */
function decoderOf(encoding) {
	for (const label of [encoding, encoding.replace(/[-_]/g, '')]) {
		try {
			return new TextDecoder(label, { fatal: true });
		} catch {
			// Not a name that Node knows: the next one.
		}
	}
	throw new DataError(`Unknown encoding "${encoding}".`);
}

/** UTF-8 or UTF-16 by its mark, UTF-8 if all of it is valid, else Western European. */
function findEncoding(path, name) {
	const [start] = blocks(path);
	if (start[0] === 0xff && start[1] === 0xfe) return { encoding: 'utf-16le' };
	if (start[0] === 0xfe && start[1] === 0xff) return { encoding: 'utf-16be' };
	const magic = start.toString('latin1', 0, 4);
	const known = KNOWN_FORMATS.find(([bytes]) => magic.startsWith(bytes));
	const what = known?.[1] ?? (start.includes(0) ? 'a binary file' : null);
	if (what) throw new DataError(`${name} is ${what}, not CSV text. Save or export it as CSV first.`);
	try {
		for (const text of decoded(path, name, 'utf-8')) void text;
		return { encoding: 'utf-8' };
	} catch (error) {
		if (!(error instanceof DataError)) throw error;
		const note = 'The file is not valid UTF-8; it was read as Western European (Windows-1252).';
		return { encoding: 'windows-1252', note };
	}
}

function firstCharacters(texts) {
	let sample = '';
	for (const text of texts) {
		sample += text;
		if (sample.length >= SAMPLE_CHARACTERS) return sample.slice(0, SAMPLE_CHARACTERS);
	}
	return sample;
}

function sampleRows(sample, delimiter) {
	const rows = [];
	for (const { cells } of csvRows([sample], delimiter)) {
		if (cells.some((cell) => cell.trim())) rows.push(cells);
		if (rows.length === SAMPLE_ROWS) return rows;
	}
	// The last line of a sample may be cut off in the middle.
	return sample.length === SAMPLE_CHARACTERS && rows.length > 1 ? rows.slice(0, -1) : rows;
}

/** The candidate that divides most rows into the same number of cells, more than one. */
function findDelimiter(sample) {
	let best = { delimiter: ',', score: 0 };
	for (const delimiter of Object.keys(DELIMITERS)) {
		const rows = sampleRows(sample, delimiter);
		const times = new Map();
		for (const { length } of rows) times.set(length, (times.get(length) ?? 0) + 1);
		const [[width, most] = [0, 0]] = [...times].sort(([, one], [, other]) => other - one);
		const score = width < 2 ? 0 : most / rows.length + Math.min(width, 50) / 1000;
		if (score > best.score) best = { delimiter, score };
	}
	return best.delimiter;
}

function countCells(rows, pattern) {
	return rows.flat().filter((cell) => pattern.test(cell.trim().replace(/^[$€£¥]\s*|\s*[$€£¥]$/g, ''))).length;
}

/** False only when the first row is clearly data: it holds a number (not a year) or a date where the second does too. */
function hasHeader([first, second]) {
	if (!second) return true;
	return !first.some((text, index) => {
		const [one, other] = [text.trim(), second[index]?.trim() ?? ''];
		const isYear = /^(19|20)..$/.test(one);
		return (parseDate(one) && parseDate(other)) || (!isYear && parseNumber(one) && parseNumber(other));
	});
}

/** Header cells as names that are neither empty nor twice there. */
function columnNames(cells) {
	const names = [];
	for (const [index, cell] of cells.entries()) {
		const text = cell.trim().replace(/\s+/g, ' ');
		const name = isMissing(text) ? `column${index + 1}` : text;
		let unique = name;
		for (let number = 2; names.includes(unique); number += 1) unique = `${name} (${number})`;
		names.push(unique);
	}
	return names;
}
