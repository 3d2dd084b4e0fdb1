import { expect, test } from 'vitest';
import { cleanText, findWords, markedParts, quoted } from './clean-text.ts';

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

const shown = (text: string, matches: [number, number][]): string =>
	markedParts(text, matches)
		.map((part) => (part.isMatch ? `[${part.text}]` : part.text))
		.join('');

test.each<[string, string, [number, number][], string]>([
	['nothing', 'plain', [], 'plain'],
	['one in the middle', 'a pdf here', [[2, 5]], 'a [pdf] here'],
	['all of it', 'pdf', [[0, 3]], '[pdf]'],
	[
		'two in the wrong order',
		'one two',
		[
			[4, 7],
			[0, 3]
		],
		'[one] [two]'
	],
	[
		'overlaps',
		'abcdef',
		[
			[0, 4],
			[2, 6]
		],
		'[abcd][ef]'
	],
	[
		'what lies outside',
		'abc',
		[
			[-4, 1],
			[2, 99],
			[50, 60]
		],
		'[a]b[c]'
	],
	['an empty text', '', [[0, 1]], '']
])('marks %s', (_name, text, matches, result) => {
	expect(shown(text, matches)).toBe(result);
});

test('characters that nobody sees are marked after it was cut', () => {
	expect(shown('a\u202eb\u001b[31mpdf\u0007', [[8, 11]])).toBe('a⟨U+202E⟩b[pdf]⟨U+0007⟩');
});

test('words of a query are found in a title in either case', () => {
	expect(findWords('Fill PDF forms, pdf!', 'pdf  FORMS')).toEqual([
		[5, 8],
		[16, 19],
		[9, 14]
	]);
	expect(findWords('İ pdf', 'pdf')).toEqual([]);
	expect(findWords('title', '  ')).toEqual([]);
});

test('quotes within quotes are single', () => {
	expect(quoted('Use x with “hello world”')).toBe('“Use x with ‘hello world’”');
	expect(quoted('Is it 5" wide?')).toBe('“Is it 5" wide?”');
});
