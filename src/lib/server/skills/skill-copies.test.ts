import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { removeFolder } from '../foreign-folders.ts';
import { readFolder } from '../trust/folder.ts';
import { digestOfFolder } from './read/skill-tree.ts';
import { createSkillCopies, type SkillCopies, type SkillCopiesOptions } from './skill-copies.ts';

const HOUR = 60 * 60_000;

const folder = emptyFolder();
let copies: SkillCopies;
let time: number;
beforeEach(() => {
	time = 0;
	open();
});
afterEach(async () => {
	vi.useRealTimers();
	await copies.close();
});

function open(options: SkillCopiesOptions = {}): void {
	copies = createSkillCopies({ folder: join(folder, 'copies'), now: () => time, ...options });
}
const skill = (name = 'demo') => ({ name, dir: join(folder, name) });
async function put(path: string, text: string, mode = 0o644) {
	const target = join(folder, path);
	await mkdir(dirname(target), { recursive: true });
	await writeFile(target, text);
	await chmod(target, mode);
}
/** The copies' folders, complete or not. */
const made = async () => (await readdir(join(folder, 'copies'))).filter((name) => name !== 'package.json');
async function contentOf(dir: string): Promise<Record<string, string>> {
	const entries = await readdir(dir, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	return Object.fromEntries(
		await Promise.all(files.map(async (path) => [path.slice(dir.length + 1), await readFile(path, 'utf8')]))
	);
}

describe('D8: the copy that a skill’s scripts run from', () => {
	test('holds every file, hidden ones too, and is read-only; what could be executed still can', async () => {
		await put('demo/SKILL.md', 'text');
		await put('demo/scripts/run.sh', 'echo', 0o700);
		await put('demo/.hidden/data', 'x', 0o600);
		const { dir, release } = await copies.take(skill());
		expect(await contentOf(dir)).toEqual({ 'SKILL.md': 'text', 'scripts/run.sh': 'echo', '.hidden/data': 'x' });
		const mode = async (path: string) => ((await stat(join(dir, path))).mode & 0o777).toString(8);
		expect(await Promise.all(['', 'scripts', 'scripts/run.sh', 'SKILL.md', '.hidden/data'].map(mode))).toEqual([
			...['555', '555', '555', '444', '444']
		]);
		release();
	});

	test('is made once for a digest, also when fifty ask at once, and of two skills with the same files', async () => {
		await put('demo/a', 'a');
		await put('twin/a', 'a');
		const all = await Promise.all(Array.from({ length: 50 }, (_, at) => copies.take(skill(at % 2 ? 'demo' : 'twin'))));
		expect(new Set(all.map(({ dir }) => dir)).size).toBe(1);
		expect(await made()).toHaveLength(1);
		for (const copy of all) copy.release();
	});

	test('has the digest that trust is given to', async () => {
		await put('demo/scripts/run.sh', 'echo');
		await put('demo/.git/config', 'x');
		await symlink('scripts/run.sh', join(folder, 'demo/link'));
		await symlink('/nowhere', join(folder, 'demo/gone'));
		await mkdir(join(folder, 'demo/empty'));
		const { digest, release } = await copies.take(skill());
		expect(digest).toBe((await readFolder(join(folder, 'demo'))).digest);
		expect(await digestOfFolder(join(folder, 'demo'))).toBe(digest);
		release();
	});

	test('is another one when a file of the skill changed, and the first one stays as it was', async () => {
		await put('demo/a', 'one');
		const before = await copies.take(skill());
		await put('demo/a', 'two');
		const after = await copies.take(skill());
		expect([await contentOf(before.dir), await contentOf(after.dir)]).toEqual([{ a: 'one' }, { a: 'two' }]);
		before.release();
		after.release();
	});

	test('follows no link: what leads out is not there, what leads inside leads inside the copy', async () => {
		await put('secret', 'secret');
		await put('demo/data/a', 'a');
		await symlink('../secret', join(folder, 'demo/out'));
		await symlink(join(folder, 'secret'), join(folder, 'demo/absolute'));
		await symlink('..', join(folder, 'demo/above'));
		await symlink(join(folder, 'demo/data/a'), join(folder, 'demo/inside'));
		await symlink('out', join(folder, 'demo/second'));
		const { dir, release } = await copies.take(skill());
		expect((await readdir(dir)).sort()).toEqual(['data', 'inside']);
		expect(await realpath(join(dir, 'inside'))).toBe(join(dir, 'data/a'));
		release();
	});

	test('of files that are allowed is made of no others, and is used whatever became of the folder', async () => {
		await put('demo/a', 'looked at');
		const digest = (await digestOfFolder(join(folder, 'demo'))) ?? '';
		await put('demo/a', 'swapped');
		await expect(copies.take(skill(), digest)).rejects.toMatchObject({ type: 'NotTrusted' });
		await put('demo/a', 'looked at');
		(await copies.take(skill(), digest)).release();
		await put('demo/a', 'swapped');
		const { dir, release } = await copies.take(skill(), digest);
		expect(await contentOf(dir)).toEqual({ a: 'looked at' });
		release();
	});

	test('that somebody has changed is used no more', async () => {
		await put('demo/a', 'a');
		const first = await copies.take(skill());
		await chmod(join(first.dir, 'a'), 0o644);
		await writeFile(join(first.dir, 'a'), 'b');
		first.release();
		for (const allowed of [undefined, first.digest]) {
			const { dir, digest, release } = await copies.take(skill(), allowed);
			expect({ digest, content: await contentOf(dir) }).toEqual({ digest: first.digest, content: { a: 'a' } });
			release();
		}
		await eventually(async () => expect(await made()).toHaveLength(1));
	});

	test('is made again where all copies have been removed, as other servers do with those of one they take for gone', async () => {
		await put('demo/SKILL.md', 'text');
		(await copies.take(skill())).release();
		await removeFolder(join(folder, 'copies'));
		const again = await copies.take(skill());
		expect(await contentOf(again.dir)).toEqual({ 'SKILL.md': 'text' });
		again.release();
	});

	test('of a skill whose folder is gone is an error that says so', async () => {
		await expect(copies.take(skill())).rejects.toMatchObject({ type: 'ScriptNotFound' });
	});
});

describe('D8: the room that copies take', () => {
	test('has a bound: one that nobody needs makes room, one that is used or was just now does not', async () => {
		await copies.close();
		open({ maxBytes: 15 });
		await put('demo/a', '0123456789');
		await put('other/a', 'abcdefghij');
		const first = await copies.take(skill());
		const full = { type: 'ExecutionFailed', message: expect.stringContaining('too large') as string };
		time = HOUR;
		await expect(copies.take(skill('other'))).rejects.toMatchObject(full);
		first.release();
		await expect(copies.take(skill('other'))).rejects.toMatchObject(full);
		time = 2 * HOUR;
		(await copies.take(skill('other'))).release();
		expect(await made()).toHaveLength(1);
		await put('large/a', 'more than there may be');
		await expect(copies.take(skill('large'))).rejects.toMatchObject(full);
	});

	test('is given back when nobody used one for an hour, and at the end', async () => {
		vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
		await copies.close();
		open();
		await put('demo/a', 'a');
		await put('used/a', 'b');
		(await copies.take(skill())).release();
		await copies.take(skill('used'));
		time = HOUR - 1;
		vi.advanceTimersByTime(HOUR);
		expect(await made()).toHaveLength(2);
		time = HOUR;
		vi.advanceTimersByTime(HOUR);
		await eventually(async () => expect(await made()).toHaveLength(1));
		await copies.close();
		await expect(made()).rejects.toThrow('ENOENT');
	});

	test('is free of what an earlier server left, before anything is run', async () => {
		await copies.close();
		await put('copies/left/read-only', 'x');
		await put('copies/.staged-1/half', 'x');
		await chmod(join(folder, 'copies/left'), 0o555);
		open();
		await eventually(async () => expect(await made()).toEqual([]));
	});

	test('of the library alone is a temporary folder, gone with it; one whose process ended is swept', async () => {
		const abandoned = await mkdtemp(join(tmpdir(), 'openrouter-skills-999999999-'));
		const alone = createSkillCopies();
		await put('demo/a', 'a');
		const { dir } = await alone.take(skill());
		expect(dirname(dir)).toMatch(new RegExp(`openrouter-skills-${process.pid}-`));
		await alone.close();
		for (const path of [dirname(dir), abandoned]) await expect(stat(path)).rejects.toThrow('ENOENT');
	});
});
