import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { processesWith } from '../../../../tests/support/processes.ts';
import { createProcessSandbox, type ProcessSandboxOptions, type ProcessWay } from './process.ts';
import { OUTPUT_TRUNCATED, type SandboxCommand } from './sandbox.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

const cwd = emptyFolder();
/** Only this test's `sleep` uses this number of seconds: process ids differ inside a sandbox. */
let nap: string;
beforeEach(() => {
	nap = `987.${randomInt(1e12)}`;
});
afterEach(() => {
	for (const pid of processesWith(nap)) process.kill(pid, 'SIGKILL');
});

/** Runs a shell script and collects its live output. */
async function run(script: string, options: Partial<SandboxCommand> = {}, sandbox: ProcessSandboxOptions = {}) {
	const live = { stdout: '', stderr: '' };
	const result = await createProcessSandbox(sandbox).run({
		file: '/bin/sh',
		args: ['-c', script],
		env: { PATH: process.env.PATH ?? '' },
		cwd,
		timeoutMs: 60_000,
		maxOutputBytes: 20_480,
		...options,
		onOutput: (stream, text) => {
			live[stream] += text;
			options.onOutput?.(stream, text);
		}
	});
	return { ...result, live };
}

const untilGo = 'until [ -e go ]; do sleep 0.02; done';

describe('starting', () => {
	test('D1: arguments reach the program as they are: no shell reads them', async () => {
		const given = ['$HOME', '`id`', '$(id)', '*', 'a b', '', '"', "'", '\\', ';', '|', '-n', '--', 'ä\n€', '#x'];
		const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
		const { stdout } = await run('', { file: process.execPath, args: ['--eval', program, '--', ...given] });
		expect(JSON.parse(stdout)).toEqual(given);
	});
	test('D10: the script is in a process group of its own', async () => {
		const groups = new Set<string | undefined>();
		const groupOf = (pid: number) => /\) \w \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
		const onOutput = () => {
			for (const pid of processesWith(nap)) groups.add(groupOf(pid));
			stop.abort();
		};
		const stop = new AbortController();
		await run(`echo ready; sleep ${nap}`, { onOutput, signal: stop.signal });
		expect(groups.size).toBe(1);
		expect([...groups]).not.toContain(groupOf(process.pid));
	});
	test('D14: the environment is the one that was given, and nothing else', async () => {
		vi.stubEnv('OPENROUTER_API_KEY', 'sk-secret');
		const { stdout } = await run('', { file: '/usr/bin/env', args: [], env: { ONLY: 'this' } });
		vi.unstubAllEnvs();
		expect(stdout).toBe('ONLY=this\n');
	});
	test('D10: standard input is closed: a script that reads it gets its end at once', async () => {
		expect(await run('cat; read answer || echo "no answer"')).toMatchObject({ exitCode: 0, stdout: 'no answer\n' });
	});
	test('D22: text for standard input arrives whole, and need not be read', async () => {
		const input = 'äöü€'.repeat(300_000);
		const read = await run('wc -c', { input });
		expect(read.stdout.trim()).toBe(String(Buffer.byteLength(input)));
		expect(await run('exit 7', { input })).toMatchObject({ ended: 'exit', exitCode: 7 });
	});
	test.each<[string, Partial<SandboxCommand>]>([
		['a program that is not there', { file: '/no/such/program' }],
		['a working directory that is not there', { cwd: '/no/such/folder' }],
		['a file that is no program', { file: '/etc/passwd' }],
		['an argument with a NUL', { args: ['a\0b'] }],
		['an argument that is longer than the system allows', { args: ['x'.repeat(3_000_000)] }]
	])('D13: %s is a result, not an exception', async (_name, options) => {
		const result = await run('', options);
		expect(result).toMatchObject({ ended: 'spawn-failed', exitCode: null, stdout: '' });
		expect(result.spawnError).toBeTruthy();
	});
});

