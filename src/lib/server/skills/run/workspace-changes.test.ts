import { execFileSync } from 'node:child_process';
import { chmod, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { changedFiles, listWorkspace } from './execution.ts';

const folder = emptyFolder();

async function put(...paths: string[]) {
	for (const path of paths) {
		await putFile(folder, path, path);
	}
}
async function changesAfter(work: () => Promise<unknown>) {
	const before = await listWorkspace(folder);
	await work();
	return changedFiles(before, await listWorkspace(folder));
}

test('F5: files that were made or changed are listed with their size, by path; the others are not', async () => {
	await put('kept.txt', 'old.txt', 'gone.txt');
	const changes = await changesAfter(async () => {
		await put('z.txt', 'deep/a/b.txt');
		await writeFile(join(folder, 'old.txt'), 'longer than before');
		await rm(join(folder, 'gone.txt'));
	});
	expect(changes).toEqual([
		{ path: 'deep/a/b.txt', bytes: 12 },
		{ path: 'old.txt', bytes: 18 },
		{ path: 'z.txt', bytes: 5 }
	]);
});
test('F5: new contents of the same size are a change, and so is another file put in the place', async () => {
	await put('same.txt', 'swap.txt');
	await utimes(join(folder, 'same.txt'), 1, 1);
	await utimes(join(folder, 'swap.txt'), 1, 1);
	const changes = await changesAfter(async () => {
		await writeFile(join(folder, 'same.txt'), 'SAME.TXT');
		await writeFile(join(folder, 'new'), 'SWAP.TXT');
		await utimes(join(folder, 'new'), 1, 1);
		await rename(join(folder, 'new'), join(folder, 'swap.txt'));
	});
	expect(changes.map(({ path }) => path)).toEqual(['same.txt', 'swap.txt']);
});
test('F5: to read a file, or to change its rights, is no change', async () => {
	await put('a.txt');
	expect(await changesAfter(() => chmod(join(folder, 'a.txt'), 0o600))).toEqual([]);
});
test('F5: hidden files, links, pipes, caches and installed packages are left out', async () => {
	const changes = await changesAfter(async () => {
		await put(
			'.secret',
			'.cache/x',
			'__pycache__/a.pyc',
			'node_modules/a/index.js',
			'sub/node_modules/b.js',
			'sub/real.txt'
		);
		await symlink('/etc/passwd', join(folder, 'link.txt'));
		await symlink('..', join(folder, 'round'));
		execFileSync('mkfifo', [join(folder, 'pipe')]);
	});
	expect(changes).toEqual([{ path: 'sub/real.txt', bytes: 12 }]);
});
test('F5: a workspace that is not there is an empty one', async () => {
	expect((await listWorkspace(join(folder, 'nowhere'))).files.size).toBe(0);
});
test('F5: of a workspace with more files than are looked at, one that is deleted makes no other look new', async () => {
	await put(...Array.from({ length: 1100 }, (_, index) => `file-${index}`));
	const { files: looked } = await listWorkspace(folder);
	expect(looked.size).toBe(1000);
	const changes = await changesAfter(async () => {
		for (const path of [...looked.keys()].slice(0, 20)) await rm(join(folder, path));
		await put('made.txt');
	});
	expect(changes.filter(({ path }) => path.startsWith('file-'))).toEqual([]);
});
