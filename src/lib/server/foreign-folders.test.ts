import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { putFile } from '../../../tests/support/folder.ts';
import { openBelow } from '../../../tests/support/open-files.ts';
import { copyFolder, MAX_DEPTH, removeFolder, walkFiles, walkFolder, type WalkBounds } from './foreign-folders.ts';

let root: string;
let folder: string;
let outside: string;
beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'foreign-'));
	[folder, outside] = [join(root, 'folder'), join(root, 'outside')];
	for (const path of [folder, outside]) await mkdir(path);
	await writeFile(join(outside, 'secret.txt'), 'the secret');
});
afterEach(() => removeFolder(root));

const swap = async (path: string, target: string) => {
	await rename(path, `${path}.was`);
	await symlink(target, path);
};
const pathsOf = async (bounds: WalkBounds = {}) => {
	const paths: string[] = [];
	for await (const { path } of walkFiles(folder, bounds)) paths.push(path);
	return paths;
};
const copied = async (path: string) => (await readdir(path, { recursive: true })).toSorted();
/** Nested 250-character names: the deepest is beyond any path. */
function nest(path: string, levels: number): void {
	const script = `import os, sys
os.chdir(sys.argv[1])
for level in range(int(sys.argv[2])):
	os.mkdir('d' * 250); os.chdir('d' * 250)
open('deepest.txt', 'w').write('deep')`;
	execFileSync('python3', ['-c', script, path, String(levels)]);
}

describe.runIf(process.platform === 'linux')('what a script swaps while a folder is gone through', () => {
	test('F5: a folder that is a link out once its name was read shows nothing of what is outside', async () => {
		for (const name of ['a', 'b', 'c']) await mkdir(join(folder, name, 'in'), { recursive: true });
		await writeFile(join(folder, 'b', 'own.txt'), '');
		const seen: string[] = [];
		for await (const step of walkFolder(folder)) {
			seen.push(...step.map(({ names }) => names.join('/')));
			// All three were listed, none opened yet.
			if (seen.length === 3) for (const name of ['a', 'c']) await swap(join(folder, name), outside);
		}
		expect(seen.toSorted()).toEqual(['a', 'b', 'b/in', 'b/own.txt', 'c']);
	});
	test('F5: nor does one in which a link takes the place of a folder above', async () => {
		await mkdir(join(folder, 'a', 'b'), { recursive: true });
		await mkdir(join(outside, 'b'));
		await writeFile(join(outside, 'b', 'secret.txt'), '');
		const seen: string[] = [];
		for await (const step of walkFolder(folder)) {
			seen.push(...step.map(({ names }) => names.join('/')));
			if (seen.at(-1) === 'a/b') await swap(join(folder, 'a'), outside);
		}
		expect(seen).toEqual(['a', 'a/b']);
	});
	test('F5: a file that has become a link is neither listed nor copied', async () => {
		for (const name of ['a.txt', 'b.txt']) await writeFile(join(folder, name), 'own');
		for await (const step of walkFolder(folder)) {
			expect(step).toHaveLength(2);
			await swap(join(folder, 'a.txt'), join(outside, 'secret.txt'));
		}
		expect(await pathsOf()).toEqual(expect.not.arrayContaining(['a.txt']));
		let taken = 0;
		await copyFolder(folder, join(root, 'copy'), () => {
			taken += 1;
		});
		expect(taken).toBe(2);
		expect(await copied(join(root, 'copy'))).toEqual(['a.txt.was', 'b.txt']);
	});
	test('F13: a copy holds nothing from outside, whichever folder or file becomes a link out while it is made', async () => {
		for (const name of ['a', 'b', 'c']) {
			await mkdir(join(folder, name));
			for (const file of ['1.txt', '2.txt', 'secret.txt']) await writeFile(join(folder, name, file), 'own');
		}
		const swapped = new Set<string>();
		await copyFolder(folder, join(root, 'copy'), () => {
			// Each time it's about to create something, swap one more folder.
			const next = ['a', 'b', 'c'].find((name) => !swapped.has(name));
			if (next === undefined) return;
			swapped.add(next);
			execFileSync('mv', [join(folder, next), join(folder, `${next}.was`)]);
			execFileSync('ln', ['-s', outside, join(folder, next)]);
		});
		expect(swapped.size).toBe(3);
		for (const path of await copied(join(root, 'copy'))) {
			const target = join(root, 'copy', path);
			if ((await stat(target)).isFile()) expect(await readFile(target, 'utf8')).toBe('own');
		}
	});
	test('F13: nor does it write through a link that somebody plants in the copy', async () => {
		await mkdir(join(folder, 'a'));
		await writeFile(join(folder, 'a', 'x.txt'), 'own');
		await mkdir(join(root, 'copy'));
		await symlink(outside, join(root, 'copy', 'a'));
		await expect(copyFolder(folder, join(root, 'copy'), () => undefined)).rejects.toThrow(/ENOTDIR|ELOOP/);
		expect(await readdir(outside)).toEqual(['secret.txt']);
	});
});

