import fc from 'fast-check';
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import {
	createStagingFolder,
	diskError,
	INSTALL_LIMITS,
	type StagingFolder,
	checkEntryName,
	createEntryNames,
	isLeftOut,
	quoteEntry
} from './staging-folder.ts';
import { AppError } from '../../shared/errors.ts';

const home = emptyFolder();
let folder: StagingFolder;

beforeEach(async () => {
	folder = await createStagingFolder(join(home, 'staging'), {
		...INSTALL_LIMITS,
		files: 3,
		fileBytes: 10,
		unpackedBytes: 20
	});
});

async function* chunks(...list: string[]): AsyncGenerator<Uint8Array> {
	for (const text of list) yield await Promise.resolve(Buffer.from(text));
}

describe('SECURITY Archives: what a staging folder refuses', () => {
	test.each(['../x', '/x', 'a\\b', 'CON', 'a/../../x'])('the name %j', async (path) => {
		await expect(folder.add(path, Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_input' });
		expect(await readdir(folder.dir)).toEqual([]);
		expect(await readdir(home)).toEqual(['staging']);
	});
	test('a second file of the same name, and a twin of it', async () => {
		await folder.add('a', Buffer.from('1'));
		await expect(folder.add('a', Buffer.from('2'))).rejects.toThrow('“a” was refused: it appears twice');
		await expect(folder.add('A', Buffer.from('2'))).rejects.toThrow('“A” was refused');
		await expect(folder.add('a/b', Buffer.from('2'))).rejects.toThrow('“a/b” was refused');
		expect(await readFile(join(folder.dir, 'a'), 'utf8')).toBe('1');
	});
	test('a link that somebody planted', async () => {
		await writeFile(join(home, 'outside'), 'safe');
		await symlink(join(home, 'outside'), join(folder.dir, 'a'));
		await expect(folder.add('a', Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_input' });
		expect(await readFile(join(home, 'outside'), 'utf8')).toBe('safe');
	});
	test('a file over the limit, at the byte', async () => {
		await folder.add('exact', Buffer.from('0123456789'));
		await expect(folder.add('over', chunks('01234', '567890'))).rejects.toMatchObject({
			code: 'too_large',
			message: expect.stringContaining('“over”') as string
		});
	});
	test('bytes over the limit of all files together, also at once', async () => {
		const adding = ['a', 'b', 'c'].map((name) => folder.add(name, chunks('0123', '4567')));
		const results = await Promise.allSettled(adding);
		expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
	});
	test('one file too many', async () => {
		for (const name of ['a', 'b', 'c']) await folder.add(name, Buffer.from(''));
		await expect(folder.add('d', Buffer.from(''))).rejects.toMatchObject({ code: 'too_large' });
	});
});

test('E20: files are written byte for byte, executable ones as such, and counted', async () => {
	await folder.add('deep/er/run.sh', chunks('#!', '/bin/sh'), { isExecutable: true });
	await folder.add('deep/a.txt', Buffer.from('plain'));
	expect(await readFile(join(folder.dir, 'deep/er/run.sh'), 'utf8')).toBe('#!/bin/sh');
	expect((await stat(join(folder.dir, 'deep/er/run.sh'))).mode & 0o777).toBe(0o700);
	expect((await stat(join(folder.dir, 'deep/a.txt'))).mode & 0o777).toBe(0o600);
	expect((await stat(folder.dir)).mode & 0o777).toBe(0o700);
	expect([folder.files, folder.bytes]).toEqual([2, 14]);
});

test('E20: what a source throws comes back as it is; nothing is left after remove, twice', async () => {
	async function* broken(): AsyncGenerator<Uint8Array> {
		yield* chunks('abc');
		throw new RangeError('of the source');
	}
	await expect(folder.add('a/b', broken())).rejects.toThrow(RangeError);
	await folder.remove();
	await folder.remove();
	expect(await readdir(join(home, 'staging'))).toEqual([]);
});

describe('E20: a disk that cannot be written is said clearly', () => {
	test('the folder of staging folders is a file', async () => {
		await writeFile(join(home, 'file'), '');
		await expect(createStagingFolder(join(home, 'file'))).rejects.toMatchObject({ code: 'unavailable' });
	});
	test('the folder vanishes meanwhile', async () => {
		await rm(folder.dir, { recursive: true });
		await expect(folder.add('a', Buffer.from('x'))).rejects.toMatchObject({ code: 'unavailable' });
	});
	test.each([
		['ENOSPC', 'storage_full'],
		['EDQUOT', 'storage_full'],
		['EROFS', 'unavailable'],
		['EACCES', 'unavailable'],
		['EIO', 'unavailable']
	])('%s is %s', (code, kind) => {
		const error = Object.assign(new Error(code), { code, syscall: 'write' });
		expect(diskError(error)).toMatchObject({ code: kind, cause: error });
	});
	test('a bug stays one', () => {
		const bug = new TypeError('x is not a function');
		expect(diskError(bug)).toBe(bug);
	});
});

const deep = Array.from({ length: 13 }, () => 'a').join('/');

test.each([
	['', 'empty'],
	['/etc/passwd', 'absolute'],
	['//server/share/x', 'absolute'],
	['C:/Windows/x', 'drive'],
	['c:x', 'drive'],
	['..', 'leads out'],
	['../x', 'leads out'],
	['a/../../x', 'leads out'],
	['./a', 'leads out'],
	['a/./b', 'leads out'],
	['a/‥/b', 'leads out'],
	['．．/x', 'leads out'],
	['a／..／b', 'leads out'],
	['a//b', 'part of its path is empty'],
	['a/', 'part of its path is empty'],
	['..\\x', 'backslash'],
	['scripts\\run.py', 'backslash'],
	['a\0b', 'invisible'],
	['a\nb', 'invisible'],
	['a\u007fb', 'invisible'],
	['a\u0085b', 'invisible'],
	['gpj.\u202eexe', 'invisible'],
	['a\u200bb', 'invisible'],
	['a\u{e0041}b', 'invisible'],
	['a\ud800b', 'invisible'],
	['a\u2028b', 'invisible'],
	['file.txt:stream', 'Windows'],
	['what?', 'Windows'],
	['a|b', 'Windows'],
	['CON', 'reserved on Windows'],
	['nul.txt', 'reserved on Windows'],
	['a/Aux.tar.gz', 'reserved on Windows'],
	['com1', 'reserved on Windows'],
	['COM¹.log', 'reserved on Windows'],
	['lpt9 .txt', 'reserved on Windows'],
	['conin$', 'reserved on Windows'],
	['a./b', 'its name ends with a dot or space, which Windows doesn’t allow'],
	['a/b ', 'its name ends with a dot or space, which Windows doesn’t allow'],
	['...', 'its name ends with a dot or space, which Windows doesn’t allow'],
	['ü'.repeat(128), '255 bytes'],
	['a/'.repeat(6) + 'a'.repeat(1020), '1024 characters'],
	[deep, '12 levels']
])('SECURITY Archives: %j is no name of a file (%s)', (path, why) => {
	const error = thrownBy(() => checkEntryName(path));
	expect(error).toMatchObject({ code: 'invalid_input' });
	expect(error.message).toContain(why);
	expect(error.message).toContain(quoteEntry(path));
});

test.each([
	'SKILL.md',
	'scripts/run.py',
	'.claude/skills/a/SKILL.md',
	'references/Über uns.md',
	'日本語/手順：一.md',
	'console.md',
	'common/com10.txt',
	'a..b/..c',
	'x'.repeat(255)
])('E20: %j is one', (path) => expect(checkEntryName(path)).toEqual(path.split('/')));

describe('SECURITY Archives: no two names that some file system takes for one', () => {
	test.each([
		['a.md', 'a.md', 'twice'],
		['SKILL.md', 'skill.MD', 'case or Unicode form'],
		['Docs/a.md', 'docs/b.md', 'case or Unicode form'],
		['caf\u00e9.md', 'cafe\u0301.md', 'case or Unicode form'],
		['ﬁle.md', 'file.md', 'case or Unicode form'],
		['straße.md', 'STRASSE.md', 'case or Unicode form'],
		['σ.md', 'ς.md', 'case or Unicode form'],
		['a', 'a/b', 'a file and a folder'],
		['a/b', 'a', 'a file and a folder']
	])('%j and %j', (first, second, why) => {
		const names = createEntryNames();
		names.take(first, 'file');
		const error = thrownBy(() => names.take(second, 'file'));
		expect(error).toMatchObject({ code: 'invalid_input' });
		expect(error.message).toContain(why);
		expect(error.message).toContain(quoteEntry(second));
	});
	test('a folder may be named before and after its files', () => {
		const names = createEntryNames();
		names.take('a', 'folder');
		names.take('a/b', 'file');
		names.take('a', 'folder');
		expect(() => names.take('a/b', 'folder')).toThrow('a file and a folder');
	});
});

test('SECURITY Archives: a refused name is shown with escapes, and cut', () => {
	expect(quoteEntry('a\u001b[31m\u202e')).toBe('“a⟨U+001B⟩[31m⟨U+202E⟩”');
	expect(quoteEntry('x'.repeat(5000)).length).toBeLessThan(110);
});

test('E20: what systems leave beside the files is known by any spelling', () => {
	expect(['__MACOSX/._a', 'a/.DS_Store', 'a/.git/config', '.GIT/hooks/x'].map(isLeftOut)).toEqual([
		true,
		true,
		true,
		true
	]);
	expect(['.gitignore', '.github/x.yml', 'a/git'].map(isLeftOut)).toEqual([false, false, false]);
});

test('SECURITY Archives: any text is a safe relative path or an AppError', () => {
	const part = fc.oneof(fc.constantFrom('..', '.', '', 'a', 'CON', '\\', ' '), fc.string({ unit: 'binary' }));
	fc.assert(
		fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
			const path = parts.join('/');
			try {
				const segments = checkEntryName(path);
				expect(segments.join('/')).toBe(path);
				expect(segments.every((segment) => !['', '.', '..'].includes(segment))).toBe(true);
			} catch (error) {
				expect(error).toBeInstanceOf(AppError);
			}
		})
	);
});

function thrownBy(action: () => unknown): Error {
	try {
		action();
	} catch (error) {
		return error as Error;
	}
	throw new Error('Nothing was thrown.');
}
