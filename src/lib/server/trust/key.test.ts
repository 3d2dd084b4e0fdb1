import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { loadSecretsKey } from './vault.ts';

const folder = emptyFolder();
let path: string;
beforeEach(() => {
	path = join(folder, 'secrets.key');
});

const KEY = `${'0f'.repeat(32)}\n`;

test.each<[string, () => Promise<unknown>, RegExp]>([
	['readable by the group', () => writeFile(path, KEY, { mode: 0o640 }), /Other users.*chmod 600/],
	['readable by all', () => writeFile(path, KEY).then(() => chmod(path, 0o644)), /Other users.*chmod 600/],
	['a folder', () => mkdir(path, { mode: 0o700 }), /isn’t a file/],
	['empty', () => writeFile(path, '', { mode: 0o600 }), /has no key in it/],
	['a key with a NUL at its end', () => writeFile(path, `${KEY}\0more`, { mode: 0o600 }), /has no key in it/],
	['too short a key', () => writeFile(path, '0f0f\n', { mode: 0o600 }), /has no key in it/]
])('F3: a key file that is %s is refused with a sentence', async (_name, make, sentence) => {
	await make();
	await expect(loadSecretsKey(folder, null)).rejects.toThrow(sentence);
	await expect(loadSecretsKey(folder, null)).rejects.not.toThrow(/0f0f/);
});

test('F3: a key file that is a link is refused, though what it leads to is a key', async () => {
	await writeFile(join(folder, 'elsewhere'), KEY, { mode: 0o600 });
	await symlink('elsewhere', path);
	await expect(loadSecretsKey(folder, null)).rejects.toThrow(/is a link/);
});

test('F3: without SECRETS_KEY a key is made once, for its owner alone', async () => {
	const first = await loadSecretsKey(join(folder, 'data'), null);
	expect(first).toHaveLength(32);
	expect((await stat(join(folder, 'data', 'secrets.key'))).mode & 0o777).toBe(0o600);
	expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700);
	expect(await loadSecretsKey(join(folder, 'data'), null)).toEqual(first);
	expect(await readdir(join(folder, 'data'))).toEqual(['secrets.key']);
	expect(await loadSecretsKey(folder, null)).not.toEqual(first);
});

test('F3: servers that start at once have the same key', async () => {
	const keys = await Promise.all(Array.from({ length: 12 }, () => loadSecretsKey(folder, null)));
	expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
	expect(await readFile(path, 'utf8')).toBe(`${keys[0]?.toString('hex')}\n`);
	expect(await readdir(folder)).toEqual(['secrets.key']);
});

test('F3: from SECRETS_KEY comes the same key at every start, and no file', async () => {
	const key = await loadSecretsKey(folder, 'a long enough text');
	expect(key).toHaveLength(32);
	expect(await loadSecretsKey(folder, 'a long enough text')).toEqual(key);
	expect(await loadSecretsKey(folder, 'a long enough texT')).not.toEqual(key);
	expect(await readdir(folder)).toEqual([]);
});
