import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createStagingFolder, diskError, INSTALL_LIMITS, type StagingFolder } from './staging-folder.ts';

let home: string;
let folder: StagingFolder;

beforeEach(async () => {
	home = await mkdtemp(join(tmpdir(), 'staging-'));
	folder = await createStagingFolder(join(home, 'staging'), {
		...INSTALL_LIMITS,
		files: 3,
		fileBytes: 10,
		unpackedBytes: 20
	});
});
afterEach(() => rm(home, { recursive: true, force: true }));

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
