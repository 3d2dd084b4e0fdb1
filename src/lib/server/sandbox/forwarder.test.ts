import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { openProxy, type Proxy } from '../network/proxy.ts';
import { wrapWithForwarder } from './forwarder.ts';
import { RAISE_LOOPBACK } from './process.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

/** Commands that start a program in its own network namespace. */
const NAMESPACES: [string, string[]][] = [
	['bubblewrap', ['bwrap', '--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--die-with-parent']],
	[
		'unshare',
		[
			'/usr/bin/unshare',
			'--user',
			'--map-root-user',
			'--net',
			'/bin/sh',
			'-c',
			`${RAISE_LOOPBACK.join('||')};exec "$@"`,
			'sh'
		]
	]
];
// Some tests start half a dozen Nodes in a row, on a machine that does other things too.
vi.setConfig({ testTimeout: 60_000 });
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' };

const folder = emptyFolder();
let server: Server;
let port: number;
let proxy: Proxy;

beforeEach(async () => {
	server = createServer((request, response) => response.end(`hello from ${request.headers.host}${request.url}`));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	({ port } = server.address() as AddressInfo);
	proxy = await openProxy({
		socketPath: join(folder, 'proxy.sock'),
		allows: (host, asked) => host === 'granted.example' && asked === port,
		resolve: () => Promise.resolve(['127.0.0.1']),
		isAllowed: () => true
	});
});
afterEach(async () => {
	await proxy.close();
	await new Promise((resolve) => server.close(resolve));
});

interface Ended {
	stdout: string;
	stderr: string;
	code: number | null;
	signal: NodeJS.Signals | null;
}

function start(command: string[], { prefix = [] as string[], passSignals = false, input = '' } = {}): ChildProcess {
	const [program = '', ...programArgs] = command;
	const { file, args, env } = wrapWithForwarder(
		{ file: program, args: programArgs, env: ENV },
		{ node: process.execPath, socket: proxy.socket, passSignals }
	);
	const [first = file, ...rest] = [...prefix, file, ...args];
	const child = spawn(first, rest, { env, stdio: 'pipe' });
	child.stdin.end(input);
	return child;
}

async function end(child: ChildProcess): Promise<Ended> {
	let stdout = '';
	let stderr = '';
	child.stdout?.on('data', (chunk) => (stdout += chunk));
	child.stderr?.on('data', (chunk) => (stderr += chunk));
	const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
	return { stdout, stderr, code, signal };
}

const run = (command: string[], options?: Parameters<typeof start>[1]) => end(start(command, options));

// Only Linux has network namespaces.
describe.skipIf(process.platform !== 'linux').each(NAMESPACES)('D35: without a network, in %s,', (name, prefix) => {
	const isMissing = name === 'bubblewrap' && lacks('bubblewrap');
	const clients: [string, (url: string) => string[]][] = [
		['curl', (url) => ['/usr/bin/curl', '--silent', '--show-error', '--max-time', '5', url]],
		[
			'python urllib',
			(url) => [
				'/usr/bin/python3',
				'-c',
				'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).read().decode())',
				url
			]
		],
		[
			'node fetch',
			(url) => [
				process.execPath,
				'--eval',
				'fetch(process.argv[1]).then(async (r) => { console.log(await r.text()); process.exit(r.ok ? 0 : 1) })',
				url
			]
		]
	];

	test.skipIf(isMissing).each(clients)(
		'%s reaches a granted host, is refused another, and has no way around',
		async (_, get) => {
			const granted = await run(get(`http://granted.example:${port}/path`), { prefix });
			expect(granted).toMatchObject({ code: 0, stderr: '' });
			expect(granted.stdout.trim()).toBe(`hello from granted.example:${port}/path`);

			const other = await run(get(`http://other.example:${port}/`), { prefix });
			expect(other.stdout + other.stderr).toMatch(/403|This skill has no access to other\.example/);
			expect(proxy.refused()).toEqual([`other.example:${port}`]);

			const around = await run(['/usr/bin/env', 'no_proxy=*', 'NO_PROXY=*', ...get(`http://127.0.0.1:${port}/`)], {
				prefix
			});
			expect(around.code).not.toBe(0);
			expect(around.stdout).not.toContain('hello');
		}
	);

	test.skipIf(isMissing)('https goes by CONNECT: a refused host is named', async () => {
		const { code, stderr } = await run(
			['/usr/bin/curl', '--silent', '--show-error', '--max-time', '5', 'https://secret.example/'],
			{ prefix }
		);
		expect([code, stderr]).toEqual([56, expect.stringContaining('403')]);
		expect(proxy.refused()).toEqual(['secret.example:443']);
	});

	test.skipIf(isMissing)('exit code, standard streams, folder and arguments are the program’s own', async () => {
		const script = 'read line; echo "$line|$1|$2|$(pwd)"; echo problem >&2; exit 7';
		const ended = await run(['/bin/sh', '-c', script, 'sh', '--eval', 'two words'], { prefix, input: 'typed\n' });
		expect(ended).toEqual({
			stdout: `typed|--eval|two words|${process.cwd()}\n`,
			stderr: 'problem\n',
			code: 7,
			signal: null
		});
	});
});

