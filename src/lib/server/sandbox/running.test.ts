import { randomInt } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { processesWith } from '../../../../tests/support/processes.ts';
import { createLauncher } from './launch/launch.ts';
import { createSandboxBase, type Execution, type SandboxBaseOptions } from './running.ts';
import { DEFAULT_LIMITS, type Sandbox, type SandboxCommand } from './sandbox.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

let sandbox: Sandbox;
afterEach(() => sandbox.close());

function create(options: Partial<SandboxBaseOptions> = {}): Sandbox {
	const launcher = createLauncher();
	return createSandboxBase({
		name: 'process',
		isolation: { files: false, network: false, processes: false, limits: false },
		launcher,
		toLaunch: ({ file, args, env, cwd }) => ({ file, args, env, cwd, end: { kind: 'group' } }),
		onClose: () => launcher.close(),
		...options
	});
}
const shell = (script: string, more: Partial<SandboxCommand> = {}): SandboxCommand => ({
	file: '/bin/sh',
	args: ['-c', script],
	env: {},
	cwd: '/',
	timeoutMs: 60_000,
	maxOutputBytes: 20_480,
	...more
});
/** Runs until it's stopped, and reports when it starts. */
function hang(id: string, script = 'echo up; sleep 987') {
	const up = Promise.withResolvers<void>();
	const result = sandbox.run(shell(script, { id, onOutput: () => up.resolve() }));
	return { up: up.promise, result };
}

test('D33: a running execution is known by its id and killed by it, once', async () => {
	sandbox = create();
	expect([sandbox.kill('a'), sandbox.isRunning('a'), sandbox.runningCount]).toEqual([false, false, 0]);
	const { up, result } = hang('a', `trap '' TERM; echo up; while :; do sleep 1; done`);
	await up;
	expect([sandbox.isRunning('a'), sandbox.runningCount, sandbox.kill('b'), sandbox.kill('a')]).toEqual([
		true,
		1,
		false,
		true
	]);
	expect(await result).toMatchObject({ ended: 'killed', signal: 'SIGKILL', exitCode: null, stdout: 'up\n' });
	expect([sandbox.kill('a'), sandbox.isRunning('a'), sandbox.runningCount]).toEqual([false, false, 0]);
});

test('D33: killAll ends all of them and waits until they are gone; new ones start afterwards', async () => {
	sandbox = create();
	const all = ['a', 'b', 'c'].map((id) => hang(id));
	await Promise.all(all.map(({ up }) => up));
	expect(sandbox.runningCount).toBe(3);
	await sandbox.killAll();
	expect(sandbox.runningCount).toBe(0);
	expect((await Promise.all(all.map(({ result }) => result))).map(({ ended }) => ended)).toEqual([
		'killed',
		'killed',
		'killed'
	]);
	expect(await sandbox.run(shell('exit 3'))).toMatchObject({ exitCode: 3 });
});

test('D33: closing ends what runs and what waits of this sandbox, before it tidies up', async () => {
	const launcher = createLauncher();
	const nap = `987.${randomInt(1e12)}`;
	const seen: unknown[] = [];
	sandbox = create({ launcher, onClose: async () => seen.push(sandbox.runningCount, prepared?.isAlive) });
	const prepared = sandbox.prepare?.(shell(`sleep ${nap}; echo`));
	const { up, result } = hang('a');
	await up;
	await eventually(() => expect(processesWith(nap)).not.toEqual([]));
	await sandbox.close();
	expect(seen).toEqual([0, false]);
	expect(await result).toMatchObject({ ended: 'killed' });
	await eventually(() => expect(processesWith(nap)).toEqual([]));
	await launcher.close();
});

test('D33: what is killed or stopped before it is even started never runs', async () => {
	const ready = Promise.withResolvers<void>();
	sandbox = create({
		async toLaunch({ file, args, env, cwd }) {
			await ready.promise;
			return { file, args, env, cwd, end: { kind: 'group' } };
		}
	});
	const stop = new AbortController();
	const results = [
		sandbox.run(shell('echo ran', { id: 'a' })),
		sandbox.run(shell('echo ran', { signal: stop.signal }))
	];
	sandbox.kill('a');
	stop.abort();
	ready.resolve();
	expect(await Promise.all(results)).toEqual([
		expect.objectContaining({ ended: 'killed', stdout: '', exitCode: null }),
		expect.objectContaining({ ended: 'aborted', stdout: '', exitCode: null })
	]);
});

test('D33: an id that runs already is not used twice', async () => {
	sandbox = create();
	const { up } = hang('a');
	await up;
	expect(await sandbox.run(shell('echo ran', { id: 'a' }))).toMatchObject({ ended: 'spawn-failed', stdout: '' });
	expect(sandbox.isRunning('a')).toBe(true);
});

test('D13: what a backend throws, and a closed sandbox, are results', async () => {
	sandbox = create({
		toLaunch() {
			throw new Error('There is no such image.');
		}
	});
	const result = { ended: 'spawn-failed', exitCode: null, spawnError: 'There is no such image.' };
	expect(await sandbox.run(shell('exit'))).toMatchObject(result);
	await sandbox.close();
	expect(await sandbox.run(shell('exit'))).toMatchObject({
		ended: 'spawn-failed',
		spawnError: 'The sandbox is closed.'
	});
	expect(sandbox.prepare?.(shell('exit'))).toBeNull();
});

test('D20: a prepared process is used once, is not counted while it waits, and can be killed by the id of its call', async () => {
	sandbox = create();
	const echo = sandbox.prepare?.(shell('read line; echo "got $line"'));
	expect([echo?.isAlive, sandbox.runningCount]).toEqual([true, 0]);
	expect(await echo?.run({ ...shell(''), input: 'it\n' })).toMatchObject({ stdout: 'got it\n', exitCode: 0 });
	expect(echo?.isAlive).toBe(false);
	const slow = sandbox.prepare?.(shell('read line; sleep 987'));
	const result = slow?.run({ ...shell(''), input: 'it\n', id: 'slow' });
	expect([sandbox.isRunning('slow'), sandbox.kill('slow')]).toEqual([true, true]);
	expect(await result).toMatchObject({ ended: 'killed' });
});

test('D20: a prepared process that cannot be started is not alive', async () => {
	sandbox = create();
	const prepared = sandbox.prepare?.({ ...shell(''), file: '/no/such/program' });
	await eventually(() => expect(prepared?.isAlive).toBe(false));
});

test('D33: limits are within those of the host, and none is missing', async () => {
	const seen: Execution[] = [];
	const most = { ...DEFAULT_LIMITS, processes: 10, openFiles: 20 };
	sandbox = create({
		limits: most,
		owner: 'owner',
		toLaunch({ file, args, env, cwd }, execution) {
			seen.push(execution);
			return { file, args, env, cwd, end: { kind: 'group' } };
		}
	});
	await sandbox.run(shell('exit', { id: 'x', limits: { processes: 99, openFiles: 5 } }));
	expect(seen).toEqual([{ id: 'x', limits: { ...most, openFiles: 5 }, marker: 'owner.x', stdin: 'closed' }]);
});
