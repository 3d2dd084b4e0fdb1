import { execFileSync } from 'node:child_process';
import {
	chmodSync,
	mkdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync
} from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
	BROWSER_LIMITS,
	createBubblewrapRig,
	lacksChromium,
	PRINT_PAGE,
	PRINTED,
	processesWith,
	type BubblewrapRig
} from '../../../../tests/support/bubblewrap-rig.ts';
import { createLauncher } from './launch/launch.ts';
import { createBubblewrapSandbox } from './bubblewrap.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

const MB = 1024 * 1024;
const isRoot = process.getuid?.() === 0;

let rig: BubblewrapRig;
beforeEach(() => {
	rig = createBubblewrapRig();
});
afterEach(async () => {
	await rig.close();
	vi.unstubAllEnvs();
});

describe.skipIf(lacks('bubblewrap'))('what is refused before anything starts', () => {
	test.each(['/', '/root', '/home', '/etc', '/var', '/proc', homedir(), '/home/somebody'])(
		'SANDBOX: a program that is to be shown the whole of %s is not started',
		async (path) => {
			const result = await rig.run('echo started', { runtime: [path] });
			expect(result).toMatchObject({ ended: 'spawn-failed', stdout: '', exitCode: null });
		}
	);
	test('SANDBOX: nor one that is shown a folder of the server, as runtime, skill, workspace or through a link', async () => {
		const data = join(rig.dir, 'data');
		mkdirSync(join(data, 'workspaces', 'a'), { recursive: true });
		symlinkSync(data, join(rig.dir, 'link'));
		symlinkSync('/', join(rig.dir, 'root'));
		const guarded = createBubblewrapRig({ hidden: [data, join(rig.dir, 'not-yet-there')] });
		for (const path of [data, rig.dir, join(rig.dir, 'link'), join(rig.dir, 'root')]) {
			const shown = /can’t be shared with a script/;
			const failed = { ended: 'spawn-failed', spawnError: expect.stringMatching(shown) as string };
			expect(await guarded.run('echo started', { runtime: [path] })).toMatchObject(failed);
			expect(await guarded.run('echo started', { folders: { workspace: path } })).toMatchObject(failed);
			const folders = { workspace: guarded.workspace, skill: path };
			expect(await guarded.run('echo started', { folders })).toMatchObject(failed);
		}
		const inside = { workspace: join(data, 'workspaces', 'a') };
		expect(await guarded.run('echo started', { folders: inside })).toMatchObject({ stdout: 'started\n' });
		await guarded.close();
	});
	test('SANDBOX: a NUL in a variable, argument or path is no way to options of bubblewrap', async () => {
		const smuggled = 'x\0--bind\0/\0/mnt';
		const failed = { ended: 'spawn-failed', spawnError: expect.stringContaining('NUL') as string };
		expect(await rig.run('ls /mnt', { env: { A: smuggled } })).toMatchObject(failed);
		expect(await rig.run('ls /mnt', { env: { [smuggled]: 'x' } })).toMatchObject(failed);
		expect(await rig.run('ls /mnt', { cwd: smuggled })).toMatchObject(failed);
		expect(await rig.run('ls /mnt', { args: ['-c', 'ls /mnt', smuggled] })).toMatchObject(failed);
		expect(await rig.run('ls /mnt', { runtime: [smuggled] })).toMatchObject(failed);
	});
	test('SANDBOX: variables, arguments and folders that look like options are none', async () => {
		const result = await rig.run('printf "%s " "$0" "$1" "$A"', {
			args: ['-c', 'printf "%s " "$0" "$1" "$A"', '--bind', '--'],
			env: { A: '--bind / /mnt' }
		});
		expect(result.stdout).toBe('--bind -- --bind / /mnt ');
	});
	test('D10: a folder or program that is not there is said so, and is not an exit code', async () => {
		expect(await rig.run('true', { folders: { workspace: join(rig.dir, 'none') } })).toMatchObject({
			ended: 'spawn-failed',
			spawnError: expect.stringContaining('ENOENT') as string
		});
		expect(await rig.run('', { file: '/usr/bin/no-such-program' })).toMatchObject({
			ended: 'spawn-failed',
			exitCode: null,
			spawnError: expect.stringContaining('/usr/bin/no-such-program') as string
		});
		expect(await rig.run('', { cwd: '/none' })).toMatchObject({ ended: 'spawn-failed', exitCode: null });
		const launcher = createLauncher();
		const missing = createBubblewrapSandbox({ launcher, bwrap: '/usr/bin/no-bwrap' });
		const command = { file: '/bin/true', args: [], env: {}, cwd: '/', timeoutMs: 5000, maxOutputBytes: 1000 };
		expect(await missing.run(command)).toMatchObject({ ended: 'spawn-failed', exitCode: null });
		await launcher.close();
	});
	test.runIf(isRoot)('SANDBOX pitfall 4: a skill that its user could not read is refused with what to do', async () => {
		chmodSync(rig.skill, 0o700);
		expect(await rig.run('cat /skill/SKILL.md')).toMatchObject({
			ended: 'spawn-failed',
			spawnError: expect.stringContaining('chmod -R o+rX') as string
		});
	});
});

