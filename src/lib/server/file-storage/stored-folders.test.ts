import {
	chmod,
	lstat,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rename,
	rm,
	stat,
	symlink,
	utimes,
	writeFile
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BucketServer, startBucketServer } from '../../../../tests/support/bucket-server.ts';
import { createLog } from '../log.ts';
import { migrate } from '../store/migrations.ts';
import { openSqlite } from '../store/sqlite.ts';
import { createStoredFiles, type StoredFiles } from '../store/stored-files.ts';
import { createWorkspaces, type Workspaces } from '../workspaces.ts';
import { openBucket } from './bucket.ts';
import { createStoredFolders, type StoredFolders } from './stored-folders.ts';
import { WORKSPACE_KINDS, withStorage } from './stored-workspaces.ts';

const QUICK = { answerMs: 500, bytesPerSecond: 1024 * 1024, againMs: [] };
const DAY_MS = 24 * 60 * 60_000;
const FOLDER = 'workspaces/chat';

let root: string;
let bucket: BucketServer;
let db: ReturnType<typeof openSqlite>;
let store: StoredFiles;
let clock: number;
const opened: StoredFolders[] = [];

beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'stored-folders-'));
	bucket = await startBucketServer();
	db = openSqlite(join(root, 'app.sqlite'));
	await migrate(db);
	store = createStoredFiles(db);
	clock = Date.now();
});
afterEach(async () => {
	bucket.fail('none');
	for (const each of opened.splice(0)) await each.close();
	await db.destroy();
	await bucket.close();
	await rm(root, { recursive: true, force: true });
});

interface Server {
	storage: StoredFolders;
	workspaces: Workspaces;
	dir: string;
	said: string[];
	put(path: string, text: string): Promise<void>;
	text(path: string): Promise<string | null>;
}

/** One with a data folder of its own; called again, it's the same after a restart. */
function serverOf(name: string): Server {
	const dataDir = join(root, name);
	const said: string[] = [];
	const log = createLog((line) => void said.push(line));
	const parts = { store, bucket: openBucket(bucket.settings, QUICK), dataDir, log, kinds: WORKSPACE_KINDS };
	const storage = createStoredFolders({ ...parts, now: () => clock });
	opened.push(storage);
	const dir = join(dataDir, FOLDER);
	return {
		storage,
		workspaces: withStorage(createWorkspaces(dataDir, undefined, { log }), storage),
		dir,
		said,
		async put(path, text) {
			await mkdir(dirname(join(dir, path)), { recursive: true });
			await writeFile(join(dir, path), text);
		},
		text: (path) => readFile(join(dir, path), 'utf8').catch(() => null)
	};
}

const names = async (dir: string): Promise<string[]> =>
	(await readdir(dir, { recursive: true, withFileTypes: true }))
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
		.sort();

test('F5: what a script does on one server, another server has: new, changed, moved and deleted files, and their modes', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.put('a.txt', 'first');
	await one.put('deep/er/than/the/list/shows/and/than/paths/of/tools/b.txt', 'deep');
	await one.put('run.sh', '#!/bin/sh');
	await chmod(join(one.dir, 'run.sh'), 0o755);
	await one.put('.hidden', 'too');
	expect(await one.storage.keep(FOLDER)).toBeNull();
	expect(await other.storage.bring(FOLDER)).toEqual([]);
	expect(await names(other.dir)).toEqual(await names(one.dir));
	expect((await stat(join(other.dir, 'run.sh'))).mode & 0o100).toBe(0o100);
	expect((await stat(join(other.dir, 'a.txt'))).mtimeMs).toBeCloseTo((await stat(join(one.dir, 'a.txt'))).mtimeMs, -1);

	await other.put('a.txt', 'second');
	await rename(join(other.dir, 'run.sh'), join(other.dir, 'ran.sh'));
	await rm(join(other.dir, 'deep'), { recursive: true });
	await other.put('deep', 'a file in its place');
	expect(await other.storage.keep(FOLDER)).toBeNull();
	await one.storage.bring(FOLDER);
	expect(await names(one.dir)).toEqual(['.hidden', 'a.txt', 'deep', 'ran.sh']);
	expect(await one.text('a.txt')).toBe('second');
	expect(await one.text('deep')).toBe('a file in its place');

	await rm(join(one.dir, 'deep'));
	await one.put('deep/again.txt', 'a folder again');
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	expect(await other.text('deep/again.txt')).toBe('a folder again');
});

