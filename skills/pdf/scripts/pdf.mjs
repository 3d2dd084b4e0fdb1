#!/usr/bin/env node
/** Reads and changes PDF files: facts, text, form fields; extract, split, join, rotate. */

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `Usage: pdf.mjs info FILE                        pages, sizes, title, dates, form fields
       pdf.mjs read FILE [--pages PAGES]        the text, page by page
       pdf.mjs fields FILE                      the fields of a form, with their values
       pdf.mjs fill FILE "NAME = VALUE, …" [--flatten]
       pdf.mjs extract FILE --pages PAGES       these pages as one new PDF
       pdf.mjs split FILE [--every NUMBER]      a new PDF for each page, or for every so many
       pdf.mjs join FILE FILE...                one PDF of several
       pdf.mjs rotate FILE --by DEGREES [--pages PAGES]

PAGES is like 2, 1-3, 5- or 1,4-6. --output FILE names the new file. What was there stays as it is.`;

const MAX_BYTES = 100 * 1024 * 1024;
/** A model reads 20 KB of output. */
const MAX_PRINTED = 15_000;
const MAX_TEXT_MS = 20_000;
const MAX_PARTS = 200;
const YES = /^(yes|y|true|on|x|1|checked)$/i;
const NO = /^(no|n|false|off|0|unchecked|)$/i;
const PAPER = { A3: [842, 1191], A4: [595, 842], A5: [420, 595], Letter: [612, 792], Legal: [612, 1008] };
/** The file can't be read or changed: exit code 1. */
class DataError extends Error {}
/** The call is wrong: exit code 2. */
class UsageError extends Error {}

const COMMANDS = { info, read, fields, fill, extract, split, join, rotate };

async function main(args) {
	const { values, positionals } = readArguments(args);
	if (values.help) return console.log(USAGE);
	const [command, ...rest] = positionals;
	const hasFiles = rest.length >= 1 && (command === 'join' || rest.length <= (command === 'fill' ? 2 : 1));
	if (!Object.hasOwn(COMMANDS, command ?? '') || !hasFiles) throw new UsageError(USAGE);
	await COMMANDS[command](rest, values);
}

function readArguments(args) {
	const word = { type: 'string' };
	const options = { pages: word, every: word, by: word, output: word, flatten: { type: 'boolean' } };
	try {
		return parseArgs({ args, allowPositionals: true, options: { ...options, help: { type: 'boolean', short: 'h' } } });
	} catch (error) {
		throw new UsageError(`${error.message}\n\n${USAGE}`);
	}
}

// Reading, with pdf.js.

async function info([file]) {
	const document = await openToRead(file);
	const { info: facts } = await document.getMetadata();
	const sizes = new Map();
	for (let number = 1; number <= document.numPages; number += 1) {
		const size = sizeOf((await document.getPage(number)).getViewport({ scale: 1 }));
		sizes.set(size, (sizes.get(size) ?? 0) + 1);
	}
	const fieldCount = Object.keys((await document.getFieldObjects()) ?? {}).length;
	const date = (key) => /^D:(\d{4})(\d{2})?(\d{2})?/.exec(facts[key] ?? '')?.slice(1).filter(Boolean).join('-');
	const lines = {
		Pages: document.numPages,
		'Page size': [...sizes].map(([size, count]) => (sizes.size > 1 ? `${size} (${countOf(count, 'page')})` : size)).join(', '),
		Title: facts.Title,
		Author: facts.Author,
		Subject: facts.Subject,
		Keywords: facts.Keywords,
		Created: date('CreationDate'),
		Changed: date('ModDate'),
		'Made with': facts.Creator === facts.Producer ? facts.Producer : [facts.Creator, facts.Producer].filter(Boolean).join(', '),
		'PDF version': facts.PDFFormatVersion,
		Encrypted: facts.EncryptFilterName ? 'yes' : 'no',
		'Form fields': fieldCount || 'none',
		Signed: facts.IsSignaturesPresent ? 'yes; a change breaks the signature' : undefined,
		Size: `${statSync(file).size.toLocaleString('en-US')} bytes`
	};
	console.log(`**${basename(file)}**\n`);
	for (const [name, value] of Object.entries(lines)) if (value) console.log(`- ${name}: ${oneLine(value)}`);
}

