/** Takes a message apart: words, quoted pieces, numbers, and the text that stands after a colon. */
import { isStopWord, stem } from '../skills/find/scores.ts';

/** Half-open, in characters of the message. */
export interface Span {
	start: number;
	end: number;
}

export interface Word extends Span {
	/** Without the punctuation around it. */
	text: string;
	lower: string;
	stem: string;
	/** Does a sentence or a part of one end after it? A comma alone does not count. */
	endsClause: boolean;
	hasComma: boolean;
	isQuoted: boolean;
}

export interface Piece extends Span {
	/** What the span stands for; the span itself may hold quotation marks. */
	value: string;
}

export interface NumberPiece extends Piece {
	/** Index of its word. */
	word: number;
	/** `day` in `5-day`, `px` in `800px`. */
	unit: string;
}

export interface Question {
	text: string;
	words: Word[];
	quotes: Piece[];
	numbers: NumberPiece[];
	/** The text to work on, when the message names the work first: `Count this: …`. */
	payload: Piece | null;
	attachedFiles: readonly string[];
	earlierFiles: readonly string[];
	workspaceFiles: readonly string[];
}

export type KnownFiles = Pick<Question, 'attachedFiles' | 'earlierFiles' | 'workspaceFiles'>;

/** Words are looked for in the beginning of a message only; what comes later is text to work on. */
const MAX_READ_LENGTH = 3_000;
const MAX_QUOTE_LENGTH = 50_000;
const MAX_FILES = 300;
const QUOTATION_MARKS = new Map([
	['"', '"'],
	['“', '”'],
	['„', '“'],
	['«', '»'],
	['‘', '’'],
	['「', '」'],
	["'", "'"],
	['`', '`']
]);
const SMALL_NUMBERS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

/** Words that say nothing about a subject, and yet are texts and folder names that people give. */
const SAYABLE = new Set([
	'hello',
	'hi',
	'hey',
	'hallo',
	'good',
	'morning',
	'evening',
	'bye',
	'cheers',
	'greetings',
	'out',
	'up',
	'down'
]);

export function readQuestion(message: string, files: KnownFiles): Question {
	const text = message.replaceAll('\r\n', '\n');
	const beginning = text.slice(0, MAX_READ_LENGTH);
	const quotes = findQuotes(text);
	const words = findWords(beginning, quotes);
	const numbers = words.flatMap(findNumbers);
	return {
		text,
		words,
		quotes,
		numbers,
		payload: findPayload(text, quotes),
		attachedFiles: files.attachedFiles.slice(0, MAX_FILES),
		earlierFiles: files.earlierFiles.slice(0, MAX_FILES),
		workspaceFiles: files.workspaceFiles.slice(0, MAX_FILES)
	};
}

/** What the message is about: without the text to work on and without quoted pieces. */
export function framingOf(question: Question): string {
	return framingWords(question)
		.map((word) => word.text)
		.join(' ');
}

export function framingWords(question: Question): Word[] {
	const end = question.payload?.start ?? Infinity;
	return question.words.filter((word) => !word.isQuoted && word.start < end);
}

export function overlaps(a: Span, b: Span): boolean {
	return a.start < b.end && b.start < a.end;
}

/** Does the word only hold a sentence together? Then it is no value. */
export function isFiller(word: Word): boolean {
	return isStopWord(word.lower) && !SAYABLE.has(word.lower);
}

/** They begin where words are looked for, and may be long. */
function findQuotes(text: string): Piece[] {
	const quotes: Piece[] = [];
	for (let start = 0; start < Math.min(text.length, MAX_READ_LENGTH); start += 1) {
		const close = QUOTATION_MARKS.get(text.charAt(start));
		if (close === undefined || isInsideWord(text, start - 1)) continue;
		const end = closingMark(text, start + 1, close);
		if (end <= start + 1) continue;
		quotes.push({ start, end: end + 1, value: text.slice(start + 1, end) });
		start = end;
	}
	return quotes;
}