test('F5: the same content is in the bucket once, in however many files, and nothing is sent again', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	for (const name of ['a', 'b', 'c']) await one.put(name, 'the same');
	await one.storage.keep(FOLDER);
	expect(bucket.objects.size).toBe(1);
	await other.storage.bring(FOLDER);
	const before = bucket.requests.length;
	await one.storage.keep(FOLDER);
	await other.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	await other.put('d', 'the same');
	await other.storage.keep(FOLDER);
	expect(bucket.requests.length).toBe(before);
	expect([...bucket.objects.values()].map(String)).toEqual(['the same']);
});

test('F5: a thousand small files, at most eight at once', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await mkdir(one.dir, { recursive: true });
	for (let index = 0; index < 1000; index += 1) await one.put(`${index % 7}/${index}.txt`, `file ${index}`);
	expect(await one.storage.keep(FOLDER)).toBeNull();
	await other.storage.bring(FOLDER);
	expect(await names(other.dir)).toEqual(await names(one.dir));
	expect(bucket.mostAtOnce).toBeLessThanOrEqual(8);
});

test('F5: when two servers change the same file, both are kept: the later one under its name', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.put('report.txt', 'start');
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	await Promise.all([one.put('report.txt', 'by one'), other.put('report.txt', 'by the other')]);
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	expect(await other.text('report.txt')).toBe('by the other');
	await other.storage.keep(FOLDER);
	for (const server of [one, other]) {
		await server.storage.bring(FOLDER);
		expect(await server.text('report.txt')).toBe('by the other');
		expect(await server.text('report (2).txt')).toBe('by one');
		expect(await names(server.dir)).toHaveLength(2);
	}
});

test('F5: a file that one server deletes and another changes stays, whoever is first', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	for (const name of ['a', 'b']) await one.put(name, 'start');
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	await rm(join(one.dir, 'a'));
	await one.put('b', 'changed by one');
	await other.put('a', 'changed by the other');
	await rm(join(other.dir, 'b'));
	await one.storage.keep(FOLDER);
	await other.storage.keep(FOLDER);
	for (const server of [one, other]) {
		await server.storage.bring(FOLDER);
		expect(await server.text('a')).toBe('changed by the other');
		expect(await server.text('b')).toBe('changed by one');
	}
});

test('F5: a file that was only touched, or is back to what it was, is no change', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	for (const name of ['touched', 'reverted']) await one.put(name, 'start');
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	for (const name of ['touched', 'reverted']) await other.put(name, 'changed');
	await other.storage.keep(FOLDER);
	await utimes(join(one.dir, 'touched'), 1, 1);
	await one.put('reverted', 'something else');
	await one.storage.bring(FOLDER);
	expect(await one.text('touched')).toBe('changed');
	expect(await one.text('reverted')).toBe('something else');
	await one.put('reverted', 'start');
	await one.storage.keep(FOLDER);
	await one.storage.bring(FOLDER);
	expect(await one.text('reverted')).toBe('changed');
	expect(await names(one.dir)).toEqual(['reverted', 'touched']);
});

test('F5: both servers write the same content: nothing is doubled', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.put('a', 'same');
	await other.put('a', 'same');
	await Promise.all([one.storage.keep(FOLDER), other.storage.keep(FOLDER)]);
	for (const server of [one, other]) {
		await server.storage.bring(FOLDER);
		expect(await names(server.dir)).toEqual(['a']);
	}
});