async function read([file], { pages, output }) {
	const document = await openToRead(file);
	const numbers = readPages(pages, document.numPages);
	const parts = [];
	const empty = [];
	const end = performance.now() + MAX_TEXT_MS;
	for (const number of numbers) {
		if (performance.now() > end) {
			parts.push(`*Stopped before page ${number}: it takes too long. Go on with --pages ${number}-.*`);
			break;
		}
		const page = await document.getPage(number);
		const words = [textOf(await page.getTextContent()), ...filledIn(await page.getAnnotations())].join('\n').trim();
		page.cleanup();
		if (words === '') empty.push(number);
		else parts.push(`## Page ${number}\n\n${words}`);
	}
	if (empty.length === numbers.length)
		throw new DataError(`${file} has no text on ${countOf(empty.length, 'page')}: they may be pictures (a scan).`);
	if (empty.length > 0) parts.push(`*No text on page ${empty.join(', ')}: only pictures, or empty.*`);
	const all = parts.join('\n\n');
	const shown = all.slice(0, MAX_PRINTED);
	const target = output ?? (shown.length < all.length ? nameFor(file, '', '.txt') : null);
	if (target !== null) writeNew(target, `${all}\n`, [file]);
	console.log(shown);
	if (shown.length < all.length) console.log('\n… There is more.');
	if (target !== null) console.log(`\nThe whole text: ${target}`);
}

function textOf({ items }) {
	let text = '';
	let height = null;
	for (const { str, transform, hasEOL } of items) {
		if (str === undefined) continue;
		// Pieces from different lines don't always say that one ends.
		if (str.trim() !== '') {
			if (height !== null && Math.abs(transform[5] - height) > 4 && !text.endsWith('\n')) text += '\n';
			height = transform[5];
		}
		text += str + (hasEOL ? '\n' : '');
	}
	return text;
}

/** What stands in form fields isn't part of the page's text. */
function filledIn(annotations) {
	return annotations.flatMap(({ fieldName, fieldValue, fieldType }) => {
		const value = [fieldValue ?? ''].flat().join(', ');
		return fieldName && value !== '' && fieldType !== 'Sig' ? `[${fieldName}: ${value === 'Off' ? 'no' : value}]` : [];
	});
}

async function openToRead(file) {
	const data = new Uint8Array(readPdf(file));
	const { getDocument } = await import('../vendor/pdfjs.mjs');
	try {
		return await getDocument({ data, password: process.env.PDF_PASSWORD, verbosity: 0, stopAtErrors: false }).promise;
	} catch (error) {
		throw unreadable(file, error.name === 'PasswordException');
	}
}

// Changing, with pdf-lib.

async function fields([file]) {
	const found = formOf(await openToChange(file), file).getFields();
	console.log(`**${basename(file)}** has ${countOf(found.length, 'field')}.\n\n| name | kind | value | choices |\n|---|---|---|---|`);
	for (const field of found) {
		const cells = [field.getName(), kindOf(field), valueOf(field), choicesOf(field).join(', ')];
		console.log(`| ${cells.map((cell) => oneLine(cell).replaceAll('|', '\\|')).join(' | ')} |`);
	}
}

