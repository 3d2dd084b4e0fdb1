/** Tables out of .xlsx and .csv files: `{ file, sheets: [{ name, rows, merged, formulas, ... }], zip }`. */
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DataError, UsageError } from './errors.mjs';
import { openZip } from './zip.mjs';

const MAX_BYTES = 50 * 1024 * 1024;
const MAX_CELLS = 5_000_000;
const DAY_MS = 86_400_000;
/** Number formats that every workbook has and that show dates or times. */
const DATE_FORMATS = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 30, 36, 45, 46, 47, 50, 57]);
const NAMES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A cell is a string, a number, a boolean or null; a date is a text such as `2026-01-31` or `2026-01-31 14:30`. */
export function openTables(file) {
	const bytes = readBytes(file);
	if (bytes.length === 0) throw new DataError(`${file} is empty.`);
	if (bytes.readUInt32BE(0) === 0xd0cf11e0)
		throw new DataError(`${file} is protected with a password, or an old .xls file. Save it as .xlsx without a password.`);
	if (bytes.subarray(0, 2).toString() === 'PK') return openWorkbook(bytes, file);
	if ((!utf16Of(bytes) && bytes.subarray(0, 4096).includes(0)) || /\.xls[xmb]?$/i.test(file)) throw new DataError(`${file} is neither a workbook (.xlsx) nor a CSV file.`);
	return { file, zip: null, sheets: [{ name: basename(file).replace(/\.\w+$/, '').slice(0, 31), ...readCsv(textOf(bytes)) }] };
}

export function sheetOf({ file, sheets }, wanted) {
	if (wanted === undefined) return sheets.find(({ rows }) => rows.length > 0) ?? sheets[0];
	const found = sheets.find(({ name }) => name.toLowerCase() === wanted.toLowerCase()) ?? sheets[Number(wanted) - 1];
	if (!found) throw new UsageError(`${file} has no sheet “${wanted}”. It has: ${sheets.map(({ name }) => name).join(', ')}.`);
	return found;
}

function readBytes(file) {
	const stat = statSync(file, { throwIfNoEntry: false });
	if (!stat) throw new DataError(`Can't read ${file}: there is no such file.`);
	if (!stat.isFile()) throw new DataError(`${file} isn't a file.`);
	if (stat.size > MAX_BYTES) throw new DataError(`${file} is too large: the limit is ${MAX_BYTES / 1024 / 1024} MB.`);
	return stat.size < 4 ? Buffer.concat([readFileSync(file), Buffer.alloc(stat.size > 0 ? 4 - stat.size : 0, '\n')]) : readFileSync(file);
}

// Workbooks.

function openWorkbook(bytes, file) {
	const zip = openZip(bytes, file);
	const book = zip.text('xl/workbook.xml');
	if (book === null) throw new DataError(`${file} isn't a workbook: it's a zip file without one.`);
	const targets = new Map();
	for (const { attributes } of elements(zip.text('xl/_rels/workbook.xml.rels') ?? '', 'Relationship'))
		targets.set(attributes.Id, attributes.Target?.startsWith('/') ? attributes.Target.slice(1) : `xl/${attributes.Target}`);
	const context = {
		file,
		strings: elements(zip.text('xl/sharedStrings.xml') ?? '', 'si').map(({ content }) => textIn(content)),
		dates: dateStyles(zip.text('xl/styles.xml') ?? ''),
		is1904: /<(?:\w+:)?workbookPr\b[^>]*date1904="(?:1|true)"/.test(book),
		room: MAX_CELLS
	};
	const sheets = elements(book, 'sheet').flatMap(({ attributes }) => {
		const path = targets.get(attributes['r:id'] ?? Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1]);
		const xml = path === undefined ? null : zip.text(path);
		return xml === null || !/<(?:\w+:)?worksheet\b/.test(xml) ? [] : [{ name: decoded(attributes.name ?? ''), path, ...readSheet(xml, context) }];
	});
	if (sheets.length === 0) throw new DataError(`${file} has no sheets.`);
	return { file, zip, sheets };
}