describe('ending', () => {
	const stubborn = () => `trap '' TERM; (trap '' TERM; sleep ${nap}) & echo started; sleep ${nap}; sleep ${nap}`;

	test('D10: a time-out ends a script that ignores SIGTERM, and what it started', async () => {
		const result = await run(stubborn(), { timeoutMs: 300 });
		expect(result).toMatchObject({ ended: 'timeout', exitCode: null, signal: 'SIGKILL' });
		expect(result.stdout).toBe('started\n');
		await eventually(() => expect(processesWith(nap)).toEqual([]));
	});
	test('D10: Stop ends them likewise, and what was printed is kept', async () => {
		const stop = new AbortController();
		const onOutput = (_stream: string, text: string) => text.includes('started') && stop.abort();
		const result = await run(stubborn(), { signal: stop.signal, onOutput });
		expect(result).toMatchObject({ ended: 'aborted', exitCode: null, signal: 'SIGKILL' });
		expect(result.stdout).toBe('started\n');
		await eventually(() => expect(processesWith(nap)).toEqual([]));
	});
	test('D10: before SIGKILL a script has time to clean up', async () => {
		const stop = new AbortController();
		const script = `trap 'echo tidy; exit 3' TERM; echo ready; while :; do sleep 0.02; done`;
		const result = await run(script, { signal: stop.signal, onOutput: () => stop.abort() });
		expect(result).toMatchObject({ ended: 'aborted', exitCode: 3, stdout: 'ready\ntidy\n' });
	});
	test('D10: that time is also given to a process that outlives the script itself', async () => {
		const stop = new AbortController();
		const worker = `(trap 'sleep 0.7; echo tidy; exit' TERM; echo ready; while :; do sleep 0.02; done) & wait`;
		const result = await run(worker, { signal: stop.signal, onOutput: () => stop.abort() });
		expect(result).toMatchObject({ ended: 'aborted', stdout: 'ready\ntidy\n' });
	});
	test('D10: what a script leaves in the background is ended with it', async () => {
		expect(await run(`sleep ${nap} & exit 0`)).toMatchObject({ ended: 'exit', exitCode: 0 });
		await eventually(() => expect(processesWith(nap)).toEqual([]));
	});
	test.each<[string, ProcessWay[] | undefined]>([
		['in namespaces of its own', undefined],
		['without namespaces', [{ namespaces: 'none', hasLimits: false }]]
	])('D10: %s, a daemon that holds the pipe does not hold up the call, and is ended with it', async (_name, ways) => {
		const twice = `setsid sh -c 'setsid sleep ${nap} & exit' & setsid sleep ${nap} & until [ -e up ]; do [ "$(ps -A -o args= | grep -c '^sleep ${nap}')" = 2 ] && touch up; done; exit 4`;
		expect(await run(twice, {}, { ways })).toMatchObject({ ended: 'exit', exitCode: 4 });
		await eventually(() => expect(processesWith(nap)).toEqual([]));
	});
	test('D12: a Stop that comes after the script has ended does not change how it ended', async () => {
		const stop = new AbortController();
		const daemon = `setsid sh -c 'while kill -0 '$$' 2>/dev/null; do sleep 0.005; done; echo after; exec sleep ${nap}' & :`;
		const onOutput = (_stream: string, text: string) => text.includes('after') && stop.abort();
		const ways: ProcessWay[] = [{ namespaces: 'none', hasLimits: false }];
		const result = await run(daemon, { signal: stop.signal, onOutput }, { ways });
		expect(stop.signal.aborted).toBe(true);
		expect(result).toMatchObject({ ended: 'exit', exitCode: 0, signal: null });
	});
	test('D10: nothing is started for a call that is already stopped', async () => {
		expect(await run('touch made', { signal: AbortSignal.abort() })).toMatchObject({
			ended: 'aborted',
			exitCode: null
		});
		expect(existsSync(join(cwd, 'made'))).toBe(false);
	});
	test('D10: a time-out too long for a timer is no time-out', async () => {
		const result = await run('sleep 0.2; echo done', { timeoutMs: Number.POSITIVE_INFINITY });
		expect(result).toMatchObject({ ended: 'exit', stdout: 'done\n' });
	});
	test('D12: the exit code, or the signal that ended it', async () => {
		expect(await run('exit 3')).toMatchObject({ exitCode: 3, signal: null, ended: 'exit' });
		expect(await run('echo own >&2; kill -9 $$')).toMatchObject({
			...{ exitCode: null, signal: 'SIGKILL', ended: 'exit' },
			// No wrapper shell adds a message of its own.
			stderr: 'own\n'
		});
		expect(await run('kill -SEGV $$')).toMatchObject({ signal: 'SIGSEGV', stderr: '' });
	});
});

