import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { makeContainerImage, TEST_IMAGE } from '../../../../tests/support/container-image.ts';
import { OWNER_LABEL } from './container-arguments.ts';
import { findContainerRuntime, type ContainerRuntime } from './container-runtime.ts';
import { createContainerSandbox, type ContainerSandboxOptions } from './container.ts';
import { createLauncher } from './launch/launch.ts';
import type { Sandbox, SandboxCommand } from './sandbox.ts';
import { workspaceUid } from './workspace.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

// A container takes a third of a second to start, and seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const MB = 1024 * 1024;
const owner = `test-${randomUUID()}`;
const launcher = createLauncher();
let runtime: ContainerRuntime;
let sandbox: Sandbox;
const base = emptyFolder();
let folders: { workspace: string; skill: string };

const make = (options: Partial<ContainerSandboxOptions> = {}): Sandbox =>
	createContainerSandbox({ launcher, runtime, images: { one: TEST_IMAGE, allowed: [] }, owner, ...options });

beforeAll(async () => {
	const found = await findContainerRuntime('podman', { launcher, host: process.env });
	if (!found.runtime) throw new Error(found.reasons.join('\n'));
	({ runtime } = found);
	await makeContainerImage(runtime.file);
	sandbox = make();
});
afterAll(async () => {
	await sandbox.close();
	await launcher.close();
});
beforeEach(async () => {
	folders = { workspace: join(base, 'workspace'), skill: join(base, 'skill') };
	await mkdir(folders.workspace);
	await mkdir(folders.skill);
	await writeFile(join(folders.skill, 'SKILL.md'), 'the skill');
});
afterEach(async () => {
	await eventually(() => expect(containers()).toEqual([]));
});

