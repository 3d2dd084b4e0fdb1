import fc from 'fast-check';
import { expect, test, describe } from 'vitest';
import { fuzzyScore, isNearly, rankBy, filterModels, formatPrice, type ModelFilter } from './fuzzy.ts';
import type { ModelInfo } from '../../shared/models.ts';

const ranked = (query: string, ...texts: string[]): string[] => rankBy(texts, query, (text) => text);

test.each([
	[
		'what is written as it is, before letters that are spread',
		'chat',
		['c h a t s', 'New chat'],
		['New chat', 'c h a t s']
	],
	['beginnings of words, and no letters inside them', 'nc', ['noticing', 'New chat'], ['New chat']],
	[
		'nothing for letters that are scattered over words',
		'csv',
		['MCP servers', 'CSV to table', 'Code: save'],
		['CSV to table']
	],
	['a beginning before a middle', 'set', ['Reset all', 'Settings'], ['Settings', 'Reset all']],
	[
		'with spaces for hyphens, and the other way',
		'roman num',
		['roman-numerals', 'Roman-num'],
		['Roman-num', 'roman-numerals']
	],
	['in either case', 'PDF', ['pdf-tools'], ['pdf-tools']],
	['nothing where a letter is missing', 'xyz', ['New chat'], []],
	['all of it for nothing', ' ', ['b', 'a'], ['b', 'a']]
])('%s', (_name, query, texts, expected) => {
	expect(ranked(query, ...texts)).toEqual(expected);
});

test('a beginning that leads nowhere does not hide one that leads on', () => {
	expect(fuzzyScore('Now near end', 'nee')).not.toBeNull();
});

test('a long text of beginnings is searched at once, whatever is asked', () => {
	expect(fuzzyScore('a '.repeat(200), `${'a'.repeat(60)}b`)).toBeNull();
});

test('every text answers to each of its own pieces, whatever is in it', () => {
	fc.assert(
		fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.nat(), (text, from, length) => {
			const low = text.toLowerCase();
			expect(fuzzyScore(low, low.slice(from % low.length, (from % low.length) + length))).not.toBeNull();
		})
	);
});

test.each([
	['trsh', 'Trash', true],
	['tarsh', 'Trash', true],
	['trassh', 'Trash', true],
	['tresh', 'Trash', true],
	['edit tide-tmes', 'Edit tide-times', true],
	['tide times', 'tide-times', true],
	['pfd', 'pdf-tools', true],
	['webpages', 'web-pages', true],
	['webpagse', 'web-pages', true],
	['tru', 'Trash', false],
	['tas', 'Trash', false],
	['trsx', 'Trash', false],
	['pdf frm', 'pdf-forms', true],
	['frm', 'pdf-forms', false],
	['pdf orm', 'pdf-farms', false],
	['edit csv', 'Edit tide-times', false]
])('one slip in a long word finds it: %s, %s', (query, text, expected) => {
	expect(isNearly(text, query)).toBe(expected);
});

const model = (id: string, name = id): ModelInfo => ({
	...{ id, name, description: '', contextTokens: null, price: null },
	...{ takesTools: null, takes: null, gives: null, reasons: null, createdAt: null }
});

const MODELS = [model('openai/gpt-5', 'GPT-5'), model('anthropic/claude-sonnet-5'), model('z/other', 'Not GPT at all')];

describe('F11: a model is found', () => {
	test('by every word, in name or id, whatever the case', () => {
		expect(filterModels(MODELS, 'CLAUDE son').map(({ id }) => id)).toEqual(['anthropic/claude-sonnet-5']);
		expect(filterModels(MODELS, 'claude gpt')).toEqual([]);
		expect(filterModels(MODELS, '  ')).toEqual(MODELS);
	});

	test('by what it can do and costs; one of which that is unknown is left out', () => {
		const models = [
			{ ...model('free'), takes: ['image', 'file'], takesTools: true, price: { input: 0, output: 0 } },
			{ ...model('cheap'), takes: ['image'], takesTools: false, price: { input: 0.5, output: 20 } },
			model('unknown')
		];
		const found = (filter: ModelFilter) => filterModels(models, '', filter).map(({ id }) => id);
		expect(found({ needs: [], most: null })).toEqual(['free', 'cheap', 'unknown']);
		expect(found({ needs: ['Pictures'], most: null })).toEqual(['free', 'cheap']);
		expect(found({ needs: ['Pictures', 'Files'], most: null })).toEqual(['free']);
		expect(found({ needs: ['Tools'], most: 1 })).toEqual(['free']);
		expect(found({ needs: [], most: 1 })).toEqual(['free', 'cheap']);
		expect(found({ needs: [], most: 0 })).toEqual(['free']);
		expect(found({ needs: ['Audio'], most: null })).toEqual([]);
	});

	test('and one whose name begins so is first', () => {
		expect(filterModels([...MODELS].reverse(), 'gpt').map(({ id }) => id)).toEqual(['openai/gpt-5', 'z/other']);
	});
});

test.each([
	[0, '$0'],
	[3, '$3'],
	[12.5, '$12.5'],
	[0.15, '$0.15'],
	[0.0004, '$0.0004'],
	[100, '$100']
])('a price of %d dollars is read as %s', (dollars, text) => {
	expect(formatPrice(dollars)).toBe(text);
});