describe('output', () => {
	test('D11: 1 GB is a success with the marker, and memory stays flat', async () => {
		const before = process.memoryUsage();
		const most = { rss: 0, arrayBuffers: 0 };
		const sampler = setInterval(() => {
			const { rss, arrayBuffers } = process.memoryUsage();
			most.rss = Math.max(most.rss, rss - before.rss);
			most.arrayBuffers = Math.max(most.arrayBuffers, arrayBuffers - before.arrayBuffers);
		}, 10);
		const result = await run(`head -c 1000000000 /dev/zero | tr '\\0' 'a'; echo; echo the end`);
		clearInterval(sampler);
		expect(result).toMatchObject({ ended: 'exit', exitCode: 0, stdoutTruncated: true, stderrTruncated: false });
		expect(result.stdout).toMatch(/^a{15360}\n\[output truncated\]\na+\nthe end\n$/);
		expect(most.rss).toBeLessThan(100_000_000);
		expect(most.arrayBuffers).toBeLessThan(8_000_000);
	}, 60_000);
	test('D11: each stream has its own cap, and keeps the order of its own text', async () => {
		const result = await run('seq 1 20000 >&2; seq 1 10');
		expect(result).toMatchObject({
			stdoutTruncated: false,
			stderrTruncated: true,
			stdout: '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n'
		});
		expect(result.stderr.startsWith('1\n2\n3\n')).toBe(true);
		expect(result.stderr.endsWith('19999\n20000\n')).toBe(true);
		expect(Buffer.byteLength(result.stderr)).toBe(20_480 + OUTPUT_TRUNCATED.length + 2);
	});
	test('D11, D22: both streams are kept by a cap of their own, beside the shorter ones', async () => {
		const script = 'seq 1 20000; seq 1 30000 >&2';
		const short = await run(script, { maxKeptBytes: 1_000_000 });
		expect(short).toMatchObject({
			stdoutTruncated: true,
			stderrTruncated: true,
			live: { stdout: short.stdout, stderr: short.stderr },
			kept: { stdout: { truncated: false }, stderr: { truncated: false } }
		});
		expect(short.kept?.stdout.text.split('\n')).toHaveLength(20_001);
		expect(short.kept?.stderr.text.split('\n')).toHaveLength(30_001);
		const long = await run(script, { maxKeptBytes: 120_000 });
		expect([long.kept?.stdout.truncated, long.kept?.stderr.truncated]).toEqual([false, true]);
		expect(await run('echo x')).not.toHaveProperty('kept');
	});
	test('D10: a script that prints for ever is ended by the time-out, with its first lines', async () => {
		const result = await run('yes', { timeoutMs: 300 });
		expect(result).toMatchObject({ ended: 'timeout', stdoutTruncated: true, signal: 'SIGTERM' });
		expect(result.stdout.startsWith('y\ny\n')).toBe(true);
	});
	test('D11: output is shown while the script runs', async () => {
		// The script ends only because its output was seen.
		const onOutput = (_stream: string, text: string) => text.includes('ready') && writeFile(join(cwd, 'go'), '');
		const result = await run(`echo ready; ${untilGo}; echo gone`, { onOutput });
		expect(result).toMatchObject({ exitCode: 0, stdout: 'ready\ngone\n', live: { stdout: 'ready\ngone\n' } });
	});
	test('D11: what was shown is what the result says, also when the middle was left out', async () => {
		const result = await run(`seq 1 9000; printf 'é' >&2`);
		expect(result.live).toEqual({ stdout: result.stdout, stderr: 'é' });
		expect(result.stdout).toContain(OUTPUT_TRUNCATED);
	});
	test('D11: a character that is written in two halves is never shown broken', async () => {
		const result = await run(`printf 'a\\342'; sleep 0.1; printf '\\202'; sleep 0.1; printf '\\254b'`);
		expect(result).toMatchObject({ stdout: 'a€b', live: { stdout: 'a€b' } });
	});
	test('D11: 200 MB of multi-byte characters are cut between characters', async () => {
		const result = await run('yes äöü€🧪 | head -c 200000000', { maxOutputBytes: 20_479 });
		expect(result).toMatchObject({ exitCode: 0, stdoutTruncated: true });
		const [head = '', tail = ''] = result.stdout.split(`\n${OUTPUT_TRUNCATED}\n`);
		expect(head).not.toContain('\uFFFD');
		// The script itself stops mid-character, so only the very last one may be broken.
		expect(tail.replace(/\uFFFD$/, '')).not.toContain('\uFFFD');
	}, 30_000);
});
