/** Characters that people do not see or take for others; pure (SECURITY, *Skills*). */
import { blankSeen, HIDDEN_CLASS, HIDDEN_KINDS, markHidden, markOf } from '../../shared/characters.ts';
import type { SkillFinding } from '../../shared/skills.ts';

export type Remark = Pick<SkillFinding, 'severity' | 'kind' | 'message'> & { index: number };

/** Shown as a blank, which is as it should be in Braille: not in a name, or in the midst of code. */
const BLANK = '\\u2800';

/** Characters that are to be seen are left out, so that the index of what remains is that in the line. */
const KINDS: readonly (readonly [SkillFinding['severity'], string, RegExp])[] = [
	['danger', 'Tag characters: text that people do not see.', HIDDEN_KINDS.tags],
	[
		'danger',
		'Characters that turn the direction of text: it is read in another order than it is run.',
		HIDDEN_KINDS.directions
	],
	['danger', 'A row of variation selectors: data that people do not see.', HIDDEN_KINDS.selectors],
	// eslint-disable-next-line no-control-regex -- control characters are what this is about
	['danger', 'Control characters that change what a terminal shows.', /[\u001b\u0008\u009b\u009d]/u],
	['warning', 'Characters that people do not see.', new RegExp(`${HIDDEN_KINDS.others.source}|${BLANK}`, 'u')]
];

/** Cyrillic, Greek and other letters that look like Latin ones. */
const CONFUSABLE =
	/[аеорсухіјѕһԁԛԝгѵАВЕКМНОРСТХІЈЅҮ\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0251\u0261\u0131\u1d00-\u1d22]|[\uff21-\uff3a\uff41-\uff5a]|[\u{1d400}-\u{1d7ff}]/u;
const ODD = new RegExp(`${CONFUSABLE.source}|[${BLANK}\\p{Co}\\p{Cn}\\p{Cs}]|(?! )\\p{Zs}`, 'gu');
const UNREAD = new RegExp(`[\\t\\n${HIDDEN_CLASS}${BLANK}]`, 'gu');
const WORD = /[\p{L}\p{N}_]{2,200}/gu;

/** Of one line, or of a name. */
export function remarksOn(line: string, isName = false): Remark[] {
	const remarks: Remark[] = [];
	// Most lines are ASCII without anything of this.
	if (/^[\t\r\x20-\x7e]*$/.test(line)) return remarks;
	const blanked = blankSeen(line);
	for (const [severity, message, pattern] of KINDS) {
		const index = blanked.search(pattern);
		if (index >= 0)
			remarks.push({ severity: isName ? 'danger' : severity, kind: 'invisible-characters', message, index });
	}
	for (const { 0: word, index } of line.matchAll(WORD)) {
		if (!CONFUSABLE.test(word)) continue;
		// A word of another language has letters that look like no Latin ones.
		const looksLatin = isName && [...word].every((letter) => CONFUSABLE.test(letter) || /[^\p{L}]/u.test(letter));
		if (!looksLatin && !/[a-z]/i.test(word)) continue;
		const severity = isName ? 'danger' : 'warning';
		remarks.push({
			severity,
			kind: 'homoglyph',
			message: 'Letters of another alphabet that look like Latin ones.',
			index
		});
		break;
	}
	return remarks;
}

/** What cannot be seen, marked; letters of other alphabets that look like Latin ones as well. */
export function escaped(text: string): string {
	return markHidden(text.replaceAll('\t', ' ')).replace(ODD, markOf);
}

/** As the model may read it: compatibility forms and what looks like Latin folded, invisible characters out. */
export function plain(text: string): string {
	if (/^[\x20-\x7e]*$/.test(text)) return text;
	// Tag characters are ASCII, shifted.
	const untagged = text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
		String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000)
	);
	return untagged
		.normalize('NFKC')
		.replace(UNREAD, '')
		.replace(/[аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅοΟΑΕΙ]/gu, (letter) => LATIN[letter] ?? letter);
}

const LATIN: Readonly<Record<string, string>> = Object.fromEntries(
	[
		'аa',
		'еe',
		'оo',
		'рp',
		'сc',
		'уy',
		'хx',
		'іi',
		'јj',
		'ѕs',
		'һh',
		'ԁd',
		'ԛq',
		'ԝw',
		'АA',
		'ВB',
		'ЕE',
		'КK',
		'МM',
		'НH'
	]
		.concat(['ОO', 'РP', 'СC', 'ТT', 'ХX', 'ІI', 'ЈJ', 'ЅS', 'οo', 'ΟO', 'ΑA', 'ΕE', 'ΙI'])
		.map(([from = '', to = '']) => [from, to])
);
