import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import type { Log } from '../log.ts';
import { recoverSwaps, swapFolder } from './folder-swap.ts';

const root = emptyFolder();
let errors: string[];
const log: Log = { info: () => undefined, error: (_facts, sentence) => errors.push(sentence) };
beforeEach(() => {
	errors = [];
});

const fill = async (at: string, says: string) => {
	await mkdir(at, { recursive: true });
	for (let each = 0; each < 8; each += 1) await writeFile(join(at, `${each}.txt`), says);
};
const saidIn = async (at: string) => {
	const names = await readdir(at);
	return [names.length, new Set(await Promise.all(names.map((name) => readFile(join(at, name), 'utf8'))))];
};

test('E28: a folder is replaced as a whole, or stays as it was if the new one can’t be made', async () => {
	const dir = join(root, 'demo');
	await swapFolder(root, dir, (at) => fill(at, 'one'));
	await swapFolder(root, dir, (at) => fill(at, 'two'));
	expect(await saidIn(dir)).toEqual([8, new Set(['two'])]);
	const broken = swapFolder(root, dir, async (at) => {
		await fill(at, 'three');
		throw new Error('half made');
	});
	await expect(broken).rejects.toThrow('half made');
	// It made nothing that could take the place of the old one.
	await expect(swapFolder(root, dir, async () => undefined)).rejects.toThrow('ENOENT');
	expect(await saidIn(dir)).toEqual([8, new Set(['two'])]);
	expect(await readdir(root)).toEqual(['demo']);
});

test.each([
	['before its folder was moved away', { old: false, there: true }, 'there'],
	['when its folder was moved away', { old: true, there: false }, 'old'],
	['when the new one was in its place', { old: true, there: true }, 'there']
])('E28: after a crash %s, one whole folder is there, and nothing beside it', async (_when, { old, there }, said) => {
	const place = join(root, '.swap-1');
	await fill(join(place, 'new'), 'new');
	await writeFile(join(place, 'of'), 'demo');
	if (old) await fill(join(place, 'old'), 'old');
	if (there) await fill(join(root, 'demo'), 'there');
	await recoverSwaps(root, log);
	expect(await saidIn(join(root, 'demo'))).toEqual([8, new Set([said])]);
	expect(await readdir(root)).toEqual(['demo']);
	expect(errors).toEqual([]);
});

test('E28: what names a place outside, or none, is never put anywhere', async () => {
	await mkdir(join(root, 'within'));
	for (const [at, of] of Object.entries({ 1: '../demo', 2: '', 3: '/demo' })) {
		await fill(join(root, `within/.swap-${at}/old`), 'old');
		await writeFile(join(root, `within/.swap-${at}/of`), of);
	}
	await mkdir(join(root, 'within/.swap-4'));
	await recoverSwaps(join(root, 'within'), log);
	await recoverSwaps(join(root, 'missing'), log);
	expect(await readdir(root)).toEqual(['within']);
	expect(await readdir(join(root, 'within'))).toEqual([]);
});

const KILLS = 12;
const CHILD = `
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
const [module, root] = process.argv.slice(1);
const { swapFolder } = await import(module);
for (let round = 1; ; round += 1) {
	await swapFolder(root, join(root, 'demo'), async (at) => {
		await mkdir(at);
		for (let each = 0; each < 8; each += 1) await writeFile(join(at, each + '.txt'), String(round));
	});
	console.log(round);
}`;

test(`F14, E28: a process that is killed ${KILLS} times while it replaces a folder always leaves a whole one`, async () => {
	for (let kill = 1; kill <= KILLS; kill += 1) {
		const module = join(import.meta.dirname, 'folder-swap.ts');
		const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, module, root]);
		const ended = once(child, 'close');
		let rounds = 0;
		// Each time at another point of its work.
		for await (const _line of createInterface({ input: child.stdout })) {
			rounds += 1;
			if (rounds < kill * 3) continue;
			child.kill('SIGKILL');
			break;
		}
		await ended;
		expect(rounds, 'it worked until it was killed').toBe(kill * 3);
		await recoverSwaps(root, log);
		const [files, said] = await saidIn(join(root, 'demo'));
		expect([files, (said as Set<string>).size]).toEqual([8, 1]);
		expect(await readdir(root)).toEqual(['demo']);
	}
});
