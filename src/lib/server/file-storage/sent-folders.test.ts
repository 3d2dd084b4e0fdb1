import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolderReceiver } from './sent-folders.ts';

const skill = { folder: 'sent-folders/0a1b2c3d.copy', digest: 'a'.repeat(64) };

test.each([
	{ workspace: '../outside', skill: null },
	{ workspace: '/tmp/outside', skill: null },
	{ workspace: 'workspaces/..', skill: null },
	{ workspace: 'workspaces/a/b', skill: null },
	{ workspace: 'workspaces/.hidden', skill: null },
	{ workspace: 'workers/begun', skill: null },
	{ workspace: 'file-versions/chat', skill: null },
	{ workspace: 'sent-folders/../workers', skill: null },
	{ workspace: 'sent-folders/0a1b2c3d.a/b', skill: null },
	{ workspace: 'workspaces/chat', skill: { ...skill, folder: 'workspaces/other' } },
	{ workspace: 'workspaces/chat', skill: { ...skill, folder: 'sent-folders/0a1b2c3d.a/../../x' } }
])('D33: a job that names %j gets no folder on the worker, and nothing is fetched', async (sent) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'receiver-'));
	try {
		const unused = {} as Parameters<typeof createFolderReceiver>[0];
		const receiver = createFolderReceiver({ ...unused, dataDir });
		const how = { signal: new AbortController().signal, onInstall: () => expect.fail('Nothing is installed.') };
		await expect(receiver.take('job', { ...sent, packages: null }, how)).rejects.toMatchObject({ code: 'conflict' });
		expect(await readdir(dataDir)).toEqual([]);
	} finally {
		await rm(dataDir, { recursive: true, force: true });
	}
});
