import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProcessSandbox } from './process.ts';
import type { Sandbox, SandboxCommand } from './sandbox.ts';

let cwd: string;
let sandbox: Sandbox;
beforeEach(async () => {
	cwd = await mkdtemp(join(tmpdir(), 'isolation-'));
	sandbox = createProcessSandbox();
});
afterEach(async () => {
	await sandbox.close();
	await rm(cwd, { recursive: true, force: true });
});
const run = (file: string, args: string[], more: Partial<SandboxCommand> = {}) =>
	sandbox.run({
		file,
		args,
		env: { PATH: process.env.PATH ?? '' },
		cwd,
		timeoutMs: 60_000,
		maxOutputBytes: 20_480,
		...more
	});
const shell = (script: string, more: Partial<SandboxCommand> = {}) => run('/bin/sh', ['-c', script], more);

test('SANDBOX, process: until it has tried it claims nothing; files are never isolated', async () => {
	expect(sandbox.isolation).toEqual({ files: false, network: false, processes: false, limits: false });
	await shell('exit');
	// Root's number of processes can't be limited.
	const limits = process.getuid?.() !== 0;
	expect(sandbox.isolation).toEqual({ files: false, network: true, processes: true, limits });
});

test('SANDBOX, process: a way that does not work on this machine is claimed by nobody', async () => {
	sandbox = createProcessSandbox({ ways: [] });
	expect(await shell('exit 3')).toMatchObject({ exitCode: 3 });
	expect(sandbox.isolation).toEqual({ files: false, network: false, processes: false, limits: false });
});

test('SANDBOX, process: 127.0.0.1 is out of reach', async () => {
	let connections = 0;
	const server = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
	await new Promise((resolve) => server.once('listening', resolve));
	const { port } = server.address() as { port: number };
	const code = `require('node:net').connect(${port}, '127.0.0.1').on('connect', () => console.log('in')).on('error', (e) => console.log(e.code))`;
	expect((await run(process.execPath, ['--eval', code])).stdout).toBe('ENETUNREACH\n');
	expect(connections).toBe(0);
	server.close();
});

test('SANDBOX, process: a script sees no process but its own, and so no environment of the server', async () => {
	const { stdout } = await shell(`ls /proc | grep -cE '^[0-9]+$'; tr '\\0' '\\n' < /proc/1/environ | grep -c VITEST`);
	expect(stdout).toMatch(/^[2-6]\n0\n$/);
});

test('SANDBOX, Limits: Node starts under them, with a worker as well', async () => {
	const code = `new (require('node:worker_threads').Worker)('console.log(6 * 7)', { eval: true })`;
	expect(await run(process.execPath, ['--eval', code])).toMatchObject({ exitCode: 0, stdout: '42\n' });
});

test('SANDBOX, Limits: of one file, of open files and of core dumps', async () => {
	const limits = { fileBytes: 4096, openFiles: 32 };
	const { stdout } = await shell('ulimit -n; ulimit -c; head -c 9000 /dev/zero > big; wc -c < big', { limits });
	expect(stdout).toBe('32\n0\n4096\n');
});

test('SANDBOX, Limits: what takes too much memory fails, and only that', async () => {
	const code = 'x = bytearray(1 << 30)\nprint("had it")';
	const python = await run('/usr/bin/python3', ['-c', code], { limits: { memoryBytes: 256 << 20 } });
	expect(python).toMatchObject({ exitCode: 1, stdout: '' });
	expect(python.stderr).toContain('MemoryError');
});
