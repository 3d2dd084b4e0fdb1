/** Backups of small data folders, and what is no backup: nothing is replaced, and nothing half done is left. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lacks } from '../../../tests/support/sandbox-packages.ts';
import { runOnDisk } from '../../../tests/support/small-disk.ts';
import { backUp, restore } from './backup.ts';
import { openDataFolder } from './data-folder.ts';
import { openSqliteStore } from './store/sqlite.ts';

const log = { info: () => undefined, error: () => undefined };
const umask = process.umask();

let root: string;
let dataDir: string;
let file: string;
beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'backup-'));
	[dataDir, file] = [join(root, 'data'), join(root, 'today.backup')];
	await (await openSqliteStore(join(dataDir, 'app.sqlite'))).close();
	await writeFile(join(dataDir, 'secrets.key'), 'a key\n', { mode: 0o600 });
	await mkdir(join(dataDir, 'workspaces/c/deep'), { recursive: true });
	await mkdir(join(dataDir, 'workspaces/empty'));
	await writeFile(join(dataDir, 'workspaces/c/deep/run.sh'), 'echo\n');
	await chmod(join(dataDir, 'workspaces/c/deep/run.sh'), 0o700);
	await writeFile(join(dataDir, 'workspaces/c/large.bin'), Buffer.alloc(2_500_000, 'large'));
});
afterEach(async () => {
	process.umask(umask);
	await rm(root, { recursive: true, force: true });
});

const list = async (folder: string) => (await readdir(folder, { recursive: true })).sort();
/** Changes the backup as nobody should. */
function tamper(statement: string): void {
	const database = new DatabaseSync(file);
	database.exec(statement);
	database.close();
}

test('F14: what is restored has every file as it was, of any size, with its mode and its time', async () => {
	await writeFile(join(dataDir, 'workspaces/.upload-1'), 'half');
	for (const made of ['skill-copies', 'staging', 'net', 'evals']) await mkdir(join(dataDir, made));
	await symlink('/etc/passwd', join(dataDir, 'workspaces/c/link'));
	expect(backUp(dataDir, file)).toMatchObject({ files: 4, leftOut: ['workspaces/c/link'] });
	const target = join(root, 'elsewhere/data');
	expect(restore(file, target, log)).toMatchObject({ files: 4 });
	const expected = ['app.sqlite', 'secrets.key', 'workspaces', 'workspaces/c', 'workspaces/c/deep'];
	expected.push('workspaces/c/deep/run.sh', 'workspaces/c/large.bin', 'workspaces/empty');
	expect(await list(target)).toEqual(expected);
	expect(await list(join(root, 'elsewhere'))).not.toContainEqual(expect.stringContaining('restore-'));
	for (const path of ['secrets.key', 'workspaces/c/deep/run.sh', 'workspaces/c/large.bin']) {
		const [was, is] = await Promise.all([dataDir, target].map((folder) => readFile(join(folder, path))));
		expect(is?.equals(was ?? Buffer.of())).toBe(true);
		const [before, after] = await Promise.all([dataDir, target].map((folder) => lstat(join(folder, path))));
		expect(after?.mode).toBe(before?.mode);
		expect(Math.trunc(after?.mtimeMs ?? 0)).toBe(Math.trunc(before?.mtimeMs ?? 1));
	}
	expect((await lstat(target)).mode & 0o777).toBe(0o700);
});

test.skipIf(process.platform === 'win32')('F14: only its owner may read a backup, whatever the umask is', async () => {
	process.umask(0);
	backUp(dataDir, file);
	expect((await lstat(file)).mode & 0o777).toBe(0o600);
	expect(await readdir(root)).toEqual(['data', 'today.backup']);
});

