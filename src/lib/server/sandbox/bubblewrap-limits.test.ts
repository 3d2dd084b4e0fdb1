import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBubblewrapRig, processesWith, type BubblewrapRig } from '../../../../tests/support/bubblewrap-rig.ts';
import type { SandboxResult } from './sandbox.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

const MB = 1024 * 1024;
const isRoot = process.getuid?.() === 0;

let rig: BubblewrapRig;
let token: string;
beforeEach(() => {
	rig = createBubblewrapRig();
	token = `token-${process.pid}-${performance.now()}`;
});
afterEach(() => rig.close());

/** Runs a script and calls `act` when it prints `ready`. */
async function whenReady(script: string, act: () => void, signal?: AbortSignal): Promise<SandboxResult> {
	return rig.run('', {
		id: 'the-script',
		args: ['-c', script, token],
		signal,
		onOutput: (_stream, text) => text.includes('ready') && act()
	});
}

const nothingLeft = () => eventually(() => expect(processesWith(token)).toEqual([]));

/** Forks until it's refused, then prints how many children it has. */
const FORKS = `
import os, time
children = []
try:
	while len(children) < 1000:
		child = os.fork()
		if child == 0: time.sleep(60)
		children.append(child)
except OSError: pass
print(len(children))`;

describe.skipIf(lacks('bubblewrap'))('the limits hold', () => {
	test('SANDBOX Limits: of processes, for a bomb of forks', async () => {
		const { stdout } = await rig.python(FORKS, { limits: { processes: 20 } });
		expect(Number(stdout)).toBeGreaterThanOrEqual(18);
		// As root, the limit is for the whole workspace and four times as high.
		expect(Number(stdout)).toBeLessThanOrEqual(isRoot ? 84 : 20);
	});
	test('SANDBOX Limits: of memory, private and shared', async () => {
		const program = `
import mmap
def tried(take):
	try: take(); return 'taken'
	except (MemoryError, OSError): return 'refused'
print(tried(lambda: bytearray(100 << 20)), tried(lambda: bytearray(600 << 20)), tried(lambda: mmap.mmap(-1, 2 << 30)))`;
		const { stdout } = await rig.python(program);
		expect(stdout).toBe('taken refused refused\n');
		// Other programs may be Node, which reserves address space it doesn't use.
		const buffer = 'try { Buffer.alloc(3e9); console.log("taken"); } catch (error) { console.log(error.name); }';
		const node = { file: process.execPath, args: ['-e', buffer], runtime: [process.execPath] };
		expect((await rig.run('', node)).stdout).toBe('RangeError\n');
	});
	test('SANDBOX Limits: of the size of a file, of open files, of processor time, and of core files', async () => {
		const limits = { fileBytes: MB, openFiles: 32, cpuSeconds: 1 };
		const script = `head -c 3000000 /dev/zero > big; stat -c %s big; ulimit -n; ulimit -c; ulimit -t`;
		const { stdout } = await rig.run(script, { limits });
		expect(stdout).toBe(`${MB}\n32\n0\n1\n`);
		const endless = await rig.run('while :; do :; done', { limits });
		expect(endless.ended).toBe('exit');
		expect(endless.exitCode).toBeGreaterThanOrEqual(128);
	});
	test('SANDBOX Limits: a program asks for less, and does not get more than the host gives', async () => {
		const small = createBubblewrapRig({
			limits: {
				memoryBytes: 64 * MB,
				processes: 32,
				fileBytes: MB,
				openFiles: 64,
				cpuSeconds: 5,
				workspaceBytes: MB,
				workspaceFiles: 100
			}
		});
		const { stdout } = await small.run('ulimit -n; ulimit -t', { limits: { openFiles: 10_000, cpuSeconds: 2 } });
		expect(stdout).toBe('64\n2\n');
		await small.close();
	});
	test('SANDBOX Limits: under them Node starts, with two workers, and from a shell; Python and bash do', async () => {
		const program = `
const { Worker } = require('node:worker_threads');
for (const name of ['a', 'b']) new Worker('require("node:fs").writeSync(1, "worker\\\\n")', { eval: true });`;
		const node = { file: process.execPath, args: ['-e', program], runtime: [process.execPath] };
		expect(await rig.run('', node)).toMatchObject({ exitCode: 0, stdout: 'worker\nworker\n', stderr: '' });
		const shell = await rig.run(`${process.execPath} -p 6*7; seq 3 | sort -r | head -1`, {
			runtime: [process.execPath]
		});
		expect(shell).toMatchObject({ exitCode: 0, stdout: '42\n3\n' });
		const threads = 'import threading; t = threading.Thread(target=print, args=("thread",)); t.start(); t.join()';
		expect(await rig.python(threads)).toMatchObject({ exitCode: 0, stdout: 'thread\n', stderr: '' });
	});
	test('SANDBOX Limits: a script that takes too much is ended before the server is', async () => {
		expect((await rig.run('cat /proc/self/oom_score_adj')).stdout).toBe('900\n');
	});
});

