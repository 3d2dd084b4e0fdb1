/** The one table of characters that people do not see, or that change what they see, and what is done with them; pure. */

/** All but tab and line break, C1 included. */
const CONTROLS = '\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f';
/** They turn the order in which other characters are shown. */
const DIRECTIONS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** ASCII once more, unseen. */
const TAGS = '\\u{e0000}-\\u{e007f}';
/** They choose the look of what is before them; Mongolian has its own. */
const SELECTORS = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}\\u180b-\\u180f';
const JOINERS = '\\u200c\\u200d';
/** Letters that are shown as nothing. */
const FILLERS = '\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0';
/** Soft hyphen, zero-width space, word joiner, byte order mark, line and paragraph separator, annotations, and their kind. */
const UNSEEN =
	'\\u00ad\\u034f\\u200b\\u2028\\u2029\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0080}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}';

/** The whole table, as the inside of a character class with the flag `u`. Tab and line break are not in it. */
export const HIDDEN_CLASS = CONTROLS + DIRECTIONS + TAGS + SELECTORS + JOINERS + FILLERS + UNSEEN;

/** Parts of the table, for those who tell them apart. */
export const HIDDEN_KINDS = {
	tags: new RegExp(`[${TAGS}]`, 'u'),
	directions: /[\u202a-\u202e\u2066-\u2069]/u,
	/** In a row. */
	selectors: new RegExp(`[${SELECTORS}]{2}`, 'u'),
	// eslint-disable-next-line no-misleading-character-class -- each is meant by itself
	others: new RegExp(`[\\u061c\\u200e\\u200f\\u180b-\\u180f${JOINERS}${FILLERS}${UNSEEN}]`, 'u')
} as const;

/** Scripts whose letters join, or would join wrongly, so that a joiner in a word can be seen: Persian and Hindi, say. */
const JOINING = [
	'Arab',
	'Syrc',
	'Nkoo',
	'Mong',
	'Deva',
	'Beng',
	'Guru',
	'Gujr',
	'Orya',
	'Taml',
	'Telu',
	'Knda',
	'Mlym',
	'Sinh',
	'Khmr',
	'Mymr',
	'Tibt'
]
	.map((script) => `\\p{scx=${script}}`)
	.join('');
const EMOJI = '(?:\\p{Extended_Pictographic}|[\\u{1f3fb}-\\u{1f3ff}])';
const ALONE = `(?![${SELECTORS}])`;
/** Where a character of the table does what it is for, and is part of what people see. One alone: a row of them is data. */
const SEEN = [
	// England, Scotland and Wales.
	'\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}',
	// An emoji of several parts; the next one may be still to come.
	`(?<=${EMOJI}\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic}|$)`,
	`(?<=[${JOINING}])[${JOINERS}]`,
	`(?<=[\\p{L}\\p{N}])\\u200c(?=[${JOINING}])`,
	`(?<=\\p{S}|${EMOJI})[\\ufe0e\\ufe0f]${ALONE}`,
	'(?<=[0-9#*])[\\ufe0e\\ufe0f](?=\\u20e3)',
	`(?<=\\p{Script=Han})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]${ALONE}`,
	`(?<=[\\p{Sm}\\p{Script=Myanmar}\\p{Script=Phags_Pa}])\\ufe00${ALONE}`,
	'(?<=\\p{Script=Mongolian})[\\u180b-\\u180f]',
	'\\u115f(?=[\\u1160-\\u11a7])|(?<=[\\u1100-\\u115f])\\u1160'
].join('|');

// eslint-disable-next-line no-misleading-character-class -- each is meant by itself
const ANY = new RegExp(`[${HIDDEN_CLASS}]`, 'u');
const ALL = new RegExp(`${SEEN}|([${HIDDEN_CLASS}])`, 'gu');
const ESCAPE = '\\u001b';
/** What a terminal obeys: OSC, DCS and the like run to BEL or ST, an unfinished one to the end of its line. */
const SEQUENCES = new RegExp(
	`${ESCAPE}[\\]PX^_][^\\u0007\\u001b\\n]*(?:\\u0007|${ESCAPE}\\\\)?` +
		`|[${ESCAPE}\\u009b]\\[?[0-9:;<=>?]*[ -/]*[@-~]` +
		`|${ESCAPE}.?`,
	'g'
);

/** `⟨U+202E⟩`. */
export function markOf(character: string): string {
	return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The same text with blanks for those that are part of what is seen, so that what is left has its place. */
export function blankSeen(text: string): string {
	return text.replace(ALL, (found: string, hidden: string | undefined) => hidden ?? ' '.repeat(found.length));
}

/** For people: names, labels and single values. Line breaks and tabs count as hidden, too. */
export function markHidden(text: string): string {
	return markHiddenInText(text, (whole) => whole).replace(/[\n\t]/g, markOf);
}

/** For people: longer texts. Line breaks and tabs stay; a lone carriage return becomes a line break. */
export function markHiddenInText(text: string, breaks = withLineBreaks): string {
	return ANY.test(text) ? replaceHidden(breaks(text), markOf) : text;
}

/** Those that markHiddenInText would mark, in their order. */
export function findHidden(text: string): string[] {
	const found: string[] = [];
	if (ANY.test(text)) replaceHidden(withLineBreaks(text), (character) => (found.push(character), character));
	return found;
}

/** What a terminal would obey is left out: colours, titles, links. */
export function withoutSequences(text: string): string {
	return text.replace(SEQUENCES, '');
}

/** For models, and for names that are made: without them. What divides lines becomes a line break. */
export function withoutHidden(text: string): string {
	if (!ANY.test(text)) return text;
	return replaceHidden(withoutSequences(text), (character) => (/[\r\u2028\u2029]/.test(character) ? '\n' : ''));
}

/** The same of every text in plain data; keys stay. */
export function withoutHiddenIn<T>(value: T): T {
	return clean(value) as T;
}

/** On one line, single spaces between the words. */
export function plainLine(text: string): string {
	return withoutHidden(text).replace(/\s+/g, ' ').trim();
}

function clean(value: unknown): unknown {
	if (typeof value === 'string') return withoutHidden(value);
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(clean);
	return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, clean(each)]));
}

function withLineBreaks(text: string): string {
	return text.replace(/\r\n?/g, '\n');
}

function replaceHidden(text: string, replace: (character: string) => string): string {
	return text.replace(ALL, (found: string, hidden: string | undefined, at: number) => {
		if (hidden === undefined) return found;
		// Of a line that ends as Windows has it, only a carriage return by itself is out of place.
		return hidden === '\r' && replace !== markOf && text[at + 1] === '\n' ? found : replace(hidden);
	});
}
