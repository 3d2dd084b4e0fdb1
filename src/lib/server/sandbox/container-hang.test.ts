/** A container runtime that hangs mid-call: a fake program that hangs on one verb or on all. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../../../../tests/support/eventually.ts';
import { processesWith } from '../../../../tests/support/processes.ts';
import { sweepContainers, type ContainerRuntime } from './container-runtime.ts';
import { createContainerSandbox } from './container.ts';
import { createLauncher } from './launch/launch.ts';
import type { Launcher } from './launch/launcher.ts';
import { ownerOf } from './workspace.ts';
import type { Sandbox, SandboxCommand } from './sandbox.ts';

const { setTimeout: real } = globalThis;
/** Lets real processes run for a moment, and 1 ms of fake time pass to drain their output. */
const rest = () => {
	vi.advanceTimersByTime(1);
	return new Promise<void>((resolve) => void real(resolve, 10));
};
const HANGS = 'docker didn’t respond within 5 s. It may be stuck: restart it, or choose another one';

let folder: string;
let launcher: Launcher;
let runtime: ContainerRuntime;
let sandbox: Sandbox;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'container-hang-'));
	launcher = createLauncher();
	runtime = { file: join(folder, 'docker'), kind: 'docker', isRootless: false, env: { PATH: '/usr/bin:/bin' } };
	sandbox = createContainerSandbox({ launcher, runtime, images: { one: 'image', allowed: [] } });
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(async () => {
	vi.useRealTimers();
	await launcher.close();
	// No process of the runtime is left, so nothing that it hung in either.
	await eventually(() => expect(processesWith(folder)).toEqual([]));
	await rm(folder, { recursive: true });
});

/** A fake runtime: records its verbs, hangs on some and ignores SIGTERM; its container runs the script `behaviour`. */
async function install(hangs: string[], { behaviour = 'sleep 987', status = 'running' } = {}): Promise<void> {
	const left = `${ownerOf(folder, 'earlier')}`;
	await writeFile(
		runtime.file,
		`#!/bin/sh
[ "$1" = --log-level=error ] && shift
echo "$1" >> "${folder}/asked"
case " ${hangs.join(' ')} " in *" $1 "*) trap '' TERM; n=0; while [ $((n += 1)) -lt 2000 ]; do sleep 0.05; done;; esac
case "$1" in
	run) echo $$ > "${folder}/pid"; ${behaviour};;
	container) [ -n "${status}" ] && echo "${status}" || { echo "no such container" >&2; exit 1; };;
	kill) kill -TERM -$(cat "${folder}/pid");;
	rm) kill -KILL -$(cat "${folder}/pid");;
	ps) echo "abc openrouter-skills.owner=${left}";;
esac
true
`
	);
	await chmod(runtime.file, 0o755);
}

