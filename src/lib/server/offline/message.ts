/** Takes a message apart: words, quoted pieces, numbers, and the text that stands after a colon. */
import { isStopWord, stem } from '../skills/find/words.ts';
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
const NUMERALS =
	'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
		' '
	);
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MONTH = `(${MONTHS.join('|')})[a-z]{0,6}`;
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const FORMS: [Form, RegExp, ((all: string, ...parts: string[]) => string)?][] = [
	['url', /\b(?:https?|ftp):\/\/[^\s"'<>]+(?<![.,;:!?)])/gi],
	['email', /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g],
	['date', /\b\d{4}-\d{1,2}-\d{1,2}\b/g],
	[
		'date',
		new RegExp(`\\b${DAY} (?:of )?${MONTH},? (\\d{4})\\b`, 'gi'),
		(_, day, month, year) => isoDate(year, month, day)
	],
	['date', new RegExp(`\\b${MONTH} ${DAY},? (\\d{4})\\b`, 'gi'), (_, month, day, year) => isoDate(year, month, day)],
	['time', /\b([01]?\d|2[0-3]):([0-5]\d)(?: ?([ap])m\b)?/gi, (_, hour, minute, half) => clock(hour, minute, half)],
	['time', /\b(1[0-2]|0?[1-9]) ?([ap])m\b/gi, (_, hour, half) => clock(hour, '00', half)],
	['code', /\b[a-z]{2,8}\([^()\n]{1,60}\)/g],
	['code', /(?<![\w&])[#@][\w-]{2,60}/g]
];
const SIGNS = new Map(
	'$ $|dollar $|dollars $|usd $|€ €|euro €|euros €|£ £|pounds £|¥ ¥|% %|percent %|pct %'
		.split('|')
		.map((pair) => pair.split(' ') as [string, string])
);
/** Words that ask, and say nothing about a subject; beside the stop-words of the search. */
const FILLER = new Set(
	(
		'am pm whats thats im pls plz thx ppl u ur find calculate compute work check please come came look see run do take put set turn new old last latest current recent right best same ' +
		'today now currently tonight here time good great quick quickly simple exactly total result answer way back going got want trying try able ' +
		'would could since hi hey my our version whole entire full following given called named labelled labeled titled long big high far tall many much often number value values attached thanks dear help good complete correct ready'
	).split(' ')
);
/** Greetings are no subject, and yet are texts that people give. */
const SAYABLE = new Set('hello hi hey hallo morning evening bye cheers greetings out up down'.split(' '));

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

/** What a question asks the number of: `how many tests` in `how many tests do we have`. */
export function amountAsked(message: Message): Span[] {
	const words = framing(message);
	const ways = /^(how (many|much|often)|number of|(do|does) (we|i|you|they)|(is|are) there)$/;
	const at = words.findIndex(({ lower }, index) => ways.test(`${lower} ${words[index + 1]?.lower}`));
	if (at < 0) return [];
	const length = words.slice(at + 2).findIndex((word) => isFiller(word) || word.endsClause);
	const last = words[length < 0 ? words.length - 1 : at + 1 + length] as Word;
	return [{ start: (words[at] as Word).start, end: last.end }];
}

/** Does the word only hold a sentence together? Then it is no value. */
export function isFiller({ lower }: Word, isStart = false): boolean {
	if (SAYABLE.has(lower)) return isStart;
	const isContraction = /^\p{L}{1,7}['’](s|re|m|d|ll|ve)$/u.test(lower);
	return isStopWord(lower) || FILLER.has(lower) || isContraction || !/[\p{L}\p{N}]/u.test(lower);
}

/** They begin where words are looked for, and may be long. */
function findQuotes(text: string): Piece[] {
	const quotes: Piece[] = [];
	const isLetter = (index: number) => /[\p{L}\p{N}]/u.test(text.charAt(index));
	for (let start = 0; start < Math.min(text.length, MAX_READ); start += 1) {
		const close = MARKS.get(text.charAt(start));
		if (close === undefined || isLetter(start - 1)) continue;
		const isApostrophe = close === "'" || close === '’';
		const scope = text.slice(0, start + (isApostrophe ? 500 : MAX_QUOTE));
		let end = scope.indexOf(close, start + 1);
		// An apostrophe with a letter after it closes nothing.
		while (end >= 0 && isApostrophe && isLetter(end + 1)) end = scope.indexOf(close, end + 1);
		if (end <= start + 1) continue;
		quotes.push({ start, end: end + 1, value: text.slice(start + 1, end), form: 'quote' });
		start = end;
	}
	return quotes;
}

function findWords(text: string, quotes: readonly Piece[]): Word[] {
	return [...text.matchAll(/\S+/g)].flatMap(({ 0: run, index }) => {
		const isArrow = /^(?:[-=]>|→)$/.test(run);
		const lead = isArrow ? 0 : (/^[([{<"'“„«‘「`¿¡*_]*/.exec(run)?.[0].length ?? 0);
		let end = run.length;
		while (!isArrow && end > lead && /[)\]}>"'”“»’」`?!.,;:*_…。、？！：]/.test(run.charAt(end - 1))) end -= 1;
		const tail = run.slice(end);
		const bare = run.slice(lead, end).replace(/['’]s$/, '');
		if (bare === '') return [];
		const span = { start: index + lead, end: index + lead + bare.length };
		// A flag is the word that it is made of.
		const lower = bare.toLowerCase().replace(/^-+(?=\p{L})/u, '');
		const isLineEnd = /^[ \t]*(\n|$)/.test(text.slice(index + run.length, index + run.length + 9));
		return {
			...span,
			text: bare,
			lower,
			stem: stem(lower),
			endsClause: isLineEnd || /[?!.;:…。？！：)]/.test(tail),
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
			const piece = { form, value: valueOf?.(all, ...parts) ?? all, start: match.index, end: match.index + all.length };
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
	const spelled = TENS.includes(word.lower) ? 20 + 10 * TENS.indexOf(word.lower) : NUMERALS.indexOf(word.lower);
	if (digits === undefined && spelled < 2) return [];
	const second = words[index + 1];
	const isTwo = second !== undefined && digits !== undefined && isThousands(second, word);
	const last = isTwo ? second : word;
	// In `20 %` the sign is a word of its own.
	const next = last.endsClause || last.hasComma ? undefined : words[index + (isTwo ? 2 : 1)];
	const own = sign.replace('#', '') || ending.toLowerCase();
	const unit = SIGNS.get(own === '' ? (next?.lower ?? '') : own) ?? own;
	const end = unit === '%' && own === '' && next ? next.end : last.end;
	if (digits === undefined) return [piece(String(spelled), word.start, end, unit)];
	if (ending === 'k') return [piece(String(Number(decimal(digits, '')) * 1000), word.start, end, sign)];
	return [piece(decimal(isTwo ? digits + second.text : digits, unit), word.start, end, unit)];
}

/** `1,500` and `1.500,00` as programs write them; `1.200 €` has no three decimals. */
function decimal(digits: string, unit: string): string {
	const text = digits.replace(/[.,]+$/, '').replace(/^\+/, '');
	if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return text.replaceAll(',', '');
	const isPointed = /^-?\d{1,3}(\.\d{3})+(,\d+)?$/.test(text) && (/^[$€£¥]$/.test(unit) || /,|\..*\./.test(text));
	return (isPointed ? text.replaceAll('.', '') : text).replace(/,(?=\d{1,2}$)/, '.');
}

/** The second part of `95 000`. */
function isThousands(word: Word, before: Word | undefined): boolean {
	if (before === undefined || before.hasComma || before.endsClause) return false;
	return /^\d{3}$/.test(word.text) && /^[$€£]?\d{1,3}$/.test(before.text);
}

/** After the first colon that ends a word, or after the first line. */
function findPayload(text: string, quotes: readonly Piece[]): Message['payload'] {
	for (const { index, 0: mark } of text.slice(0, MAX_READ).matchAll(/:(?=\s)|：|\n/g)) {
		const isFirst = mark === '\n' ? !/:(?=\s)|：/.test(text.slice(0, MAX_READ)) : true;
		const isInQuote = quotes.some((quote) => quote.start <= index && index < quote.end);
		const [rest, before] = [text.slice(index + 1), text.slice(0, index)];
		const value = rest.trim();
		if (!isFirst || (isInQuote && mark !== '\n') || before.trim() === '') continue;
		if (value === '') return null;
		const start = index + 1 + rest.indexOf(value);
		return { start, end: start + value.length, value: withoutFrame(value) };
	}
	return null;
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
const WAYS = new Map(
	'after + later + from + since + before - ago - earlier -'
		.match(/\w+ [+-]/g)
		?.map((pair) => pair.split(' ') as [string, string])
);

/** All that can be a value, in its order; a longer piece before those inside it. */
export function piecesOf(message: Message): Piece[] {
	const { text, words, quotes, typed, numbers, payload } = message;
	// A text to work on is not taken apart.
	const end = payload?.start ?? Infinity;
	const found: Piece[] = [...mentions(message), ...quotes.filter(({ start }) => start < end), ...typed, ...numbers];
	for (const { start, end, value, word = -1 } of numbers) {
		const [own, unit, way] = words.slice(word);
		// `90 days after` is +90d.
		const [, letter] = /^(d|w|m|y)(?:ay|eek|onth|ear)s?$/.exec(unit?.endsClause === false ? unit.lower : '') ?? [];
		const sign = WAYS.get(way?.lower ?? '');
		if (letter !== undefined && way && sign !== undefined)
			found.push({ start, end: way.end, value: `${sign}${value}${letter}`, form: 'span' });
		const [, ending] = /^[\d.,+-]+-?(\p{L}[\p{L}/°]*)$/u.exec(own?.text ?? '') ?? [];
		if (ending !== undefined && isUnit(ending))
			found.push({ start: end - ending.length, end, value: ending, form: 'unit', word });
	}
	const isIn = (span: Span) => found.some((piece) => piece.form !== 'number' && overlaps(piece, span));
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index] as Word;
		if (word.start >= end) break;
		const isNumber = numbers.some((number) => number.word === index && number.end >= word.end);
		if (word.isQuoted || isNumber || isIn(word)) continue;
		const run = nameRun(words, index);
		const last = run.at(-1);
		const span = { start: word.start, end: word.end, value: word.text, word: index };
		if (/^(?=.*\d)(?=.*\p{L})[\w.:-]{3,200}$/u.test(word.text)) found.push({ ...span, form: 'code' });
		else if (last && !run.some(isIn)) {
			found.push({ ...span, end: last.end, value: text.slice(word.start, last.end), form: 'name' });
			index += run.length - 1;
		} else found.push({ ...span, form: isUnit(word.text) && !isFiller(word) ? 'unit' : 'word' });
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
	const run: Word[] = [];
	for (const word of words.slice(index, index + 8)) {
		const isCapital = /^\p{Lu}\P{N}*$/u.test(word.text);
		if (word.isQuoted || (!isCapital && !(run.length > 0 && NAME_LINKS.has(word.lower)))) break;
		run.push(word);
		if (word.endsClause) break;
	}
	while (run.length > 0 && !/^\p{Lu}/u.test(run.at(-1)?.text ?? '')) run.pop();
	return (before === undefined || before.endsClause) && run.length < 2 ? [] : run;
}

/** Known and unknown paths in the message, in their order. */
export function mentions({ words, quotes, attached, workspace, earlier }: Message): Piece[] {
	const known = [...attached, ...workspace, ...earlier];
	const bare = words.filter((word) => !word.isQuoted).map(({ start, end, text }) => ({ start, end, value: text }));
	const files = [...quotes.filter(({ value }) => value.length < 300), ...bare].flatMap(({ start, end, value }) => {
		const path = known.find((each) => each.toLowerCase() === value.toLowerCase());
		return path !== undefined || isFileName(value) ? { start, end, value: path ?? value, form: 'file' as const } : [];
	});
	return files.sort((a, b) => a.start - b.start);
}
