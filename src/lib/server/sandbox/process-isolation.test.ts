import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import {
	BROWSER_LIMITS,
	lacksChromium,
	launcherAs,
	PRINT_PAGE,
	PRINTED
} from '../../../../tests/support/bubblewrap-rig.ts';
import { createLauncher } from './launch/launch.ts';
import type { Launcher } from './launch/launcher.ts';
import { createProcessSandbox } from './process.ts';
import type { Sandbox, SandboxCommand } from './sandbox.ts';

const cwd = emptyFolder();
let sandbox: Sandbox;
beforeEach(() => {
	sandbox = createProcessSandbox();
});
afterEach(async () => {
	await sandbox.close();
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

/** A script that starts a server, waits for its port and asks it, as many skills do to test a page. */
const SERVES = `
import http.server, threading, urllib.request
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen('http://localhost:%d/' % server.server_port).status)
server.shutdown()`;

/** Each is one that a server may run as. */
const USERS: [string, number][] =
	process.getuid?.() === 0
		? [
				['root', 0],
				['another user', 1234]
			]
		: [['this user', process.getuid?.() ?? 0]];

describe.each(USERS)('a server of %s', (_, uid) => {
	let launcher: Launcher;
	beforeEach(async () => {
		await sandbox.close();
		const own = createLauncher();
		launcher = uid === process.getuid?.() ? own : launcherAs(own, { uid, gid: uid });
		vi.spyOn(process, 'getuid').mockReturnValue(uid);
		sandbox = createProcessSandbox({ launcher, limits: BROWSER_LIMITS });
	});
	afterEach(async () => {
		vi.restoreAllMocks();
		await launcher.close();
	});

	test('SANDBOX, process: a script reaches the server that it started itself', async () => {
		expect(await run('/usr/bin/python3', ['-c', SERVES], { cwd: '/' })).toMatchObject({ stdout: '200\n', exitCode: 0 });
	});

	test.skipIf(lacksChromium)(
		'SANDBOX, process: a browser that asks for its limits prints a page of the script’s server',
		async () => {
			await chown(cwd, uid, uid);
			const home = await mkdtemp(join(tmpdir(), 'home-'));
			await chown(home, uid, uid);
			const env = { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home };
			const printed = await run('/usr/bin/python3', ['-c', PRINT_PAGE], { env, limits: BROWSER_LIMITS });
			expect(printed).toMatchObject({ stdout: PRINTED });
			await rm(home, { recursive: true });
		}
	);

	test('SANDBOX, process: 127.0.0.1 of this computer is out of reach, and so is every other network', async () => {
		let connections = 0;
		const server = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
		await new Promise((resolve) => server.once('listening', resolve));
		const { port } = server.address() as { port: number };
		const tryTo = (host: string) =>
			`require('node:net').connect(${port}, '${host}').on('connect', () => console.log('in')).on('error', (e) => console.log(e.code));`;
		const { stdout } = await run(process.execPath, ['--eval', tryTo('127.0.0.1') + tryTo('9.9.9.9')], { cwd: '/' });
		expect(stdout.split('\n').sort()).toEqual(['', 'ECONNREFUSED', 'ENETUNREACH']);
		expect((await shell('tail -n +3 /proc/net/dev | cut -d: -f1', { cwd: '/' })).stdout.trim()).toBe('lo');
		expect(connections).toBe(0);
		server.close();
	});

	test('SANDBOX, process: a script is the user that the server is, and gains no capability by its namespace', async () => {
		const { stdout } = await shell('id -u; grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status | cut -f2', { cwd: '/' });
		const [id, ...capabilities] = stdout.trim().split('\n');
		expect(id).toBe(String(uid));
		if (uid !== 0) expect(new Set(capabilities)).toEqual(new Set(['0000000000000000']));
	});
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