describe.skipIf(process.platform === 'win32')('D35: the forwarder', () => {
	test('a program that a signal ends is seen as ended by it', async () => {
		const ended = await run(['/bin/sh', '-c', 'kill -KILL $$']);
		expect(ended).toMatchObject({ code: null, signal: 'SIGKILL' });
		expect(await run(['/bin/sh', '-c', 'kill -TERM $$'])).toMatchObject({ signal: 'SIGTERM' });
	});

	test('SIGTERM reaches the program once, which may end in its own way', async () => {
		const child = start(['/bin/sh', '-c', 'trap "echo asked; exit 3" TERM; echo ready; while :; do sleep 0.05; done'], {
			passSignals: true
		});
		child.stdout?.once('data', () => child.kill('SIGTERM'));
		expect(await end(child)).toMatchObject({ code: 3, signal: null, stdout: 'ready\nasked\n' });
	});

	test('where the group is signalled the forwarder waits for the program, and passes nothing on', async () => {
		const child = start(['/bin/sh', '-c', 'trap "echo asked; exit 3" TERM; echo ready; read line; echo "$line"'], {
			input: ''
		});
		const ended = await end(child);
		expect(ended).toMatchObject({ code: 0, stdout: 'ready\n\n' });
		const waiting = spawnGroup('trap "echo asked; exit 3" TERM; echo ready; while :; do sleep 0.05; done');
		waiting.stdout?.once('data', () => process.kill(-waiting.pid!, 'SIGTERM'));
		expect(await end(waiting)).toMatchObject({ code: 3, stdout: 'ready\nasked\n' });
	});

	function spawnGroup(script: string): ChildProcess {
		const { file, args, env } = wrapWithForwarder(
			{ file: '/bin/sh', args: ['-c', script], env: ENV },
			{ node: process.execPath, socket: proxy.socket }
		);
		return spawn(file, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
	}

	test('a program that does not exist is 127 with a sentence', async () => {
		const { code, stderr } = await run(['/nowhere/program']);
		expect([code, stderr]).toEqual([127, '/nowhere/program could not be started: spawn /nowhere/program ENOENT\n']);
	});

	test('a proxy that is gone costs the connection, not the program', async () => {
		await proxy.close();
		const { code, stdout } = await run([
			'/bin/sh',
			'-c',
			`/usr/bin/curl --silent --max-time 5 http://granted.example:${port}/; echo "curl $?"`
		]);
		expect([code, stdout]).toEqual([0, expect.stringMatching(/^curl (52|56)\n$/)]);
	});

	test('NO_PROXY is empty, the proxy is told in every spelling, and the rest of the environment stays', async () => {
		const { stdout } = await run(['/usr/bin/env']);
		const variables = Object.fromEntries(stdout.split('\n').map((line) => line.split('=', 2)));
		const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string;
		expect(variables).toMatchObject({
			...ENV,
			...{ HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, http_proxy: url, https_proxy: url, all_proxy: url },
			...{ NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' }
		});
	});

	test.skipIf(process.platform !== 'linux').each(RAISE_LOOPBACK.filter((line) => /perl|sbin/.test(line)))(
		'loopback of a new namespace comes up by %s',
		async (up) => {
			const probe = `const s = require('net').createServer().listen(0, '127.0.0.1', () =>
				require('net').connect(s.address().port, '127.0.0.1', () => process.exit(0)).on('error', () => process.exit(9)))`;
			const namespace = (before: string) => [
				...['--user', '--map-root-user', '--net', '/bin/sh', '-c'],
				`${before} exec "$0" --eval "$1"`,
				...[process.execPath, probe]
			];
			expect(await end(spawn('/usr/bin/unshare', namespace('')))).toMatchObject({ code: 9 });
			expect(await end(spawn('/usr/bin/unshare', namespace(`${up};`)))).toMatchObject({ code: 0 });
		}
	);
});
