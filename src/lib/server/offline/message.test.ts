import { expect, test } from 'vitest';
import { framing, readMessage } from './message.ts';

const NO_FILES = { attached: [], earlier: [], workspace: [] };
const read = (text: string) => readMessage(text, NO_FILES);

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
	const { pieces } = read(`don't "a b" 'it's c' “d” «e» \`f\` rock'n'roll`);
	expect(pieces.flatMap(({ form, value }) => (form === 'quote' ? value : []))).toEqual([
		'a b',
		"it's c",
		'd',
		'e',
		'f'
	]);
});

test('numbers are read with their units, thousands, products and small words', () => {
	const { pieces } = read('5-day $1,500 20% 800x600 three -2.5 3d8 v2 2024-01-31, 95 000 at 3,8 % and 1.200 €');
	expect(pieces.flatMap(({ form, value, unit }) => (form === 'number' ? `${value}${unit}` : []))).toEqual([
		'5day',
		'1500$',
		'20%',
		'800',
		'600',
		'3',
		'-2.5',
		'95000',
		'3.8%',
		'1200€'
	]);
});

test('the framing is the message without its payload and quoted pieces', () => {
	const words = framing(read('Please post "the weather" to chat: hello weather'));
	expect(words.map((word) => word.text)).toEqual(['Please', 'post', 'to', 'chat']);
});
