import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { createProcessSandbox } from '../sandbox/process.ts';
import { DEFAULT_LIMITS } from '../sandbox/sandbox.ts';
import { createInterpreters } from '../skills/run/interpreters.ts';
import type { Builtin } from './builtin.ts';
import { createFileRead, createFileWrite, readWhole, workspaceOf, writeWhole } from './file-tools.ts';
import { createHybridExecutor } from './hybrid.ts';
import { createWorkspaceRooms } from '../workspace-rooms.ts';
import { createSandboxRunner } from './programs.ts';

const MAX_BYTES = 1_048_576;
const sandbox = createProcessSandbox();
const interpreters = createInterpreters({ host: sandbox, sandbox, path: process.env.PATH ?? '' });
const runner = createSandboxRunner({ sandbox, interpreters, limits: DEFAULT_LIMITS, network: null });
const options = { hybrid: createHybridExecutor(), runner, maxBytes: MAX_BYTES, timeoutMs: 10_000 };
const fileRead = createFileRead(options);
const fileWrite = createFileWrite({ ...options, rooms: createWorkspaceRooms() });

const home = emptyFolder();
let workspace: string;

beforeEach(async () => {
	workspace = join(home, 'workspace');
	await mkdir(workspace);
	await writeFile(join(home, 'outside.txt'), 'outside');
});

function call(builtin: Builtin, args: Record<string, unknown>) {
	return builtin.run(args, { workspace, signal: new AbortController().signal, executionId: 'e1' });
}

describe('D27: what is refused, by both, before anything is touched', () => {
	test.each([
		['an absolute path', '/etc/passwd'],
		['an absolute path of Windows', 'C:\\Windows\\win.ini'],
		['..', '../outside.txt'],
		['.. in the middle', 'a/../../outside.txt'],
		['.. behind a backslash', 'a\\..\\..\\outside.txt'],
		['.env', '.env'],
		['.env in capitals', 'a/.ENV'],
		['.env with a dot at its end', '.env.'],
		['.env with an invisible character', '.e\u200Bnv'],
		['.env in wide letters', '\uFF0Eenv'],
		['.env with a stream', '.env::$DATA'],
		['.git', '.git/config'],
		['.ssh', 'x/.Ssh/id_rsa'],
		['.omniroute', '.omniroute/x'],
		['.codex', '.codex'],
		['secrets', 'Secrets/token'],
		['a null character', 'a\0b'],
		['a line break', 'a\nb'],
		['an escape', 'a\u001Bb'],
		['the folder itself', '.'],
		['part of its path is empty', 'a//b'],
		['a name that is too long', 'a'.repeat(256)]
	])('%s', async (_, path) => {
		expect(await call(fileRead, { path })).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await call(fileWrite, { path, content: 'x' })).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await readdir(workspace)).toEqual([]);
	});

	test.each([
		['no path', {}],
		['a path that is no text', { path: 7 }],
		['an unknown encoding', { path: 'a', encoding: 'latin1' }],
		['a key that nobody knows', { path: 'a', mode: '777' }]
	])('%s', async (_, args) => {
		expect(await call(fileRead, args)).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await call(fileWrite, { content: 'x', ...args })).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});

	test('names that only look alike are names like any other', async () => {
		for (const path of ['.envelope', 'secrets.txt', 'git/.gitignore', '.env.example', '..a']) {
			expect(await call(fileWrite, { path, content: path })).toMatchObject({ ok: true });
			expect(await call(fileRead, { path })).toMatchObject({ ok: true, value: { content: path } });
		}
	});
});

describe('D27: what a script may have planted', () => {
	test('a link to a file outside is neither read nor written through', async () => {
		await symlink(join(home, 'outside.txt'), join(workspace, 'link'));
		expect(await call(fileRead, { path: 'link' })).toMatchObject({ ok: false, error: 'FileNotFound' });
		expect(await call(fileWrite, { path: 'link', content: 'x' })).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await readFile(join(home, 'outside.txt'), 'utf8')).toBe('outside');
	});
	test('a folder that is a link is no folder', async () => {
		await symlink(home, join(workspace, 'up'));
		expect(await call(fileRead, { path: 'up/outside.txt' })).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await call(fileWrite, { path: 'up/new.txt', content: 'x' })).toMatchObject({ ok: false });
		expect((await readdir(home)).sort()).toEqual(['outside.txt', 'workspace']);
	});
	test('a FIFO does not make them wait', async () => {
		execFileSync('mkfifo', [join(workspace, 'pipe')]);
		expect(await call(fileRead, { path: 'pipe' })).toMatchObject({ ok: false, error: 'FileNotFound' });
		expect(await call(fileWrite, { path: 'pipe', content: 'x' })).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await call(fileWrite, { path: 'pipe', content: 'x', append: true })).toMatchObject({ ok: false });
	});
	test('a folder is no file', async () => {
		await mkdir(join(workspace, 'folder'));
		expect(await call(fileRead, { path: 'folder' })).toMatchObject({ ok: false, error: 'FileNotFound' });
		expect(await call(fileWrite, { path: 'folder', content: 'x' })).toMatchObject({ ok: false });
		await writeFile(join(workspace, 'file'), '');
		expect(await call(fileWrite, { path: 'file/x', content: 'x' })).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});
});

