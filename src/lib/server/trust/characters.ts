/** Characters that people do not see or take for others; pure (SECURITY, *Skills*). */
import type { SkillFinding } from '../../shared/skills.ts';

export type Remark = Pick<SkillFinding, 'severity' | 'kind' | 'message'> & { index: number };

/** Flags of England, Scotland and Wales are made of tag characters. */
const FLAGS =
	/\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;
/** In emoji of several parts, and in scripts that need them, joiners are as they should be. */
const JOINED =
	/(\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}]|[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Gujarati}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Mongolian}])[\u200c\u200d]/gu;
/** What is shown as nothing, or as a blank. */
const BLANK =
	/[\u115f\u1160\u2800\u3164\uffa0]|\u17b4|\u17b5|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]|\u034f|\u17b4|\u17b5|[\u180b-\u180d]/u;

/** Characters that are to be seen are left out, so that the index of what remains is that in the line. */
const KINDS: readonly (readonly [SkillFinding['severity'], string, RegExp])[] = [
	['danger', 'Tag characters: text that people do not see.', /[\u{e0000}-\u{e007f}]/u],
	[
		'danger',
		'Characters that turn the direction of text: it is read in another order than it is run.',
		/[\u202a-\u202e\u2066-\u2069]/u
	],
	['danger', 'A row of variation selectors: data that people do not see.', /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}/u],
	// eslint-disable-next-line no-control-regex -- control characters are what this is about
	['danger', 'Control characters that change what a terminal shows.', /[\u001b\u0008\u009b\u009d]/u],
	[
		'warning',
		'Characters that people do not see.',
		/[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028\u2029\u2060-\u2065\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|\u17b4|\u17b5|[\u180b-\u180d]/u
	]
];

/** Cyrillic, Greek and other letters that look like Latin ones. */
const CONFUSABLE =
	/[аеорсухіјѕһԁԛԝгѵАВЕКМНОРСТХІЈЅҮ\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0251\u0261\u0131\u1d00-\u1d22]|[\uff21-\uff3a\uff41-\uff5a]|[\u{1d400}-\u{1d7ff}]/u;
const WORD = /[\p{L}\p{N}_]{2,200}/gu;

/** Of one line, or of a name. */
export function remarksOn(line: string, isName = false): Remark[] {
	const remarks: Remark[] = [];
	// Most lines are ASCII without anything of this.
	if (/^[\t\r\x20-\x7e]*$/.test(line)) return remarks;
	const blanked = line
		.replace(FLAGS, (flag) => ' '.repeat(flag.length))
		.replace(JOINED, (_whole, before: string) => `${before} `);
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

/** What cannot be seen, as `\u{…}`; letters of other alphabets in words that look Latin as well. */
export function escaped(text: string): string {
	return text.replace(/[^\t\x20-\x7e]/gu, (character) => {
		const isSeen = /[\p{L}\p{N}\p{P}\p{S}\p{M}]/u.test(character) && !CONFUSABLE.test(character);
		return isSeen && !BLANK.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
	});
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
		.replace(new RegExp(`[\\p{Cf}\\p{Cc}]|${BLANK.source}`, 'gu'), '')
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