test.each(['error', 'cut', 'hang'] as const)(
	'F5: in an outage (%s), scripts go on with local files, are told, and all is stored later, also after a restart',
	async (fault) => {
		const [one, other] = [serverOf('one'), serverOf('other')];
		await one.put('a.txt', 'before');
		await one.storage.keep(FOLDER);
		bucket.fail(fault);
		const ran = await one.workspaces.use('chat', async (cwd) => {
			await writeFile(join(cwd, 'a.txt'), 'meanwhile');
			return 'ran';
		});
		expect(ran.result).toBe('ran');
		expect(ran.unkept).toMatch(/couldn’t be stored/);
		expect(await one.text('a.txt')).toBe('meanwhile');
		expect(one.said.filter((line) => line.includes('The file storage can’t be used'))).toHaveLength(1);
		// Not waited for again at once.
		const { length } = bucket.requests;
		expect((await one.workspaces.use('chat', async () => 'again')).unkept).not.toBeNull();
		expect(bucket.requests).toHaveLength(length);
		await expect(other.workspaces.use('chat', async () => 'ran')).rejects.toMatchObject({ code: 'unavailable' });

		bucket.fail('none');
		await one.storage.close();
		await serverOf('one').storage.catchUp();
		await other.storage.bring(FOLDER);
		expect(await other.text('a.txt')).toBe('meanwhile');
	}
);

test('F5: an outage in the middle of many files loses none, and what was sent is not sent again', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	for (let index = 0; index < 300; index += 1) await one.put(`${index}.txt`, `file ${index}`);
	bucket.fail('cut', { method: 'PUT', after: 120 });
	expect(await one.storage.keep(FOLDER)).not.toBeNull();
	const sent = bucket.objects.size;
	expect(sent).toBe(120);
	expect(await store.changesSince(FOLDER, 0)).toEqual([]);
	bucket.fail('none');
	await one.storage.catchUp();
	expect(bucket.objects.size).toBe(300);
	expect(bucket.requests.filter((each) => each.startsWith('PUT')).length).toBeLessThan(330);
	await other.storage.bring(FOLDER);
	expect(await names(other.dir)).toHaveLength(300);
});

test('F5: an outage while files are fetched leaves whole files only, and the rest comes later', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	for (let index = 0; index < 40; index += 1) await one.put(`${index}.txt`, `file ${index}`);
	await one.storage.keep(FOLDER);
	bucket.fail('cut', { method: 'GET', after: 10 });
	await expect(other.storage.bring(FOLDER, { toChange: true })).rejects.toMatchObject({ code: 'unavailable' });
	expect((await names(other.dir)).length).toBeLessThan(40);
	bucket.fail('none');
	// It looks at what is there by now, and deletes nothing of the rest.
	await other.storage.catchUp();
	expect((await store.changesSince(FOLDER, 0)).every(({ content }) => content !== null)).toBe(true);
	await other.storage.bring(FOLDER);
	expect(await names(other.dir)).toHaveLength(40);
	for (const name of await names(other.dir)) expect(await other.text(name)).toBe(`file ${parseInt(name, 10)}`);
});

test('F5: a damaged content is not used, the other files are, and a person is told', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.put('bad.txt', 'bad');
	await one.storage.keep(FOLDER);
	bucket.damage();
	await one.put('good.txt', 'good');
	await one.storage.keep(FOLDER);
	await expect(other.workspaces.read('chat', 'bad.txt')).rejects.toMatchObject({
		code: 'unavailable',
		message: expect.stringContaining('damaged')
	});
	expect(await names(other.dir)).toEqual(['good.txt']);
	// Which isn't taken for a deletion.
	await other.storage.keep(FOLDER);
	await one.storage.bring(FOLDER);
	expect(await one.text('bad.txt')).toBe('bad');
	await one.put('bad.txt', 'written again');
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	expect(await other.text('bad.txt')).toBe('written again');
});

