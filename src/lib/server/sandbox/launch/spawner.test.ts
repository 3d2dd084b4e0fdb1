import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { isRunning, processesWith } from '../../../../../tests/support/processes.ts';
import type { Launcher, LaunchSpec } from './launcher.ts';
import { createSpawner } from './spawner.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const cwd = emptyFolder();
/** The runner's program under a name only this test uses. */
let entry: string;
let nap: string;
let launcher: Launcher;
beforeEach(async () => {
	entry = join(cwd, 'runner.ts');
	await symlink(join(import.meta.dirname, 'runner.ts'), entry);
	nap = `987.${randomInt(1e12)}`;
	launcher = createSpawner({ entry });
});
afterEach(async () => {
	await launcher.close();
	for (const pid of [...processesWith(nap), ...processesWith(entry)]) process.kill(pid, 'SIGKILL');
});

const limits = { timeoutMs: 60_000, maxOutputBytes: 20_480 };
const shell = (script: string): LaunchSpec => ({
	file: '/bin/sh',
	args: ['-c', script],
	env: {},
	cwd: '/',
	end: { kind: 'group' }
});
const gone = (text: string) => eventually(() => expect(processesWith(text)).toEqual([]));

test('SANDBOX: a runner that is killed ends what it ran, with a sentence; the next program has a new runner', async () => {
	const messages: string[] = [];
	launcher = createSpawner({ entry, log: (message) => messages.push(message) });
	const running = launcher.launch(shell(`echo up; sleep ${nap}`), 'closed').begin(limits, undefined, () => {
		for (const pid of processesWith(entry)) process.kill(pid, 'SIGKILL');
	});
	const result = await running;
	expect(result).toMatchObject({ ended: 'spawn-failed', exitCode: null });
	expect(result.spawnError).toMatch(/^The process that starts scripts ended, so all running scripts were stopped\./);
	expect(messages).toEqual([expect.stringContaining('SIGKILL')]);
	await gone(nap);
	expect(await launcher.launch(shell('echo again'), 'closed').begin(limits, undefined)).toMatchObject({
		stdout: 'again\n',
		ended: 'exit'
	});
});

test('D20: what waits in a runner that is killed is not alive, and says so when it is used', async () => {
	const waiting = launcher.launch(shell(`sleep ${nap}; echo`), 'open');
	await eventually(() => expect(processesWith(nap)).not.toEqual([]));
	for (const pid of processesWith(entry)) process.kill(pid, 'SIGKILL');
	await eventually(() => expect(waiting.isAlive).toBe(false));
	expect(await waiting.begin(limits, 'x')).toMatchObject({ ended: 'spawn-failed' });
	await gone(nap);
});

test('SANDBOX: SIGINT and SIGTERM, which Ctrl+C sends to all, leave the runner and its scripts to the server', async () => {
	const running = launcher.launch(shell('echo up; read go; echo done'), 'closed');
	const waiting = launcher.launch(shell('read go; echo "done $go"'), 'open');
	await running.begin(limits, undefined);
	for (const signal of ['SIGINT', 'SIGTERM'] as const)
		for (const pid of processesWith(entry)) process.kill(pid, signal);
	expect(await waiting.begin(limits, 'now\n')).toMatchObject({ stdout: 'done now\n', ended: 'exit' });
});

test('D33: closing ends the runner, and none is started afterwards', async () => {
	const before = launcher.launch(shell('echo ran'), 'closed');
	launcher.launch(shell('read go'), 'open');
	expect(processesWith(entry)).toHaveLength(1);
	await launcher.close();
	const after = launcher.launch(shell('echo ran'), 'open');
	expect(processesWith(entry)).toEqual([]);
	await Promise.all([before, after].map((program) => program.begin(limits, undefined)));
	expect(processesWith(entry)).toEqual([]);
});

/** A separate server that starts the script and runs the given code. */
function startServer(script: string, then: string) {
	const code = `
		import { createSpawner } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'spawner.ts')).href)};
		const launcher = createSpawner({ entry: ${JSON.stringify(entry)} });
		const spec = ${JSON.stringify(shell(script))};
		const limits = ${JSON.stringify(limits)};
		${then}`;
	return spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('SANDBOX: kill -9 of the server leaves no script and no runner', async () => {
	const server = startServer(
		`trap '' TERM; (trap '' TERM; sleep ${nap}) & echo up; sleep ${nap}`,
		`launcher.launch(spec, 'open'); await launcher.launch(spec, 'closed').begin(limits, undefined, (_, text) => console.log(text));`
	);
	await once(server.stdout, 'data');
	await eventually(() => expect(processesWith(`sleep ${nap}`).length).toBeGreaterThanOrEqual(3));
	server.kill('SIGKILL');
	await gone(nap);
	await gone(entry);
});

test('SANDBOX: a server with nothing to do ends by itself, though a runner and a waiting program are there', async () => {
	const server = startServer(
		'read line',
		`launcher.launch(spec, 'open'); console.log(JSON.stringify(await launcher.launch(spec, 'given').begin(limits, 'x')));`
	);
	const [code] = (await once(server, 'exit')) as [number];
	expect(code).toBe(0);
	await gone(entry);
	expect(isRunning(server.pid ?? 0)).toBe(false);
});
