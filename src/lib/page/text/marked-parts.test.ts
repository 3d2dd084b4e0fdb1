import { expect, test } from 'vitest';
import { findWords, markedParts } from './clean-text.ts';

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