test('F5: however many files are damaged, the log says so once, and not what they’re called', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	for (let count = 0; count < 20; count += 1) await one.put(`private-${count}.txt`, `text ${count}`);
	await one.storage.keep(FOLDER);
	bucket.damage();
	expect(await other.storage.bring(FOLDER)).toHaveLength(20);
	expect(other.said).toHaveLength(1);
	expect(other.said[0]).toContain('"files":20');
	expect(other.said.join()).not.toContain('private');
});

test('F5: links are neither stored nor followed, and a stored file takes the place of one', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await writeFile(join(root, 'secret'), 'secret');
	await mkdir(join(root, 'outside'));
	await mkdir(one.dir, { recursive: true });
	await symlink(join(root, 'secret'), join(one.dir, 'link'));
	await symlink(root, join(one.dir, 'folder'));
	await one.put('real', 'real');
	await one.storage.keep(FOLDER);
	expect((await store.changesSince(FOLDER, 0)).map(({ path }) => path)).toEqual(['real']);

	await other.storage.bring(FOLDER);
	await symlink(join(root, 'outside'), join(other.dir, 'sub'));
	await symlink(join(root, 'secret'), join(other.dir, 'new'));
	await one.put('sub/file', 'inside');
	await one.put('new', 'new');
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	expect(await readdir(join(root, 'outside'))).toEqual([]);
	expect(await readFile(join(root, 'secret'), 'utf8')).toBe('secret');
	expect((await lstat(join(other.dir, 'new'))).isFile()).toBe(true);
});

test('F5: rows with hostile paths write nothing outside the folder', async () => {
	const other = serverOf('other');
	const one = serverOf('one');
	await one.put('a', 'content');
	await one.storage.keep(FOLDER);
	const [file] = await store.changesSince(FOLDER, 0);
	const sha256 = file?.content?.sha256 ?? '';
	const hostile = ['../up', '/etc/up', 'a//b', './x', 'sub/../../up', 'x/'.repeat(70) + 'y', 'n'.repeat(300)];
	await store.save(
		FOLDER,
		hostile.map((path) => ({ path, sha256, mode: 0o777, modifiedAt: new Date(clock).toISOString(), base: 0 })),
		{ keepsBoth: true, isNew: false }
	);
	expect(await other.storage.bring(FOLDER)).toEqual([]);
	expect(await names(join(root, 'other', 'workspaces'))).toEqual(['chat/a']);
	expect((await readdir(root)).filter((name) => !name.startsWith('app.sqlite'))).toEqual(['one', 'other']);
});

test('F5: a path that is too long for other servers stays here, which is said once', async () => {
	const one = serverOf('one');
	const long = Array.from({ length: 6 }, () => 'd'.repeat(200)).join('/');
	await one.put(long, 'far');
	await one.put('near', 'near');
	expect(await one.storage.keep(FOLDER)).toMatch(/longer than 1,000/);
	expect(await one.storage.keep(FOLDER)).toBeNull();
	expect((await store.changesSince(FOLDER, 0)).map(({ path }) => path)).toEqual(['near']);
	expect(await one.text(long)).toBe('far');
});

test('F5: a deleted chat is deleted on all servers, and its contents in the bucket a day later', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.workspaces.write('chat', 'a.txt', new Blob(['gone']).stream());
	await one.workspaces.write('kept', 'b.txt', new Blob(['stays']).stream());
	await other.storage.bring(FOLDER);
	expect(await other.text('a.txt')).toBe('gone');
	await one.workspaces.removeAll('chat');
	expect(await one.text('a.txt')).toBeNull();
	await other.storage.catchUp();
	expect(await other.text('a.txt')).toBeNull();
	expect(await other.workspaces.list('chat')).toEqual([]);
	expect(bucket.objects.size).toBe(2);
	clock += DAY_MS + 60_000;
	await other.storage.catchUp();
	expect([...bucket.objects.values()].map(String)).toEqual(['stays']);
	// The same content again is a new object.
	await one.workspaces.write('kept', 'c.txt', new Blob(['gone']).stream());
	expect((await other.workspaces.list('kept')).map(({ path }) => path)).toEqual(['b.txt', 'c.txt']);
});