function readSheet(xml, context) {
	const rows = [];
	const formulas = [];
	let unsaved = 0;
	let numbersAsText = 0;
	const cell = /<(?:\w+:)?c\b([^>]*?)(?:\/>|>([^]*?)<\/(?:\w+:)?c>)|<(?:\w+:)?row\b([^>]*)>/g;
	let [row, column] = [-1, -1];
	for (const [, attributes, content = '', ofRow] of xml.matchAll(cell)) {
		if (ofRow !== undefined) {
			const number = /\br="(\d{1,7})"/.exec(ofRow);
			[row, column] = [number ? Number(number[1]) - 1 : row + 1, -1];
			continue;
		}
		const [, letters, digits] = /\br="([A-Z]{1,3})(\d{1,7})"/.exec(attributes) ?? [];
		column = letters ? columnNumber(letters) : column + 1;
		if (digits) row = Number(digits) - 1;
		const formula = /<(?:\w+:)?f\b[^>]*?(?:\/>|>([^]*?)<\/(?:\w+:)?f>)/.exec(content);
		const value = cellValue(attributes, content, context);
		if (formula) {
			formulas.push({ row, column, text: decoded(formula[1] ?? '') });
			if (value === null) unsaved += 1;
		}
		if (value === null || row < 0) continue;
		if (typeof value === 'string' && /^\s*-?\d+([.,]\d+)?\s*$/.test(value)) numbersAsText += 1;
		context.room -= 1;
		if (context.room < 0 || row > 1_048_575) throw new DataError(`${context.file} has too many cells: the limit is 5 million.`);
		while (rows.length <= row) rows.push([]);
		const cells = rows[row];
		while (cells.length < column) cells.push(null);
		cells[column] = value;
	}
	const merged = elements(xml, 'mergeCell').flatMap(({ attributes: { ref = '' } }) => {
		const [, left, top, right, bottom] = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(ref) ?? [];
		return left ? [{ ref, top: top - 1, bottom: bottom - 1, left: columnNumber(left), right: columnNumber(right) }] : [];
	});
	return { rows, merged, formulas, unsaved, numbersAsText };
}

function cellValue(attributes, content, { strings, dates, is1904 }) {
	const type = /\bt="(\w+)"/.exec(attributes)?.[1] ?? 'n';
	if (type === 'inlineStr') return textIn(content) || null;
	const text = /<(?:\w+:)?v\b[^>]*>([^]*?)<\/(?:\w+:)?v>/.exec(content)?.[1];
	if (text === undefined || text === '') return null;
	if (type === 's') return strings[Number(text)] || null;
	if (type === 'b') return text === '1';
	if (type === 'd') return text.replace('T', ' ').replace(/ 00:00:00.*$/, '');
	const number = Number(text);
	if (type !== 'n' || !Number.isFinite(number)) return decoded(text);
	return dates.has(Number(/\bs="(\d+)"/.exec(attributes)?.[1] ?? -1)) ? dateText(number, is1904) : number;
}

/** Indexes of the cell styles that show dates. */
function dateStyles(xml) {
	const own = elements(xml, 'numFmt').flatMap(({ attributes: { numFmtId, formatCode = '' } }) => {
		const bare = decoded(formatCode).replace(/"[^"]*"|\\.|\[[^\]]*\]/g, '');
		return /[dyhs]|m/i.test(bare) && !/general/i.test(bare) ? [Number(numFmtId)] : [];
	});
	const all = new Set([...DATE_FORMATS, ...own]);
	const formats = elements(/<(?:\w+:)?cellXfs\b[^]*?<\/(?:\w+:)?cellXfs>/.exec(xml)?.[0] ?? '', 'xf');
	return new Set(formats.flatMap(({ attributes }, index) => (all.has(Number(attributes.numFmtId)) ? [index] : [])));
}

