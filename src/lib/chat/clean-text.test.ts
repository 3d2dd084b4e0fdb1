import { expect, test } from 'vitest';
import { cleanText } from './clean-text.ts';

test.each([
	['colours', '\u001b[1;31mred\u001b[0m', 'red'],
	['a title (OSC)', '\u001b]0;owned\u0007text', 'text'],
	['a link (OSC 8)', '\u001b]8;;http://evil\u001b\\here\u001b]8;;\u001b\\', 'here'],
	['an unfinished sequence', 'a\u001b]0;never ends\nnext', 'a\nnext'],
	['C1 controls', 'a\u009b31mb\u0085c', 'abc'],
	['bidi overrides', 'safe\u202egpj.exe', 'safegpj.exe'],
	['tag characters', 'a\u{e0061}b', 'ab'],
	['backspaces', 'a\u0008b', 'ab']
])('%s are taken out', (_name, text, clean) => {
	expect(cleanText(text)).toBe(clean);
});

test('line breaks, tabs, and letters of all scripts stay', () => {
	const text = 'a\tb\nä 漢字 עברית 👩‍👩‍👧 e\u0301';
	expect(cleanText(text)).toBe(text);
	expect(cleanText('a\r\nb\rc')).toBe('a\nb\nc');
});
