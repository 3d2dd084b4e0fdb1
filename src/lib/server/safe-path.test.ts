import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../tests/support/folder.ts';
import { holdFolder, openInside, safeSegments } from './safe-path.ts';

const home = emptyFolder();
let root: string;
let outside: string;

beforeEach(async () => {
	root = join(home, 'workspace');
	outside = join(home, 'outside');
	await mkdir(join(root, 'sub'), { recursive: true });
	await mkdir(outside);
	await writeFile(join(outside, 'secret.txt'), 'secret');
	await writeFile(join(root, 'sub', 'note.txt'), 'note');
});

async function read(path: string): Promise<string> {
	const { file } = await openInside(root, path);
	return file.readFile('utf8').finally(() => file.close());
}

test.each([
	'',
	'/etc/passwd',
	'..',
	'../outside/secret.txt',
	'sub/../../x',
	'./x',
	'a//b',
	'a/',
	'a\\b',
	'a\0b',
	'a\nb'
])('safePath: “%s” is no path of a workspace', (path) =>
	expect(() => safeSegments(path)).toThrow('isn’t a valid file name')
);

test.each([
	'C:x',
	'C:/Windows/win.ini',
	'a.txt:stream',
	'sub/NUL',
	'con.txt',
	'sub/Aux.tar.gz',
	'COM¹',
	'lpt9 .log',
	'.env.',
	'.env ',
	'what?',
	'sub./note.txt',
	'\\\\server\\share\\x',
	'\\\\?\\C:\\x',
	'sub\\..\\..\\x'
])('safePath on Windows: “%s” is no path of a workspace', (path) => {
	expect(() => safeSegments(path, 'win32')).toThrow('isn’t a valid file name');
});
test('safePath: what only Windows does not allow is a name elsewhere', () => {
	for (const path of ['12:00.txt', 'aux.py', 'what?', 'end.']) expect(safeSegments(path, 'linux')).toEqual([path]);
	expect(safeSegments('sub/console.txt', 'win32')).toEqual(['sub', 'console.txt']);
});

describe('safePath: no link leads out', () => {
	test('neither one in the place of the file', async () => {
		await symlink(join(outside, 'secret.txt'), join(root, 'link.txt'));
		await expect(read('link.txt')).rejects.toMatchObject({ code: 'not_found' });
	});
	test('nor one in the place of a folder', async () => {
		await symlink(outside, join(root, 'linked'));
		await expect(read('linked/secret.txt')).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(holdFolder(root, 'linked/deep/new.txt', { make: true })).rejects.toMatchObject({
			code: 'invalid_input'
		});
	});
	test('nor one that takes the place of a folder after it was checked', async () => {
		const folder = await holdFolder(root, 'sub/new.txt');
		await rename(join(root, 'sub'), join(root, 'moved'));
		await symlink(outside, join(root, 'sub'));
		await writeFile(folder.target, 'new');
		await folder.close();
		expect(await readFile(join(root, 'moved', 'new.txt'), 'utf8')).toBe('new');
		await expect(readFile(join(outside, 'new.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
	});
	test('a plain file is read, and a folder is none', async () => {
		expect(await read('sub/note.txt')).toBe('note');
		await expect(read('sub')).rejects.toMatchObject({ code: 'not_found' });
		await expect(read('missing/note.txt')).rejects.toMatchObject({ code: 'not_found' });
	});
});