describe.skipIf(lacks('bubblewrap'))('what a script sees', () => {
	test('SANDBOX pitfall 1: nothing of the server’s environment, not even in that of the first process', async () => {
		vi.stubEnv('OPENROUTER_API_KEY', 'sk-of-the-server');
		const script = `for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $f; done 2>/dev/null; env | sort; echo; id -u`;
		const { stdout } = await rig.run(script, { env: { ONLY: 'this' } });
		expect(stdout).toContain('ONLY=this');
		expect(stdout).not.toMatch(/sk-of|OPENROUTER|VITEST|NODE_|HOME=/);
	});
	test('SANDBOX pitfall 1: bubblewrap itself has an empty environment, and secrets are in no process list', async () => {
		vi.stubEnv('OPENROUTER_API_KEY', 'sk-of-the-server');
		const token = `token-${process.pid}-${Date.now()}`;
		const started = Promise.withResolvers<undefined>();
		const running = rig.run('', {
			args: ['-c', 'mkfifo go; echo ready; read line < go', token],
			env: { SECRET: 'secret-of-the-skill' },
			onOutput: () => started.resolve(undefined)
		});
		// The pipe keeps the script waiting while we look at it.
		await started.promise;
		const seen = processesWith(token);
		const outer = seen.filter(({ commandLine }) => commandLine.includes('--args'));
		await rig.sandbox.killAll();
		await running;
		expect(outer.length).toBeGreaterThanOrEqual(2);
		expect(outer.map(({ environment }) => environment).join('')).toBe('');
		expect(seen.map(({ commandLine }) => commandLine).join('')).not.toContain('secret-of-the-skill');
		expect(seen.map(({ environment }) => environment).join('')).not.toContain('sk-of-the-server');
	});
	test('SANDBOX: no processes but its own, and it can signal no others', async () => {
		const { stdout } = await rig.run(
			`sleep 60 & until grep -q sleep /proc/$!/comm; do :; done; for f in /proc/[0-9]*/comm; do read name < $f; echo $name; done; kill -9 ${process.pid} 2>&1`
		);
		expect(stdout).toMatch(/No such process/);
		expect(new Set(stdout.trim().split('\n').slice(0, -1))).toEqual(new Set(['bwrap', 'bash', 'sleep']));
	});
	test('SANDBOX: of the host’s files neither the server’s, nor /etc/shadow, nor other conversations’', async () => {
		writeFileSync(join(rig.dir, '.env'), 'KEY=1');
		const paths = [
			'/etc/shadow',
			'/etc/gshadow',
			'/etc/ssh',
			'/etc/ssl/private',
			'/root',
			'/home',
			'/var/log',
			'/var/tmp',
			'/sys',
			'/boot'
		];
		const script = `for path in ${paths.join(' ')} ${rig.dir} ${rig.dir}/.env ${import.meta.filename}; do
			[ -e "$path" ] && echo "$path is there"; done; ls /tmp; ls -A /`;
		const { stdout } = await rig.run(script);
		expect(stdout).not.toContain('is there');
		expect(
			stdout
				.trim()
				.split('\n')
				.filter((name) => !/^(bin|lib\w*|sbin|nix|var)$/.test(name))
		).toEqual(['dev', 'etc', 'proc', 'skill', 'tmp', 'usr', 'workspace']);
	});
	test('SANDBOX: the server’s folders stay covered where they lie in the system', async () => {
		const covered = createBubblewrapRig({ hidden: ['/usr/share/doc', '/usr/no-such-folder'] });
		const { stdout } = await covered.run('ls -A /usr/share/doc; touch /usr/share/doc/x 2>&1; ls /usr/share | head -1');
		expect(stdout).toMatch(/^touch: .*Read-only file system\n\w/);
		await covered.close();
	});
	test('SANDBOX: names are there for the user it is', async () => {
		const { stdout } = await rig.run(
			'id -un; id -gn; getent passwd | wc -l; cat /etc/hosts; [ -e /etc/resolv.conf ] || echo none'
		);
		expect(stdout).toMatch(/^skill\nskill\n3\n127\.0\.0\.1 localhost\n::1 localhost\nnone\n$/);
	});
	test.each([
		['a link in the folder', []],
		['links that lead over another folder', ['over/python3']]
	])('D6: Python starts from a virtual environment whose program is %s', async (_, between) => {
		const venv = join(rig.dir, 'venv');
		execFileSync('python3', ['-m', 'venv', '--without-pip', venv]);
		const file = join(venv, 'bin', 'python3');
		const home = realpathSync(file);
		rmSync(join(venv, 'bin', 'python'), { force: true });
		rmSync(file);
		const targets = [...between.map((path) => join(rig.dir, path)), home];
		[file, ...targets.slice(0, -1)].forEach((link, index) => {
			mkdirSync(join(link, '..'), { recursive: true });
			symlinkSync(targets[index] ?? '', link);
		});
		const runtime = [file, venv, join(home, '..', '..')];
		const args = ['-c', 'import json, sys; print(sys.prefix)'];
		expect(await rig.run('', { file, args, runtime })).toMatchObject({ stdout: `${venv}\n`, stderr: '', exitCode: 0 });
	});
	test.skipIf(lacksChromium)(
		'SANDBOX: a browser that asks for its limits prints a page of the script’s server',
		async () => {
			const roomy = createBubblewrapRig({ limits: BROWSER_LIMITS });
			const env = { PATH: '/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp' };
			expect(await roomy.python(PRINT_PAGE, { limits: BROWSER_LIMITS, env })).toMatchObject({ stdout: PRINTED });
			await roomy.close();
		}
	);
	test('SANDBOX pitfall 10: no capability, no way to new privileges, and the filter of system calls', async () => {
		const { stdout } = await rig.run(
			'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status; ls /proc/self/fd | wc -l'
		);
		const facts = Object.fromEntries(stdout.split('\n').map((line) => line.split(/:\s+/)));
		const none = '0000000000000000';
		expect(facts).toMatchObject({ CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none });
		expect(facts).toMatchObject({ NoNewPrivs: '1', Seccomp: process.arch === 'x64' ? '2' : '0' });
	});
});