describe.skipIf(lacks('bubblewrap'))('how it ends', () => {
	test('D10: an exit code is that of the program, and so is a signal by its number', async () => {
		expect(await rig.run('exit 42')).toMatchObject({ ended: 'exit', exitCode: 42, signal: null });
		expect(await rig.run('kill -KILL $$')).toMatchObject({ ended: 'exit', exitCode: 137 });
	});
	test('SANDBOX pitfall 7: SIGTERM reaches the trap of the script, which has time to tidy up', async () => {
		const stop = new AbortController();
		const script = `trap 'echo tidied > done; echo bye; exit 3' TERM; echo ready; while :; do sleep 0.02; done`;
		const result = await whenReady(script, () => stop.abort(), stop.signal);
		expect(result).toMatchObject({ ended: 'aborted', stdout: 'ready\nbye\n' });
		expect(readFileSync(join(rig.workspace, 'done'), 'utf8')).toBe('tidied\n');
		await nothingLeft();
	});
	test('SANDBOX pitfall 7: what ignores SIGTERM is ended all the same, with what it started', async () => {
		const script = `trap '' TERM; setsid sh -c 'trap "" TERM; sleep 600' ${token} & echo ready; while :; do sleep 1; done`;
		const result = await rig.run('', { args: ['-c', script, token], timeoutMs: 300 });
		expect(result).toMatchObject({ ended: 'timeout', stdout: 'ready\n' });
		await nothingLeft();
	});
	test('SANDBOX pitfall 7: a daemon that holds the pipes ends with its script', async () => {
		const script = `(setsid sh -c 'sleep 600; true' ${token} &); echo ready`;
		expect(await rig.run('', { args: ['-c', script, token] })).toMatchObject({ ended: 'exit', exitCode: 0 });
		await nothingLeft();
	});
	test('D33: kill ends it at once, whenever that is, and nothing is left', async () => {
		const result = await whenReady('trap "" TERM; sleep 600 & echo ready; wait', () => rig.sandbox.kill('the-script'));
		expect(result).toMatchObject({ ended: 'killed', stdout: 'ready\n' });
		expect(rig.sandbox.runningCount).toBe(0);
		for (let delay = 0; delay < 24; delay += 1) {
			const running = rig.run('', { id: 'early', args: ['-c', 'sleep 600', token] });
			setTimeout(() => rig.sandbox.kill('early'), delay);
			await running;
		}
		await nothingLeft();
	}, 60_000);
	test('SANDBOX pitfall 8: what was started ahead waits for its input, is used once, and ends when it is not', async () => {
		const program = {
			file: process.execPath,
			args: ['-e', 'process.stdin.on("data", (text) => console.log("got " + text))', token],
			env: {},
			cwd: '/workspace',
			folders: { workspace: rig.workspace },
			runtime: [process.execPath]
		};
		const prepared = rig.sandbox.prepare?.(program);
		const unused = rig.sandbox.prepare?.(program);
		const command = { ...program, input: 'the call', timeoutMs: 20_000, maxOutputBytes: 1000 };
		expect(await prepared?.run(command)).toMatchObject({ exitCode: 0, stdout: 'got the call\n' });
		unused?.discard();
		await nothingLeft();
	});
	test.runIf(isRoot)('SANDBOX pitfall 4: folders below ones that only the server may enter are there', async () => {
		const closed = join(rig.dir, 'closed', 'more');
		mkdirSync(join(closed, 'workspace'), { recursive: true });
		mkdirSync(join(closed, 'tool'));
		for (const path of [join(rig.dir, 'closed'), closed]) chmodSync(path, 0o700);
		const result = await rig.run(`touch made; ls -d ${closed}/tool`, {
			folders: { workspace: join(closed, 'workspace') },
			runtime: [join(closed, 'tool')]
		});
		expect(result).toMatchObject({ exitCode: 0, stdout: `${closed}/tool\n`, stderr: '' });
		expect(existsSync(join(closed, 'workspace', 'made'))).toBe(true);
		expect(statSync(closed).uid).toBe(0);
	});
});
