import { expect, test } from 'vitest';
import { parseTable } from './table-file.ts';

test('quoted cells may hold separators, quotes and line breaks', () => {
	expect(parseTable('a,b\r\n"x, ""y""","line\nbreak"\r\n', 10)).toEqual([
		['a', 'b'],
		['x, "y"', 'line\nbreak']
	]);
});

test('semicolons and tabs are separators where the first line says so', () => {
	expect(parseTable('a;b\n1,5;2', 10)).toEqual([
		['a', 'b'],
		['1,5', '2']
	]);
	expect(parseTable('a\tb\n1\t2\n', 10)).toEqual([
		['a', 'b'],
		['1', '2']
	]);
});

test('rows and columns beyond the limit are left out', () => {
	expect(parseTable('1,2,3\n4,5,6\n7,8,9\n', 2, 2)).toEqual([
		['1', '2'],
		['4', '5']
	]);
	expect(parseTable('', 5)).toEqual([]);
});
