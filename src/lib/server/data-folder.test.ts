import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../tests/support/folder.ts';
import { DataFolderInUse, openDataFolder } from './data-folder.ts';
import { createLog } from './log.ts';

const root = emptyFolder();
let dir: string;
let logged: string[];
let others: ChildProcess[];
const log = createLog((line) => logged.push(line));
beforeEach(() => {
	dir = join(root, 'data');
	logged = [];
	others = [];
});
afterEach(() => {
	for (const other of others) other.kill('SIGKILL');
});

/** Another process; resolves once it holds the folder. */
async function holdElsewhere(isShared = false): Promise<ChildProcess> {
	const code = `
		const { openDataFolder } = await import(${JSON.stringify(new URL('data-folder.ts', import.meta.url).href)});
		const folder = openDataFolder(${JSON.stringify(dir)}, { info() {}, error: console.error }, { isShared: ${isShared} });
		folder.tellAddress('http://127.0.0.1:4321');
		console.log('held');
		setInterval(() => folder, 1000);`;
	const other = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
	others.push(other);
	await once(other.stdout, 'data');
	return other;
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('F14: one server for each data folder', () => {
	test('a second one is refused, told who the first is, and leaves its folder as it was', async () => {
		const other = await holdElsewhere();
		const before = await readdir(dir);
		const open = () => openDataFolder(dir, log);
		expect(open).toThrow(DataFolderInUse);
		expect(open).toThrow(`process ${other.pid} (`);
		expect(open).toThrow('at http://127.0.0.1:4321. Stop that server first, or choose another folder with DATA_DIR.');
		expect(await readdir(dir)).toEqual(before);
	});

	test('the lock goes with its process, also by kill -9, and nothing of it is in the way', async () => {
		const other = await holdElsewhere();
		other.kill('SIGKILL');
		await once(other, 'exit');
		openDataFolder(dir, log).close();
		expect(logged).toEqual([]);
	});

	test('within one process as well, until the first one is closed', () => {
		const first = openDataFolder(dir, log);
		expect(() => openDataFolder(dir, log)).toThrow(`process ${process.pid} (`);
		first.close();
		openDataFolder(dir, log).close();
	});

	test('those that share a database share it, and nobody else joins them, until the last one has gone', async () => {
		const first = await holdElsewhere(true);
		const second = openDataFolder(dir, log, { isShared: true });
		const alone = () => openDataFolder(dir, log);
		expect(alone).toThrow(DataFolderInUse);
		expect(alone).toThrow('Servers with DATABASE_URL are using the data folder');
		first.kill('SIGKILL');
		await once(first, 'exit');
		expect(alone).toThrow(DataFolderInUse);
		second.close();
		const last = alone();
		const shared = () => openDataFolder(dir, log, { isShared: true });
		expect(shared).toThrow(`process ${process.pid} (`);
		last.close();
		shared().close();
		expect(logged).toEqual([]);
	});

	test('a place that can’t hold one is refused with the reason and what to do', () => {
		const open = () => openDataFolder('/dev/null/data', log);
		expect(open).toThrow(/^Couldn’t use \/dev\/null\/data as the data folder: .+\. Choose another with DATA_DIR\.$/);
	});

	test('closed twice it does not take the folder from the next one', () => {
		const first = openDataFolder(dir, log);
		first.close();
		const second = openDataFolder(dir, log);
		first.close();
		first.tellAddress('http://127.0.0.1:1');
		expect(() => openDataFolder(dir, log)).toThrow(/\([^)]+\)\. Stop that server first/);
		second.close();
	});
});

describe.skipIf(process.platform === 'win32')('F3: the data folder is for this user alone', () => {
	test('a new one and what is made in it are closed to others, whatever the umask was', async () => {
		const umask = process.umask(0);
		try {
			const folder = openDataFolder(dir, log);
			expect(await modeOf(dir)).toBe(0o700);
			for (const name of await readdir(dir)) expect(await modeOf(join(dir, name)), name).toBe(0o600);
			folder.close();
			expect(logged).toEqual([]);
		} finally {
			process.umask(umask);
		}
	});

	test('one that others may look into is left as it is, with the command that closes it', async () => {
		dir = join(root, "it's data");
		openDataFolder(dir, log).close();
		await chmod(dir, 0o750);
		openDataFolder(dir, log).close();
		expect(await modeOf(dir)).toBe(0o750);
		const command = `chmod -R go-rwx '${root}/it'\\''s data'`;
		expect(logged.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
			expect.stringContaining(command)
		]);
	});
});
