/** Takes a message apart: words, quoted pieces, numbers, and the text that stands after a colon. */
import { isStopWord, stem } from '../skills/find/scores.ts';
import { isFileName } from './slots.ts';

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

export type Form =
	'number' | 'date' | 'time' | 'url' | 'email' | 'code' | 'quote' | 'file' | 'name' | 'unit' | 'word' | 'span';

export interface Piece extends Span {
	/** What the span stands for; the span itself may hold quotation marks. */
	value: string;
	form: Form;
	/** Index of its word, of a number or a unit. */
	word?: number;
	/** Of a number: `day` in `5-day`, `%` in `20 %`, `$` in `$5`. */
	unit?: string;
}

export interface Message {
	text: string;
	words: Word[];
	quotes: Piece[];
	numbers: Piece[];
	typed: Piece[];
	/** The text to work on, when the message names the work first: `Count this: …`. */
	payload: (Span & { value: string }) | null;
	attached: readonly string[];
	/** Files that earlier messages named or brought, newest first. */
	earlier: readonly string[];
	workspace: readonly string[];
}

/** Words are looked for in the beginning of a message only; what comes later is text to work on. */
const MAX_READ = 3_000;
const MAX_QUOTE = 200_000;
const MAX_FILES = 300;
const MARKS = new Map(
	['""', '“”', '„“', '«»', '‘’', '「」', "''", '``'].map((pair) => [pair.charAt(0), pair.charAt(1)])
);
const SMALL =
	'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
		' '
	);
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const DAY_FIRST = new RegExp(`\\b${DAY} (?:of )?${MONTH},? (\\d{4})\\b`, 'gi');
const MONTH_FIRST = new RegExp(`\\b${MONTH} ${DAY},? (\\d{4})\\b`, 'gi');
const FORMS: [Form, RegExp, ((all: string, ...parts: string[]) => string)?][] = [
	['url', /\b(?:https?|ftp):\/\/[^\s"'<>]+/gi, (all) => all.replace(/[.,;:!?)]+$/, '')],
	['email', /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g],
	['date', /\b\d{4}-\d{1,2}-\d{1,2}\b/g],
	['date', DAY_FIRST, (_, day, month, year) => isoDate(year, month, day)],
	['date', MONTH_FIRST, (_, month, day, year) => isoDate(year, month, day)],
	['time', /\b([01]?\d|2[0-3]):([0-5]\d)(?: ?([ap])m\b)?/gi, (_, hour, minute, half) => clock(hour, minute, half)],
	['time', /\b(1[0-2]|0?[1-9]) ?([ap])m\b/gi, (_, hour, half) => clock(hour, '00', half)],
	['code', /\b[a-z]{2,8}\([^()\n]{1,60}\)/g],
	['code', /(?<![\w&])[#@][\w-]{2,60}/g]
];
const CURRENCY: Record<string, string> = Object.fromEntries(
	'$ $|dollar $|dollars $|usd $|€ €|euro €|euros €|£ £|pounds £|¥ ¥|% %|percent %|pct %'
		.split('|')
		.map((pair) => pair.split(' '))
) as Record<string, string>;
/** Words that ask, and say nothing about a subject; beside the stop-words of the search. */
const FILLER = new Set(
	(
		'am pm whats thats im pls plz thx ppl u ur pm find calculate compute work check please come came look see run do take put set turn new old last latest current recent right best same ' +
		'today now currently tonight here time good great quick quickly simple exactly total result answer way back going got want trying try able ' +
		'would could since hi hey my our version whole entire full following given called named long big high far tall'
	).split(' ')
);
/** Greetings are no subject, and yet are texts that people give. */
const SAYABLE = new Set('hello hi hey hallo good morning evening bye cheers greetings out up down'.split(' '));

export function readMessage(given: string, files: Pick<Message, 'attached' | 'earlier' | 'workspace'>): Message {
	const text = given.replaceAll('\r\n', '\n');
	const quotes = findQuotes(text);
	const words = findWords(text.slice(0, MAX_READ), quotes);
	const typed = findTyped(text.slice(0, MAX_READ)).filter((piece) => !quotes.some((quote) => overlaps(quote, piece)));
	const numbers = words.flatMap((word, index) => findNumbers(word, index, words));
	return {
		text,
		words,
		quotes,
		typed,
		numbers: numbers.filter((number) => !typed.some((piece) => overlaps(piece, number))),
		payload: findPayload(text, quotes),
		attached: files.attached.slice(0, MAX_FILES),
		earlier: files.earlier.slice(0, MAX_FILES),
		workspace: files.workspace.slice(0, MAX_FILES)
	};
}

/** Words of what the message asks: without the text to work on and without quoted pieces. */
export function framing({ words, payload }: Message): Word[] {
	return words.filter((word) => !word.isQuoted && word.start < (payload?.start ?? Infinity));
}

export function overlaps(a: Span, b: Span): boolean {
	return a.start < b.end && b.start < a.end;
}

/** Does the word only hold a sentence together? Then it is no value. */
export function isFiller({ lower }: Word, isStart = false): boolean {
	if (SAYABLE.has(lower)) return isStart;
	return (
		isStopWord(lower) ||
		FILLER.has(lower) ||
		!/[\p{L}\p{N}]/u.test(lower) ||
		/^(\p{L}{1,7})['’](s|re|m|d|ll|ve)$/u.test(lower)
	);
}

/** They begin where words are looked for, and may be long. */
function findQuotes(text: string): Piece[] {
	const quotes: Piece[] = [];
	for (let start = 0; start < Math.min(text.length, MAX_READ); start += 1) {
		const close = MARKS.get(text.charAt(start));
		if (close === undefined || isLetter(text, start - 1)) continue;
		const end = closingMark(text, start + 1, close);
		if (end <= start + 1) continue;
		quotes.push({ start, end: end + 1, value: text.slice(start + 1, end), form: 'quote' });
		start = end;
	}
	return quotes;
}

/** An apostrophe with a letter after it closes nothing. */
function closingMark(text: string, from: number, close: string): number {
	const isApostrophe = close === "'" || close === '’';
	const scope = text.slice(from, from + (isApostrophe ? 500 : MAX_QUOTE));
	let index = scope.indexOf(close);
	while (index >= 0 && isApostrophe && isLetter(scope, index + 1)) index = scope.indexOf(close, index + 1);
	return index < 0 ? -1 : from + index;
}

function isLetter(text: string, index: number): boolean {
	return /[\p{L}\p{N}]/u.test(text.charAt(index));
}

function findWords(text: string, quotes: readonly Piece[]): Word[] {
	return [...text.matchAll(/\S+/g)].flatMap(({ 0: run, index }) => {
		const lead = /^[([{<"'“„«‘「`¿¡*_]*/.exec(run)?.[0].length ?? 0;
		let end = run.length;
		while (end > lead && /[)\]}>"'”“»’」`?!.,;:*_…。、？！：]/.test(run.charAt(end - 1))) end -= 1;
		const isArrow = /^(?:[-=]>|→)$/.test(run);
		const tail = run.slice(end);
		const bare = isArrow ? run : run.slice(lead, end).replace(/['’]s$/, '');
		if (bare === '') return [];
		const start = index + (isArrow ? 0 : lead);
		const span = { start, end: start + bare.length };
		// A flag is the word that it is made of.
		const lower = bare.toLowerCase().replace(/^-+(?=\p{L})/u, '');
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

/** The first form that fits a place has it. */
function findTyped(text: string): Piece[] {
	const found: Piece[] = [];
	for (const [form, pattern, valueOf] of FORMS) {
		for (const match of text.matchAll(pattern)) {
			const [all, ...parts] = match;
			const value = valueOf?.(all, ...parts) ?? all;
			const piece = { form, value, start: match.index, end: match.index + (form === 'url' ? value : match[0]).length };
			if (!found.some((other) => overlaps(other, piece))) found.push(piece);
		}
	}
	return found.sort((a, b) => a.start - b.start);
}

function isoDate(year = '', month = '', day = ''): string {
	const number = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
	return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function clock(hour = '', minute = '', half?: string): string {
	const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
	return `${String(hours).padStart(2, '0')}:${minute}`;
}

function findNumbers(word: Word, index: number, words: readonly Word[]): Piece[] {
	if (word.isQuoted || isThousands(word, words[index - 1])) return [];
	const piece = (value: string, start: number, end: number, unit = ''): Piece => {
		return { value, form: 'number', unit, start, end, word: index };
	};
	const [, width, height] = /^(\d+)[x×*](\d+)(?:px)?$/i.exec(word.text) ?? [];
	if (width !== undefined && height !== undefined) {
		const middle = word.start + width.length;
		return [piece(width, word.start, middle), piece(height, middle + 1, word.end)];
	}
	const [, sign = '', digits, ending = ''] = /^([$€£¥#]?)([+-]?\d[\d.,]*)-?([\p{L}°%€$]{0,12})$/u.exec(word.text) ?? [];
	const spelled = TENS.includes(word.lower) ? 20 + 10 * TENS.indexOf(word.lower) : SMALL.indexOf(word.lower);
	if (digits === undefined && spelled < 2) return [];
	const second = words[index + 1];
	const isTwo = second !== undefined && digits !== undefined && !word.hasComma && isThousands(second, word);
	const last = isTwo ? second : word;
	// In `20 %` the sign is a word of its own.
	const next = last.endsClause || last.hasComma ? undefined : words[index + (isTwo ? 2 : 1)];
	const own = sign.replace('#', '') || ending.toLowerCase();
	const unit = CURRENCY[own] ?? (own === '' ? (CURRENCY[next?.lower ?? ''] ?? '') : own);
	const end = unit === '%' && own === '' && next ? next.end : last.end;
	if (digits === undefined) return [piece(String(spelled), word.start, end, unit)];
	if (ending === 'k') return [piece(String(Number(decimal(digits, '')) * 1000), word.start, end, sign)];
	return [piece(decimal(isTwo ? digits + second.text : digits, unit), word.start, end, unit)];
}

/** `1,500` and `1.500,00` as programs write them; `1.200 €` has no three decimals. */
function decimal(digits: string, unit: string): string {
	const text = digits.replace(/[.,]+$/, '').replace(/^\+/, '');
	if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return text.replaceAll(',', '');
	const isMoney = unit !== '' && '$€£¥'.includes(unit);
	const isPointed = /^-?\d{1,3}(\.\d{3})+(,\d+)?$/.test(text) && (isMoney || /,|\..*\./.test(text));
	return (isPointed ? text.replaceAll('.', '') : text).replace(/,(?=\d{1,2}$)/, '.');
}

/** The second part of `95 000`. */
function isThousands(word: Word, before: Word | undefined): boolean {
	if (before === undefined || before.hasComma || before.endsClause) return false;
	return /^\d{3}$/.test(word.text) && /^[$€£]?\d{1,3}$/.test(before.text);
}

/** After the first colon that ends a word, or after the first line. */
function findPayload(text: string, quotes: readonly Piece[]): Message['payload'] {
	for (const { index, 0: mark } of text.slice(0, MAX_READ).matchAll(/:(?=\s)|：/g)) {
		const isInQuote = quotes.some((quote) => quote.start <= index && index < quote.end);
		if (!isInQuote && text.slice(0, index).trim() !== '') return pieceFrom(text, index + mark.length);
	}
	const line = /\n/.exec(text.trimEnd());
	return line && text.slice(0, line.index).trim() !== '' ? pieceFrom(text, line.index) : null;
}

function pieceFrom(text: string, from: number): Message['payload'] {
	const rest = text.slice(from);
	const value = rest.trim();
	if (value === '') return null;
	const start = from + rest.indexOf(value);
	return { start, end: start + value.length, value: withoutFrame(value) };
}

/** Text that is quoted as a whole, or stands in a fence of its own, is meant without that. */
function withoutFrame(value: string): string {
	const fenced = /^(`{3,}|~{3,})[^\n`]*\n/.exec(value);
	if (fenced?.[1] !== undefined && value.endsWith(`\n${fenced[1]}`))
		return value.slice(fenced[0].length, -(fenced[1].length + 1));
	const close = MARKS.get(value.charAt(0));
	const end = close === undefined ? -1 : value.indexOf(close, 1);
	return end > 1 && /^[?.!]?$/.test(value.slice(end + 1)) ? value.slice(1, end) : value;
}

/** How units are spoken of, and how they are written. */
const UNITS = (
	'mm millimeter millimetre|cm centimeter centimetre|m meter metre|km kilometer kilometre|in inch inche|ft foot feet|yd yard|mi mile|g gram gramme|kg kilo kilogram|' +
	'oz ounce|floz oz|lb pound|st stone|ml milliliter millilitre|l liter litre|gal gallon|cup|pt pint|tsp teaspoon|tbsp tablespoon|c celsius centigrade °c|f fahrenheit °f|k kelvin|' +
	'kmh km/h kph|mph|ms m/s|kn knot|b byte|kb kilobyte|mb megabyte|gb gigabyte|tb terabyte|s sec second|min minute|h hr hour|d day|w week|y yr year|' +
	'usd $ dollar|eur € euro|gbp £|jpy ¥ yen'
)
	.split('|')
	.map((group) => group.split(' '));
const NAME_LINKS = new Set('de la le les los las del da do dos di du des der den van von of the upon sur'.split(' '));

/** All that can be a value, in its order; a longer piece before those inside it. */
export function piecesOf(message: Message): Piece[] {
	const { words, quotes, typed, numbers, payload } = message;
	// A text to work on is not taken apart.
	const outer = quotes.filter(({ start }) => start < (payload?.start ?? Infinity));
	const found: Piece[] = [...mentions(message), ...outer, ...typed, ...numbers];
	const isIn = (span: Span) => found.some((piece) => piece.form !== 'number' && overlaps(piece, span));
	const end = payload?.start ?? Infinity;
	for (const number of numbers) {
		const [unit, way] = words.slice((number.word ?? 0) + 1);
		const [, letter] = /^(d|w|m|y)(?:ay|eek|onth|ear)s?$/.exec(unit?.lower ?? '') ?? [];
		const sign = /^(after|later|from|since)$/.test(way?.lower ?? '')
			? '+'
			: /^(before|ago|earlier)$/.test(way?.lower ?? '')
				? '-'
				: undefined;
		if (letter !== undefined && way && sign !== undefined && !unit?.endsClause)
			found.push({ start: number.start, end: way.end, value: `${sign}${number.value}${letter}`, form: 'span' });
		const [, attached] = /^[\d.,+-]+-?(\p{L}[\p{L}/°]*)$/u.exec(words[number.word ?? -1]?.text ?? '') ?? [];
		if (attached !== undefined && isUnit(attached))
			found.push({
				start: number.end - attached.length,
				end: number.end,
				value: attached,
				form: 'unit',
				word: number.word ?? 0
			});
	}
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index];
		if (
			!word ||
			word.isQuoted ||
			isIn(word) ||
			numbers.some((number) => number.word === index && number.end >= word.end)
		)
			continue;
		const run = nameRun(words, index);
		const last = run.at(-1);
		const isCode = /^(?=.*\d)(?=.*\p{L})[\w.:-]{3,200}$/u.test(word.text);
		const isInPayload = word.start >= end;
		if (isCode && !isInPayload) found.push({ start: word.start, end: word.end, value: word.text, form: 'code' });
		else if (last && !isInPayload && !run.some(isIn))
			found.push({ start: word.start, end: last.end, value: message.text.slice(word.start, last.end), form: 'name' });
		else if (!isInPayload)
			found.push({
				start: word.start,
				end: word.end,
				value: word.text,
				form: isUnit(word.text) && !isFiller(word) ? 'unit' : 'word',
				word: index
			});
		if (last && !isCode) index += run.length - 1;
	}
	return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

export function isUnit(text: string): boolean {
	return namesOfUnit(text).length > 0;
}

/** All ways to write a unit; none for what is none. */
export function namesOfUnit(text: string): string[] {
	const said = text.toLowerCase();
	return UNITS.filter((names) => names.includes(said) || names.includes(said.replace(/s$/, ''))).flat();
}

/** A name from a place on: capitalised words, the small ones between them, `Paris, Texas`; none where a sentence begins. */
function nameRun(words: readonly Word[], index: number): Word[] {
	const before = words[index - 1];
	const isStart = before === undefined || (before.endsClause && !/^(to|from|in)$/.test(before.lower));
	const run: Word[] = [];
	for (const word of words.slice(index, index + 8)) {
		const isCapital =
			/^\p{Lu}/u.test(word.text) && !/\d/.test(word.text) && !(isStart && run.length === 0 && isFiller(word));
		if (word.isQuoted || (!isCapital && !(run.length > 0 && NAME_LINKS.has(word.lower)))) break;
		run.push(word);
		if (word.endsClause) break;
	}
	while (run.length > 0 && !/^\p{Lu}/u.test(run.at(-1)?.text ?? '')) run.pop();
	return isStart && run.length < Math.max(2, 0) ? [] : run;
}

/** Known and unknown paths in the message, in their order. */
export function mentions({ text, words, quotes, attached, workspace, earlier }: Message): Piece[] {
	const known = [...attached, ...workspace, ...earlier];
	const asKnown = (said: string) => {
		const asked = said.toLowerCase();
		return (
			known.find((path) => path === said) ??
			known.find(
				(path) => path.toLowerCase() === asked || (asked.includes('.') && path.toLowerCase().endsWith(`/${asked}`))
			)
		);
	};
	const candidates = [
		...quotes.filter(({ value }) => value.length < 300),
		...words.filter((word) => !word.isQuoted).map(({ start, end }) => ({ start, end, value: text.slice(start, end) }))
	];
	const files = candidates.filter(({ value }) => asKnown(value) !== undefined || isFileName(value));
	return files
		.map(({ start, end, value }) => ({ start, end, value: asKnown(value) ?? value, form: 'file' as const }))
		.sort((a, b) => a.start - b.start);
}
