import { randomInt } from 'node:crypto';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { processesWith } from '../../../../../tests/support/processes.ts';
import { removeFolder } from '../../foreign-folders.ts';
import { createLauncher } from './launch.ts';
import type { Launcher, LaunchLimits, LaunchSpec } from './launcher.ts';
import { createSpawner } from './spawner.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const entry = join(import.meta.dirname, 'runner.ts');
let cwd: string;
/** Only this test's `sleep` uses this number of seconds. */
let nap: string;
beforeEach(async () => {
	cwd = await mkdtemp(join(tmpdir(), 'launch-'));
	nap = `987.${randomInt(1e12)}`;
});
afterEach(async () => {
	for (const pid of processesWith(nap)) process.kill(pid, 'SIGKILL');
	await removeFolder(cwd);
});

const limits: LaunchLimits = { timeoutMs: 60_000, maxOutputBytes: 20_480 };
const shell = (script: string, more: Partial<LaunchSpec> = {}): LaunchSpec => ({
	file: '/bin/sh',
	args: ['-c', script],
	env: { PATH: process.env.PATH ?? '' },
	cwd,
	end: { kind: 'group' },
	...more
});

describe.each<[string, () => Launcher]>([
	['createLauncher', () => createLauncher()],
	['createSpawner', () => createSpawner({ entry })]
])('%s', (_name, create) => {
	const launcher = create();
	afterAll(() => launcher.close());
	const run = (script: string, more: Partial<LaunchSpec> = {}, input?: string, own: Partial<LaunchLimits> = {}) =>
		launcher.launch(shell(script, more), input === undefined ? 'closed' : 'given').begin({ ...limits, ...own }, input);

	test('SANDBOX, all backends: standard streams can be opened again, as those of a terminal can', async () => {
		const script = 'echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin; cat /proc/self/fd/0';
		expect(await run(script, {}, 'given\n')).toMatchObject({
			stdout: 'out\ngiven\ngiven\n',
			stderr: 'err\n',
			exitCode: 0
		});
	});
	test('SANDBOX, all backends: also by a script that runs as another user', async () => {
		const args = [
			'--reuid=65534',
			'--regid=65534',
			'--clear-groups',
			'/bin/sh',
			'-c',
			'echo x > /dev/stderr; cat /dev/stdin'
		];
		expect(await run('', { file: '/usr/bin/setpriv', args, cwd: '/' }, 'in')).toMatchObject({
			stdout: 'in',
			stderr: 'x\n'
		});
	});
	test('SANDBOX, all backends: closed standard output and error are no failure', async () => {
		expect(await run('exec >&- 2>&-; exit 3')).toMatchObject({ exitCode: 3, stdout: '', ended: 'exit' });
	});
	test('D11: bytes that are no text, and how many they were', async () => {
		expect(await run(`printf 'a\\377b'; printf '\\303' >&2`)).toMatchObject({
			stdout: 'a\uFFFDb',
			stderr: '\uFFFD',
			stdoutBytes: 3,
			stderrBytes: 1
		});
	});
	test('D11: 1 GB of output costs the host no memory, and is counted to the byte', async () => {
		const buffers = () => process.memoryUsage().arrayBuffers;
		const before = buffers();
		let most = 0;
		const sampler = setInterval(() => (most = Math.max(most, buffers() - before)), 10);
		const program = launcher.launch(shell('head -c 1073741824 /dev/zero'), 'closed');
		const result = await program.begin({ ...limits, maxKeptBytes: 1024 * 1024, redact: ['a-secret'] }, undefined);
		clearInterval(sampler);
		expect(result).toMatchObject({ exitCode: 0, stdoutTruncated: true, stdoutBytes: 1_073_741_824, stderrBytes: 0 });
		// Buffers are reused, and only the start and end of the output are kept.
		expect(most).toBeLessThan(8_000_000);
	}, 60_000);
	test('F3: what must not come out does not, live or in the end, also split over two writes', async () => {
		const live: string[] = [];
		const program = launcher.launch(shell(`printf 'a sec'; sleep 0.1; printf 'ret-word b'`), 'closed');
		const result = await program.begin({ ...limits, redact: ['secret-word'] }, undefined, (_stream, text) =>
			live.push(text)
		);
		expect(result).toMatchObject({ stdout: 'a [redacted] b', stdoutBytes: 15 });
		expect(live.join('')).toBe(result.stdout);
	});
	test('SANDBOX: data for the program comes at descriptors from 3 on, and is in no argument list', async () => {
		const data = (text: string) => ({ kind: 'data' as const, base64: Buffer.from(text).toString('base64') });
		const fds = [data('one'), { kind: 'info' as const }, data(`two${nap}`)];
		const result = await run(
			`cat <&3; echo '{"child-pid": 1}' >&4; cat <&5; ps -A -o args= | grep -c ${nap.slice(0, -1)}[${nap.slice(-1)}]`,
			{ fds }
		);
		expect(result.stdout).toBe(`onetwo${nap}0\n`);
	});
	test('SANDBOX, bubblewrap 7: SIGTERM goes to the process that was named, SIGKILL to the whole group', async () => {
		const script = `setsid sh -c 'trap "echo tidy; exit" TERM; echo up; while :; do sleep 0.02; done' & echo "{\\"child-pid\\": $!}" >&3; wait; sleep ${nap}`;
		const program = launcher.launch(shell(script, { fds: [{ kind: 'info' }], end: { kind: 'inner' } }), 'closed');
		const result = await program.begin(
			limits,
			undefined,
			(_stream, text) => text.includes('up') && program.end('aborted')
		);
		expect(result).toMatchObject({ ended: 'aborted', stdout: 'up\ntidy\n', signal: 'SIGKILL' });
		expect(processesWith(nap)).toEqual([]);
	});
	test('SANDBOX, containers: what cannot be signalled is ended by commands', async () => {
		const touch = (name: string) => ['/bin/sh', '-c', `echo > ${join(cwd, name)}`];
		const script = `trap '' TERM; echo up; until [ -e term ]; do sleep 0.02; done; echo asked; until [ -e kill ]; do sleep 0.02; done; sleep ${nap}`;
		const spec = shell(script, { end: { kind: 'commands', term: touch('term'), kill: touch('kill') } });
		const program = launcher.launch(spec, 'closed');
		const result = await program.begin(
			limits,
			undefined,
			(_stream, text) => text.includes('up') && program.end('aborted')
		);
		expect(result).toMatchObject({ ended: 'aborted', stdout: 'up\nasked\n', signal: 'SIGKILL' });
	});
	test('D33: what is killed ends at once, also while it tidies up', async () => {
		const program = launcher.launch(shell(`trap 'echo tidying' TERM; echo up; while :; do sleep 0.02; done`), 'closed');
		const result = await program.begin(limits, undefined, (_stream, text) => {
			if (text.includes('up')) program.end('aborted');
			if (text.includes('tidying')) program.end('killed');
		});
		expect(result).toMatchObject({ ended: 'aborted', signal: 'SIGKILL', stdout: 'up\ntidying\n' });
	});
	test('D33: what is killed ends at once, also when the script has gone and only what it started tidies up', async () => {
		const alone = 'while kill -0 $$; do sleep 0.02; done 2>&-; echo alone';
		const tidying = 'for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.1; done; echo tidied';
		const script = `trap 'exit 7' TERM; sh -c "trap : TERM; echo up; ${alone}; ${tidying}" & while :; do sleep 0.02; done`;
		const program = launcher.launch(shell(script), 'closed');
		const result = await program.begin(limits, undefined, (_stream, text) => {
			if (text.includes('up')) program.end('aborted');
			if (text.includes('alone')) program.end('killed');
		});
		// With its full grace period it would have cleaned up.
		expect(result).toMatchObject({ ended: 'aborted', exitCode: 7, stdout: 'up\nalone\n' });
	});
	test('D33: a workspace that grows beyond its size ends the script, by bytes and by files', async () => {
		const watch = { dir: cwd, maxBytes: 1_000_000, maxFiles: 50 };
		const bytes = await run(`head -c 3000000 /dev/zero > big; sleep ${nap}`, {}, undefined, { watch });
		expect(bytes).toMatchObject({ ended: 'quota', signal: 'SIGKILL' });
		const files = await run(
			`rm big; mkdir many; for i in $(seq 60); do : > many/$i; done; sleep ${nap}`,
			{},
			undefined,
			{ watch }
		);
		expect(files).toMatchObject({ ended: 'quota', signal: 'SIGKILL' });
	});
	test('D33: folders nested so deep that no path leads there end only the script whose they are', async () => {
		const nest = (levels: number) =>
			`exec python3 -c "import os, time
for each in range(${levels}): os.mkdir('d' * 250); os.chdir('d' * 250)
time.sleep(1.2 if ${levels} < 64 else ${nap})"`;
		const watch = { maxBytes: 1_000_000, maxFiles: 500 };
		for (const name of ['one', 'other']) await mkdir(join(cwd, name));
		const [deep, deeper, calm] = await Promise.all([
			run(nest(20), { cwd: join(cwd, 'one') }, undefined, { watch: { dir: join(cwd, 'one'), ...watch } }),
			run(nest(100), { cwd: join(cwd, 'other') }, undefined, { watch: { dir: join(cwd, 'other'), ...watch } }),
			run('sleep 2; echo calm')
		]);
		expect(deep).toMatchObject({ ended: 'exit', exitCode: 0 });
		expect(deeper).toMatchObject({ ended: 'quota', signal: 'SIGKILL' });
		expect(calm).toMatchObject({ ended: 'exit', stdout: 'calm\n' });
	});
	test('D33: links in the workspace are not followed when it is measured', async () => {
		const watch = { dir: cwd, maxBytes: 1_000_000, maxFiles: 50 };
		expect(await run('ln -s / root; ln -s . self; sleep 1.2', {}, undefined, { watch })).toMatchObject({
			ended: 'exit'
		});
	});
	test('D13: what cannot be started is a result', async () => {
		const result = await run('', { file: '/no/such/program' });
		expect(result).toMatchObject({ ended: 'spawn-failed', exitCode: null });
		expect(result.spawnError).toContain('ENOENT');
	});
	test('D20: a program that waits begins with its input, and does not outlive being given up', async () => {
		const waiting = launcher.launch(shell('read line; echo "got $line"'), 'open');
		expect(waiting.isAlive).toBe(true);
		expect(await waiting.begin(limits, 'a line\n')).toMatchObject({ stdout: 'got a line\n', exitCode: 0 });
		const unused = launcher.launch(shell(`sleep ${nap}; echo`), 'open');
		await eventually(() => expect(processesWith(nap)).not.toEqual([]));
		unused.end('killed');
		expect(unused.isAlive).toBe(false);
		await eventually(() => expect(processesWith(nap)).toEqual([]));
	});
	test('D20: of a program that ended while it waited, the host learns', async () => {
		const waiting = launcher.launch(shell('exit 5'), 'open');
		await eventually(() => expect(waiting.isAlive).toBe(false));
	});
	test('E30: fifty at once', async () => {
		const runs = Array.from({ length: 50 }, (_, index) => run(`echo ${index}; cat >&2`, {}, `in ${index}`));
		const results = await Promise.all(runs);
		expect(results.map(({ stdout, stderr }) => [stdout, stderr])).toEqual(
			results.map((_, index) => [`${index}\n`, `in ${index}`])
		);
	}, 30_000);
	test('D33: closing ends what runs and what waits', async () => {
		const own = create();
		own.launch(shell(`sleep ${nap}; echo`), 'open');
		const running = own.launch(shell(`sleep ${nap}`), 'closed').begin(limits, undefined);
		await eventually(() => expect(processesWith(`sleep ${nap}`).length).toBeGreaterThanOrEqual(2));
		await own.close();
		expect(await running).toMatchObject({ ended: 'killed' });
		await eventually(() => expect(processesWith(nap)).toEqual([]));
	});
	test('D33: what begins after closing never runs, and says so, whether it was launched before or afterwards', async () => {
		const own = create();
		const launch = (when: string) =>
			(['closed', 'given', 'open'] as const).map((stdin) =>
				own.launch(shell(`read go; echo ran > ${when}-${stdin}`), stdin)
			);
		const before = launch('before');
		await own.close();
		for (const program of [...before, ...launch('after')]) {
			expect(program.isAlive).toBe(false);
			expect(await program.begin(limits, 'go\n')).toMatchObject({ ended: 'killed', exitCode: null, stdout: '' });
		}
		expect(await readdir(cwd)).toEqual([]);
	});
});

test.each(['aborted', 'timeout'] as const)(
	'D10: what is deaf to SIGTERM is ended after 2 s, neither sooner nor later: %s',
	async (reason) => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
		const kill = vi.spyOn(process, 'kill');
		const signals = () => kill.mock.calls.map(([, signal]) => signal);
		const launcher = createLauncher();
		try {
			const up = Promise.withResolvers<void>();
			const script = `trap '' TERM; echo up; while :; do sleep 0.02; done`;
			const program = launcher.launch(shell(script), 'closed');
			const result = program.begin({ ...limits, timeoutMs: 5000 }, undefined, () => up.resolve());
			await up.promise;
			if (reason === 'aborted') program.end('aborted');
			else vi.advanceTimersByTime(5000);
			expect(signals()).toEqual(['SIGTERM']);
			vi.advanceTimersByTime(1999);
			expect(signals()).toEqual(['SIGTERM']);
			vi.advanceTimersByTime(1);
			expect(signals()).toEqual(['SIGTERM', 'SIGKILL']);
			expect(await result).toMatchObject({ ended: reason, signal: 'SIGKILL', stdout: 'up\n' });
		} finally {
			vi.useRealTimers();
			kill.mockRestore();
			await launcher.close();
		}
	}
);
