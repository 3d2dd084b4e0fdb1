import { expect, test } from 'vitest';
import { fileKind, fileUrl, safeName, uniqueNames, viewUrl } from './files.ts';

test('each segment of a path is encoded for its address, the slashes are kept', () => {
	expect(fileUrl('c 1', 'out/50 % & größe#1?.csv', 'v/1')).toBe(
		'/api/conversations/c%201/files/out/50%20%25%20%26%20gr%C3%B6%C3%9Fe%231%3F.csv?v=v%2F1'
	);
});

test.each([
	['sales.csv', 'sales.csv'],
	['Größe 漢字 👍.csv', 'Größe 漢字 👍.csv'],
	['../../etc/passwd', '_.._etc_passwd'],
	['a\\b:c.txt', 'a_b_c.txt'],
	['.env', 'env'],
	['...', 'file'],
	['\u202egpj.exe\u0000', 'gpj.exe'],
	['u\u0308.txt', 'ü.txt'],
	[`${'x'.repeat(300)}.csv`, `${'x'.repeat(116)}.csv`]
])('the file name %j becomes %j', (name, safe) => {
	expect(safeName(name)).toBe(safe);
});

test('names that are taken get a number, whatever their case', () => {
	expect(uniqueNames(['a.csv', 'a.csv', 'A.CSV', 'b', 'new.tar.gz'], ['a (2).csv', 'B'])).toEqual([
		'a.csv',
		'a (3).csv',
		'A (4).CSV',
		'b (2)',
		'new.tar.gz'
	]);
});

test.each([
	['a.PNG', 'image'],
	['b/c.svg', 'drawing'],
	['a.MP3', 'audio'],
	['a.webm', 'video'],
	['d.csv', 'table'],
	['e.md', 'markdown'],
	['f.json', 'json'],
	['g.html', 'page'],
	['h.py', 'text'],
	['i.pdf', 'pdf'],
	['j', 'other']
])('the kind of %s is %s', (path, kind) => {
	expect(fileKind(path)).toBe(kind);
});

test('the address to look at a file keeps what it says already', () => {
	expect(viewUrl('/a', 'plain')).toBe('/a?view=plain');
	expect(viewUrl('/a?v=1', 'scripts')).toBe('/a?v=1&view=scripts');
});
