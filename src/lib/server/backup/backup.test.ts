/** Backups of small data folders, and invalid backups: nothing is replaced, and nothing is left half done. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
	closeSync,
	constants,
	lstatSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	readSync,
	rmSync,
	symlinkSync,
	truncateSync,
	utimesSync,
	writeFileSync,
	writeSync
} from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';
import { runOnDisk } from '../../../../tests/support/small-disk.ts';
import { openDataFolder } from '../data-folder.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import { backUp } from './back-up.ts';
import { restore } from './restore.ts';

const log = { info: () => undefined, error: () => undefined };
const umask = process.umask();

const root = emptyFolder();
let dataDir: string;
let file: string;
beforeEach(async () => {
	[dataDir, file] = [join(root, 'data'), join(root, 'today.backup')];
	await (await openSqliteStore(join(dataDir, 'app.sqlite'))).close();
	await writeFile(join(dataDir, 'secrets.key'), 'a key\n', { mode: 0o600 });
	await mkdir(join(dataDir, 'workspaces/c/deep'), { recursive: true });
	await mkdir(join(dataDir, 'workspaces/empty'));
	await writeFile(join(dataDir, 'workspaces/c/deep/run.sh'), 'echo\n');
	await chmod(join(dataDir, 'workspaces/c/deep/run.sh'), 0o700);
	await writeFile(join(dataDir, 'workspaces/c/large.bin'), Buffer.alloc(2_500_000, 'large'));
});
afterEach(() => {
	process.umask(umask);
	// The promise version of rm fails on paths that are too long for the system.
});

const list = async (folder: string) => (await readdir(folder, { recursive: true })).sort();
/** Tampers with the backup. */
function tamper(statement: string): void {
	const database = new DatabaseSync(file);
	database.exec(statement);
	database.close();
}

test('F14: what is restored has every file as it was, of any size, with its mode and its time', async () => {
	await writeFile(join(dataDir, 'workspaces/.upload-1'), 'half');
	for (const made of ['skill-copies', 'staging', 'net', 'evals', 'environments']) await mkdir(join(dataDir, made));
	await symlink('/etc/passwd', join(dataDir, 'workspaces/c/link'));
	const leftOut = { count: 1, named: [{ path: '"workspaces/c/link"', reason: 'a link, or not a file' }] };
	expect(backUp(dataDir, file)).toMatchObject({ files: 4, leftOut });
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
		expect(() => backUp(dataDir, file)).toThrow('already exists. Choose another name, or delete it');
		expect(await readFile(file, 'utf8')).toBe('mine');
		await rm(file);
		await writeFile(`${file}.partial`, 'theirs');
		expect(() => backUp(dataDir, file)).toThrow(
			'already exists: another backup is running or was interrupted. If none is running, delete that file'
		);
		expect(await readFile(`${file}.partial`, 'utf8')).toBe('theirs');
		expect(() => backUp(dataDir, join(dataDir, 'workspaces/b'))).toThrow(
			'A backup can’t be saved in the data folder. Choose another place'
		);
		expect(() => backUp(join(root, 'none'), file)).toThrow('No database found in');
		expect(() => backUp(dataDir, join(root, 'none/b'))).toThrow('doesn’t exist. Create it first');
	});

	test('a data folder that holds anything, or that a server has, stays as it is', async () => {
		backUp(dataDir, file);
		const before = await list(dataDir);
		expect(() => restore(file, dataDir, log)).toThrow('isn’t empty, so nothing was restored. Move it away');
		expect((await list(dataDir)).filter((name) => name !== 'server.lock')).toEqual(before);
		const taken = openDataFolder(join(root, 'taken'), log);
		expect(() => restore(file, join(root, 'taken'), log)).toThrow('Another server is using the data folder');
		taken.close();
	});
});