describe.skipIf(lacks('bubblewrap'))('where a script may write', () => {
	test('SANDBOX: the skill can be read, and not changed in any way', async () => {
		const ways = [
			'touch /skill/x',
			'rm /skill/SKILL.md',
			'echo x > /skill/SKILL.md',
			'chmod 777 /skill',
			'mv /skill /gone'
		];
		const { stdout, stderr } = await rig.run(
			`cat /skill/SKILL.md; ${ways.map((way) => `${way} && echo done`).join('; ')}`
		);
		expect(stdout).toBe('the skill');
		expect(stderr.trim().split('\n')).toHaveLength(ways.length);
		expect(readFileSync(join(rig.skill, 'SKILL.md'), 'utf8')).toBe('the skill');
	});
	test('SANDBOX: the workspace can be written, also what the server has put there', async () => {
		mkdirSync(join(rig.workspace, 'uploads'));
		writeFileSync(join(rig.workspace, 'uploads', 'table.csv'), 'a,b');
		const result = await rig.run('echo c,d >> uploads/table.csv; mkdir -m 700 out; echo x > out/result; pwd');
		expect(result).toMatchObject({ stdout: '/workspace\n', stderr: '', exitCode: 0 });
		expect(readFileSync(join(rig.workspace, 'uploads', 'table.csv'), 'utf8')).toBe('a,bc,d\n');
		expect(readFileSync(join(rig.workspace, 'out', 'result'), 'utf8')).toBe('x\n');
		if (isRoot) expect(statSync(join(rig.workspace, 'out')).uid).toBeGreaterThanOrEqual(61_184);
	});
	test('SANDBOX: it is named by where it is inside', () => {
		expect(rig.sandbox.locate({ skill: rig.skill, workspace: rig.workspace })).toEqual({
			skill: '/skill',
			workspace: '/workspace'
		});
		expect(rig.sandbox.locate({ workspace: rig.workspace })).toEqual({ workspace: '/workspace' });
	});
	test('SANDBOX: nowhere else but /tmp and /dev/shm', async () => {
		const script = `for dir in / /usr /usr/bin /etc /dev /run /proc /proc/sys /etc/ssl/certs /var; do
			( echo x > $dir/x ) 2>/dev/null && echo "wrote $dir"; done; for dir in /tmp /dev/shm; do echo x > $dir/x && echo "$dir"; done`;
		expect((await rig.run(script)).stdout).toBe('/tmp\n/dev/shm\n');
	});
	test('SANDBOX pitfall 5: /tmp and /dev/shm are no larger than they are said to be', async () => {
		const script = `for dir in /tmp /dev/shm; do head -c 700000 /dev/zero > $dir/a && echo one
			head -c 700000 /dev/zero > $dir/b || echo full; done`;
		const { stdout } = await rig.run(script, { limits: { fileBytes: MB, memoryBytes: 2 * MB } });
		expect(stdout).toBe('one\nfull\none\nfull\n');
	});
	test('SANDBOX pitfall 2: the kernel’s core_pattern cannot be written, nor anything else under /proc/sys', async () => {
		const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
		const { stdout } = await rig.run(`echo '|/workspace/x' > /proc/sys/kernel/core_pattern && echo written
			grep ' /proc/sys ' /proc/mounts | cut -d' ' -f4 | cut -d, -f1; find /proc/sys -writable 2>/dev/null | head`);
		expect(stdout).toBe('ro\n');
		expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
	});
	test('D10: a script opens its own output again', async () => {
		const result = await rig.run('echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin', { input: 'in' });
		expect(result).toMatchObject({ stdout: 'out\nin', stderr: 'err\n', exitCode: 0 });
	});
});

