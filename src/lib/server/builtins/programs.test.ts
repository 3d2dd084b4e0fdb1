import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sharedFolder } from '../../../../tests/support/folder.ts';
import { openProxy } from '../network/proxy.ts';
import { createSafeFetch } from '../network/safe-fetch.ts';
import { createBubblewrapSandbox } from '../sandbox/bubblewrap.ts';
import { createLauncher } from '../sandbox/launch/launch.ts';
import { createProcessSandbox } from '../sandbox/process.ts';
import { DEFAULT_LIMITS, type Sandbox } from '../sandbox/sandbox.ts';
import type { Builtin, BuiltinOutcome } from './builtin.ts';
import { createBuiltins, type BuiltinsOptions } from './builtins.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

// Some start a dozen programs.
vi.setConfig({ testTimeout: 60_000 });
const launcher = createLauncher();
// With a path set, bwrap is only needed once something runs; earlier refusals work without it.
const walls = createBubblewrapSandbox({ launcher, bwrap: lacks('bubblewrap') ? '/usr/bin/bwrap' : undefined });
const plain = createProcessSandbox({ launcher });
const home = sharedFolder();
let workspace: string;

beforeAll(() => {
	workspace = join(home, 'workspace');
});
afterAll(async () => {
	await Promise.all([walls.close(), plain.close()]);
	await launcher.close();
});

function builtins(sandbox: Sandbox, more: Partial<BuiltinsOptions> = {}): readonly Builtin[] {
	return createBuiltins({
		sandbox,
		hostSandbox: plain,
		limits: DEFAULT_LIMITS,
		settings: {
			timeoutMs: 10_000,
			maxOutputChars: 1000,
			maxFileBytes: 1_048_576,
			maxHttpBytes: 256_000,
			searchUrl: null,
			hasBrowser: false
		},
		network: null,
		fetch: createSafeFetch(),
		operatorFetch: createSafeFetch({ isAllowed: () => true }),
		openNetwork: (id) =>
			openProxy({
				socketPath: join(home, `${id}.sock`),
				allows: (host) => host !== 'forbidden.test',
				resolve: async () => ['127.0.0.1'],
				isAllowed: () => true
			}),
		...more
	});
}

const usual = builtins(walls);
let count = 0;

function named(name: string, sandbox: Sandbox = walls, more: Partial<BuiltinsOptions> = {}) {
	const isUsual = sandbox === walls && Object.keys(more).length === 0;
	const builtin = (isUsual ? usual : builtins(sandbox, more)).find((each) => each.name === name) as Builtin;
	return (args: Record<string, unknown>, signal = new AbortController().signal): Promise<BuiltinOutcome> => {
		count += 1;
		return builtin.run(args, { workspace, signal, executionId: `${name.replace('_', '-')}-${count}` });
	};
}

describe('D30: what is refused, and why', () => {
	test.each(['eval_code', 'execute_command'])(
		'%s where files are not isolated: not offered, and never run',
		async (name) => {
			const builtin = builtins(plain).find((each) => each.name === name) as Builtin;
			expect(builtin.unavailable()).toMatch(/“process”.*Install bubblewrap.*SKILLS_SANDBOX/);
			const marker = join(home, `${name}-ran`);
			const outcome = await named(
				name,
				plain
			)(
				name === 'eval_code'
					? { language: 'python', code: `open(${JSON.stringify(marker)}, "w")` }
					: { command: `touch ${marker}` }
			);
			expect(outcome).toMatchObject({ ok: false, error: 'SkillDisabled', message: builtin.unavailable() });
			await expect(readFile(marker)).rejects.toMatchObject({ code: 'ENOENT' });
		}
	);
	test.each([
		['an unknown language', 'eval_code', { language: 'ruby', code: 'puts 1' }],
		['no code', 'eval_code', { language: 'node', code: '' }],
		['more code than an argument holds', 'eval_code', { language: 'node', code: ' '.repeat(100_001) }],
		['more than 60 s', 'execute_command', { command: 'true', timeoutMs: 60_001 }],
		['a key that nobody knows', 'execute_command', { command: 'true', cwd: '/' }],
		['an image where there are no containers', 'execute_command', { command: 'true', image: 'alpine:3.20' }]
	])('%s', async (_, name, args) => {
		expect(await named(name)(args)).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});
	test('D34: an image that is not on the list', async () => {
		const sandboxOfImage = (image: string): Sandbox => {
			throw new Error(`The image “${image}” is not allowed here.`);
		};
		const call = named('execute_command', walls, { sandboxOfImage });
		expect(await call({ command: 'true', image: 'evil:1' })).toMatchObject({
			ok: false,
			error: 'InvalidArgs',
			message: 'The image “evil:1” is not allowed here.'
		});
	});
});

