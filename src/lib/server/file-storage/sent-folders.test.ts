import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BucketServer, startBucketServer } from '../../../../tests/support/bucket-server.ts';
import { createLog } from '../log.ts';
import { migrate } from '../store/migrations.ts';
import { openSqlite } from '../store/sqlite.ts';
import { createStoredFiles } from '../store/stored-files.ts';
import { openBucket } from './bucket.ts';
import { createFolderReceiver, type FolderReceiver } from './sent-folders.ts';
import { createStoredFolders, type StoredFolders } from './stored-folders.ts';
import { SENT_FOLDERS, WORKSPACE_KINDS } from './stored-workspaces.ts';

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

describe('D33: a worker’s copies', () => {
	let root: string;
	let bucket: BucketServer;
	let db: ReturnType<typeof openSqlite>;
	let worker: StoredFolders;
	let receiver: FolderReceiver;
	let clock = 0;
	const closing: StoredFolders[] = [];
	const MB = 1024 ** 2;
	const dirOf = (name: string) => join(root, name);
	const copies = () => readdir(join(root, 'worker/workspaces')).catch(() => []);
	const open = (name: string): StoredFolders => {
		const storage = createStoredFolders({
			...{ store: createStoredFiles(db), bucket: openBucket(bucket.settings), dataDir: dirOf(name) },
			...{ kinds: [...WORKSPACE_KINDS, SENT_FOLDERS], log: createLog(() => undefined) }
		});
		closing.push(storage);
		return storage;
	};
	/** A script in the chat's workspace. */
	const take = (chat: string) => {
		const how = { signal: new AbortController().signal, onInstall: () => undefined };
		return receiver.take(randomUUID(), { workspace: `workspaces/${chat}`, skill: null, packages: null }, how);
	};
	const use = async (chat: string, work: (dir: string) => Promise<unknown> = async () => undefined) => {
		const { folders, begin, release } = await take(chat);
		await begin();
		await work(folders.workspace);
		expect(await release()).toBeNull();
	};

	beforeEach(async () => {
		root = await mkdtemp(join(tmpdir(), 'copies-'));
		bucket = await startBucketServer();
		db = openSqlite(join(root, 'app.sqlite'));
		await migrate(db);
		clock = 0;
		worker = open('worker');
		receiver = createFolderReceiver({
			...{ storage: worker, files: createStoredFiles(db), dataDir: dirOf('worker'), maxBytes: 3 * MB },
			...{ now: () => clock, copyOf: () => expect.fail('It has no skill.'), installed: () => expect.fail() }
		});
		const server = open('server');
		for (const chat of ['one', 'two', 'three']) {
			await mkdir(dirOf(`server/workspaces/${chat}`), { recursive: true });
			await writeFile(dirOf(`server/workspaces/${chat}/in.bin`), randomBytes(1.3 * MB));
			expect(await server.keep(`workspaces/${chat}`)).toBeNull();
		}
	});
	afterEach(async () => {
		bucket.fail('none');
		for (const each of closing.splice(0)) await each.close();
		await db.destroy();
		await bucket.close();
		await rm(root, { recursive: true, force: true });
	});

	test('that were used longest ago go when all take too much, and come again with what was stored', async () => {
		for (const [at, chat] of ['one', 'two', 'three'].entries()) {
			clock = at;
			await use(chat, (dir) => writeFile(join(dir, 'out.txt'), chat));
		}
		await receiver.tidy();
		expect((await copies()).sort()).toEqual(['three', 'two']);
		await use('one', async (dir) => {
			expect(await readFile(join(dir, 'out.txt'), 'utf8')).toBe('one');
			expect((await readdir(dir)).sort()).toEqual(['in.bin', 'out.txt']);
		});
		// Nothing was deleted for others.
		const other = open('other');
		await other.bring('workspaces/two');
		expect(await readFile(dirOf('other/workspaces/two/out.txt'), 'utf8')).toBe('two');
	});

	test('that no script has used for a day go, also those of an earlier start', async () => {
		await use('one');
		clock = 23 * 60 * 60_000;
		await use('two');
		await mkdir(dirOf('worker/workspaces/left'));
		await receiver.tidy();
		expect((await copies()).sort()).toEqual(['left', 'one', 'two']);
		clock = 25 * 60 * 60_000;
		await receiver.tidy();
		expect((await copies()).sort()).toEqual(['left', 'two']);
		clock = 50 * 60 * 60_000;
		await receiver.tidy();
		expect(await copies()).toEqual([]);
		expect(await readdir(dirOf('worker/stored-folders'))).toEqual([]);
	});

	test('that a script uses, or that aren’t stored yet, stay', async () => {
		const used = await take('one');
		await writeFile(join(used.folders.workspace, 'out.bin'), randomBytes(4 * MB));
		const { folders, begin, release } = await take('two');
		await begin();
		await writeFile(join(folders.workspace, 'out.txt'), 'two');
		bucket.fail('error', { method: 'PUT' });
		expect(await release()).toContain('couldn’t be stored');
		clock = 50 * 60 * 60_000;
		await receiver.tidy();
		expect((await copies()).sort()).toEqual(['one', 'two']);
		bucket.fail('none');
		await worker.catchUp();
		await receiver.tidy();
		expect(await copies()).toEqual(['one']);
		expect(await used.release()).toBeNull();
	});
});