async function fill([file, given], { output, flatten }) {
	if (!given) throw new UsageError(`What goes into the fields? pdf.mjs fill ${file} "NAME = VALUE, NAME = VALUE"`);
	const document = await openToChange(file);
	const form = formOf(document, file);
	const byName = new Map(form.getFields().map((field) => [field.getName(), field]));
	const values = readValues(given, [...byName.keys()]);
	for (const [name, value] of values) setField(byName.get(name), value);
	let note = '';
	try {
		form.updateFieldAppearances();
		if (flatten) form.flatten({ updateFieldAppearances: false });
	} catch {
		// The standard fonts lack most alphabets: then the program that shows the form draws the values.
		if (flatten) throw new DataError("These values can't be flattened: the form's font lacks some of their characters.");
		const { PDFBool, PDFName } = await import('../vendor/pdf-lib.mjs');
		form.acroForm.dict.set(PDFName.of('NeedAppearances'), PDFBool.True);
		note = "\nThe form's font lacks some of these characters; most PDF programs show them in another one.";
	}
	const target = output ?? nameFor(file, '-filled');
	writeNew(target, await document.save({ updateFieldAppearances: false }), [file]);
	console.log(`Filled in ${countOf(values.size, 'field')}: ${target}\n`);
	for (const [name, value] of values) console.log(`- ${oneLine(name)}: ${oneLine(value)}`);
	const empty = [...byName].filter(([, field]) => /^(text|choice)$/.test(kindOf(field)) && !valueOf(field)).map(([name]) => name);
	if (empty.length > 0 && !flatten) console.log(`\nStill empty: ${empty.map(oneLine).join(', ')}.`);
	if (note) console.log(note);
}