test('F5: contents that couldn’t be deleted from the bucket are deleted later', async () => {
	const one = serverOf('one');
	await one.workspaces.write('chat', 'a.txt', new Blob(['gone']).stream());
	await one.workspaces.removeAll('chat');
	clock += DAY_MS + 60_000;
	bucket.fail('error', { method: 'DELETE' });
	await one.storage.catchUp();
	expect(bucket.objects.size).toBe(1);
	// Meanwhile somebody uses the same content: it is another object.
	await one.workspaces.write('kept', 'b.txt', new Blob(['gone']).stream());
	bucket.fail('none');
	await one.storage.catchUp();
	expect(bucket.objects.size).toBe(1);
	expect((await serverOf('other').workspaces.list('kept')).map(({ path }) => path)).toEqual(['b.txt']);
});

test('F5: files from before there was a bucket, and changes of a server that was killed, are stored at the next start', async () => {
	const one = serverOf('one');
	await one.put('old.txt', 'old');
	await one.storage.catchUp();
	const other = serverOf('other');
	await other.storage.bring(FOLDER, { toChange: true });
	expect(await other.text('old.txt')).toBe('old');
	// Killed while a script was running.
	await other.put('late.txt', 'late');
	await serverOf('other').storage.catchUp();
	await one.storage.bring(FOLDER);
	expect(await one.text('late.txt')).toBe('late');
});

test('F5: a local folder that somebody removed comes back, instead of being deleted everywhere', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.put('a.txt', 'a');
	await one.storage.keep(FOLDER);
	await rm(one.dir, { recursive: true });
	await one.storage.keep(FOLDER);
	await one.storage.bring(FOLDER);
	expect(await one.text('a.txt')).toBe('a');
	await rm(join(root, 'one', 'stored-folders'), { recursive: true });
	await one.put('a.txt', 'changed while nothing was known');
	await one.storage.bring(FOLDER);
	await one.storage.keep(FOLDER);
	await other.storage.bring(FOLDER);
	expect(await names(other.dir)).toEqual(['a (2).txt', 'a.txt']);
});

test('F5: uploads, versions, deletions, restored files and branches are the same on both servers', async () => {
	const [one, other] = [serverOf('one'), serverOf('other')];
	await one.workspaces.write('chat', 'a.txt', new Blob(['first']).stream());
	await one.workspaces.keepVersions('chat');
	await one.workspaces.write('chat', 'a.txt', new Blob(['second']).stream());
	await one.workspaces.keepVersions('chat');
	const [file] = await other.workspaces.listVersions('chat');
	const earlier = file?.versions.at(-1);
	expect(earlier?.bytes).toBe(5);
	const { file: version } = await other.workspaces.read('chat', 'a.txt', earlier?.id);
	expect(await version.readFile('utf8').finally(() => version.close())).toBe('first');
	await other.workspaces.remove('chat', 'a.txt');
	expect(await one.workspaces.list('chat')).toEqual([]);
	await one.workspaces.restore('chat', 'a.txt');
	expect((await other.workspaces.list('chat')).map(({ path, bytes }) => [path, bytes])).toEqual([['a.txt', 6]]);
	await other.workspaces.copyAll('chat', 'fork', 'm1');
	expect((await one.workspaces.list('fork')).map(({ path }) => path)).toEqual(['a.txt']);
	const { file: copied } = await one.workspaces.read('fork', 'a.txt', earlier?.id);
	expect(await copied.readFile('utf8').finally(() => copied.close())).toBe('first');
});