test('F5: files come the nearest first, within bounds of depth and number, and nothing stays open', async () => {
	await mkdir(join(folder, 'a', 'b', 'c'), { recursive: true });
	for (const path of ['x', 'a/x', 'a/b/x', 'a/b/c/x', '.x']) await writeFile(join(folder, path), '');
	execFileSync('mkfifo', [join(folder, 'pipe')]);
	expect(await pathsOf({ maxDepth: 2, isSkipped: (name) => name.startsWith('.') })).toEqual(['x', 'a/x', 'a/b/x']);
	expect((await pathsOf({ maxEntries: 2 })).length).toBeLessThanOrEqual(2);
	expect(await pathsOf({ maxEntries: 0 })).toEqual([]);
	const before = openBelow(folder);
	for await (const { path } of walkFiles(folder, {})) if (path === 'a/b/x') break;
	expect(openBelow(folder)).toEqual(before);
});

test('F13: a copy has the folders, contents and permissions; links, pipes and what may not be taken stay behind', async () => {
	await mkdir(join(folder, 'empty'));
	await mkdir(join(folder, 'a'));
	await writeFile(join(folder, 'a', 'run.sh'), 'x'.repeat(600_000), { mode: 0o755 });
	await symlink('a', join(folder, 'link'));
	execFileSync('mkfifo', [join(folder, 'pipe')]);
	const copy = join(root, 'copy');
	const taken: number[] = [];
	await copyFolder(folder, copy, (bytes) => void taken.push(bytes));
	expect(taken.toSorted()).toEqual([0, 0, 600_000]);
	expect(await copied(copy)).toEqual(['a', 'a/run.sh', 'empty']);
	expect(await readFile(join(copy, 'a', 'run.sh'), 'utf8')).toBe('x'.repeat(600_000));
	expect((await stat(join(copy, 'a', 'run.sh'))).mode & 0o777).toBe(0o755);
	const full = () => {
		throw new Error('no room');
	};
	await expect(copyFolder(folder, join(root, 'none'), full)).rejects.toThrow('no room');
	await copyFolder(join(root, 'nowhere'), join(root, 'nothing'), full);
});

describe.runIf(process.platform === 'linux')('names and depths that no path can hold', () => {
	const strange = (path: string) =>
		execFileSync('python3', ['-c', `open(b${JSON.stringify(path)}[:-1]+b"\\xff","w").write("x")`]);
	test('F5: a folder twenty names of 250 characters deep is walked, copied and removed', async () => {
		nest(folder, 20);
		let deepest = 0;
		for await (const step of walkFolder(folder))
			for (const { names } of step) deepest = Math.max(deepest, names.length);
		expect(deepest).toBe(21);
		await copyFolder(folder, join(root, 'copy'), () => undefined);
		const found = execFileSync('find', [join(root, 'copy'), '-name', 'deepest.txt', '-printf', '%d\n'], {
			encoding: 'utf8'
		});
		expect(found).toBe('21\n');
		for (const path of [folder, join(root, 'copy')]) {
			await removeFolder(path);
			expect(existsSync(path)).toBe(false);
		}
	});
	test('F5: of one that is a thousand deep no more is looked at than 64; it can be removed', async () => {
		nest(folder, 1000);
		let deepest = 0;
		for await (const step of walkFolder(folder))
			for (const { names } of step) deepest = Math.max(deepest, names.length);
		expect(deepest).toBe(MAX_DEPTH + 1);
		await removeFolder(folder);
		expect(existsSync(folder)).toBe(false);
	});
	test('F5: names that are no text are not listed, and are copied and removed like others', async () => {
		strange(join(folder, 'ax'));
		expect(await pathsOf()).toEqual([]);
		await copyFolder(folder, join(root, 'copy'), () => undefined);
		expect(await readdir(join(root, 'copy'), { encoding: 'latin1' })).toEqual(['a\xff']);
		await removeFolder(folder);
		expect(existsSync(folder)).toBe(false);
	});
});

describe('a folder that is removed', () => {
	test('SECURITY: follows no link, not even when it is one itself', async () => {
		await symlink(outside, join(folder, 'link'));
		await removeFolder(folder);
		await symlink(outside, folder);
		await removeFolder(folder);
		expect(existsSync(folder)).toBe(false);
		expect(await readdir(outside)).toEqual(['secret.txt']);
		await removeFolder(folder);
	});
	test('F14: folders that a script has closed go as well, also where the server is not root', async () => {
		await putFile(folder, 'shut/in/x', '');
		await chmod(join(folder, 'shut', 'in'), 0o500);
		await chmod(join(folder, 'shut'), 0);
		const module = JSON.stringify(join(import.meta.dirname, 'foreign-folders.ts'));
		const program = `import { removeFolder } from ${module}; await removeFolder(${JSON.stringify(folder)});`;
		const command = [process.execPath, '--input-type=module', '-e', program];
		// Without capabilities, root can do no more than other users.
		const [file = '', ...args] =
			process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all', ...command] : command;
		execFileSync(file, args);
		expect(existsSync(folder)).toBe(false);
	});
	test('F14: what another removes at the same time is removed', async () => {
		for (let each = 0; each < 300; each += 1) await writeFile(join(folder, String(each)), '');
		await Promise.all([removeFolder(folder), removeFolder(folder), unlink(join(folder, '7')).catch(() => undefined)]);
		expect(existsSync(folder)).toBe(false);
	});
});
