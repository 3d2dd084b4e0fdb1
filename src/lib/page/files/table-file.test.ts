import { expect, test } from 'vitest';
import { parseRows, readTable, sortRows } from './files.ts';

test('quoted cells may hold separators, quotes and line breaks', () => {
	expect(parseRows('a,b\r\n"x, ""y""","line\nbreak"\r\n', 10)).toEqual([
		['a', 'b'],
		['x, "y"', 'line\nbreak']
	]);
});

test('semicolons and tabs are separators where the first line says so', () => {
	expect(parseRows('a;b\n1,5;2', 10)).toEqual([
		['a', 'b'],
		['1,5', '2']
	]);
	expect(parseRows('a\tb\n1\t2\n', 10)).toEqual([
		['a', 'b'],
		['1', '2']
	]);
});

test('rows beyond the limit are left out', () => {
	expect(parseRows('1,2\n4,5\n7,8\n', 2)).toEqual([
		['1', '2'],
		['4', '5']
	]);
	expect(parseRows('', 5)).toEqual([]);
});

test('the first row is the head, rows are as wide as the widest, and half a row at the end is left out', () => {
	expect(readTable('a,b\n1\n2,3,4\n', false)).toEqual({
		...{
			head: ['a', 'b', ''],
			rows: [
				['1', '', ''],
				['2', '3', '4']
			],
			hiddenColumns: 0,
			isCut: false
		}
	});
	expect(readTable('a,b\n1,2\n3,', true)).toMatchObject({ rows: [['1', '2']], isCut: true });
	expect(readTable('\ufeffa\n1\n2\n3', false, 2)).toMatchObject({ head: ['a'], rows: [['1'], ['2']], isCut: true });
	expect(readTable('a,b,c\n', false, 9, 2)).toMatchObject({ head: ['a', 'b'], hiddenColumns: 1, rows: [] });
	expect(readTable('', false)).toMatchObject({ head: [], rows: [] });
});

test('rows are sorted by number where there are numbers, and what is empty comes last', () => {
	const rows = ['10', 'x', '', '9', '$1,200.50', '-3 %', 'a2', 'a10'].map((cell) => [cell]);
	const sorted = (isDescending: boolean) => sortRows(rows, { column: 0, isDescending }).flat();
	expect(sorted(false)).toEqual(['-3 %', '9', '10', '$1,200.50', 'a2', 'a10', 'x', '']);
	expect(sorted(true)).toEqual(['x', 'a10', 'a2', '$1,200.50', '10', '9', '-3 %', '']);
	expect(rows[0]).toEqual(['10']);
});
