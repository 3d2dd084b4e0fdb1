/** Takes a message apart: words, pieces that can be values, and the text that stands after a colon. Pure. */
import { isStopWord, stem } from '../skills/find/words.ts';
import { isFileName, isFileNoun } from './slots.ts';

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
	/** Of a number: `day` in `5-day`, `km` in `5 km`, `%` in `20 percent`, `$` in `$5`. */
	unit?: string;
}

/** Paths; `earlier` are those that earlier messages named or brought, newest first. */
export type Files = Record<'attached' | 'earlier' | 'workspace', readonly string[]>;

export interface Message extends Files {
	text: string;
	words: Word[];
	/** All that can be a value, in its order; a longer piece before those inside it. */
	pieces: Piece[];
	/** The text to work on, when the message names the work first: `Count this: …`. */
	payload: (Span & { value: string }) | null;
}

/** Words are looked for in the beginning of a message only; what comes later is text to work on. */
const MAX_READ = 3_000;
const MAX_QUOTE = 200_000;
const MAX_FILES = 300;
const MARKS = new Map(['""', '“”', '„“', '«»', '‘’', '「」', "''", '``'].map((pair) => [pair[0], pair[1] ?? '']));
const NUMERALS = (
	'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
	'eighteen nineteen'
).split(' ');
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
		(_, day, ...rest) => isoDate(rest[1], rest[0], day)
	],
	['date', new RegExp(`\\b${MONTH} ${DAY},? (\\d{4})\\b`, 'gi'), (_, month, day, year) => isoDate(year, month, day)],
	['time', /\b([01]?\d|2[0-3]):([0-5]\d)(?: ?([ap])m\b)?/gi, (_, hour, minute, half) => clock(hour, minute, half)],
	['time', /\b(1[0-2]|0?[1-9]) ?([ap])m\b/gi, (_, hour, half) => clock(hour, '00', half)],
	['code', /\b[a-z]{2,8}\([^()\n]{1,60}\)/g],
	['code', /(?<![\w&])[#@][\w-]{2,60}/g]
];
/** How units are spoken of, and how they are written. */
const UNITS = (
	'mm millimeter millimetre|cm centimeter centimetre|m meter metre|km kilometer kilometre|in inch inche|ft foot feet|yd yard|mi mile|' +
	'g gram gramme|kg kilo kilogram|oz ounce|floz oz|lb pound|st stone|ml milliliter millilitre|l liter litre|gal gallon|cup|pt pint|' +
	'tsp teaspoon|tbsp tablespoon|c celsius centigrade °c|f fahrenheit °f|k kelvin|kmh km/h kph|mph|ms m/s|kn knot|b byte|kb kilobyte|' +
	'mb megabyte|gb gigabyte|tb terabyte|s sec second|min minute|h hr hour|d day|w week|y yr year|month|usd $ dollar|eur € euro|gbp £|' +
	'jpy ¥ yen|% percent pct'
)
	.split('|')
	.map((group) => group.split(' '));
const mapOf = (pairs: string) => new Map(pairs.split('|').map((pair) => pair.split(' ') as [string, string]));
const SIGNS = mapOf('dollar $|dollars $|usd $|euro €|euros €|pounds £|percent %|pct %');
const NAME_LINKS = new Set('de la le les los las del da do dos di du des der den van von of the upon sur'.split(' '));
const WAYS = mapOf('after +|later +|from +|since +|before -|ago -|earlier -');
/** Words that ask, or hold a sentence together, and say nothing about a subject; beside the stop-words of the search. */
const FILLER = new Set(
	(
		'am pm whats thats im pls plz thx ppl u ur find calculate compute mark check please com came look see run do take put set turn new old current recent same ' +
		'today now currently tonight here time good great quick quickly simple exactly total result answer going got want trying try able ' +
		'would could write since hi hey my our version whole entire full following given called named labelled labeled titled long many much often number value values ' +
		'attached thanks dear help good complete correct ready way bit anyone detail details general particular advance depth fact instance example exact oh ah um hmm well so actually folks guys'
	).split(' ')
);

/** Words for the same wish: to be told what is in something. */
export const OVERVIEW = 'summary describe overview gist profile explain explore inspect'.split(' ').map(stem);
/** The same wish as a question: its first word is as good as `describe`. */
const WHAT_IS_IN =
	/\bsum(?= (it|this|that|them) up\W*$| up\b.*\b(files?|it|this|that)\W*$)|\bwhat(?=(['’]s| is| are) (in|inside) (it|this|that|these|the|my)\b| (is|are) (it|this|that|these|the [\w-]+)( (two|three|four|five|\d))?( files?)? about\b| (is this|are (these|those))( files?)?\W*$| do(es)? (it|this|that|the|my|\S+\.\S+)( [\w-]+){0,2} (say|contain|hold|show)\b)/i;

/** Greetings are no subject, and yet are texts that people give. */
const SAYABLE = new Set('hello hi hey hallo morning evening bye cheers greetings out up down'.split(' '));

export function readMessage(given: string, files: Files): Message {
	const text = given.replaceAll('\r\n', '\n');
	const [attached, earlier, workspace] = [files.attached, files.earlier, files.workspace].map((paths) =>
		paths.slice(0, MAX_FILES)
	) as [string[], string[], string[]];
	const quotes = findQuotes(text);
	const words = findWords(text.slice(0, MAX_READ), quotes);
	const bare = words.filter((word) => !word.isQuoted).map(({ start, end, text: value }) => ({ start, end, value }));
	const paths = [...quotes.filter(({ value }) => value.length < 300), ...bare].flatMap((span): Piece[] => {
		const isSame = (path: string) => path.toLowerCase() === span.value.toLowerCase();
		const path = [...attached, ...workspace, ...earlier].find(isSame) ?? (isFileName(span.value) ? span.value : null);
		return path === null ? [] : [{ start: span.start, end: span.end, value: path, form: 'file' }];
	});
	const typed = findTyped(text.slice(0, MAX_READ)).filter((piece) => !overlapsAny(piece, quotes));
	const numbers = words.flatMap((_, index) => findNumbers(words, index));
	const sure = [...paths, ...quotes, ...typed, ...numbers.filter((piece) => !overlapsAny(piece, [...typed, ...paths]))];
	const pieces = [...sure, ...findNames(words, text, sure)].sort((a, b) => a.start - b.start || b.end - a.end);
	return { text, words, pieces, payload: findPayload(text, quotes), attached, earlier, workspace };
}

/** Words of what the message asks: without the text to work on and without quoted pieces. */
export function framing({ words, payload }: Message): Word[] {
	return words.filter((word) => !word.isQuoted && word.start < (payload?.start ?? Infinity));
}

/** The files that it names, known or not. */
export function filesIn({ pieces }: Message): string[] {
	return pieces.flatMap(({ form, value }) => (form === 'file' ? value : []));
}

/** Does it speak of a file of its own where there is none, and nothing else to work on? */
export function lacksFile(message: Message): boolean {
	const { attached, earlier, workspace, pieces, payload } = message;
	const work = payload ?? [attached, earlier, workspace].flat()[0];
	if (work !== undefined || pieces.some(({ form }) => /^(file|url|quote|code)$/.test(form))) return false;
	const isOwn = (word: Word | undefined) => /^(this|these|those|my|attached)$/.test(word?.lower ?? '');
	return framing(message).some(({ lower }, at, all) => isFileNoun(lower) && (isOwn(all[at - 1]) || isOwn(all[at - 2])));
}

/** Of three words or more, all of them, in their order: “save this chat as a skill” is `save_as_skill`. */
export function isSaid(name: readonly string[], words: readonly string[]): boolean {
	let at = 0;
	for (const word of words) if (word.toLowerCase() === name[at]) at += 1;
	return name.length > 2 && at === name.length;
}

/** Is it the script of this label or path, by its path or the name of its file? */
export function isScript(path: string, label: string): boolean {
	const [script] = label.split(' ', 1);
	return path === script || (/\.\w+$/.test(path) && `/${script}`.endsWith(`/${path.replace(/^\.\//, '')}`));
}

export function overlaps(a: Span, b: Span): boolean {
	return a.start < b.end && b.start < a.end;
}

export function overlapsAny(span: Span, others: readonly Span[]): boolean {
	return others.some((other) => overlaps(span, other));
}

/** Does the word only hold a sentence together? Then it is no value. */
export function isFiller({ lower }: Word, isStart = false): boolean {
	if (SAYABLE.has(lower)) return isStart;
	const isContraction = /^\p{L}{1,7}['’](s|re|m|d|ll|ve)$/u.test(lower);
	return isStopWord(lower) || FILLER.has(lower) || isContraction || !/[\p{L}\p{N}]/u.test(lower);
}

export function isUnit(text: string): boolean {
	return namesOfUnit(text).length > 0;
}

/** All ways to write a unit; none for what is none. */
export function namesOfUnit(text: string): string[] {
	const said = text.toLowerCase();
	return UNITS.filter((names) => names.includes(said) || names.includes(said.replace(/s$/, ''))).flat();
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

export function isOverview(word: Word): boolean {
	return OVERVIEW.includes(word.stem);
}

function findWords(text: string, quotes: readonly Piece[]): Word[] {
	const what = WHAT_IS_IN.exec(text)?.index;
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
		const lower = index === what ? 'describe' : bare.toLowerCase().replace(/^-+(?=\p{L})/u, '');
		const isLineEnd = /^[ \t]*(\n|$)/.test(text.slice(index + run.length, index + run.length + 9));
		const endsClause = isLineEnd || /[?!.;:…。？！：)]/.test(tail);
		const isQuoted = overlapsAny(span, quotes);
		return { ...span, text: bare, lower, stem: stem(lower), endsClause, hasComma: /[,、]/.test(tail), isQuoted };
	});
}

/** The first form that fits a place has it. */
function findTyped(text: string): Piece[] {
	const found: Piece[] = [];
	for (const [form, pattern, valueOf] of FORMS) {
		for (const match of text.matchAll(pattern)) {
			const [all, ...parts] = match;
			const piece = { form, value: valueOf?.(all, ...parts) ?? all, start: match.index, end: match.index + all.length };
			if (!overlapsAny(piece, found)) found.push(piece);
		}
	}
	return found;
}

function isoDate(year = '', month = '', day = ''): string {
	const number = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
	return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function clock(hour = '', minute = '', half?: string): string {
	const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
	return `${String(hours).padStart(2, '0')}:${minute}`;
}

/** What may stand after `5 in` where it is inches. */
const AFTER_INCHES = /^(in|into|to|as|is|equals?|by|and|or|wide|long|tall|high|deep|thick|of|->|→|=)$/;

/** The number in a word, with its unit; the span that `90 days after` is. */
function findNumbers(words: readonly Word[], index: number): Piece[] {
	const word = words[index] as Word;
	if (word.isQuoted || isThousands(word, words[index - 1])) return [];
	const [, width, height] = /^(\d+)[x×*](\d+)(?:px)?$/i.exec(word.text) ?? [];
	if (width !== undefined && height !== undefined) {
		const middle = word.start + width.length;
		return [
			{ start: word.start, end: middle, value: width, form: 'number', unit: '' },
			{ start: middle + 1, end: word.end, value: height, form: 'number', unit: '' }
		];
	}
	const [, sign = '', digits, ending = ''] =
		/^([$€£¥#]?)([+-]?\d[\d.,]*)-?([\p{L}°%€$/]{0,12})$/u.exec(word.text) ?? [];
	const spelled = TENS.includes(word.lower) ? 20 + 10 * TENS.indexOf(word.lower) : NUMERALS.indexOf(word.lower);
	const isOrdinal = /1st$|nd$|rd$|\dth$/.test(word.lower) && digits !== undefined;
	if ((digits === undefined && spelled < 2) || isOrdinal) return [];
	const second = words[index + 1];
	const isTwo = second !== undefined && digits !== undefined && isThousands(second, word);
	const last = isTwo ? second : word;
	const rest = words.slice(index + (isTwo ? 2 : 1));
	const [next, way] = last.endsClause || last.hasComma ? [] : rest;
	const isThousand = ending === 'k' && !/^(in|to|as)$/.test(next?.lower ?? '');
	const own = sign.replace('#', '') || (isThousand ? '' : ending.toLowerCase());
	// `2026 in Roman numerals` has no inches.
	const isIn = next?.lower === 'in' && !next.endsClause && !next.hasComma;
	const isUnitNext = next && isUnit(next.lower) && !(isIn && way && !AFTER_INCHES.test(way.lower));
	const said = own === '' && isUnitNext ? next.lower : own;
	const unit = SIGNS.get(said) ?? said;
	const isSign = unit === '%' && own === '' && next !== undefined;
	const text = digits === undefined ? String(spelled) : decimal(isTwo ? digits + second.text : digits, unit);
	const value = isThousand ? String(Number(text) * 1000) : text;
	const number: Piece = { start: word.start, end: isSign ? next.end : last.end, value, form: 'number', unit };
	const found = [number];
	const [, letter] = /^(d|w|m|y)(?:ay|eek|onth|ear)s?$/.exec(next?.endsClause === false ? next.lower : '') ?? [];
	const direction = WAYS.get(way?.lower ?? '');
	if (letter !== undefined && way && direction !== undefined)
		found.push({ ...number, end: way.end, value: `${direction}${value}${letter}`, form: 'span' });
	return found;
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

/** Codes, names, units, and each other word: what can be a value where nothing surer is there. */
function findNames(words: readonly Word[], text: string, sure: readonly Piece[]): Piece[] {
	const found: Piece[] = [];
	const isTaken = (word: Word) => word.isQuoted || overlapsAny(word, sure);
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index] as Word;
		if (isTaken(word)) continue;
		const [run, span] = [nameRun(words, index), { start: word.start, end: word.end, value: word.text }];
		const last = run.at(-1);
		if (/^(?=.*\d)(?=.*\p{L})[\w.:-]{3,200}$/u.test(word.text)) found.push({ ...span, form: 'code' });
		else if (last && !run.some(isTaken)) {
			found.push({ ...span, end: last.end, value: text.slice(word.start, last.end), form: 'name' });
			index += run.length - 1;
		} else found.push({ ...span, form: isUnit(word.text) && !isFiller(word) ? 'unit' : 'word' });
	}
	return found;
}

/** A name from a place on: capitalised words, the small ones between them, `Paris, Texas`; none where a sentence begins. */
function nameRun(words: readonly Word[], index: number): Word[] {
	const before = words[index - 1];
	const run: Word[] = [];
	for (const word of words.slice(index, index + 8)) {
		const isCapital = /^\p{Lu}\P{N}*$/u.test(word.text);
		if (word.isQuoted || word.text === 'I' || (!isCapital && !(run.length > 0 && NAME_LINKS.has(word.lower)))) break;
		run.push(word);
		if (word.endsClause) break;
	}
	while (run.length > 0 && !/^\p{Lu}/u.test(run.at(-1)?.text ?? '')) run.pop();
	return (before === undefined || before.endsClause) && run.length < 2 ? [] : run;
}

/** After the first colon that ends a word, or after the first line. */
function findPayload(text: string, quotes: readonly Piece[]): Message['payload'] {
	const scope = text.slice(0, MAX_READ);
	for (const { index, 0: mark } of scope.matchAll(/:(?=\s)|：|\n/g)) {
		const isLine = mark === '\n';
		const [rest, before] = [text.slice(index + 1), text.slice(0, index)];
		const isNone = isLine ? /:(?=\s)|：/.test(scope) : overlapsAny({ start: index, end: index + 1 }, quotes);
		if (before.trim() === '' || isNone) continue;
		const value = rest.trim();
		if (value === '') return null;
		const start = index + 1 + rest.indexOf(value);
		return { start, end: start + value.length, value: withoutFrame(value) };
	}
	return null;
}

/** Text that is quoted as a whole, or stands in a fence of its own, is meant without that. */
function withoutFrame(value: string): string {
	const [, mark, fenced] = /^(`{3,}|~{3,})[^\n`]*\n([^]*)\n\1$/.exec(value) ?? [];
	if (mark !== undefined && fenced !== undefined) return fenced;
	const close = MARKS.get(value.charAt(0));
	const end = close === undefined ? -1 : value.indexOf(close, 1);
	return end > 1 && /^[?.!]?$/.test(value.slice(end + 1)) ? value.slice(1, end) : value;
}
