import { expect, test } from 'vitest';
import { framingOf, readQuestion } from './question.ts';

const NO_FILES = { attachedFiles: [], earlierFiles: [], workspaceFiles: [] };
const read = (text: string) => readQuestion(text, NO_FILES);

test.each([
	['Count: a b c', 'a b c'],
	['Count these:\n\n  a\n  b\n', 'a\n  b'],
	['Count this text\na b c', 'a b c'],
	['Count: "a: b"', 'a: b'],
	['Count: "A b."?', 'A b.'],
	['Count:\n```py\na = 1\n```', 'a = 1'],
	['数一数：今天', '今天'],
	['Meet at 10:30 on https://x.org', null],
	['Search "foo: bar" in it', null],
	[': nothing before', null],
	['Nothing after: ', null]
])('the text to work on in %j is %j', (message, payload) => {
	expect(read(message).payload?.value ?? null).toBe(payload);
});

test('quoted pieces of all sorts are found, apostrophes are none', () => {
	const { quotes } = read(`don't "a b" 'it's c' “d” «e» \`f\` rock'n'roll`);
	expect(quotes.map(({ value }) => value)).toEqual(['a b', "it's c", 'd', 'e', 'f']);
});

test('numbers are read with their units, thousands, products and small words', () => {
	const { numbers } = read('5-day $1,500 20% 800x600 three -2.5 3d8 v2 2024-01-31');
	expect(numbers.map(({ value, unit }) => `${value}${unit}`)).toEqual([
		'5day',
		'1500',
		'20%',
		'800',
		'600',
		'3',
		'-2.5'
	]);
});

test('the framing is the message without its payload and quoted pieces', () => {
	expect(framingOf(read('Please post "the weather" to chat: hello weather'))).toBe('Please post to chat');
});
