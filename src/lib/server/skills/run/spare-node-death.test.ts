import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { isRunning } from '../../../../../tests/support/processes.ts';
import { plainProcesses } from '../../../../../tests/support/plain-processes.ts';
import { failed } from '../../sandbox/running.ts';
import { ACKNOWLEDGED, HARNESS_ARGUMENTS } from './handlers.ts';
import { createSpareNodes, type SpareNodes, type SpareNodesOptions } from './spare-node.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const folder = emptyFolder();
let node: string;
let spare: SpareNodes;
beforeEach(async () => {
	// A Node that records its process id before it starts.
	node = join(folder, 'node');
	await writeFile(node, `#!/bin/sh\necho $$ >> '${folder}/pids'\nexec '${process.execPath}' "$@"\n`);
	await chmod(node, 0o755);
	await writeFile(
		join(folder, 'count.mjs'),
		`import { appendFileSync } from 'node:fs';
		appendFileSync('${folder}/runs', process.pid + '\\n');
		export default ({ wait }) => wait ? new Promise((end) => setTimeout(end, 600_000)) : process.pid;`
	);
});
afterEach(async () => {
	spare.close();
	for (const pid of await lines('pids')) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
});

async function lines(name: string): Promise<number[]> {
	const text = await readFile(join(folder, name), 'utf8').catch(() => '');
	return text.split('\n').filter(Boolean).map(Number);
}
const open = (options?: SpareNodesOptions, sandbox = plainProcesses()) =>
	(spare = createSpareNodes(sandbox, node, options));
const call = (args: Record<string, unknown> = {}, signal?: AbortSignal, timeoutMs = 30_000) => {
	const command = {
		file: node,
		args: HARNESS_ARGUMENTS,
		env: {},
		cwd: folder,
		timeoutMs,
		maxOutputBytes: 20_480,
		input: JSON.stringify({ path: join(folder, 'count.mjs'), args, env: {}, cwd: folder }),
		...(signal ? { signal } : {})
	};
	return spare.run(command, command);
};
/** Makes a call and returns the id of the spare process for the next one. */
async function waiting(): Promise<number> {
	const before = (await lines('pids')).length;
	await call();
	return eventually(async () => {
		// The call's own process comes first, then the new spare.
		const pid = (await lines('pids'))[before === 0 ? 1 : before];
		if (pid === undefined) throw new Error('no spare yet');
		return pid;
	});
}
const answerOf = ({ stdout }: { stdout: string }) => /\{"ok":true,"value":(\d+)\}$/.exec(stdout)?.[1];

test('D20: a spare that has died is replaced by a cold start', async () => {
	open();
	const pid = await waiting();
	process.kill(pid, 'SIGKILL');
	await eventually(() => expect(isRunning(pid)).toBe(false));
	const result = await call();
	expect(result).toMatchObject({ ended: 'exit', exitCode: 0 });
	expect(Number(answerOf(result))).not.toBe(pid);
	expect(await lines('runs')).toHaveLength(2);
});

test('D20: a spare that dies in the instant of the call, before it has taken it, makes way for a cold start', async () => {
	open();
	const pid = await waiting();
	process.kill(pid, 'SIGSTOP');
	const running = call();
	process.kill(pid, 'SIGKILL');
	const result = await running;
	expect(result).toMatchObject({ ended: 'exit', exitCode: 0, signal: null });
	const runs = await lines('runs');
	expect(runs).toHaveLength(2);
	expect(runs).not.toContain(pid);
	expect(Number(answerOf(result))).toBe(runs[1]);
});

test('D20: a spare that is stuck is ended, and the call starts cold', async () => {
	open({ acknowledgeMs: 50 });
	const pid = await waiting();
	process.kill(pid, 'SIGSTOP');
	expect(await call()).toMatchObject({ ended: 'exit', exitCode: 0, signal: null });
	expect(isRunning(pid)).toBe(false);
	expect(await lines('runs')).not.toContain(pid);
});

test('D20: a handler that has begun is never begun again: the end of its process is the end of the call', async () => {
	open();
	const pid = await waiting();
	const running = call({ wait: true });
	await eventually(async () => expect(await lines('runs')).toContain(pid));
	process.kill(pid, 'SIGKILL');
	expect(await running).toMatchObject({ ended: 'exit', exitCode: null, signal: 'SIGKILL' });
	expect(await lines('runs')).toHaveLength(2);
});

test('D20: a call that is stopped before the spare has taken it is not made again', async () => {
	open();
	const pid = await waiting();
	process.kill(pid, 'SIGSTOP');
	const stop = new AbortController();
	const running = call({}, stop.signal);
	stop.abort();
	expect(await running).toMatchObject({ ended: 'aborted' });
	expect(await lines('runs')).toHaveLength(1);
});

test('D20, D10: a call whose time is over before a stuck spare is given up is over, and is not begun again', async () => {
	// The time limit comes first; the spare is given up during the grace period.
	open({ acknowledgeMs: 400 });
	const pid = await waiting();
	process.kill(pid, 'SIGSTOP');
	expect(await call({}, undefined, 200)).toMatchObject({ ended: 'timeout' });
	expect(await lines('runs')).toHaveLength(1);
	expect(isRunning(pid)).toBe(false);
});

test('D20: a spare that nobody needs is let go, and the next call works all the same', async () => {
	open({ idleMs: 500 });
	const pid = await waiting();
	await eventually(() => expect(isRunning(pid)).toBe(false));
	expect(await call()).toMatchObject({ ended: 'exit', exitCode: 0 });
});

test('D20: close ends the spare, and none comes after it', async () => {
	open();
	const pid = await waiting();
	expect(isRunning(pid)).toBe(true);
	spare.close();
	await eventually(() => expect(isRunning(pid)).toBe(false));
	const before = await lines('pids');
	expect(await call()).toMatchObject({ exitCode: 0 });
	expect(await lines('pids')).toHaveLength(before.length + 1);
});

test('D20: one that takes its call in the moment in which it is given up is not begun a second time, and the call says so', async () => {
	const { promise: discarded, resolve: discard } = Promise.withResolvers<void>();
	const ran: string[] = [];
	const sandbox = plainProcesses();
	open(
		{ acknowledgeMs: 1 },
		{
			...sandbox,
			prepare: () => ({
				isAlive: true,
				discard,
				async run({ onOutput }) {
					ran.push('spare');
					await discarded;
					onOutput?.('stdout', ACKNOWLEDGED);
					return { ...failed(''), stdout: ACKNOWLEDGED, stdoutBytes: ACKNOWLEDGED.length, ended: 'killed' };
				}
			}),
			run: async (command) => {
				ran.push('cold');
				return sandbox.run(command);
			}
		}
	);
	await call();
	expect(await call()).toMatchObject({
		ended: 'spawn-failed',
		spawnError: expect.stringContaining('Try again'),
		stdout: ''
	});
	expect(ran).toEqual(['cold', 'spare']);
});