/** Resolves once the runtime was called with exactly these verbs, in order. */
async function asked(...verbs: string[]): Promise<void> {
	const lines = async () => (await readFile(join(folder, 'asked'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
	for (let look = 0; look < 2000 && (await lines()).length < verbs.length; look += 1) await rest();
	expect(await lines()).toEqual(verbs);
}

/** Advances to 1 s before a limit, checks that nothing changed, then advances to the limit. */
async function pass(ms: number, ...verbs: string[]): Promise<void> {
	vi.advanceTimersByTime(ms - 1000);
	for (let look = 0; look < 10; look += 1) await rest();
	await asked(...verbs);
	vi.advanceTimersByTime(1000);
}

/** Advances time in steps until `end` settles; steps of 1 ms only drain its output. */
async function over(end: Promise<unknown>, stepMs = 1): Promise<void> {
	let isOver = false;
	end.then(
		() => (isOver = true),
		() => (isOver = true)
	);
	for (let step = 0; step < 2000 && !isOver; step += 1) {
		vi.advanceTimersByTime(stepMs);
		await rest();
	}
	expect(isOver).toBe(true);
}

const command = (more: Partial<SandboxCommand> = {}): SandboxCommand => ({
	file: 'sh',
	args: ['-c', 'x'],
	env: {},
	cwd: '/workspace',
	timeoutMs: 60_000,
	maxOutputBytes: 20_480,
	id: 'a',
	...more
});

test('D33: a runtime that hangs while it starts a container is asked about after 5 s, and given 5 s to answer', async () => {
	await install(['run', 'container', 'rm']);
	const result = sandbox.run(command());
	await asked('run');
	await pass(5000, 'run');
	await asked('run', 'container');
	await pass(5000, 'run', 'container');
	// Removal of the started container is requested once, and not waited for any longer.
	await asked('run', 'container', 'rm');
	await pass(5000, 'run', 'container', 'rm');
	await over(result);
	expect(await result).toMatchObject({ ended: 'spawn-failed', exitCode: null, image: 'image:latest' });
	expect((await result).spawnError).toBe(`${HANGS} with SKILLS_SANDBOX_RUNTIME.`);
	await asked('run', 'container', 'rm');
});

test('D33: a runtime that answers, and never starts the container, is told as such, and not as a slow script', async () => {
	await install(['run'], { status: '' });
	const result = sandbox.run(command({ timeoutMs: 12_000 }));
	await asked('run');
	await pass(5000, 'run');
	await asked('run', 'container');
	await over(result, 100);
	expect((await result).spawnError).toMatch(/^docker didn’t start the container within 12 s\. It may be stuck/);
});

test('D33: a script that says nothing for long is asked about once, and runs on', async () => {
	await install([], { behaviour: `until [ -e "${'$'}(dirname "$0")/go" ]; do sleep 0.02; done; echo done` });
	const result = sandbox.run(command());
	await asked('run');
	const timers = vi.getTimerCount();
	await pass(5000, 'run');
	await asked('run', 'container');
	// The answer was read once its own limits are gone, and not already when the process is.
	while (vi.getTimerCount() >= timers) await rest();
	await rest();
	vi.advanceTimersByTime(30_000);
	await asked('run', 'container');
	await writeFile(join(folder, 'go'), '');
	await over(result);
	expect(await result).toMatchObject({ ended: 'exit', exitCode: 0, stdout: 'done\n' });
});

test('D33: Stop is answered though the runtime hangs at kill; what runs is removed after its grace', async () => {
	await install(['kill'], { behaviour: 'echo up; sleep 987' });
	const up = Promise.withResolvers<void>();
	const stop = new AbortController();
	const result = sandbox.run(command({ signal: stop.signal, onOutput: () => up.resolve() }));
	await up.promise;
	stop.abort();
	await asked('run', 'kill');
	await pass(2000, 'run', 'kill');
	await asked('run', 'kill', 'rm');
	await pass(3000, 'run', 'kill', 'rm');
	await over(result);
	expect(await result).toMatchObject({ ended: 'aborted', stdout: 'up\n' });
});

test('D33: a container that cannot be removed because the runtime hangs is not told as one that was ended', async () => {
	await install(['rm'], { behaviour: 'echo up; sleep 987' });
	const up = Promise.withResolvers<void>();
	const result = sandbox.run(command({ timeoutMs: 1000, onOutput: () => up.resolve() }));
	await up.promise;
	await pass(1000, 'run');
	await asked('run', 'kill', 'rm');
	await pass(5000, 'run', 'kill', 'rm');
	await over(result);
	expect(await result).toMatchObject({ ended: 'spawn-failed', stdout: 'up\n' });
	expect((await result).spawnError).toContain(HANGS);
});

test.each([
	['ps', 'Couldn’t list old containers'],
	['rm', 'Couldn’t remove the container abc']
])('D33: a runtime that hangs at %s while it is swept ends the sweep, with what to do', async (verb, words) => {
	await install([verb]);
	const swept = sweepContainers(launcher, runtime, { dataDir: folder, startId: 'now' });
	swept.catch(() => undefined);
	const verbs = verb === 'ps' ? ['ps'] : ['ps', 'rm'];
	await asked(...verbs);
	await pass(5000, ...verbs);
	await over(swept);
	await expect(swept).rejects.toThrow(`${words}: ${HANGS}`);
});