describe.skipIf(lacks('bubblewrap'))('D30, D12: what a program gives', () => {
	test.each([
		['node', 'console.log(6 * 7); console.error("note")'],
		['javascript', 'import("node:fs").then(() => { console.log(42); console.error("note") })'],
		['python', 'import sys\nprint(6 * 7)\nprint("note", file=sys.stderr)']
	])('%s: both streams, exit code, duration and the backend', async (language, code) => {
		const outcome = await named('eval_code')({ language, code });
		expect(outcome).toMatchObject({
			ok: true,
			value: {
				success: true,
				exitCode: 0,
				stdout: '42\n',
				stderr: 'note\n',
				output: '42\n\nnote\n',
				truncated: false,
				killed: false,
				timedOut: false,
				image: null,
				language: language === 'python' ? 'python' : 'node',
				sandbox: 'bubblewrap'
			},
			sandbox: 'bubblewrap',
			stdoutBytes: 3,
			stderrBytes: 5
		});
	});
	test('input comes by stdin, and code or a command that begins with a hyphen is no option', async () => {
		const code = 'import sys; print(sys.stdin.read().upper())';
		expect(await named('eval_code')({ language: 'python', code, input: 'abc' })).toMatchObject({
			value: { stdout: 'ABC\n' }
		});
		expect(await named('eval_code')({ language: 'node', code: '-console.log(1)' })).toMatchObject({
			value: { stdout: '1\n' }
		});
		expect(await named('execute_command')({ command: '--help' })).toMatchObject({
			ok: false,
			exitCode: 127,
			value: { stderr: expect.stringContaining('--help') }
		});
	});
	test('a failure keeps what was printed and says the exit code', async () => {
		expect(await named('execute_command')({ command: 'echo before; exit 3' })).toMatchObject({
			ok: false,
			error: 'ExecutionFailed',
			message: 'The command ended with exit code 3.',
			value: { success: false, exitCode: 3, stdout: 'before\n' }
		});
	});
	test('D34: output over the cap is a success with a mark', async () => {
		const outcome = await named('execute_command')({ command: 'yes | head -c 100000' });
		expect(outcome).toMatchObject({ ok: true, value: { truncated: true }, stdoutBytes: 100_000 });
		expect((outcome.value as { stdout: string }).stdout).toContain('[output truncated]');
	});
	test('D33: what takes too long is ended, and said to be', async () => {
		expect(await named('execute_command')({ command: 'sleep 60', timeoutMs: 200 })).toMatchObject({
			ok: false,
			error: 'ExecutionTimeout',
			hint: expect.stringContaining('timeoutMs'),
			value: { killed: true, timedOut: true }
		});
	});
	test('a call that is stopped ends the program', async () => {
		const stop = new AbortController();
		const running = named('execute_command')({ command: 'sleep 60' }, stop.signal);
		await expect.poll(() => walls.runningCount).toBe(1);
		stop.abort();
		expect(await running).toMatchObject({ ok: false, error: 'Cancelled' });
		expect(walls.runningCount).toBe(0);
	});
});

describe.skipIf(lacks('bubblewrap'))('D27, D30: one workspace for all of them', () => {
	test('what file_write wrote a program changes, and file_read reads', async () => {
		await named('file_write')({ path: 'data/a.txt', content: 'one\n' });
		expect(await named('execute_command')({ command: 'echo two >> data/a.txt' })).toMatchObject({
			ok: true,
			files: [{ path: 'data/a.txt', bytes: 8 }]
		});
		await named('file_write')({ path: 'data/a.txt', content: 'three\n', append: true });
		expect(await named('file_read')({ path: 'data/a.txt' })).toMatchObject({ value: { content: 'one\ntwo\nthree\n' } });
	});
	test('nothing else of this machine is there: neither its files nor the environment of the server', async () => {
		await writeFile(join(home, 'outside.txt'), 'outside');
		const command = `cat ${home}/outside.txt /etc/shadow; cat /proc/1/environ; env`;
		const { value } = await named('execute_command')({ command });
		const { stdout, stderr } = value as { stdout: string; stderr: string };
		for (const path of [`${home}/outside.txt`, '/etc/shadow']) expect(stderr).toContain(`cat: ${path}: `);
		expect(stdout).not.toContain('outside');
		expect(stdout).not.toContain('VITEST');
	});
});

