import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorkspaceRooms } from './workspace-rooms.ts';
import { createWorkspaces, workspaceName } from './workspaces.ts';

test('F5: of several who delete a file at once, one does, and the others hear that it is gone', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'workspaces-'));
	try {
		const workspaces = createWorkspaces(folder);
		await workspaces.write('c1', 'a.txt', new Response('a').body);
		const removed = await Promise.allSettled(Array.from({ length: 8 }, () => workspaces.remove('c1', 'a.txt')));
		expect(removed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		for (const each of removed) {
			if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'not_found' });
		}
		expect(await workspaces.list('c1')).toEqual([]);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});

test('F5: a file that goes with its conversation is gone, and no mistake of the server', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'workspaces-'));
	try {
		const workspaces = createWorkspaces(folder);
		for (let round = 0; round < 20; round += 1) {
			await workspaces.write('c1', 'a.txt', new Response('a').body);
			const all = [workspaces.remove('c1', 'a.txt'), workspaces.removeAll('c1'), workspaces.remove('c1', 'a.txt')];
			for (const each of await Promise.allSettled(all)) {
				if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'not_found' });
			}
		}
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});

test('D33: uploads respect what a workspace may hold, by bytes and by files, several at once too', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'workspaces-'));
	try {
		const workspaces = createWorkspaces(folder, createWorkspaceRooms({ workspaceBytes: 100_000, workspaceFiles: 4 }));
		const put = (path: string, bytes: number) => workspaces.write('c1', path, new Response('x'.repeat(bytes)).body);
		await put('a.txt', 60_000);
		await expect(put('b.txt', 60_000)).rejects.toMatchObject({ code: 'too_large', status: 413 });
		expect((await workspaces.list('c1')).map(({ path }) => path)).toEqual(['a.txt']);
		// Writing the same file again replaces it.
		await put('a.txt', 90_000);
		await put('a.txt', 10_000);

		const many = await Promise.allSettled(['b', 'c', 'd'].map((name) => put(`${name}.txt`, 40_000)));
		expect(many.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
		await put('e.txt', 1);
		await expect(put('f.txt', 1)).rejects.toMatchObject({ code: 'too_large' });
		await workspaces.remove('c1', 'e.txt');
		await put('f.txt', 1);
		await workspaces.write('c2', 'a.txt', new Response('x'.repeat(90_000)).body);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});

test.each(['win32', 'darwin'] as const)(
	'F5: on %s no two conversations have one folder, and none is a device',
	(platform) => {
		const ids = ['abc', 'Abc', 'ABC', 'nul', 'NUL', 'con', 'COM1', '0a1b2c3d-0000-4000-8000-000000000000'];
		const names = ids.map((id) => workspaceName(id, platform));
		expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length);
		expect(names.filter((name) => /^(con|nul|com1)$/i.test(name))).toEqual([]);
		// Ids made by our own page are used as folder names unchanged.
		expect(names[0]).toBe('abc');
		expect(names.at(-1)).toBe(ids.at(-1));
	}
);
test('F5: on Linux the folder bears the id of its conversation', () => {
	for (const id of ['Abc', 'nul']) expect(workspaceName(id, 'linux')).toBe(id);
});