/** Days since 1899-12-30 or 1904-01-01; the file format counts a 29 February 1900 that never was. */
function dateText(days, is1904) {
	const start = Date.UTC(...(is1904 ? [1904, 0, 1] : [1899, 11, days < 60 ? 31 : 30]));
	const date = new Date(start + Math.round(days * 86_400) * 1000);
	if (!(days >= 0) || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return days;
	const [day, time] = [date.toISOString().slice(0, 10), date.toISOString().slice(11, 19).replace(/:00$/, '')];
	if (days < 1) return time;
	return date.getTime() % DAY_MS === 0 ? day : `${day} ${time}`;
}

/** All elements of a name, which don't nest, with attributes and content. */
function elements(xml, name) {
	const all = xml.matchAll(new RegExp(`<(?:\\w+:)?${name}\\b([^>]*?)(?:/>|>([^]*?)</(?:\\w+:)?${name}>)`, 'g'));
	return Array.from(all, ([, given, content = '']) => {
		const attributes = Object.fromEntries(Array.from(given.matchAll(/([\w:]+)\s*=\s*["']([^"']*)["']/g), ([, key, value]) => [key, value]));
		return { attributes, content };
	});
}

/** The text of a string with its formatted runs, without how it's pronounced. */
function textIn(xml) {
	const runs = xml.replace(/<(?:\w+:)?rPh\b[^]*?<\/(?:\w+:)?rPh>/g, '').matchAll(/<(?:\w+:)?t\b[^>]*?(?:\/>|>([^]*?)<\/(?:\w+:)?t>)/g);
	return Array.from(runs, ([, text = '']) => decoded(text)).join('');
}

function decoded(text) {
	if (!/[&_]/.test(text)) return text;
	const codePoint = (number) => (number > 0 && number < 0x110000 ? String.fromCodePoint(number) : '');
	return text
		.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (all, decimal, hex, name) => {
			return name ? (NAMES[name] ?? all) : codePoint(decimal ? Number(decimal) : parseInt(hex, 16));
		})
		.replace(/_x([\dA-F]{4})_/g, (_, hex) => codePoint(parseInt(hex, 16)));
}

export function columnNumber(letters) {
	return [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

export function columnLetters(index) {
	return (index >= 26 ? columnLetters(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26));
}

// CSV files.

/** As Excel saves “Unicode text”: with a byte order mark. */
function utf16Of(bytes) {
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
	return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

function textOf(bytes) {
	const utf16 = utf16Of(bytes);
	if (utf16) return new TextDecoder(utf16).decode(bytes);
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

function readCsv(text) {
	const [first = ''] = text.split(/\r?\n/, 1);
	const delimiter = [',', ';', '\t', '|'].map((mark) => [mark, first.split(mark).length]).toSorted((a, b) => b[1] - a[1])[0][0];
	const rows = [];
	let cells = [];
	let room = MAX_CELLS;
	const field = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"[^${delimiter}\\r\\n]*|((?!")[^${delimiter}\\r\\n]*))(${delimiter === '|' ? '\\|' : delimiter}|\\r\\n|\\n|\\r|$)`, 'y');
	while (field.lastIndex < text.length) {
		const [, quoted, bare, end] = field.exec(text) ?? [];
		if (end === undefined) throw new DataError('A quotation mark in this CSV file is never closed.');
		cells.push(quoted === undefined ? typed(bare, delimiter) : quoted.replaceAll('""', '"'));
		room -= 1;
		if (room < 0) throw new DataError('This CSV file has too many cells: the limit is 5 million.');
		if (end === delimiter) continue;
		rows.push(cells.some((cell) => cell !== null) ? cells : []);
		cells = [];
	}
	if (cells.length > 0) rows.push(cells);
	return { rows, merged: [], formulas: [], unsaved: 0, numbersAsText: 0 };
}

/** `007` and numbers of more than 15 digits stay text: they would lose something. */
function typed(text, delimiter) {
	const bare = text.trim();
	if (bare === '') return null;
	const plain = delimiter === ';' && /^-?\d{1,3}(\.\d{3})*,\d+$|^-?\d+,\d+$/.test(bare) ? bare.replaceAll('.', '').replace(',', '.') : bare;
	return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(plain) && plain.replace(/\D/g, '').length <= 15 ? Number(plain) : bare;
}