describe.skipIf(lacks('bubblewrap'))('D35: a network needs the operator and the call', () => {
	test.each([null, false])('with the gate %s a call that asks is refused with what to set', async (network) => {
		const outcome = await named('execute_command', walls, { network })({ command: 'true', networkEnabled: true });
		expect(outcome).toMatchObject({ ok: false, error: 'SkillDisabled' });
		expect(outcome.hint).toContain('SKILLS_SANDBOX_NETWORK_ENABLED=true');
	});
	test('with both it leads through the proxy, and says what was refused; without the call there is none', async () => {
		const server = createServer((_, response) => response.end('from outside'));
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as AddressInfo;
		const code = (host: string) =>
			`import urllib.request\nprint(urllib.request.urlopen("http://${host}:${port}/", timeout=5).read().decode())`;
		const call = named('eval_code', walls, { network: true });
		const ask = (host: string, networkEnabled: boolean) =>
			call({ language: 'python', code: code(host), networkEnabled });
		expect(await ask('site.test', true)).toMatchObject({ ok: true, value: { stdout: 'from outside\n' } });
		expect(await ask('forbidden.test', true)).toMatchObject({
			ok: false,
			refused: [`forbidden.test:${port}`],
			value: { refused: [`forbidden.test:${port}`] }
		});
		expect(await ask('127.0.0.1', false)).toMatchObject({ ok: false, value: { stdout: '' } });
		server.close();
	});
});

describe.skipIf(lacks('bubblewrap'))('D36: the sandboxed way of file_read and file_write', () => {
	const inSandbox = { hybrid: { mode: 'sandbox' as const } };

	test('does the same, and says where it ran', async () => {
		const write = named('file_write', walls, inSandbox);
		const read = named('file_read', walls, inSandbox);
		const content = Buffer.from([0, 1, 255]).toString('base64');
		expect(await write({ path: 'in/b.bin', content, encoding: 'base64' })).toMatchObject({
			ok: true,
			value: { bytes: 3 },
			sandbox: 'bubblewrap'
		});
		expect(await write({ path: 'in/b.bin', content: 'x', append: true })).toMatchObject({ value: { bytes: 4 } });
		expect(await write({ path: 'in/b.bin', content: 'x', overwrite: false })).toMatchObject({ error: 'InvalidArgs' });
		expect(await read({ path: 'in/b.bin', encoding: 'base64' })).toMatchObject({
			value: { content: Buffer.from([0, 1, 255, 120]).toString('base64') },
			sandbox: 'bubblewrap'
		});
		const whole = 'x'.repeat(1_048_576);
		expect(await write({ path: 'whole', content: whole })).toMatchObject({ ok: true });
		expect(await read({ path: 'whole' })).toMatchObject({ value: { content: whole } });
		expect(await write({ path: 'whole', content: 'y', append: true })).toMatchObject({ ok: false });
		expect(await read({ path: 'missing' })).toMatchObject({ ok: false, error: 'FileNotFound' });
	});
	test('follows no link either', async () => {
		await mkdir(workspace, { recursive: true });
		await symlink('/etc/passwd', join(workspace, 'link'));
		await symlink('/etc', join(workspace, 'etc'));
		for (const path of ['link', 'etc/passwd', '../x', '.git/config']) {
			expect(await named('file_read', walls, inSandbox)({ path }), path).toMatchObject({ error: 'InvalidArgs' });
		}
	});
	test('is refused where there is no sandbox that isolates files', async () => {
		expect(await named('file_read', plain, inSandbox)({ path: 'a' })).toMatchObject({ error: 'SkillDisabled' });
	});
});