/** `NAME = VALUE` pairs by the form's own field names; a value goes on until the next name. */
function readValues(given, names) {
	const json = given.trim().startsWith('{') ? parseJson(given) : null;
	if (json) {
		const unknown = Object.keys(json).find((name) => !names.includes(name));
		if (unknown !== undefined) throw unknownField(unknown, names);
		return new Map(Object.entries(json).map(([name, value]) => [name, String(value ?? '')]));
	}
	const escape = (name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	const longestFirst = names.toSorted((a, b) => b.length - a.length).map(escape).join('|');
	const marks = [...given.matchAll(new RegExp(`(?:^|[\\s,;])["']?(${longestFirst})["']?\\s*[=:]`, 'gi'))];
	const values = new Map();
	for (const [index, mark] of marks.entries()) {
		const value = given.slice(mark.index + mark[0].length, marks[index + 1]?.index).replace(/[\s,;]+$/, '').trim();
		const name = names.find((each) => each.toLowerCase() === mark[1].toLowerCase());
		values.set(name, value.replace(/^(["'“])(.*)["'”]$/s, '$2'));
		const other = /(?:^|[,;])\s*([\p{L}\p{N} _.-]{1,60}?)\s*=/u.exec(value);
		if (other) throw unknownField(other[1], names);
	}
	if (values.size === 0) throw unknownField(/^[^=:]{1,60}/.exec(given)?.[0].trim() ?? given, names);
	const [first] = marks;
	if (given.slice(0, first.index).includes('=')) throw unknownField(given.split('=')[0].trim(), names);
	return values;
}

function unknownField(name, names) {
	return new UsageError(`There's no field “${oneLine(name)}”. The fields are: ${names.map(oneLine).join(', ')}.`);
}

function setField(field, value) {
	const name = field.getName();
	const kind = kindOf(field);
	try {
		if (kind === 'text') field.setText(value);
		else if (kind === 'check box') {
			if (!YES.test(value) && !NO.test(value)) throw new UsageError(`${name} is a check box: yes or no.`);
			if (YES.test(value)) field.check();
			else field.uncheck();
		} else if (kind === 'choice') {
			const choices = choicesOf(field);
			const choice = choices.find((each) => each.toLowerCase() === value.toLowerCase());
			if (choice === undefined) throw new UsageError(`${name} takes one of: ${choices.join(', ')}.`);
			field.select(choice);
		} else throw new DataError(`${name} is a ${kind}, which can't be filled in.`);
	} catch (error) {
		if (error instanceof UsageError || error instanceof DataError) throw error;
		throw new DataError(`Can't put “${oneLine(value)}” into ${name}: ${error.message}`);
	}
}

async function extract([file], { pages, output }) {
	if (!pages) throw new UsageError(`Which pages? For example: pdf.mjs extract ${file} --pages 2-3`);
	const document = await openToCopy(file);
	const numbers = readPages(pages, document.getPageCount());
	const target = output ?? nameFor(file, `-pages-${pages.replace(/[^\d-]+/g, '_')}`);
	writeNew(target, await pagesOf([[document, numbers]]), [file]);
	console.log(`${countOf(numbers.length, 'page')} of ${document.getPageCount()}: ${target}`);
}

async function split([file], { every = '1' }) {
	const size = Number(every);
	if (!Number.isInteger(size) || size < 1) throw new UsageError('--every must be a whole number of pages.');
	const document = await openToCopy(file);
	const numbers = readPages(undefined, document.getPageCount());
	if (numbers.length / size > MAX_PARTS)
		throw new UsageError(`That would be more than ${MAX_PARTS} files: use --every with more pages, or extract.`);
	for (let start = 0; start < numbers.length; start += size) {
		const part = numbers.slice(start, start + size);
		const target = nameFor(file, part.length === 1 ? `-page-${part[0]}` : `-pages-${part[0]}-${part.at(-1)}`);
		writeNew(target, await pagesOf([[document, part]]), [file]);
		console.log(`- ${target}`);
	}
}

async function join(files, { output = 'joined.pdf' }) {
	if (files.length < 2) throw new UsageError('Joining takes at least two files.');
	const sources = [];
	for (const file of files) {
		const document = await openToCopy(file);
		sources.push([document, readPages(undefined, document.getPageCount())]);
	}
	const count = sources.reduce((sum, [, numbers]) => sum + numbers.length, 0);
	writeNew(output, await pagesOf(sources), files);
	console.log(`${countOf(count, 'page')} of ${files.length} files: ${output}`);
}

async function rotate([file], { by, pages, output }) {
	const degrees = Number(by);
	if (!by || degrees % 90 !== 0 || degrees === 0)
		throw new UsageError('--by must be 90 (to the right), 180, 270 or -90 (to the left).');
	const document = await openToChange(file);
	const numbers = readPages(pages, document.getPageCount());
	for (const number of numbers) {
		const page = document.getPage(number - 1);
		page.setRotation({ type: 'degrees', angle: (((page.getRotation().angle + degrees) % 360) + 360) % 360 });
	}
	const target = output ?? nameFor(file, '-rotated');
	writeNew(target, await document.save({ updateFieldAppearances: false }), [file]);
	console.log(`Turned ${countOf(numbers.length, 'page')} by ${degrees}°: ${target}`);
}

/** A new file with these pages alone: what is left out isn't hidden in it. */
async function pagesOf(sources) {
	const { PDFDocument } = await import('../vendor/pdf-lib.mjs');
	const document = await PDFDocument.create();
	for (const [source, numbers] of sources) {
		const copied = await document.copyPages(source, numbers.map((number) => number - 1));
		for (const page of copied) document.addPage(page);
	}
	return document.save();
}

async function openToChange(file) {
	const bytes = readPdf(file);
	// pdf-lib takes a damaged file for one with fewer pages.
	const { numPages } = await openToRead(file);
	const { PDFDocument } = await import('../vendor/pdf-lib.mjs');
	// Of each repair it tells on the console.
	console.warn = () => {};
	try {
		const document = await PDFDocument.load(bytes, { password: process.env.PDF_PASSWORD ?? '', updateMetadata: false });
		if (document.getPageCount() !== numPages) throw new Error('pages are missing');
		return document;
	} catch (error) {
		throw unreadable(file, /encrypt|password/i.test(`${error.name} ${error.message}`));
	}
}

/** Fields aren't copied with their pages, so their values become part of the page. */
async function openToCopy(file) {
	const document = await openToChange(file);
	const form = document.getForm();
	if (form.getFields().length === 0) return document;
	try {
		form.flatten({ updateFieldAppearances: false });
	} catch {
		console.log('Note: the values of the form fields are lost in the new file.\n');
	}
	return document;
}

function formOf(document, file) {
	const form = document.getForm();
	if (form.getFields().length === 0)
		throw new DataError(`${file} has no form fields${form.hasXFA() ? ' that this script can read (an XFA form)' : ''}.`);
	return form;
}

function kindOf(field) {
	if (field.isChecked) return 'check box';
	if (field.getText) return 'text';
	return field.getOptions ? 'choice' : 'button or signature';
}

function choicesOf(field) {
	return field.getOptions?.() ?? [];
}

function valueOf(field) {
	if (field.getText) return field.getText() ?? '';
	if (field.isChecked) return field.isChecked() ? 'yes' : 'no';
	return [field.getSelected?.() ?? []].flat().join(', ');
}

// Files, page numbers and words.

function readPdf(file) {
	let stat;
	try {
		stat = statSync(file);
	} catch {
		throw new DataError(`Can't read ${file}: there is no such file.`);
	}
	if (!stat.isFile()) throw new DataError(`${file} isn't a file.`);
	if (stat.size > MAX_BYTES) throw new DataError(`${file} is too large: the limit is 100 MB.`);
	const bytes = readFileSync(file);
	if (!bytes.subarray(0, 1024).includes('%PDF-')) throw new DataError(`${file} isn't a PDF.`);
	return bytes;
}

function unreadable(file, isLocked) {
	if (!isLocked) return new DataError(`${file} is damaged: it can't be read as a PDF.`);
	return process.env.PDF_PASSWORD
		? new DataError(`The password in PDF_PASSWORD doesn't open ${file}.`)
		: new DataError(`${file} is protected with a password. Set PDF_PASSWORD on the skill's page.`);
}

/** `1,4-6` or `5-` as numbers, in the order given; all pages without it. */
function readPages(pages, count) {
	if (pages === undefined) return Array.from({ length: count }, (_, index) => index + 1);
	return pages.split(',').flatMap((part) => {
		const [, from, dash, to] = /^\s*(\d{0,6})\s*([-–]?)\s*(\d{0,6})\s*$/.exec(part) ?? [];
		const first = Number(from || 1);
		const last = dash ? Number(to || count) : first;
		if (from === undefined || (!from && !to)) throw new UsageError('--pages is like 2, 1-3, 5- or 1,4-6.');
		if (first < 1 || last > count || first > last)
			throw new UsageError(`There's no page ${part.trim()}: the file has ${countOf(count, 'page')}.`);
		return Array.from({ length: last - first + 1 }, (_, index) => first + index);
	});
}

function nameFor(file, ending, extension = '.pdf') {
	return `${basename(file).replace(/\.pdf$/i, '')}${ending}${extension}`;
}

function writeNew(target, content, sources) {
	if (sources.some((file) => resolve(file) === resolve(target)))
		throw new UsageError(`${target} is the file that was given. Name another one with --output.`);
	try {
		writeFileSync(target, content);
	} catch (error) {
		throw new DataError(`Can't write ${target}: ${error.code === 'ENOENT' ? 'there is no such folder' : error.message}.`);
	}
}

function sizeOf({ width, height }) {
	const [short, long] = [width, height].map(Math.round).toSorted((a, b) => a - b);
	const paper = Object.entries(PAPER).find(([, [w, h]]) => Math.abs(w - short) < 3 && Math.abs(h - long) < 3)?.[0];
	const inMm = [width, height].map((points) => Math.round((points * 25.4) / 72)).join(' × ');
	return `${paper ? `${paper}${width > height ? ' landscape' : ''}, ` : ''}${inMm} mm`;
}

function parseJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function countOf(count, noun) {
	return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function oneLine(value) {
	return String(value).replace(/\p{C}/gu, ' ').trim().replace(/\s+/g, ' ').slice(0, 300);
}

try {
	await main(process.argv.slice(2));
} catch (error) {
	console.error(error instanceof DataError || error instanceof UsageError ? error.message : `Couldn't do this: ${error.message}`);
	process.exitCode = error instanceof UsageError ? 2 : 1;
}