/** SHA-256 of an empty file. */
const NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('F14: what is no whole backup is refused, and nothing of it is left', () => {
	const CASES: [string, () => unknown, string][] = [
		['no file', () => rm(file), 'Backup not found'],
		['another file', () => writeFile(file, 'PK'.repeat(2000)), 'isn’t a backup'],
		['another database', () => tamper('pragma application_id = 1'), 'isn’t a backup'],
		[
			'one of a newer version',
			() => tamper('pragma user_version = 3'),
			'was created by a newer version. Restore it with that version'
		],
		['half of one', () => truncate(file, 1_000_000), 'damaged'],
		['a file that has changed', () => tamper("update chunks set bytes = x'00' where id = 3"), 'damaged'],
		['a file without its end', () => tamper('delete from chunks where id = (select max(id) from chunks)'), 'damaged'],
		['none with a database', () => tamper("delete from files where path = cast('app.sqlite' as blob)"), 'damaged'],
		['one that lacks a file', () => tamper("delete from files where path = cast('secrets.key' as blob)"), 'damaged'],
		['one that lacks an empty folder', () => tamper("delete from files where path like '%empty'"), 'damaged'],
		[
			'one with a file more',
			() => tamper(`insert into files select null, x'7a', 0, 384, 0, null, 0, 0, '${NOTHING}'`),
			'damaged'
		],
		[
			'one with more parts than files',
			() => tamper("insert into chunks (bytes) values (x'00')"),
			'it contains parts that belong to no file'
		],
		['another mode', () => tamper('update files set mode = 511 where id = 2'), 'damaged'],
		['another time', () => tamper('update files set modified_ms = modified_ms + 1 where id = 2'), 'damaged'],
		[
			'a time of no calendar',
			() => tamper('update files set modified_ms = 9223372036854775807 where id = 2'),
			'damaged'
		],
		['one without its end', () => tamper('delete from backup'), 'damaged'],
		['another place where it was made', () => tamper("update backup set data_dir = '/srv'"), 'damaged'],
		[
			'a file that is said to be empty',
			() => tamper(`update files set chunks = 0, bytes = 0, sha256 = '${NOTHING}' where path like '%secrets.key'`),
			'damaged'
		],
		[
			'a view in the place of a table',
			() =>
				tamper(`alter table files rename to others; create view files as with recursive n (id) as (select 1 union all
					select id + 1 from n) select id, cast('d' || id as blob) as path, 1 as is_folder, 448 as mode, 0 as modified_ms,
					null as first_chunk, 0 as chunks, 0 as bytes, null as sha256 from n`),
			'its tables aren’t those of a backup'
		],
		[
			'one with a trigger',
			() => tamper('create trigger t after insert on chunks begin delete from files; end'),
			'its tables aren’t those of a backup'
		],
		...['../out', '/tmp/out', 'a/../../out', '', 'a//b', './a', 'server.lock'].map((path): (typeof CASES)[number] => [
			`a path like ${JSON.stringify(path)}`,
			() => tamper(`update files set path = cast('${path}' as blob) where path like 'secrets.key'`),
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

describe('F14: with a database elsewhere', () => {
	const program = join(import.meta.dirname, '../cli/backup.ts');
	const POSTGRES = { DATABASE_URL: 'postgres://app:pass-word@db.example/app', SECRETS_KEY: 'a key of all servers' };
	const run = async (command: 'backup' | 'restore', folder: string, environment: Record<string, string> = POSTGRES) => {
		const env = { PATH: process.env.PATH, DATA_DIR: folder, ...environment };
		const child = spawn(process.execPath, [program, command, file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
		const [told, warned, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
		expect(code, warned).toBe(0);
		return { told, warned };
	};

	test('the files are backed up and come back, and both commands say what to do about the database', async () => {
		const backup = await run('backup', dataDir);
		expect(backup.told).toContain('3 files');
		expect(backup.warned).toMatch(
			/^The database isn’t in it, because DATABASE_URL is set\. .*pg_dump .*"\$DATABASE_URL"/
		);
		const target = join(root, 'new');
		const restored = await run('restore', target);
		expect(restored.warned).toMatch(/^The database isn’t in this backup.* pg_restore.* same SECRETS_KEY/);
		expect(await list(target)).toEqual((await list(dataDir)).filter((path) => !path.startsWith('app.sqlite')));
		expect(backup.told + backup.warned + restored.told + restored.warned).not.toContain('pass-word');
	});

	test('without DATABASE_URL, whoever restores such a backup is told that the database is missing, and not to start', async () => {
		await run('backup', dataDir);
		const { told, warned } = await run('restore', join(root, 'new'), {});
		expect(told).not.toContain('You can start');
		expect(warned).toMatch(/^The database isn’t in this backup/);
	});

	test('whoever restores a backup with a database is told that it isn’t used', async () => {
		backUp(dataDir, file);
		expect((await run('restore', join(root, 'new'))).warned).toMatch(/^The database in this backup isn’t used/);
	});

	test('a data folder without a SQLite file is enough, one that isn’t there isn’t', async () => {
		await rm(join(dataDir, 'app.sqlite'));
		expect(backUp(dataDir, file, { hasDatabase: false })).toMatchObject({ files: 3, hasDatabase: false });
		expect(() => backUp(join(root, 'none'), file, { hasDatabase: false })).toThrow(
			`The data folder ${join(root, 'none')} doesn’t exist. Set DATA_DIR`
		);
	});
});

/** For everything in a folder: name and mode, and for files also time and content. No links. */
function treeOf(folder: string): string[] {
	const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
	return entries.map((entry) => {
		const path = join(entry.parentPath, entry.name);
		const { mode, mtimeMs } = lstatSync(path);
		const content = entry.isFile() ? `${Math.trunc(mtimeMs)} ${readFileSync(path, 'base64')}` : '';
		return `${path.slice(folder.length)} ${mode} ${content}`;
	});
}

test('F14: one bit that is another anywhere in a backup: it is refused before anything is written, or gives just the same', async () => {
	const small = join(root, 'small');
	mkdirSync(join(small, 'workspaces/c'), { recursive: true });
	const database = new DatabaseSync(join(small, 'app.sqlite'));
	database.exec('create table settings (name text)');
	database.close();
	writeFileSync(join(small, 'secrets.key'), 'a key\n', { mode: 0o600 });
	for (let number = 0; number < 12; number++)
		writeFileSync(join(small, `workspaces/c/${number}`), 'text'.repeat(number));
	backUp(small, file);
	const [whole, target, spoilt] = [await readFile(file), join(root, 'target'), join(root, 'spoilt.backup')];
	restore(file, target, log);
	const expected = treeOf(target).sort();
	const before = (await readdir(root)).concat('spoilt.backup').sort();
	const places = new Set<number>();
	for (let at = 0; at < whole.length; at += at < 100 ? 1 : 101) places.add(at);
	for (const word of ['secrets.key', 'app.sqlite', 'workspaces/c/1', small, 'create table', 'a key']) {
		for (let at = whole.indexOf(word); at >= 0; at = whole.indexOf(word, at + 1)) places.add(at + 2);
	}
	let refused = 0;
	for (const at of places) {
		rmSync(target, { recursive: true, force: true });
		const bytes = Buffer.from(whole);
		bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
		writeFileSync(spoilt, bytes);
		try {
			restore(spoilt, target, log);
		} catch (error) {
			expect((error as Error).name, `byte ${at}: ${String(error)}`).toBe('BackupError');
			expect(readdirSync(root).sort()).toEqual(before.filter((name) => name !== 'target'));
			refused++;
			continue;
		}
		expect(treeOf(target).sort(), `byte ${at}`).toEqual(expected);
	}
	// The rest of a page is unused.
	expect(refused).toBeGreaterThan(places.size / 4);
}, 120_000);

test('F14: the backup of an older version is restored, and it is said that nobody can tell whether all is there', async () => {
	const old = gunzipSync(await readFile(join(import.meta.dirname, '../../../../tests/fixtures/backups/1.backup.gz')));
	await writeFile(file, old);
	const target = join(root, 'restored');
	expect(restore(file, target, log)).toMatchObject({ files: 5, bytes: 2_508_203, isSealed: false });
	expect(await list(target)).toEqual([
		'app.sqlite',
		'secrets.key',
		'workspaces',
		'workspaces/c',
		'workspaces/c/deep',
		'workspaces/c/deep/run.sh',
		'workspaces/c/empty.txt',
		'workspaces/c/large.bin',
		'workspaces/empty'
	]);
	expect(await readFile(join(target, 'secrets.key'), 'utf8')).toBe('a key\n');
	expect((await readFile(join(target, 'workspaces/c/large.bin'))).equals(Buffer.alloc(2_500_000, 'large'))).toBe(true);
	expect((await lstat(join(target, 'workspaces/c/deep/run.sh'))).mode & 0o777).toBe(0o700);
	expect((await lstat(join(target, 'secrets.key'))).mtimeMs).toBe(1_700_000_000_000);
	const restored = new DatabaseSync(join(target, 'app.sqlite'), { readOnly: true });
	expect(restored.prepare('select path from skill_trash').get()).toEqual({ path: join(target, 'skills/a') });
	restored.close();
	tamper('alter table chunks rename to others; create view chunks as select * from others');
	expect(() => restore(file, join(root, 'again'), log)).toThrow('its tables aren’t those of a backup');
});

describe.skipIf(process.platform !== 'linux')(
	'F14: nothing that a script can make stops a backup or its restore',
	() => {
		const target = () => join(root, 'restored');
		const workspace = () => join(dataDir, 'workspaces/c');
		const bytesOf = (folder: string, name: Uint8Array) => Buffer.concat([Buffer.from(`${folder}/`), name]);

		test('names that are no UTF-8 are what they were', () => {
			const names = [Buffer.from([0x61, 0xff]), Buffer.from('a\ufffd'), Buffer.from('\n\u202e"\\')];
			for (const [index, name] of names.entries()) writeFileSync(bytesOf(workspace(), name), String(index));
			mkdirSync(bytesOf(workspace(), Buffer.from([0xfe])));
			writeFileSync(bytesOf(workspace(), Buffer.from([0xfe, 0x2f, 0xfd])), 'inside');
			expect(backUp(dataDir, file).leftOut.count).toBe(0);
			expect(restore(file, target(), log).leftOut.count).toBe(0);
			const there = join(target(), 'workspaces/c');
			expect(names.map((name) => readFileSync(bytesOf(there, name), 'utf8'))).toEqual(['0', '1', '2']);
			expect(readFileSync(bytesOf(there, Buffer.from([0xfe, 0x2f, 0xfd])), 'utf8')).toBe('inside');
		});

		/** Creates nested folders by entering each, like a script would, with a file in the last. */
		function nest(levels: number, name: string): void {
			const open = (path: string) => openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
			let folder = open(workspace());
			for (let level = 0; level < levels; level++) {
				mkdirSync(`/proc/self/fd/${folder}/${name}`);
				const next = open(`/proc/self/fd/${folder}/${name}`);
				closeSync(folder);
				folder = next;
			}
			writeFileSync(`/proc/self/fd/${folder}/last.txt`, 'deep');
			closeSync(folder);
		}

		test('a path that is longer than the system takes one is there again', () => {
			nest(40, 'd'.repeat(250));
			expect(backUp(dataDir, file)).toMatchObject({ files: 5, leftOut: { count: 0 } });
			expect(restore(file, target(), log)).toMatchObject({ files: 5, leftOut: { count: 0 } });
			const again = join(root, 'again.backup');
			expect(backUp(target(), again)).toMatchObject({ files: 5, leftOut: { count: 0 } });
			const paths = (place: string) => {
				const database = new DatabaseSync(place, { readOnly: true });
				return database.prepare('select hex(path) as path, sha256 from files where id > 1 order by path').all();
			};
			expect(paths(again)).toEqual(paths(file));
			for (const folder of [dataDir, target()]) rmSync(folder, { recursive: true });
		});

		test('folders in more than 64 others are left out, and named on one short line', () => {
			nest(80, '\u001b[31m');
			const { leftOut } = backUp(dataDir, file);
			expect(leftOut).toMatchObject({ count: 1, named: [{ reason: 'a folder nested more than 64 levels deep' }] });
			expect(leftOut.named[0]?.path).toMatch(/^"workspaces\/c\/⟨U\+001B⟩\[31m\P{Cc}{1,2000} … \P{Cc}+"$/u);
			expect(restore(file, target(), log)).toMatchObject({ files: 4, leftOut: { count: 0 } });
		});

		test('of very many things that are no files the first are named, and all counted', () => {
			for (let number = 0; number < 150; number++) symlinkSync('/etc/passwd', join(workspace(), `link-${number}`));
			const { leftOut } = backUp(dataDir, file);
			expect(leftOut).toMatchObject({ count: 150, named: { length: 100 } });
		});

		test('a file of holes takes no room, and a time of no calendar is the last one there is', () => {
			const holes = join(workspace(), 'holes.bin');
			writeFileSync(holes, 'begin');
			truncateSync(holes, 300_000_000);
			const end = openSync(holes, 'r+');
			writeSync(end, 'end', 150_000_000);
			closeSync(end);
			utimesSync(holes, 1e13, 1e13);
			expect(backUp(dataDir, file)).toMatchObject({ files: 5 });
			expect(lstatSync(file).size).toBeLessThan(10_000_000);
			restore(file, target(), log);
			const [was, is] = [dataDir, target()].map((folder) => lstatSync(join(folder, 'workspaces/c/holes.bin')));
			expect(is?.size).toBe(300_000_000);
			expect(is?.blocks).toBeLessThan(10_000);
			// Some file systems keep times that no calendar has.
			expect(is?.mtimeMs).toBe(Math.min(was?.mtimeMs ?? 0, 8.64e15));
			const restored = openSync(join(target(), 'workspaces/c/holes.bin'), 'r');
			const pieces = [0, 150_000_000, 299_999_990].map((position) => {
				const piece = Buffer.alloc(5, 'x');
				return piece.toString('utf8', 0, readSync(restored, piece, 0, 5, position));
			});
			closeSync(restored);
			expect(pieces).toEqual(['begin', 'end\0\0', '\0\0\0\0\0']);
		});

		test('a file that a program holds with a lease is left out, and named', async () => {
			const lease = `open my $file, '<', $ARGV[0] or die; $SIG{IO} = 'IGNORE'; fcntl($file, 1024, 1) or die "no lease: $!";
			$| = 1; print "held\n"; <STDIN>`;
			const holder = spawn('perl', ['-e', lease, join(workspace(), 'large.bin')], {
				stdio: ['pipe', 'pipe', 'inherit']
			});
			await once(holder.stdout, 'data');
			const { leftOut } = backUp(dataDir, file);
			const ended = once(holder, 'exit');
			holder.stdin.end();
			await ended;
			expect(leftOut.named).toEqual([{ path: '"workspaces/c/large.bin"', reason: 'could not be opened: EAGAIN' }]);
			expect(restore(file, target(), log)).toMatchObject({ files: 3 });
		});

		test.skipIf(lacks('bubblewrap'))(
			'what its server may not read is left out, and named; its own key is not',
			async () => {
				const call = (path: string) =>
					`const { chmodSync } = await import('node:fs'); chmodSync(data + ${JSON.stringify(path)}, 0);
			message = backUp(data, file).leftOut.named`;
				for (const path of ['workspaces/c/deep', 'workspaces/c/deep/run.sh', 'workspaces/c']) {
					const message = [{ path: `"${path}"`, reason: 'could not be opened: EACCES' }];
					expect(await onDisk(50_000_000, call(`/${path}`))).toEqual({ message, left: ['data', 'file'] });
				}
				expect(await onDisk(50_000_000, call('/secrets.key'))).toMatchObject({
					message: expect.stringContaining('Run the backup as the user that runs the server') as string
				});
			},
			60_000
		);

		test('while a script swaps folders for links, and files for them, nothing of elsewhere comes into a backup', async () => {
			const outside = join(root, 'outside');
			mkdirSync(outside);
			for (let number = 0; number < 20; number++) writeFileSync(join(outside, `f${number}`), 'of elsewhere');
			for (let number = 0; number < 20; number++) {
				mkdirSync(join(workspace(), `d${number}`));
				for (let each = 0; each < 20; each++) writeFileSync(join(workspace(), `d${number}/f${each}`), 'of its own');
				symlinkSync(outside, join(workspace(), `l${number}`));
				writeFileSync(join(workspace(), `e${number}`), 'of its own');
				symlinkSync(join(outside, 'f1'), join(workspace(), `k${number}`));
			}
			const program = `import { renameSync } from 'node:fs';
			process.chdir(process.argv[1]);
			const swap = (a, b) => { renameSync(a, 'x'); renameSync(b, a); renameSync('x', b); };
			process.on('disconnect', () => process.exit());
			const go = () => {
				for (let n = 0; n < 20; n++) { swap('d' + n, 'l' + n); swap('e' + n, 'k' + n); }
				setImmediate(go);
			};
			process.send('ready');
			go();`;
			const swapper = spawn(process.execPath, ['--input-type=module', '--eval', program, workspace()], {
				stdio: ['ignore', 'ignore', 'inherit', 'ipc']
			});
			await once(swapper, 'message');
			try {
				for (let round = 0; round < 10; round++) {
					rmSync(file, { force: true });
					backUp(dataDir, file);
					expect((await readFile(file)).includes('of elsewhere')).toBe(false);
				}
				restore(file, target(), log);
			} finally {
				const ended = once(swapper, 'exit');
				swapper.disconnect();
				await ended;
			}
		}, 60_000);
	}
);

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

/** Runs the call on a disk of this size with a copy of the data folder; returns the result and what's left there. */
async function onDisk(bytes: number, call: string): Promise<unknown> {
	const dir = join(root, 'disk');
	await mkdir(dir, { recursive: true });
	const place = (name: string) => JSON.stringify(join(dir, name));
	const program = `
		import { cpSync, readdirSync } from 'node:fs';
		import { backUp } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'back-up.ts')))};
		import { restore } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'restore.ts')))};
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
	// First while copying the database, then while copying files.
	expect(await onDisk(data + size / 2 + 65_536, 'backUp(data, file)')).toEqual(full);
	expect(await onDisk(data + 1_500_000, 'backUp(data, file)')).toEqual(full);
	backUp(dataDir, file);
	expect(await onDisk(data + 1_500_000, `restore(${JSON.stringify(file)}, target, log)`)).toEqual(full);
});

describe('F14: what was cut off is done again', () => {
	/** Runs `npm run` and kills it once `isUnderWay`; if it finished before that, `undo` and try again. */
	async function cutOff(
		command: 'backup' | 'restore',
		folder: string,
		{ isUnderWay, undo }: { isUnderWay: () => Promise<boolean>; undo: () => Promise<void> }
	) {
		for (let attempt = 1; ; attempt++) {
			const child = start(command, folder);
			const ended = once(child, 'exit');
			while (child.exitCode === null && !(await isUnderWay())) await new Promise(setImmediate);
			child.kill('SIGKILL');
			// It may have finished before the signal arrived.
			if ((await ended)[1] === 'SIGKILL' && (await isUnderWay())) return;
			expect(attempt).toBeLessThan(20);
			await undo();
		}
	}
	const program = join(import.meta.dirname, '../cli/backup.ts');
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
	/** Without the files SQLite adds when a database is read. */
	const listKept = async () => (await list(dataDir)).filter((path) => !path.startsWith('app.sqlite-'));
	// Large enough to catch the copy in progress; all zeros, so it takes no disk space here.
	beforeEach(() => truncate(join(dataDir, 'workspaces/c/large.bin'), 300_000_000));

	test('a restore that was killed has left no data folder that a server would start with; the next one is whole, and nothing else is left', async () => {
		backUp(dataDir, file);
		const target = join(root, 'new/data');
		await mkdir(join(root, 'new'));
		await writeFile(join(root, 'new/data.restore-mine'), 'kept');
		await cutOff('restore', target, {
			isUnderWay: async () => (await isIn(join(root, 'new'), 'data.restore-')) && (await hasFile(target)),
			undo: () => rm(target, { recursive: true })
		});
		expect((await readdir(target)).filter((name) => !name.startsWith('server.'))).toEqual([]);
		expect(await isIn(join(root, 'new'), 'data.restore-')).toBe(true);

		expect(await finish('restore', target)).toEqual({ code: 0, said: '' });
		expect(await readdir(join(root, 'new'))).toEqual(['data', 'data.restore-mine']);
		expect(await list(target)).toEqual(await listKept());
		expect((await lstat(join(target, 'workspaces/c/large.bin'))).size).toBe(300_000_000);
		openDataFolder(target, log).close();
	});

	/** The restore has started writing; it may end, and take its folder away, between the two looks. */
	async function hasFile(target: string): Promise<boolean> {
		const [name] = (await readdir(join(target, '..'))).filter((each) => /restore-[0-9a-f]{12}$/.test(each));
		const files = name === undefined ? [] : await readdir(join(target, '..', name)).catch(() => []);
		return files.includes('app.sqlite');
	}

	test('a backup that was killed has left none; the next one says what to remove, and is whole then', async () => {
		await cutOff('backup', dataDir, { isUnderWay: () => isIn(root, '.partial'), undo: () => rm(file) });
		expect(await isIn(root, 'today.backup.partial')).toBe(true);
		expect(await readdir(root)).not.toContain('today.backup');
		const { code, said } = await finish('backup', dataDir);
		expect(code).toBe(1);
		expect(said).toContain(`${file}.partial already exists: another backup is running or was interrupted`);
		await rm(`${file}.partial`);
		expect(await finish('backup', dataDir)).toEqual({ code: 0, said: '' });
		expect(await readdir(root)).toEqual(['data', 'today.backup']);
		const target = join(root, 'restored');
		restore(file, target, log);
		expect(await list(target)).toEqual(await listKept());
	});
});
