import { chownSync, linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { giveWorkspace, workspaceUid } from './workspace.ts';

const UID = 61_300;

const dir = emptyFolder();
let workspace: string;
beforeEach(() => {
	workspace = join(dir, 'workspace');
	mkdirSync(workspace);
});

const ownerOf = (path: string) => lstatSync(path).uid;

test('SANDBOX pitfall 2: a workspace has always the same user, of the range without accounts; two seldom share one', () => {
	expect(workspaceUid('/data/a')).toBe(workspaceUid('/data/a'));
	const uids = Array.from({ length: 200 }, (_, index) => workspaceUid(`/data/workspaces/${index}`));
	expect(Math.min(...uids)).toBeGreaterThanOrEqual(61_184);
	expect(Math.max(...uids)).toBeLessThanOrEqual(65_519);
	expect(new Set(uids).size).toBeGreaterThan(180);
});

// Only root can give files away.
describe.runIf(process.getuid?.() === 0)('a workspace is given to its user', () => {
	test('SANDBOX: links planted in it are not followed, for files, folders and the chain of both', async () => {
		const outside = join(dir, 'outside');
		mkdirSync(outside);
		writeFileSync(join(outside, 'secret'), '');
		symlinkSync(join(outside, 'secret'), join(workspace, 'file'));
		symlinkSync(outside, join(workspace, 'folder'));
		symlinkSync('/etc', join(workspace, 'etc'));
		symlinkSync('folder', join(workspace, 'chain'));
		symlinkSync('loop', join(workspace, 'loop'));
		await giveWorkspace(workspace, UID, 1000);
		expect(ownerOf(workspace)).toBe(UID);
		expect([outside, join(outside, 'secret'), '/etc', '/etc/passwd'].map(ownerOf)).toEqual([0, 0, 0, 0]);
	});
	test('SANDBOX: a workspace that is itself a link is refused', async () => {
		symlinkSync('/etc', join(dir, 'link'));
		await expect(giveWorkspace(join(dir, 'link'), UID, 1000)).rejects.toThrow(/ELOOP|ENOTDIR/);
		expect(ownerOf('/etc')).toBe(0);
	});
	test('SANDBOX: a file that has a second name keeps its owner', async () => {
		writeFileSync(join(dir, 'shadow'), '');
		linkSync(join(dir, 'shadow'), join(workspace, 'mine'));
		await giveWorkspace(workspace, UID, 1000);
		expect(ownerOf(join(dir, 'shadow'))).toBe(0);
	});
	test('SANDBOX: a pipe in it does not make the walk wait', async () => {
		execFileSync('mkfifo', [join(workspace, 'pipe')]);
		await giveWorkspace(workspace, UID, 1000);
		expect(ownerOf(workspace)).toBe(UID);
	});
	test('SANDBOX: files and folders of the server and of other users become its own, at any usual depth', async () => {
		const deep = join(workspace, ...'abcdefgh');
		mkdirSync(deep, { recursive: true });
		writeFileSync(join(deep, 'ä file\nwith lines'), '');
		writeFileSync(join(workspace, 'other'), '');
		chownSync(join(workspace, 'other'), 1000, 1000);
		await giveWorkspace(workspace, UID, 1000);
		expect([workspace, deep, join(deep, 'ä file\nwith lines'), join(workspace, 'other')].map(ownerOf)).toEqual(
			Array(4).fill(UID)
		);
	});
	test('SANDBOX: folders nested a thousand deep, and more entries than the bound, end the walk', async () => {
		let path = workspace;
		for (let depth = 0; depth < 300; depth += 1) path = join(path, 'd');
		mkdirSync(path, { recursive: true });
		await giveWorkspace(workspace, UID, 1000);
		expect([ownerOf(join(workspace, 'd')), ownerOf(path)]).toEqual([UID, 0]);

		const full = join(dir, 'full');
		mkdirSync(full);
		for (let count = 0; count < 30; count += 1) writeFileSync(join(full, `${count}`), '');
		await giveWorkspace(full, UID, 20);
		const given = Array.from({ length: 30 }, (_, count) => ownerOf(join(full, `${count}`))).filter(
			(uid) => uid === UID
		);
		expect(given).toHaveLength(20);
	});
	test('SANDBOX: what a script swaps for a link to /etc while the tree is walked is not given away', async () => {
		// Each name alternates between a folder and a link to the outside while walks run.
		const outside = join(dir, 'outside');
		mkdirSync(outside);
		writeFileSync(join(outside, 'secret'), '');
		const stop = join(dir, 'stop');
		const script = `import os
os.chdir(${JSON.stringify(workspace)})
print('begun', flush=True)
while not os.path.exists(${JSON.stringify(stop)}):
	for name in 'abcd':
		os.mkdir(name); open(name + '/secret', 'w').close(); os.rename(name, 'old' + name)
		os.symlink(${JSON.stringify(outside)}, name)
		os.unlink(name); os.unlink('old' + name + '/secret'); os.rmdir('old' + name)
		open(name, 'w').close(); os.unlink(name); os.symlink(${JSON.stringify(join(outside, 'secret'))}, name); os.unlink(name)`;
		const swapper = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
		const closed = new Promise((resolve) => swapper.once('close', resolve));
		await new Promise((resolve) => swapper.stdout.once('data', resolve));
		for (let round = 0; round < 300; round += 1) await giveWorkspace(workspace, UID, 1000);
		writeFileSync(stop, '');
		await closed;
		expect([outside, join(outside, 'secret')].map(ownerOf)).toEqual([0, 0]);
	});
});
