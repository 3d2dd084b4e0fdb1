import { mkdir, readdir, rm, symlink, unlink, writeFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../tests/support/folder.ts';
import { createLog } from './log.ts';
import { createWorkspaceRooms } from './workspace-rooms.ts';
import { createWorkspaces, type Workspaces } from './workspaces.ts';

const root = emptyFolder();
let workspaces: Workspaces;

beforeEach(() => {
	workspaces = createWorkspaces(root);
	vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
	vi.useRealTimers();
});

const put = (path: string, content: string) => workspaces.write('c1', path, new Response(content).body);
const kept = async () => readdir(join(root, 'file-versions', 'c1'));

/** The file's current content, then its versions from new to old. */
async function contents(path: string): Promise<string[]> {
	const file = (await workspaces.listVersions('c1')).find((each) => each.path === path);
	return Promise.all([undefined, ...(file?.versions ?? []).map(({ id }) => id)].map((id) => content(path, id)));
}

async function content(path: string, version?: string): Promise<string> {
	const { file } = await workspaces.read('c1', path, version);
	return file.readFile('utf8').finally(() => file.close());
}

/** Writes each content and keeps it as a version. */
async function rewrite(path: string, all: string[]): Promise<void> {
	for (const each of all) {
		await put(path, each);
		await workspaces.keepVersions('c1');
	}
}

describe('F5: versions of a file', () => {
	test('are what it had in it each time they were kept, the newest first; what has not changed is none', async () => {
		await rewrite('a.txt', ['one', 'two', 'two']);
		await workspaces.keepVersions('c1');
		await put('b/c.txt', 'one');
		await workspaces.keepVersions('c1');
		expect(await contents('a.txt')).toEqual(['two', 'one']);
		expect(await contents('b/c.txt')).toEqual(['one']);
		// Equal content is stored once.
		expect(await kept()).toHaveLength(3);
		expect(await content('a.txt')).toBe('two');
	});

	test('go along where a chat is branched: what an answer made is shown there as it was, and changes on its own', async () => {
		await rewrite('a.txt', ['one', 'two']);
		const [file] = await workspaces.listVersions('c1');
		await workspaces.copyAll('c1', 'fork', 'm1');
		const [copied] = await workspaces.listVersions('fork');
		expect(copied?.versions).toEqual(file?.versions);
		const { file: old } = await workspaces.read('fork', 'a.txt', file?.versions[0]?.id);
		expect(await old.readFile('utf8').finally(() => old.close())).toBe('one');
		await rewrite('a.txt', ['three']);
		expect((await workspaces.listVersions('fork'))[0]?.versions).toHaveLength(1);
	});

	test('stay readable after the file has been changed, and go with it', async () => {
		await rewrite('a.txt', ['one', 'two']);
		const [old] = (await workspaces.listVersions('c1'))[0]?.versions ?? [];
		await put('a.txt', 'three');
		expect(await content('a.txt', old?.id)).toBe('one');
	});

	test('of a deleted file come back with it for an hour, also after a run; then they are gone', async () => {
		await rewrite('a.txt', ['one', 'two']);
		await put('a.txt', 'three');
		await workspaces.remove('c1', 'a.txt');
		expect(await workspaces.listVersions('c1')).toEqual([]);
		await workspaces.keepVersions('c1');
		expect(await workspaces.restore('c1', 'a.txt')).toMatchObject({ path: 'a.txt', bytes: 5 });
		expect(await contents('a.txt')).toEqual(['three', 'two', 'one']);
		await workspaces.remove('c1', 'a.txt');
		vi.setSystemTime(Date.now() + 60 * 60_000);
		await expect(workspaces.restore('c1', 'a.txt')).rejects.toMatchObject({ code: 'not_found' });
		await workspaces.keepVersions('c1');
		expect(await kept()).toEqual(['index.json']);
	});

	test('a deleted file comes back with its time', async () => {
		await put('a.txt', 'one');
		const before = new Date('2025-06-01T10:00:00.000Z');
		await utimes(join(workspaces.path('c1'), 'a.txt'), before, before);
		await workspaces.remove('c1', 'a.txt');
		expect(await workspaces.restore('c1', 'a.txt')).toMatchObject({ modifiedAt: before.toISOString() });
		expect(await workspaces.listVersions('c1')).toMatchObject([{ modifiedAt: before.toISOString(), versions: [] }]);
	});

	test('a file that is there again, or was never deleted, is not replaced by a deleted one', async () => {
		await put('a.txt', 'old');
		await workspaces.remove('c1', 'a.txt');
		await put('a.txt', 'new');
		await expect(workspaces.restore('c1', 'a.txt')).rejects.toMatchObject({ code: 'conflict' });
		await workspaces.keepVersions('c1');
		expect(await content('a.txt')).toBe('new');
		await unlink(join(workspaces.path('c1'), 'a.txt'));
		await expect(workspaces.restore('c1', 'a.txt')).rejects.toMatchObject({ code: 'not_found' });
		await expect(workspaces.restore('c1', '../a.txt')).rejects.toMatchObject({ code: 'invalid_input' });
	});

	test('a file is deleted also where nothing can be kept', async () => {
		await writeFile(join(root, 'file-versions'), 'no folder');
		await put('a.txt', 'one');
		await workspaces.remove('c1', 'a.txt');
		expect(await workspaces.list('c1')).toEqual([]);
		await expect(workspaces.restore('c1', 'a.txt')).rejects.toThrow();
	});

	test('of a file that a script has deleted are forgotten the next time', async () => {
		await rewrite('a.txt', ['one', 'two']);
		await unlink(join(workspaces.path('c1'), 'a.txt'));
		await workspaces.keepVersions('c1');
		expect(await kept()).toEqual(['index.json']);
	});

	test('are read by the path and the id of this conversation alone', async () => {
		await rewrite('a.txt', ['one', 'two']);
		await put('b.txt', 'b');
		const id = (await workspaces.listVersions('c1')).find(({ path }) => path === 'a.txt')?.versions[0]?.id ?? '';
		for (const [path, version] of [
			['b.txt', id],
			['a.txt', '../../app.sqlite'],
			['a.txt', 'index.json'],
			['../a.txt', id]
		] as const) {
			await expect(content(path, version)).rejects.toMatchObject({ code: 'not_found' });
		}
		await expect(workspaces.read('c2', 'a.txt', id)).rejects.toMatchObject({ code: 'not_found' });
	});

	test('go with their conversation', async () => {
		await rewrite('a.txt', ['one']);
		await workspaces.removeAll('c1');
		expect(await readdir(join(root, 'file-versions'))).toEqual([]);
	});
});

describe('SECURITY: versions', () => {
	test('come to no more than a workspace may hold: the oldest go, what a file holds now stays', async () => {
		workspaces = createWorkspaces(root, createWorkspaceRooms(), { versionBytes: 100 });
		await rewrite('a.txt', ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)]);
		expect(await contents('a.txt')).toEqual(['c'.repeat(40), 'b'.repeat(40)]);
		await rewrite('b.txt', ['d'.repeat(90)]);
		expect(await contents('a.txt')).toEqual(['c'.repeat(40)]);
		expect(await contents('b.txt')).toEqual(['d'.repeat(90)]);
		expect(await kept()).toHaveLength(3);
	});

	test('of one file are twenty at most', async () => {
		await rewrite(
			'a.txt',
			Array.from({ length: 23 }, (_, index) => String(index))
		);
		const all = await contents('a.txt');
		expect(all).toHaveLength(20);
		expect([all[0], all.at(-1)]).toEqual(['22', '3']);
	});

	test('hold nothing from outside: links are no files', async () => {
		await put('a.txt', 'one');
		await writeFile(join(root, 'secret'), 'secret');
		await symlink(join(root, 'secret'), join(workspaces.path('c1'), 'link.txt'));
		await symlink(root, join(workspaces.path('c1'), 'folder'));
		await workspaces.keepVersions('c1');
		expect((await kept()).length).toBe(2);
	});

	test.each(['', 'no json', '{}', '[["a.txt",[{"id":"../../x"}]]]'])(
		'begin anew where their index is “%s”',
		async (index) => {
			await rewrite('a.txt', ['one']);
			await writeFile(join(root, 'file-versions', 'c1', 'index.json'), index);
			await rewrite('a.txt', ['two', 'three']);
			expect(await contents('a.txt')).toEqual(['three', 'two']);
		}
	);

	test('that cannot be kept stop no run, and the log says so', async () => {
		const logged: string[] = [];
		workspaces = createWorkspaces(root, createWorkspaceRooms(), { log: createLog((line) => logged.push(line)) });
		await put('a.txt', 'one');
		await writeFile(join(root, 'file-versions'), 'no folder');
		await workspaces.keepVersions('c1');
		expect(logged.join()).toContain('couldn’t keep versions');
		await rm(join(root, 'file-versions'));
		await mkdir(join(root, 'file-versions'));
		await rewrite('a.txt', ['one', 'two']);
		expect(await contents('a.txt')).toEqual(['two', 'one']);
	});

	test('are kept whole while others keep, read and remove them', async () => {
		await rewrite('a.txt', ['one', 'two']);
		await Promise.all([
			...Array.from({ length: 5 }, () => workspaces.keepVersions('c1')),
			put('b.txt', 'b').then(() => workspaces.keepVersions('c1')),
			workspaces.remove('c1', 'a.txt')
		]);
		await workspaces.keepVersions('c1');
		expect(await contents('b.txt')).toEqual(['b']);
		expect(await kept()).toHaveLength(2);
	});
});
