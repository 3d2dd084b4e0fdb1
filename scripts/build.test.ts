import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gate } from '../tests/support/gate.ts';
import { buildOnce } from './build.ts';

let folder: string;
let lock: string;
let builds: number;
let isFresh: boolean;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'build-'));
	lock = join(folder, 'cache/building');
	builds = 0;
	isFresh = false;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const isStale = async (): Promise<boolean> => !isFresh;
const build = async (): Promise<void> => {
	expect(await readFile(lock, 'utf8')).toBe(String(process.pid));
	builds += 1;
	isFresh = true;
};

test('several starts at once build once, and all go on when it is done', async () => {
	await Promise.all(Array.from({ length: 8 }, () => buildOnce({ isStale, build, lock })));
	expect(builds).toBe(1);
	expect(existsSync(lock)).toBe(false);
	await buildOnce({ isStale, build, lock });
	expect(builds).toBe(1);
});

test('whoever was ended while it built holds up nobody', async () => {
	await mkdir(join(folder, 'cache'));
	const { pid } = spawnSync(process.execPath, ['--version']);
	await writeFile(lock, String(pid));
	await buildOnce({ isStale, build, lock });
	expect(builds).toBe(1);
});

test('nor does one whose id is that of another process by now', async () => {
	await mkdir(join(folder, 'cache'));
	await writeFile(lock, String(process.pid));
	const before = new Date(Date.now() - 60_000);
	await utimes(lock, before, before);
	await buildOnce({ isStale, build, lock });
	expect(builds).toBe(1);
});

test('a build that fails is told to whoever made it, and the next one tries again', async () => {
	const fails = (): Promise<void> => Promise.reject(new Error('line 3 is wrong'));
	await expect(buildOnce({ isStale, build: fails, lock })).rejects.toThrow('line 3 is wrong');
	await buildOnce({ isStale, build, lock });
	expect(builds).toBe(1);
});

test('while somebody builds, what is there is not taken for done', async () => {
	await mkdir(join(folder, 'cache'));
	await writeFile(lock, String(process.pid));
	isFresh = true;
	let isDone = false;
	const told = gate();
	const waiting = buildOnce({ isStale, build, lock, onwait: told.open }).then(() => (isDone = true));
	await told.opened;
	expect(isDone).toBe(false);
	await rm(lock);
	await waiting;
	expect(builds).toBe(0);
});