/** Names of this test's containers in any state. */
function containers(): string[] {
	const args = ['ps', '--all', '--format', '{{.Names}}', '--filter', `label=${OWNER_LABEL}=${owner}`];
	return execFileSync(runtime.file, args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

function commandOf(script: string, options: Partial<SandboxCommand> = {}): SandboxCommand {
	return {
		file: 'sh',
		args: ['-c', script],
		env: {},
		cwd: '/workspace',
		folders,
		timeoutMs: 60_000,
		maxOutputBytes: 20_480,
		...options
	};
}

const run = (script: string, options: Partial<SandboxCommand> = {}, by = sandbox) => by.run(commandOf(script, options));

/** Starts a script and resolves once it printed `ready`. */
async function start(script: string, options: Partial<SandboxCommand> = {}) {
	const { promise: ready, resolve } = Promise.withResolvers<void>();
	let text = '';
	const ended = run(script, {
		...options,
		onOutput: (_stream, more) => {
			text += more;
			if (text.includes('ready')) resolve();
		}
	});
	await Promise.race([ready, ended.then(({ stderr, spawnError }) => Promise.reject(new Error(spawnError ?? stderr)))]);
	return { ended };
}

/** Ignores SIGTERM, and so do its children. */
const stubborn = `trap '' TERM; (trap '' TERM; sleep 987) & echo ready; sleep 987; sleep 987`;

describe.skipIf(lacks('containers'))('refusals', () => {
	test('D34: an image that is not on this machine is a result that says how to get it, and is not fetched', async () => {
		const result = await run('true', {}, make({ images: { one: 'localhost/not-there:1', allowed: [] } }));
		expect(result).toMatchObject({ ended: 'spawn-failed', exitCode: null, image: 'localhost/not-there:1' });
		expect(result.spawnError).toMatch(/isn’t on this computer\. Download it with: podman pull localhost\/not-there:1$/);
		const one = await run('true', {}, make({ images: { one: null, allowed: [] } }));
		expect(one.spawnError).toContain('podman pull docker.io/library/alpine:3.20');
	});
	test('D13: a program that the image lacks, a folder that is not there or cannot be mounted, are results', async () => {
		expect(await run('', { file: 'no-such-program' })).toMatchObject({
			ended: 'spawn-failed',
			spawnError: expect.stringContaining('doesn’t have this program') as string
		});
		for (const workspace of [join(base, 'gone'), join(base, 'a,readonly')])
			expect(await run('true', { folders: { workspace } })).toMatchObject({ ended: 'spawn-failed', exitCode: null });
	});
	test('D34: the exit codes by which a client speaks are the script’s own when the script ends with them', async () => {
		for (const exitCode of [125, 126, 127])
			expect(await run(`echo no >&2; exit ${exitCode}`)).toMatchObject({ ended: 'exit', exitCode, stderr: 'no\n' });
	});
	test('D35: an image without Node has no way to the network, and says so', async () => {
		const image = `localhost/empty-${randomUUID()}:latest`;
		const tar = join(base, 'empty.tar');
		execFileSync('tar', ['-cf', tar, '-C', folders.skill, '.']);
		execFileSync(runtime.file, ['import', tar, image], { stdio: 'ignore' });
		try {
			const proxySocket = join(base, 'proxy.sock');
			const result = await run('true', { proxySocket }, make({ images: { one: image, allowed: [] } }));
			expect(result).toMatchObject({ ended: 'spawn-failed', image });
			expect(result.spawnError).toContain(
				'has no Node.js, which network access needs. Choose an image with it in SKILLS_SANDBOX_IMAGE'
			);
		} finally {
			execFileSync(runtime.file, ['rmi', image], { stdio: 'ignore' });
		}
	});
});

describe.skipIf(lacks('containers'))('running', () => {
	test('D12: exit code, both streams and the image come back', async () => {
		expect(await run('echo out; echo err >&2; exit 42')).toMatchObject({
			exitCode: 42,
			ended: 'exit',
			stdout: 'out\n',
			stderr: 'err\n',
			image: TEST_IMAGE
		});
	});
	test('D22: text for standard input arrives whole; without it standard input is at its end', async () => {
		const input = 'äöü€'.repeat(100_000);
		expect((await run('wc -c', { input })).stdout.trim()).toBe(String(Buffer.byteLength(input)));
		expect(await run('cat; echo end')).toMatchObject({ exitCode: 0, stdout: 'end\n' });
	});
	test('D1: arguments reach the program as they are', async () => {
		const args = ['$HOME', '$(id)', '*', 'a b', '', '"', '--rm', '-e', '--', 'ä\n€'];
		const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
		const { stdout } = await run('', { file: 'node', args: ['--eval', program, '--', ...args] });
		expect(JSON.parse(stdout)).toEqual(args);
	});
	test('D30: node, python and a shell are there by name', async () => {
		const { programs } = sandbox;
		expect(programs).toEqual({ node: 'node', python: 'python3', shell: 'sh' });
		expect((await run('', { file: 'python3', args: ['-c', 'print(6 * 7)'] })).stdout).toBe('42\n');
		expect((await run('', { file: 'node', args: ['-p', '6 * 7'] })).stdout).toBe('42\n');
	});
	test('D17: a warm one answers with its input, and one that is discarded is gone', async () => {
		const program = commandOf('read line; echo "got $line"');
		const used = sandbox.prepare?.(program);
		const unused = sandbox.prepare?.(program);
		const result = await used?.run({ ...program, input: 'it\n' });
		expect(result).toMatchObject({ exitCode: 0, stdout: 'got it\n', image: TEST_IMAGE });
		unused?.discard();
	});
});

describe.skipIf(lacks('containers'))('D30: variables', () => {
	test('arrive in the container, and their values are in no argument list of the machine', async () => {
		const secret = `sk-${randomUUID()}`;
		const { ended } = await start('echo "$API_KEY"; echo ready; read line', {
			env: { API_KEY: secret },
			input: ''
		}).then(async (started) => {
			expect(commandLines().filter((line) => line.includes(secret))).toEqual([]);
			return started;
		});
		expect((await ended).stdout).toBe(`${secret}\nready\n`);
	});
	test('that would change the client, or have many lines, reach the script alone', async () => {
		const env = {
			CONTAINERS_CONF: '/no/such/file',
			CONTAINER_HOST: 'tcp://127.0.0.1:1',
			XDG_RUNTIME_DIR: '/nowhere',
			HOME: '/workspace',
			TWO: 'lines\nof text'
		};
		const program = `process.stdout.write(JSON.stringify(process.env))`;
		const { stdout } = await run('', { file: 'node', args: ['--eval', program], env });
		expect(JSON.parse(stdout)).toMatchObject(env);
	});
	test('of the server are not there, in the first process neither', async () => {
		vi.stubEnv('OPENROUTER_API_KEY', 'sk-of-the-server');
		const { stdout, exitCode } = await run('env; cat /proc/1/environ');
		vi.unstubAllEnvs();
		expect(exitCode).toBe(0);
		expect(stdout).not.toContain('sk-of-the-server');
		expect(stdout).toContain('PATH=/usr/local/sbin:');
	});
});

describe.skipIf(lacks('containers'))('ending', () => {
	test('D10: a time-out ends a script that ignores SIGTERM, and what it started', async () => {
		expect(await run(stubborn, { timeoutMs: 3000 })).toMatchObject({ ended: 'timeout' });
	});
	test('D10: SIGTERM reaches the script, which may still clean up', async () => {
		const stop = new AbortController();
		const { ended } = await start(`trap 'echo cleaned; exit 3' TERM; echo ready; sleep 987 & wait`, {
			signal: stop.signal
		});
		stop.abort();
		expect(await ended).toMatchObject({ ended: 'aborted', stdout: 'ready\ncleaned\n' });
	});
	test('D33: kill ends one at once, by its id', async () => {
		const { ended } = await start(stubborn, { id: 'kill-me' });
		expect([sandbox.isRunning('kill-me'), sandbox.runningCount]).toEqual([true, 1]);
		expect(sandbox.kill('kill-me')).toBe(true);
		expect(await ended).toMatchObject({ ended: 'killed', exitCode: null, signal: 'SIGKILL' });
		expect([sandbox.isRunning('kill-me'), sandbox.kill('kill-me'), sandbox.runningCount]).toEqual([false, false, 0]);
	});
	test('D33: kill finds one whose container is not there yet', async () => {
		const ended = run('sleep 987', { id: 'early' });
		expect(sandbox.kill('early')).toBe(true);
		expect(await ended).toMatchObject({ ended: 'killed' });
	});
	test('D33: killAll resolves when all are gone', async () => {
		const started = await Promise.all([start(stubborn), start('echo ready; sleep 987')]);
		expect(containers()).toHaveLength(2);
		await sandbox.killAll();
		for (const { ended } of started) expect(await ended).toMatchObject({ ended: 'killed' });
	});
	test('D10: a daemon ends with the call, and does not hold it up', async () => {
		expect(await run('setsid sleep 987 & echo done')).toMatchObject({ ended: 'exit', exitCode: 0, stdout: 'done\n' });
	});
});

describe.skipIf(lacks('containers'))('isolation', () => {
	test('D32: the script is not root, has no capability, gains none, and its system calls are filtered', async () => {
		const { stdout } = await run('id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status');
		expect(stdout.split(/\s+/)).toEqual([
			String(process.getuid?.() === 0 ? workspaceUid(folders.workspace) : process.getuid?.()),
			...['CapEff:', '0000000000000000', 'CapBnd:', '0000000000000000', 'NoNewPrivs:', '1', 'Seccomp:', '2', '']
		]);
	});
	test('D32: without a workspace it is not root either, and has one that is forgotten', async () => {
		const { stdout } = await run('id -u; touch x && ls', { folders: undefined });
		expect(stdout).toMatch(/^[1-9]\d*\nx\n$/);
	});
	test('D32: only the workspace and /tmp can be written, and nothing in /tmp can be started', async () => {
		const places = [
			'/',
			'/usr/bin/',
			'/etc/',
			'/run/',
			'/var/',
			'/skill/',
			'/proc/sys/kernel/',
			'/dev/',
			'/workspace/',
			'/tmp/'
		];
		const { stdout } = await run(`for p in ${places.join(' ')}; do touch "$p"x 2>/dev/null && echo "$p"; done; true`);
		expect(stdout).toBe('/workspace/\n/tmp/\n');
		expect(await run('cp /bin/true /tmp/t; /tmp/t')).toMatchObject({ exitCode: 126 });
	});
	test('D32: the skill is read, and what the script writes into the workspace is the server’s to read', async () => {
		await writeFile(join(folders.workspace, 'given.txt'), 'from the server');
		const script = 'cat /skill/SKILL.md given.txt; echo more >> given.txt; mkdir out; echo made > out/new.txt';
		expect(await run(script)).toMatchObject({ exitCode: 0, stdout: 'the skillfrom the server' });
		expect(readFileSync(join(folders.workspace, 'out/new.txt'), 'utf8')).toBe('made\n');
		expect(readFileSync(join(folders.workspace, 'given.txt'), 'utf8')).toBe('from the servermore\n');
		expect(statSync(join(folders.workspace, 'out/new.txt')).uid).toBe(statSync(folders.workspace).uid);
	});
	test('D32: the host’s files and processes are not there', async () => {
		const { stdout } = await run(`cat '${import.meta.filename}' /etc/shadow; ls '${base}'; ps -e -o args=`);
		expect(stdout).not.toContain('randomUUID');
		expect(stdout).not.toContain('root:');
		expect(stdout.split('\n').filter((line) => line && !/podman-init|docker-init|^sh -c|^ps -e/.test(line))).toEqual(
			[]
		);
	});
	test('D35: there is no network, not even this machine’s own', async () => {
		const server = createTcpServer((socket) => socket.destroy());
		await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
		const { port } = server.address() as AddressInfo;
		const program = `import socket
for host in ('127.0.0.1', '169.254.169.254', '192.0.2.1'):
    try: socket.create_connection((host, ${port}), 2); print('reached', host)
    except OSError as error: print('no')
try: socket.getaddrinfo('localhost.localdomain.test', 80); print('resolved')
except OSError: print('no')
print([name for _, name in socket.if_nameindex()])`;
		const { stdout } = await run('', { file: 'python3', args: ['-c', program] });
		server.close();
		expect(stdout).toBe(`no\nno\nno\nno\n['lo']\n`);
	});
	test('D35: the proxy’s socket is the one way out', async () => {
		const proxyFolder = join(base, 'proxy');
		const proxySocket = join(proxyFolder, 'socket');
		await mkdir(proxyFolder);
		const asked: string[] = [];
		const proxy = createServer((request, response) => {
			asked.push(request.url ?? '');
			response.end('by proxy');
		});
		await new Promise<void>((resolve) => proxy.listen(proxySocket, resolve));
		chmodSync(proxySocket, 0o666);
		const program = `import urllib.request; print(urllib.request.urlopen('http://example.test/a').read())`;
		const { stdout, stderr } = await run('', { file: 'python3', args: ['-c', program], proxySocket });
		proxy.close();
		expect({ stdout, stderr, asked }).toEqual({
			stdout: `b'by proxy'\n`,
			stderr: '',
			asked: ['http://example.test/a']
		});
	});
});

describe.skipIf(lacks('containers'))('limits', () => {
	test('D32: processes', async () => {
		const program = `import os, time
count = 0
try:
    while True:
        if os.fork() == 0: time.sleep(987)
        count += 1
except OSError as error: print(count, error.errno == 11)`;
		const { stdout } = await run('', { file: 'python3', args: ['-c', program], limits: { processes: 20 } });
		// The container's first process and python itself count toward the twenty.
		expect(stdout).toBe('18 True\n');
	});
	test('D32: memory, shared memory included', async () => {
		const limits = { memoryBytes: 64 * MB };
		const fill = `x = bytearray(b'x') * (200 * 1024 * 1024); print('has it')`;
		expect(await run('', { file: 'python3', args: ['-c', fill], limits })).toMatchObject({ exitCode: 137, stdout: '' });
		const share =
			'dd if=/dev/zero of=/tmp/a bs=1M count=60 && dd if=/dev/zero of=/dev/shm/b bs=1M count=60 && echo has it';
		expect((await run(share, { limits })).stdout).toBe('');
	});
	test('D32: size of a file, open files, no core', async () => {
		const { stdout } = await run(
			'ulimit -c; ulimit -n; ulimit -t; dd if=/dev/zero of=big bs=1M count=3 2>/dev/null; stat -c %s big',
			{ limits: { fileBytes: MB, openFiles: 50, cpuSeconds: 9 } }
		);
		expect(stdout.split('\n')).toEqual(['0', '50', '9', String(MB), '']);
	});
	test('D32: the strict profile has a tenth of a processor, 256 MB and 100 processes', async () => {
		const script = `cd /sys/fs/cgroup; cat cpu.max memory.max pids.max 2>/dev/null ||
			(cat cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us | tr '\\n' ' '; echo; cat memory/memory.limit_in_bytes pids/pids.max)`;
		const limits = { memoryBytes: 1024 * MB, processes: 500 };
		const most = { ...limits, fileBytes: MB, openFiles: 64, cpuSeconds: 60, workspaceBytes: MB, workspaceFiles: 10 };
		const { stdout } = await run(script, {}, make({ profile: 'strict', limits: most }));
		expect(stdout.trim().split(/\s+/)).toEqual(['10000', '100000', String(256 * MB), '100']);
	});
});

/** Command lines of all processes on this machine except this one. */
function commandLines(): string[] {
	return readdirSync('/proc').flatMap((name) => {
		if (!/^\d+$/.test(name)) return [];
		try {
			return [readFileSync(`/proc/${name}/cmdline`, 'utf8')];
		} catch {
			// It ended between the two reads.
			return [];
		}
	});
}