describe('F14: nothing is replaced', () => {
	test('a backup is not written over a file, over another that is under way, or into the data folder', async () => {
		await writeFile(file, 'mine');
		expect(() => backUp(dataDir, file)).toThrow('exists already, and is not replaced');
		expect(await readFile(file, 'utf8')).toBe('mine');
		await rm(file);
		await writeFile(`${file}.partial`, 'theirs');
		expect(() => backUp(dataDir, file)).toThrow('another backup is being written, or one was cut off');
		expect(await readFile(`${file}.partial`, 'utf8')).toBe('theirs');
		expect(() => backUp(dataDir, join(dataDir, 'workspaces/b'))).toThrow('cannot lie in the data folder itself');
		expect(() => backUp(join(root, 'none'), file)).toThrow('There is no database in');
		expect(() => backUp(dataDir, join(root, 'none/b'))).toThrow('There is no folder');
	});

	test('a data folder that holds anything, or that a server has, stays as it is', async () => {
		backUp(dataDir, file);
		const before = await list(dataDir);
		expect(() => restore(file, dataDir, log)).toThrow('is not empty, and nothing in it is replaced. Move it away');
		expect((await list(dataDir)).filter((name) => name !== 'server.lock')).toEqual(before);
		const taken = openDataFolder(join(root, 'taken'), log);
		expect(() => restore(file, join(root, 'taken'), log)).toThrow(`Another server uses the data folder`);
		taken.close();
	});
});

describe('F14: what is no whole backup is refused, and nothing of it is left', () => {
	const CASES: [string, () => unknown, string][] = [
		['no file', () => rm(file), 'There is no backup'],
		['another file', () => writeFile(file, 'PK'.repeat(2000)), 'is no backup'],
		['another database', () => tamper('pragma application_id = 1'), 'is no backup'],
		['one of a newer version', () => tamper('pragma user_version = 2'), 'of a newer version'],
		['half of one', () => truncate(file, 1_000_000), 'damaged'],
		['a file that is not what it was', () => tamper("update chunks set bytes = x'00' where id = 3"), 'damaged'],
		['a file without its end', () => tamper('delete from chunks where id = (select max(id) from chunks)'), 'damaged'],
		['none with a database', () => tamper("delete from files where path = 'app.sqlite'"), 'no database'],
		...['../out', '/tmp/out', 'a/../../out', '', 'a//b', './a', 'server.lock'].map((path): (typeof CASES)[number] => [
			`a path like ${JSON.stringify(path)}`,
			() => tamper(`update files set path = '${path}' where path = 'secrets.key'`),
			'The backup is damaged'
		])
	];
	test.each(CASES)('%s', async (_what, spoil, message) => {
		backUp(dataDir, file);
		await spoil();
		expect(() => restore(file, join(root, 'new'), log)).toThrow(message);
		expect((await readdir(root)).filter((name) => name !== 'today.backup')).toEqual(['data']);
	});
});

test('F14: installed and removed skills are where the new folder is; others stay where they were', async () => {
	const database = new DatabaseSync(join(dataDir, 'app.sqlite'));
	const trash = database.prepare(
		"insert into skill_trash (id, skill_id, name, path, stored, removed_at) values (?, 's/a', 'a', ?, ?, '2026')"
	);
	trash.run('1', join(dataDir, 'skills/a@1'), join(dataDir, 'trash/1'));
	trash.run('2', '/srv/skills/a', `${dataDir}-other/trash/2`);
	database.close();
	backUp(dataDir, file);
	const target = join(root, 'new');
	restore(file, target, log);
	const restored = new DatabaseSync(join(target, 'app.sqlite'));
	expect(restored.prepare('select path, stored from skill_trash order by id').all()).toEqual([
		{ path: join(target, 'skills/a@1'), stored: join(target, 'trash/1') },
		{ path: '/srv/skills/a', stored: `${dataDir}-other/trash/2` }
	]);
	restored.close();
});

/** On a disk of so many bytes, with a copy of the data folder: what came of the call, and what is left there. */
async function onDisk(bytes: number, call: string): Promise<unknown> {
	const dir = join(root, 'disk');
	await mkdir(dir, { recursive: true });
	const place = (name: string) => JSON.stringify(join(dir, name));
	const program = `
		import { cpSync, readdirSync } from 'node:fs';
		import { backUp, restore } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'backup.ts')))};
		const [data, file, target] = [${place('data')}, ${place('file')}, ${place('target')}];
		cpSync(${JSON.stringify(dataDir)}, data, { recursive: true });
		const log = { info() {}, error() {} };
		let message;
		try {
			${call};
		} catch (error) {
			message = error.message;
		}
		console.log(JSON.stringify({ message, left: readdirSync(${JSON.stringify(dir)}) }));`;
	return JSON.parse(await runOnDisk({ dir, bytes }, program)) as unknown;
}