/** An apostrophe with a letter after it closes nothing. */
function closingMark(text: string, from: number, close: string): number {
	const isApostrophe = close === "'" || close === '’';
	const scope = text.slice(from, from + (isApostrophe ? 500 : MAX_QUOTE_LENGTH));
	let index = scope.indexOf(close);
	while (index >= 0 && isApostrophe && isInsideWord(scope, index + 1)) index = scope.indexOf(close, index + 1);
	return index < 0 ? -1 : from + index;
}

function isInsideWord(text: string, index: number): boolean {
	return /[\p{L}\p{N}]/u.test(text.charAt(index));
}

function findWords(text: string, quotes: readonly Piece[]): Word[] {
	return [...text.matchAll(/\S+/g)].flatMap(({ 0: run, index }) => {
		const lead = /^[([{<"'“„«‘「`¿¡*_]*/.exec(run)?.[0].length ?? 0;
		let end = run.length;
		while (end > lead && /[)\]}>"'”“»’」`?!.,;:*_…。、？！：]/.test(run.charAt(end - 1))) end -= 1;
		const tail = run.slice(end);
		const bare = run.slice(lead, end).replace(/['’]s$/, '');
		if (bare === '') return [];
		const span = { start: index + lead, end: index + lead + bare.length };
		const lower = bare.toLowerCase();
		return {
			...span,
			text: bare,
			lower,
			stem: stem(lower),
			endsClause:
				/[?!.;:…。？！：)]/.test(tail) || /^[ \t]*(\n|$)/.test(text.slice(index + run.length, index + run.length + 9)),
			hasComma: /[,、]/.test(tail),
			isQuoted: quotes.some((quote) => overlaps(quote, span))
		};
	});
}

function findNumbers(word: Word, index: number): NumberPiece[] {
	const piece = (value: string, unit: string, start = word.start, end = word.end) => ({
		value: /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(value) ? value.replaceAll(',', '') : value,
		unit,
		start,
		end,
		word: index
	});
	const [, first, second] = /^(\d+)[x×*](\d+)(?:px)?$/i.exec(word.text) ?? [];
	if (first !== undefined && second !== undefined) {
		const middle = word.start + first.length;
		return [piece(first, '', word.start, middle), piece(second, '', middle + 1, word.end)];
	}
	const match = /^[$€£¥#]?([+-]?\d[\d.,]*)-?([\p{L}°%]{0,12})$/u.exec(word.text);
	if (match?.[1] !== undefined) return [piece(match[1].replace(/[.,]+$/, ''), (match[2] ?? '').toLowerCase())];
	const small = SMALL_NUMBERS.indexOf(word.lower);
	return small < 0 ? [] : [piece(String(small + 2), '')];
}

/** After the first colon that ends a word, or after the first line. */
function findPayload(text: string, quotes: readonly Piece[]): Piece | null {
	const beginning = text.slice(0, MAX_READ_LENGTH);
	for (const { index, 0: mark } of beginning.matchAll(/:(?=\s)|：/g)) {
		const isInQuote = quotes.some((quote) => quote.start <= index && index < quote.end);
		if (!isInQuote && text.slice(0, index).trim() !== '') return pieceFrom(text, index + mark.length);
	}
	const line = /\n/.exec(text.trimEnd());
	return line && text.slice(0, line.index).trim() !== '' ? pieceFrom(text, line.index) : null;
}

function pieceFrom(text: string, from: number): Piece | null {
	const rest = text.slice(from);
	const value = rest.trim();
	if (value === '') return null;
	const start = from + rest.indexOf(value);
	return { start, end: start + value.length, value: withoutFrame(value) };
}

/** Text that is quoted as a whole, or stands in a fence of its own, is meant without that. */
function withoutFrame(value: string): string {
	const fenced = /^(`{3,}|~{3,})[^\n`]*\n/.exec(value);
	if (fenced?.[1] !== undefined && value.endsWith(`\n${fenced[1]}`)) {
		return value.slice(fenced[0].length, -(fenced[1].length + 1));
	}
	const close = QUOTATION_MARKS.get(value.charAt(0));
	const end = close === undefined ? -1 : value.indexOf(close, 1);
	return end > 1 && /^[?.!]?$/.test(value.slice(end + 1)) ? value.slice(1, end) : value;
}
