/** What a malicious skill can do on one backend. Runs against every backend the machine has. */
import { randomInt, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { putFile } from '../support/folder.ts';
import { createNetworkAccess, type NetworkAccess } from '../../src/lib/server/network/network-access.ts';
import {
	DEFAULT_LIMITS,
	OUTPUT_TRUNCATED,
	type Sandbox,
	sharedMemoryBytes
} from '../../src/lib/server/sandbox/sandbox.ts';
import type { ExecutionEnd } from '../../src/lib/server/skills/run/execution-host.ts';
import { createSkillsProvider, type SkillsProvider } from '../../src/lib/server/skills/provider.ts';
import type { SkillExecutionResult } from '../../src/lib/server/skills/types.ts';
import { createWorkspaces } from '../../src/lib/server/workspaces.ts';
import { watchEventLoop, type LoopWatch } from './event-loop.ts';
import { HOSTILE } from './hostile-scripts.ts';
import { eventually } from '../support/eventually.ts';

/** Longest time the server may be blocked, in milliseconds. */
const LOOP_MS = 50;
/** In this process's environment, like an API key. */
const SECRET = `torture-${randomUUID()}`;

export interface TortureOptions {
	/** For each test, which closes it. */
	open(): Promise<Sandbox>;
	/** Is something it needs missing on this machine? */
	isMissing?: boolean;
	/** Do the tests run as root? */
	isRoot: boolean;
	/** Can the proxy be in the process of the tests? Default: true. */
	hasProxyHere?: boolean;
}

export function testTorture(
	name: string,
	{ open, isRoot, isMissing = false, hasProxyHere = true }: TortureOptions
): void {
	describe.skipIf(isMissing)(`${name}: a skill that means harm`, () => {
		let root: string;
		let workspace: string;
		let dataDir: string;
		let sandbox: Sandbox;
		let skills: SkillsProvider;
		let service: Server;
		let loop: LoopWatch;
		let connections = 0;
		let ends: ExecutionEnd[] = [];
		let network: ((port: number) => NetworkAccess) | null = null;
		/** A unique number of seconds to sleep: leftover processes are found by it. */
		let seconds: string;

		beforeAll(async () => {
			vi.stubEnv('TORTURE_SECRET', SECRET);
			service = createServer((_request, response) => response.end('secret service'));
			service.on('connection', () => (connections += 1));
			await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
		});
		afterAll(() => {
			vi.unstubAllEnvs();
			service.close();
		});
		beforeEach(async () => {
			root = await realpath(await mkdtemp(join(tmpdir(), 'torture-')));
			dataDir = join(root, 'data');
			workspace = join(dataDir, 'workspaces/c');
			seconds = `${randomInt(100_000, 999_999)}.${randomInt(1000, 9999)}`;
			connections = 0;
			ends = [];
			network = null;
			await put('.env', `OPENROUTER_API_KEY=${SECRET}\n`);
			await put('data/app.sqlite', `SQLite format 3 ${SECRET}`);
			await put('skills/other/SKILL.md', `---\nname: other\ndescription: Other.\n---\n${SECRET}\n`);
			const { port } = service.address() as AddressInfo;
			const declared = `metadata:\n  network: granted.example:${port} declared.example:${port}\n`;
			await put('skills/hostile/SKILL.md', `---\nname: hostile\ndescription: Means harm.\n${declared}---\n`);
			for (const [script, text] of Object.entries(HOSTILE)) await put(`skills/hostile/${script}`, text);
			sandbox = await open();
			skills = await createSkillsProvider(join(root, 'skills'), {
				cwd: workspace,
				sandbox,
				limits: DEFAULT_LIMITS,
				host: {
					openNetwork: (skill, id) => (network ? network(port).openNetwork(skill, id) : Promise.resolve(null)),
					recorder: {
						started: async () => {},
						running: async () => {},
						finished: async (_id, end) => void ends.push(end)
					}
				}
			});
			// The first run finds the interpreters and probes what works.
			expect(await run('hello.sh')).toMatchObject({ success: true, stdout: 'hello\n' });
			loop = watchEventLoop();
		});
		afterEach(async () => {
			const longest = loop.stop();
			const after = await run('hello.sh');
			await skills.close();
			await sandbox.close();
			await rm(root, { recursive: true, force: true });
			expect(after).toMatchObject({ success: true, stdout: 'hello\n' });
			expect(longest).toBeLessThan(LOOP_MS);
			expect(sandbox.runningCount).toBe(0);
			expect(await processesWith(seconds)).toEqual([]);
		});

		/** Names resolve to this machine's own address, which counts as public here. */
		const openAccess = (port: number): NetworkAccess =>
			createNetworkAccess({
				grants: { list: async () => [`granted.example:${port}`], replace: async () => {} },
				ownDir: dataDir,
				isEnabled: null,
				resolve: async () => ['127.0.0.1'],
				isAllowed: () => true
			});

		async function put(path: string, text: string): Promise<void> {
			await putFile(root, path, text);
		}
		async function run(script: string, args: string[] = [], timeoutMs = 30_000): Promise<SkillExecutionResult> {
			const call = { skill: 'hostile', script, args, timeout_ms: timeoutMs };
			return (await skills.handleToolCall('use_skill', call)) as SkillExecutionResult;
		}
		const shown = (result: SkillExecutionResult) => `${result.stdout}${result.stderr}`;

		test.each([
			['the server\u2019s .env', '.env'],
			['the server\u2019s database', 'data/app.sqlite'],
			['another skill', 'skills/other/SKILL.md']
		])('cannot read %s where files are isolated', async (_what, path) => {
			const result = await run('read.sh', [join(root, path)]);
			if (sandbox.isolation.files) expect(result).toMatchObject({ success: false, error: 'ExecutionFailed' });
			// `process` doesn't isolate files, and says so.
			expect(shown(result).includes(SECRET)).toBe(!sandbox.isolation.files);
		});

		test('has what an ordinary one needs: its own server, home, temporary files, shared memory, locale and time', async () => {
			vi.stubEnv('TZ', 'IST-5:30');
			const result = await run('ordinary.py').finally(() => vi.stubEnv('TZ', undefined));
			expect(result).toMatchObject({ success: true, files: [] });
			expect(JSON.parse(result.stdout)).toEqual({
				server: 501,
				isHomeTemporary: true,
				isWorkspace: false,
				encoding: 'UTF-8',
				zone: 5.5 * 3600,
				shared: sandbox.isolation.files ? 256 : (expect.any(Number) as number)
			});
			expect(await readdir(workspace)).toEqual([]);
		});
		test('cannot read /etc/shadow where files are isolated', async () => {
			const result = await run('read.sh', ['/etc/shadow']);
			expect(result.success).toBe(!sandbox.isolation.files && isRoot);
			if (sandbox.isolation.files) expect(result.stdout).toBe('');
		});

		test('sees nothing of the server\u2019s environment in its own; nor of other processes where they are isolated', async () => {
			const result = await run('environ.sh');
			const own = result.stdout.slice(result.stdout.lastIndexOf('SKILL_DIR='));
			expect(own).not.toContain(SECRET);
			if (sandbox.isolation.files) expect(shown(result)).not.toContain(SECRET);
		});

		test('reaches no service of this machine where the network is isolated', async () => {
			const { port } = service.address() as AddressInfo;
			const result = await run('connect.py', ['127.0.0.1', String(port)]);
			expect(result.success).toBe(true);
			expect(result.stdout).toMatch(sandbox.isolation.network ? /^refused/ : /^connected/);
			expect(connections).toBe(sandbox.isolation.network ? 0 : 1);
		});
		test('reaches neither names nor the address of cloud metadata where the network is isolated', async () => {
			if (!sandbox.isolation.network) return expect(sandbox.isolation.files).toBe(false);
			expect((await run('resolve.py', ['example.org'])).stdout).toMatch(/^refused/);
			expect((await run('connect.py', ['169.254.169.254', '80'])).stdout).toMatch(/^refused/);
		});

		if (hasProxyHere) {
			test('reaches what was granted through the proxy, and nothing else; what was refused is listed', async () => {
				const { port } = service.address() as AddressInfo;
				network = openAccess;
				const addresses = ['granted', 'declared', 'other'].map((name) => `http://${name}.example:${port}/`);
				const result = await run('fetch.py', addresses);
				expect(result).toMatchObject({ success: true, stdout: 'secret service\nrefused 403\nrefused 403\n' });
				expect(result.refused).toEqual([`declared.example:${port}`, `other.example:${port}`]);
				expect(ends.at(-1)?.refused).toEqual(result.refused);
				const direct = await run('connect.py', ['127.0.0.1', String(port)]);
				expect(direct.stdout).toMatch(sandbox.isolation.network ? /^refused/ : /^connected/);
			});
		}

		test('writes nowhere but into its workspace where files are isolated', async () => {
			for (const folder of [join(root, 'skills/hostile'), join(root, 'skills/other'), dataDir, root]) {
				const result = await run('write.sh', [folder]);
				expect(result.stdout).toBe(sandbox.isolation.files ? 'refused\n' : 'written\n');
				expect(await readdir(folder).then((names) => names.includes('harm.txt'))).toBe(!sandbox.isolation.files);
			}
			for (const folder of sandbox.isolation.files ? ['/usr', '/etc', '/proc/sys/kernel', '/', '/dev'] : [])
				expect((await run('write.sh', [folder])).stdout).toBe('refused\n');
			expect((await run('write.sh', ['.'])).files).toEqual([{ path: 'harm.txt', bytes: 5 }]);
		});

		test('starts no more processes than it may, where limits hold; all of them end with it', async () => {
			const result = await run('fork.py', [seconds], 8000);
			const started = Number(/started (\d+)/.exec(result.stdout)?.[1]);
			expect(started).toBeGreaterThan(0);
			// As root, the limit is shared by a chat's scripts and is four times as high.
			if (sandbox.isolation.limits) expect(started).toBeLessThan(DEFAULT_LIMITS.processes * 5);
			await run('fork.sh', [seconds], 3000);
		});

		test('is refused memory long before 10 GB', async () => {
			const python = await run('memory.py', [], 60_000);
			expect(shown(python)).not.toContain('held all');
			const node = await run('memory.mjs', [], 60_000);
			expect(node.success).toBe(false);
			expect(shown(node)).not.toContain('held all');
		});
		test('cannot fill shared memory where limits hold', async () => {
			const name = `torture-${seconds}`;
			const result = await run('shared-memory.sh', [name]);
			const bytes = Number(/size (\d+)/.exec(result.stdout)?.[1] ?? 0);
			if (sandbox.isolation.files) expect(bytes).toBeLessThanOrEqual(sharedMemoryBytes(DEFAULT_LIMITS));
			expect(await readdir('/dev/shm')).not.toContain(name);
		});
		test('writes no file larger than it may', async () => {
			const result = await run('big-file.py', [], 60_000);
			expect(shown(result)).not.toContain('written all');
			expect((await lstat(join(workspace, 'big'))).size).toBeLessThanOrEqual(DEFAULT_LIMITS.fileBytes);
		});

		test('may write 1 GB of output: it is a success, with its beginning, a marker and its end', async () => {
			const result = await run('output.sh', [], 120_000);
			expect(result).toMatchObject({ success: true, exitCode: 0, truncated: true });
			expect(result.stdout).toMatch(/^x{1000}/);
			expect(result.stdout).toContain(OUTPUT_TRUNCATED);
			expect(result.stdout).toMatch(/x\nthe end\n$/);
			expect(Buffer.byteLength(result.stdout)).toBeLessThan(30_000);
			expect(ends.at(-1)?.stdoutBytes).toBe(1024 ** 3 + 9);
		});
		test('is ended when its time is up, with what it said until then', async () => {
			const result = await run('sleep.sh', [seconds], 800);
			expect(result).toMatchObject({ success: false, error: 'ExecutionTimeout', stdout: 'waiting\n' });
			expect(ends.at(-1)?.status).toBe('timeout');
		});
		test('is ended though it ignores SIGTERM', async () => {
			const result = await run('stubborn.py', [seconds], 1500);
			expect(result).toMatchObject({ success: false, error: 'ExecutionTimeout', stdout: 'deaf\n' });
		});
		test('leaves no daemon behind, and the call does not wait for one', async () => {
			const result = await run('daemon.py', [seconds], 20_000);
			expect(result).toMatchObject({ success: true, stdout: 'left one behind\n' });
		});
		test('is a success though it closed its streams', async () => {
			expect(await run('closed.sh')).toMatchObject({ success: true, exitCode: 0, stdout: '', stderr: '' });
		});
		test('may write bytes that are no text: they are shown as replacements', async () => {
			const { stdout, success } = await run('bytes.py');
			expect(success).toBe(true);
			expect(stdout).toMatch(/\uFFFD.* ok .*\uFFFD.* end\n$/);
			expect(stdout.isWellFormed()).toBe(true);
		});
		test('is ended when it makes more files than a workspace may hold', async () => {
			const result = await run('files.py', [], 60_000);
			// From here on it's the test's own work, more than a server does.
			loop.stop();
			const made = await readdir(workspace);
			// The size is checked while it runs: a fast script may finish before the check.
			if (!result.success) expect(result).toMatchObject({ error: 'OutputTooLarge' });
			expect(result.files.length).toBeLessThanOrEqual(1000);
			expect(made.length).toBeGreaterThan(DEFAULT_LIMITS.workspaceFiles);
			// The next run is refused until there's space.
			expect(await run('sleep.sh', [seconds], 60_000)).toMatchObject({ success: false, error: 'OutputTooLarge' });
			// Otherwise the one after each test is refused, too, unless it ends before the check.
			rmSync(workspace, { recursive: true });
			await mkdir(workspace);
		});

		test('may plant links: nobody follows them', async () => {
			const result = await run('links.sh', [join(root, '.env'), dataDir]);
			expect(result.stdout).toBe('planted\n');
			expect(result.files).toEqual([{ path: 'mine.txt', bytes: 5 }]);
			const workspaces = createWorkspaces(dataDir);
			expect((await workspaces.list('c')).map(({ path }) => path)).toEqual(['mine.txt']);
			for (const path of ['leak', 'leaks/app.sqlite', 'passwd', 'pipe'])
				await expect(workspaces.read('c', path)).rejects.toMatchObject({ name: 'AppError' });
			// The next run doesn't change the links' targets either.
			await run('hello.sh');
			expect(await readFile(join(root, '.env'), 'utf8')).toContain(SECRET);
			expect((await lstat(join(root, '.env'))).uid).toBe(process.getuid?.());
		});

		test('has no privileges and no kernel settings where files are isolated', async () => {
			// Without file isolation it might have them, so it isn't tried.
			if (!sandbox.isolation.files) return expect(sandbox.name).toBe('process');
			const { success, stdout } = await run('privileges.py');
			expect(success).toBe(true);
			// Podman's seccomp filter lets a container create namespaces of its own.
			expect(sandbox.name === 'container' ? stdout.replace("'unshare'", '') : stdout).toBe('could []\n');
		});
		test('is handed nothing but its three streams', async () => {
			const { stdout } = await run('descriptors.py');
			// Nothing in between can close descriptors that this process inherited without close-on-exec.
			const allowed = [0, 1, 2, ...(sandbox.name === 'container' ? [] : await inheritable())];
			expect(stdout).toBe(`open [${allowed.join(', ')}]\n`);
		});
		test('kills nobody but itself where processes are isolated', async () => {
			if (!sandbox.isolation.processes) return expect(sandbox.name).toBe('process');
			await run('kill-all.py', [], 5000);
			expect(service.listening).toBe(true);
		});

		test('kill(id), killAll and the count of what runs', async () => {
			const running = run('sleep.sh', [seconds], 60_000);
			await eventually(() => expect(sandbox.runningCount).toBe(1));
			await sandbox.killAll();
			expect(await running).toMatchObject({ success: false, error: 'Cancelled' });
		});
	});
}

/** Descriptors that this process passes on to its children. */
async function inheritable(): Promise<number[]> {
	const CLOSED_ON_EXEC = 0o2000000;
	const found: number[] = [];
	for (const fd of (await readdir('/proc/self/fdinfo')).map(Number).sort((a, b) => a - b)) {
		const info = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '');
		const flags = Number.parseInt(/flags:\s*(\d+)/.exec(info)?.[1] ?? '2000000', 8);
		if (fd > 2 && (flags & CLOSED_ON_EXEC) === 0) found.push(fd);
	}
	return found;
}

/** Command lines of processes that contain this text. */
async function processesWith(text: string): Promise<string[]> {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
	return lines.filter((line) => line.includes(text)).map((line) => line.replaceAll('\0', ' '));
}
