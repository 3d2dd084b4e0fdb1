/** Hidden characters: the table of those that are invisible or change what people see, and how to mark or remove them. */

/** Except tab and line break; includes C1. */
const CONTROLS = '\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f';
/** Bidirectional controls. */
const DIRECTIONS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** Invisible copies of ASCII. */
const TAGS = '\\u{e0000}-\\u{e007f}';
/** Variation selectors, including Mongolian ones. */
const SELECTORS = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}\\u180b-\\u180f';
const JOINERS = '\\u200c\\u200d';
/** Invisible letters. */
const FILLERS = '\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0';
/** Soft hyphen, zero-width space, word joiner, byte order mark, line and paragraph separators, annotations and similar. */
const UNSEEN =
	'\\u00ad\\u034f\\u200b\\u2028\\u2029\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0080}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}';

/** The whole table for a character class with the flag `u`, without tab and line break. */
export const HIDDEN_CLASS = CONTROLS + DIRECTIONS + TAGS + SELECTORS + JOINERS + FILLERS + UNSEEN;

export const HIDDEN_KINDS = {
	tags: new RegExp(`[${TAGS}]`, 'u'),
	directions: /[\u202a-\u202e\u2066-\u2069]/u,
	/** Consecutive ones. */
	selectors: new RegExp(`[${SELECTORS}]{2}`, 'u'),
	// eslint-disable-next-line no-misleading-character-class -- each is meant by itself
	others: new RegExp(`[\\u061c\\u200e\\u200f\\u180b-\\u180f${JOINERS}${FILLERS}${UNSEEN}]`, 'u')
} as const;

/** Scripts in which joiners have a visible effect, such as Persian and Hindi. */
const JOINING = 'Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt'
	.split(' ')
	.map((script) => `\\p{scx=${script}}`)
	.join('');
const EMOJI = '(?:\\p{Extended_Pictographic}|[\\u{1f3fb}-\\u{1f3ff}])';
const ALONE = `(?![${SELECTORS}])`;
/** Legitimate, visible uses. Only single characters: a sequence of them is hidden data. */
const SEEN = [
	// England, Scotland and Wales.
	'\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}',
	// A composed emoji; its next part may follow later.
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
/** Terminal sequences. OSC, DCS and the like end with BEL or ST; unfinished ones with the line. */
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

/** Replaces legitimate uses by blanks, keeping positions. */
export function blankSeen(text: string): string {
	return text.replace(ALL, (found: string, hidden: string | undefined) => hidden ?? ' '.repeat(found.length));
}

/** For names, labels and single values: marks hidden characters, including line breaks and tabs. */
export function markHidden(text: string): string {
	return markHiddenInText(text, (whole) => whole).replace(/[\n\t]/g, markOf);
}

/** For longer texts: keeps line breaks and tabs; turns a lone carriage return into a line break. */
export function markHiddenInText(text: string, breaks = withLineBreaks): string {
	return ANY.test(text) ? replaceHidden(breaks(text), markOf) : text;
}

/** The characters that markHiddenInText would mark, in order. */
export function findHidden(text: string): string[] {
	const found: string[] = [];
	if (ANY.test(text)) replaceHidden(withLineBreaks(text), (character) => (found.push(character), character));
	return found;
}

/** Removes terminal sequences: colours, titles, links. */
export function withoutSequences(text: string): string {
	return text.replace(SEQUENCES, '');
}

/** For models and generated names: removes hidden characters; turns line separators into line breaks. */
export function withoutHidden(text: string): string {
	if (!ANY.test(text)) return text;
	return replaceHidden(withoutSequences(text), (character) => (/[\r\u2028\u2029]/.test(character) ? '\n' : ''));
}

/** Applies `withoutHidden` to all strings in plain data, except keys. */
export function withoutHiddenIn<T>(value: T): T {
	const clean = (given: unknown): unknown => {
		if (typeof given === 'string') return withoutHidden(given);
		if (typeof given !== 'object' || given === null) return given;
		if (Array.isArray(given)) return given.map(clean);
		return Object.fromEntries(Object.entries(given).map(([key, each]) => [key, clean(each)]));
	};
	return clean(value) as T;
}

/** As one line with single spaces. */
export function plainLine(text: string): string {
	return withoutHidden(text).replace(/\s+/g, ' ').trim();
}

function withLineBreaks(text: string): string {
	return text.replace(/\r\n?/g, '\n');
}

function replaceHidden(text: string, replace: (character: string) => string): string {
	return text.replace(ALL, (found: string, hidden: string | undefined, at: number) => {
		if (hidden === undefined) return found;
		// Carriage returns of Windows line ends are fine.
		return hidden === '\r' && replace !== markOf && text[at + 1] === '\n' ? found : replace(hidden);
	});
}

/** A rough count, good enough to show and for budgets. */
export function estimateTokens(text: string): number {
	return Math.ceil(text.length / 4);
}
