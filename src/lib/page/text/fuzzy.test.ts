import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzyScore, rankBy } from './fuzzy.ts';

const ranked = (query: string, ...texts: string[]): string[] => rankBy(texts, query, (text) => text);

test.each([
	[
		'what is written as it is, before letters that are spread',
		'chat',
		['c h a t s', 'New chat'],
		['New chat', 'c h a t s']
	],
	['beginnings of words before letters inside', 'nc', ['noticing', 'New chat'], ['New chat', 'noticing']],
	['a beginning before a middle', 'set', ['Reset all', 'Settings'], ['Settings', 'Reset all']],
	['in either case', 'PDF', ['pdf-tools'], ['pdf-tools']],
	['nothing where a letter is missing', 'xyz', ['New chat'], []],
	['all of it for nothing', ' ', ['b', 'a'], ['b', 'a']]
])('%s', (_name, query, texts, expected) => {
	expect(ranked(query, ...texts)).toEqual(expected);
});

test('a beginning that leads nowhere does not hide letters that are there', () => {
	expect(fuzzyScore('xbzc b', 'bc')).not.toBeNull();
});

test('every text answers to each of its own pieces, whatever is in it', () => {
	fc.assert(
		fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.nat(), (text, from, length) => {
			const low = text.toLowerCase();
			expect(fuzzyScore(low, low.slice(from % low.length, (from % low.length) + length))).not.toBeNull();
		})
	);
});