test.skipIf(lacks('bubblewrap'))('F14: on a full disk nothing half done is left, and the reason is said', async () => {
	const full = { message: expect.stringContaining('The disk is full') as string, left: ['data'] };
	const { size } = await lstat(join(dataDir, 'app.sqlite'));
	const data = 2_500_000 + size;
	// While the database is copied, and while files are.
	expect(await onDisk(data + size / 2 + 65_536, 'backUp(data, file)')).toEqual(full);
	expect(await onDisk(data + 1_500_000, 'backUp(data, file)')).toEqual(full);
	backUp(dataDir, file);
	expect(await onDisk(data + 1_500_000, `restore(${JSON.stringify(file)}, target, log)`)).toEqual(full);
});

describe('F14: what was cut off is done again', () => {
	/** The command of `npm run`, killed as soon as `isUnderWay`. */
	async function cutOff(command: 'backup' | 'restore', folder: string, isUnderWay: () => Promise<boolean>) {
		const child = start(command, folder);
		const ended = once(child, 'exit');
		while (child.exitCode === null && !(await isUnderWay())) await new Promise(setImmediate);
		child.kill('SIGKILL');
		expect((await ended)[1]).toBe('SIGKILL');
	}
	const program = join(import.meta.dirname, 'cli/backup.ts');
	const start = (command: string, folder: string) =>
		spawn(process.execPath, [program, command, file], {
			env: { PATH: process.env.PATH, DATA_DIR: folder },
			stdio: ['ignore', 'ignore', 'pipe']
		});
	async function finish(command: 'backup' | 'restore', folder: string): Promise<{ code: unknown; said: string }> {
		const child = start(command, folder);
		const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
		return { code, said };
	}
	const isIn = async (folder: string, part: string) => {
		return (await readdir(folder)).some((name) => name.includes(part));
	};
	/** Reading the database leaves files of SQLite's beside it. */
	const listKept = async () => (await list(dataDir)).filter((path) => !path.startsWith('app.sqlite-'));
	// Large enough that it is seen on its way; of zeros, which take no room here.
	beforeEach(() => truncate(join(dataDir, 'workspaces/c/large.bin'), 300_000_000));

	test('a restore that was killed has left no data folder that a server would start with; the next one is whole, and nothing else is left', async () => {
		backUp(dataDir, file);
		const target = join(root, 'new/data');
		await mkdir(join(root, 'new'));
		await writeFile(join(root, 'new/data.restore-mine'), 'kept');
		await cutOff(
			'restore',
			target,
			async () => (await isIn(join(root, 'new'), 'data.restore-')) && (await hasFile(target))
		);
		expect((await readdir(target)).filter((name) => !name.startsWith('server.'))).toEqual([]);
		expect(await isIn(join(root, 'new'), 'data.restore-')).toBe(true);

		expect(await finish('restore', target)).toEqual({ code: 0, said: '' });
		expect(await readdir(join(root, 'new'))).toEqual(['data', 'data.restore-mine']);
		expect(await list(target)).toEqual(await listKept());
		expect((await lstat(join(target, 'workspaces/c/large.bin'))).size).toBe(300_000_000);
		openDataFolder(target, log).close();
	});

	/** The restore has begun to write. */
	async function hasFile(target: string): Promise<boolean> {
		const [name] = (await readdir(join(target, '..'))).filter((each) => /restore-[0-9a-f]{12}$/.test(each));
		return name !== undefined && (await readdir(join(target, '..', name))).includes('app.sqlite');
	}

	test('a backup that was killed has left none; the next one says what to remove, and is whole then', async () => {
		await cutOff('backup', dataDir, () => isIn(root, '.partial'));
		expect(await isIn(root, 'today.backup.partial')).toBe(true);
		expect(await readdir(root)).not.toContain('today.backup');
		const { code, said } = await finish('backup', dataDir);
		expect(code).toBe(1);
		expect(said).toContain(`${file}.partial exists already: another backup is being written, or one was cut off`);
		await rm(`${file}.partial`);
		expect(await finish('backup', dataDir)).toEqual({ code: 0, said: '' });
		expect(await readdir(root)).toEqual(['data', 'today.backup']);
		const target = join(root, 'restored');
		restore(file, target, log);
		expect(await list(target)).toEqual(await listKept());
	});
});
