import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
	findHidden,
	HIDDEN_CLASS,
	markHidden,
	markHiddenInText,
	plainLine,
	withoutHidden,
	withoutHiddenIn
} from './characters.ts';

test.each([
	['report\u202Efdp.exe', 'report⟨U+202E⟩fdp.exe'],
	['a\u200bb\u0000', 'a⟨U+200B⟩b⟨U+0000⟩'],
	['x\u{e0041}', 'x⟨U+E0041⟩'],
	['two\nlines', 'two⟨U+000A⟩lines'],
	['👩‍💻 größe ✔️', '👩‍💻 größe ✔️'],
	['a\u200db', 'a⟨U+200D⟩b']
])('the name %j is shown as %j', (name, shown) => {
	expect(markHidden(name)).toBe(shown);
});

test('a text keeps its line breaks and tabs', () => {
	expect(markHiddenInText('a\tb\r\nc\rd\u2066')).toBe('a\tb\nc\nd⟨U+2066⟩');
});

test('nothing that turns the order of characters is left in any text', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'binary' }), (text) => {
			expect(markHidden(text)).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
		})
	);
});

/** Characters that an external review found getting through. */
const PASSED = [
	'\u200b',
	'\u200e',
	'\u200f',
	'\u00ad',
	'\u2060',
	'\u2028',
	'\ufff9',
	'\u061c',
	'\ufeff',
	'\u3164',
	'\u{e0041}',
	'\u{e0100}',
	'\u034f',
	'\u180e',
	'\u0085'
];

test.each(PASSED)('SECURITY: %j is marked for people and not sent to a model', (character) => {
	const text = `a${character}b`;
	expect(markHidden(text)).toMatch(/^a⟨U\+[0-9A-F]{4,6}⟩b$/);
	expect(markHiddenInText(text)).toBe(markHidden(text));
	expect(withoutHidden(text).replace('\n', '')).toBe('ab');
});

test('SECURITY: the table has every character that Unicode says is not shown, every control and every turn of direction', () => {
	const known = new RegExp(`^[\\t\\n${HIDDEN_CLASS}]$`, 'u');
	const missing: string[] = [];
	for (let point = 0; point <= 0x10ffff; point += 1) {
		const character = String.fromCodePoint(point);
		const isUnseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\ufff9-\ufffb]/u.test(
			character
		);
		if (isUnseen !== known.test(character)) missing.push(point.toString(16));
	}
	expect(missing).toEqual([]);
});

test.each([
	['an emoji of several parts', '👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🧑🏽‍🚀 👁️‍🗨️'],
	['an emoji with its look', '✔️ ❤️ ☎︎ 1️⃣ #️⃣ ✓️'],
	['flags of tags', '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'],
	['Persian', 'می‌خواهم کتاب‌ها CD‌ها'],
	['Hindi and Malayalam', 'क्‍ष र्‍य ന്‍'],
	['Mongolian', 'ᠰᠠᠶᠢᠨ\u180b'],
	['a Chinese character in an old form', '葛\u{e0100}'],
	['Hebrew, tabs and line breaks', 'שלום\tעולם\r\nb']
])('%s stays as it is', (_name, text) => {
	expect(withoutHidden(text)).toBe(text);
	expect(markHiddenInText(text)).toBe(text.replace('\r\n', '\n'));
});

test.each([
	['a row of joiners', 'می\u200c\u200c\u200dخ', 'می\u200cخ'],
	['bits between Latin letters', 'a\u200cb\u200dc', 'abc'],
	['bytes behind an emoji', '😀\ufe01\ufe05\u{e0120}', '😀'],
	['tags behind a flag that is none', '🏴\u{e0069}\u{e0067}\u{e006e}\u{e007f}', '🏴'],
	['what divides lines', 'a\u2028b\rc', 'a\nb\nc'],
	['colours', '\u001b[31mred\u001b[0m', 'red']
])('%s is not sent to a model', (_name, text, sent) => {
	expect(withoutHidden(text)).toBe(sent);
	expect(withoutHidden(sent)).toBe(sent);
});

test('plain data loses them everywhere but in keys; a line is one line', () => {
	expect(withoutHiddenIn({ a: ['x\u200b', 1, null], b: { c: '\u202ed' } })).toEqual({
		a: ['x', 1, null],
		b: { c: 'd' }
	});
	expect(plainLine(' a\u2028\tb\u200b\n')).toBe('a b');
});

test('all that is marked in a text is found, and nothing that belongs to what is seen', () => {
	expect(findHidden('a\u202eb\u{e0041}\tc\r\nd 👩‍💻')).toEqual(['\u202e', '\u{e0041}']);
	expect(findHidden('plain')).toEqual([]);
});