describe('D27, D34: 1 MB', () => {
	test('is read and written; a byte more is neither', async () => {
		expect(fileRead.description).toContain('at most 1 MB.');
		const whole = 'x'.repeat(MAX_BYTES);
		expect(await call(fileWrite, { path: 'a', content: whole })).toMatchObject({
			ok: true,
			value: { bytes: MAX_BYTES }
		});
		expect(await call(fileRead, { path: 'a' })).toMatchObject({
			ok: true,
			value: { bytes: MAX_BYTES, content: whole }
		});
		expect(await call(fileWrite, { path: 'a', content: 'y', append: true })).toMatchObject({
			ok: false,
			message: `“a” would have ${MAX_BYTES + 1} bytes, but the limit is ${MAX_BYTES}.`
		});
		expect(await call(fileWrite, { path: 'b', content: `${whole}y` })).toMatchObject({ ok: false });
		await writeFile(join(workspace, 'c'), `${whole}y`);
		expect(await call(fileRead, { path: 'c' })).toMatchObject({ ok: false, error: 'OutputTooLarge' });
		expect((await readdir(workspace)).sort()).toEqual(['a', 'c']);
	});
});

describe('D27: encodings and flags', () => {
	test('bytes go in and come out as base64; text must be UTF-8', async () => {
		const content = Buffer.from([0, 255, 10, 13]).toString('base64');
		expect(await call(fileWrite, { path: 'a/b.bin', content, encoding: 'base64' })).toMatchObject({
			ok: true,
			value: { path: 'a/b.bin', bytes: 4 },
			files: [{ path: 'a/b.bin', bytes: 4 }],
			sandbox: 'direct'
		});
		expect(await call(fileRead, { path: 'a/b.bin', encoding: 'base64' })).toMatchObject({
			ok: true,
			value: { content }
		});
		expect(await call(fileRead, { path: 'a/b.bin' })).toMatchObject({
			ok: false,
			message: '“a/b.bin” isn’t UTF-8 text.',
			hint: 'Read it with encoding “base64”.'
		});
		expect(await call(fileWrite, { path: 'c', content: 'not base64!', encoding: 'base64' })).toMatchObject({
			ok: false
		});
	});
	test('append adds, overwrite: false leaves what is there', async () => {
		await call(fileWrite, { path: 'log', content: 'one\n' });
		await call(fileWrite, { path: 'log', content: 'two\n', append: true });
		expect(await call(fileWrite, { path: 'log', content: 'three', overwrite: false })).toMatchObject({
			ok: false,
			message: 'The file “log” already exists.'
		});
		expect(await readFile(join(workspace, 'log'), 'utf8')).toBe('one\ntwo\n');
		expect(await call(fileWrite, { path: 'new', content: '', append: true, overwrite: false })).toMatchObject({
			ok: true
		});
	});
	test('a file is replaced whole: who has it open still reads what was there', async () => {
		await writeFile(join(workspace, 'a'), 'old');
		const before = await stat(join(workspace, 'a'));
		await call(fileWrite, { path: 'a', content: 'new' });
		expect((await stat(join(workspace, 'a'))).ino).not.toBe(before.ino);
		expect(await readdir(workspace)).toEqual(['a']);
	});
	test('a missing file is said to be missing, in a folder that is not there yet as well', async () => {
		await rm(workspace, { recursive: true });
		expect(await call(fileRead, { path: 'a' })).toMatchObject({ ok: false, error: 'FileNotFound' });
		expect(await call(fileWrite, { path: 'a', content: 'x' })).toMatchObject({ ok: true });
	});
	test('a call that was stopped begins nothing: no file, no folder, then or later', async () => {
		const signal = AbortSignal.abort();
		const context = { workspace, signal, executionId: 'e1' };
		const args = { path: 'deep/a', content: 'x' };
		expect(await fileWrite.run(args, context)).toMatchObject({ ok: false, error: 'Cancelled' });
		await expect(writeWhole(workspace, Buffer.from('x'), { path: 'deep/a', maxBytes: MAX_BYTES, signal })).rejects.toBe(
			signal.reason
		);
		expect(await readdir(workspace)).toEqual([]);
	});
});

describe('E18: workspaces', () => {
	test('D27: the folder of an API key is named by the first 24 digits of its SHA-256', () => {
		const digest = createHash('sha256').update('key-1').digest('hex');
		expect(workspaceOf('/data', { apiKeyId: 'key-1' })).toBe(`/data/workspaces/key.${digest.slice(0, 24)}`);
	});
	test('who has no key has one a session, which no key can name', () => {
		const one = workspaceOf('/data', { sessionId: 's1' });
		expect(one).not.toBe(workspaceOf('/data', { sessionId: 's2' }));
		expect(one).not.toBe(workspaceOf('/data', { apiKeyId: 's1' }));
		expect(one).toMatch(/\/workspaces\/session\.[0-9a-f]{24}$/);
	});
});

test('D27: of a file that grows while it is read no more is taken than it had', async () => {
	// Its size is 0 but reading it returns bytes, like a file that grew in between.
	const file = await readFile('/proc/sys/kernel/ostype', 'utf8');
	expect(file).toBe('Linux\n');
	expect(await readWhole('/proc/sys/kernel', 'ostype', MAX_BYTES)).toHaveLength(0);
});
