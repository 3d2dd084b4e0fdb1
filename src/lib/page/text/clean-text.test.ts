import { expect, test } from 'vitest';
import { cleanText } from './clean-text.ts';

test.each([
	['colours', '\u001b[1;31mred\u001b[0m', 'red'],
	['a title (OSC)', '\u001b]0;owned\u0007text', 'text'],
	['a link (OSC 8)', '\u001b]8;;http://evil\u001b\\here\u001b]8;;\u001b\\', 'here'],
	['an unfinished sequence', 'a\u001b]0;never ends\nnext', 'a\nnext'],
	['C1 controls', 'a\u009b31mb\u0085c', 'ab⟨U+0085⟩c'],
	['bidi overrides', 'safe\u202egpj.exe', 'safe⟨U+202E⟩gpj.exe'],
	['tag characters', 'a\u{e0061}b', 'a⟨U+E0061⟩b'],
	['backspaces', 'a\u0008b', 'a⟨U+0008⟩b']
])('of a terminal is obeyed or shown nothing, and what is not seen is marked: %s', (_name, text, clean) => {
	expect(cleanText(text)).toBe(clean);
});

test('line breaks, tabs, and letters of all scripts stay', () => {
	const text = 'a\tb\nä 漢字 עברית 👩‍👩‍👧 e\u0301';
	expect(cleanText(text)).toBe(text);
	expect(cleanText('a\r\nb\rc')).toBe('a\nb\nc');
});
