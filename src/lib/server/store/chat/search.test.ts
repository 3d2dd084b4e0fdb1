import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findSnippet, foldText, indexedWords, readQuery } from './search.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });

test('words come without case, accents and other forms of a sign, each once', () => {
	expect(indexedWords('Café CAFE cafe\u0301, Über_ﬁn ½ İstanbul')).toEqual([
		'cafe',
		'uber',
		'fin',
		'1',
		'2',
		'istanbul'
	]);
});

test('a query is its words, of which the last may be a beginning', () => {
	expect(readQuery('  Big “bad” wo')).toEqual({ folded: 'big “bad” wo', words: ['big', 'bad'], prefix: 'wo' });
	expect(readQuery('🎉')).toEqual({ folded: '🎉', words: [], prefix: null });
	expect(readQuery('\ud800\0')).toMatchObject({ words: [], prefix: null });
	expect(readQuery('w '.repeat(50_000)).words.length).toBeLessThanOrEqual(32);
});

test('a snippet is about 120 characters of plain text around the first place, cut at words', () => {
	const text = `# Title\n\n${'before '.repeat(50)}the **needle** lies\n\there ${'after '.repeat(50)}`;
	const { text: piece, matches } = findSnippet(text, readQuery('needle'))!;
	expect(piece).toMatch(/^…(before )+the needle lies here (after )*after…$/);
	expect(piece.length).toBeLessThan(130);
	expect(matches.map(([from, to]) => piece.slice(from, to))).toEqual(['needle']);
});

test('a snippet of a table is its words', () => {
	const table =
		'**Revenue**\n\n| Region | Revenue | Share |\n|---|---:|:--|\n| North | 340,000 | 44 % |\n| South | 120 |\n';
	expect(findSnippet(table, readQuery('revenue'))?.text).toBe(
		'Revenue Region · Revenue · Share North · 340,000 · 44 % South · 120'
	);
	expect(findSnippet('a || b | c, x|y', readQuery('c'))?.text).toBe('a || b · c, x|y');
});

test('places are right behind emoji, and no sign is cut in half', () => {
	const { text, matches } = findSnippet(`${'👩‍🚀'.repeat(60)} Näh ${'🎉'.repeat(200)}`, readQuery('nah'))!;
	expect(matches.map(([from, to]) => text.slice(from, to))).toEqual(['Näh']);
	expect(text.isWellFormed()).toBe(true);
});

test('nothing is found where no word is', () => {
	expect(findSnippet('nothing here', readQuery('else'))).toBeNull();
	expect(findSnippet('', readQuery('x'))).toBeNull();
});

test('whatever the text: each of its indexed words finds it, and the places lie in the piece, in order', () => {
	fc.assert(
		fc.property(anyText, (text) => {
			for (const word of indexedWords(text)) {
				const query = readQuery(word);
				if (query.words.length > 0) continue;
				const found = findSnippet(text, query);
				// Markdown characters inside a word aren't shown.
				if (!found) {
					expect(text).toMatch(/[`*#>\0]/);
					continue;
				}
				let end = 0;
				for (const [from, to] of found.matches) {
					expect(from).toBeGreaterThanOrEqual(end);
					expect(to).toBeGreaterThan(from);
					end = to;
				}
				expect(end).toBeLessThanOrEqual(found.text.length);
				expect(found.text.isWellFormed()).toBe(true);
			}
		})
	);
});

test('folding twice changes nothing more', () => {
	fc.assert(
		fc.property(anyText, (text) => {
			expect(foldText(foldText(text))).toBe(foldText(text));
		})
	);
});