describe.skipIf(lacks('bubblewrap'))('where a script may connect', () => {
	test('SANDBOX: not to 127.0.0.1 of the host, its abstract sockets, the metadata address or a name server', async () => {
		const server = createServer((socket) => socket.end('reached'));
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const name = `\0rig-${process.pid}`;
		const local = createServer((socket) => socket.end('reached'));
		await new Promise<void>((resolve) => local.listen(name, resolve));
		const program = `
import json, socket
def tried(family, address):
	try:
		s = socket.socket(family); s.settimeout(5); s.connect(address); return 'reached'
	except OSError as error: return type(error).__name__
print(json.dumps([
	tried(socket.AF_INET, ('127.0.0.1', ${(server.address() as AddressInfo).port})),
	tried(socket.AF_UNIX, ${JSON.stringify(name).replace('\\u0000', '\\0')}),
	tried(socket.AF_INET, ('169.254.169.254', 80)),
	tried(socket.AF_INET, ('9.9.9.9', 53)),
	tried(socket.AF_INET, ('example.com', 80))]))`;
		const { stdout, stderr } = await rig.python(program);
		expect(stderr).toBe('');
		expect(JSON.parse(stdout)).toEqual([
			'ConnectionRefusedError',
			'ConnectionRefusedError',
			'OSError',
			'OSError',
			'gaierror'
		]);
		server.close();
		local.close();
	});
	test('D35: with a proxy, to that and by that alone', async () => {
		const socket = join(rig.dir, 'proxy.sock');
		const asked: string[] = [];
		const proxy = createHttpServer((request, response) => {
			asked.push(request.url ?? '');
			response.end('by the proxy');
		});
		await new Promise<void>((resolve) => proxy.listen(socket, resolve));
		chmodSync(socket, 0o666);
		const program = `
import os, urllib.request
print(urllib.request.urlopen('http://a.test/page').read().decode(), os.environ['HTTP_PROXY'] == os.environ['https_proxy'])
try: urllib.request.build_opener(urllib.request.ProxyHandler({})).open('http://a.test/', timeout=5)
except OSError as error: print('refused')`;
		const result = await rig.python(program, { proxySocket: socket });
		expect(result).toMatchObject({ stdout: 'by the proxy True\nrefused\n', stderr: '', exitCode: 0 });
		expect(asked).toEqual(['http://a.test/page']);
		proxy.close();
	});
});
