import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { processesWith } from '../../../../tests/support/processes.ts';
import { endMarked, ownerOf, sweepLeftovers } from './workspace.ts';
import { createProcessSandbox, type ProcessWay } from './process.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

const dataDir = `/data/${randomInt(1e12)}`;
const nap = `987.${randomInt(1e12)}`;
afterEach(() => {
	for (const pid of processesWith(nap)) process.kill(pid, 'SIGKILL');
});

/** A process as a dead server would have left it. */
async function leave(marker: string, seconds: string): Promise<void> {
	spawn('/bin/sleep', [seconds], { env: { SKILLS_EXECUTION: marker }, detached: true, stdio: 'ignore' }).unref();
	await eventually(() => expect(processesWith(seconds)).toHaveLength(1));
}

test('D33: the sweep ends what earlier starts with the same data folder left, says how many, and nothing else', async () => {
	await leave(`${ownerOf(dataDir, 'boot-1')}.x`, `${nap}1`);
	await leave(`${ownerOf(dataDir, 'boot-10')}.x`, `${nap}2`);
	await leave(`${ownerOf(dataDir, 'boot-2')}.x`, `${nap}3`);
	await leave(`${ownerOf('/another', 'boot-1')}.x`, `${nap}4`);
	expect(await sweepLeftovers({ dataDir, startId: 'boot-2' })).toBe(2);
	await eventually(() => expect(processesWith(nap)).toHaveLength(2));
	expect([processesWith(`${nap}3`).length, processesWith(`${nap}4`).length]).toEqual([1, 1]);
	expect(await sweepLeftovers({ dataDir, startId: 'boot-2' })).toBe(0);
});

test('D33: beside other servers with the same data folder it leaves alone what those that live have started', async () => {
	await leave(`${ownerOf(dataDir, 'gone')}.x`, `${nap}1`);
	await leave(`${ownerOf(dataDir, 'lives')}.x`, `${nap}2`);
	expect(await sweepLeftovers({ dataDir, startId: 'own', live: async () => new Set(['own', 'lives']) })).toBe(1);
	await eventually(() => expect(processesWith(nap)).toHaveLength(1));
	expect(processesWith(`${nap}2`)).toHaveLength(1);
	const failed = sweepLeftovers({ dataDir, startId: 'own', live: () => Promise.reject(new Error('no database')) });
	await expect(failed).rejects.toThrow('no database');
	expect(processesWith(`${nap}2`)).toHaveLength(1);
});

test('D33: it never ends the server itself, whatever its environment says', async () => {
	vi.stubEnv('SKILLS_EXECUTION', `${ownerOf(dataDir, 'boot-1')}.x`);
	expect(await endMarked((marker) => marker === 'no such marker')).toBe(0);
	await sweepLeftovers({ dataDir, startId: 'boot-2' });
	vi.unstubAllEnvs();
});

test.each<[string, ProcessWay[] | undefined]>([
	['with namespaces', undefined],
	['without', [{ namespaces: 'none', hasLimits: false }]]
])('D33: scripts of the process backend are found by the sweep, %s', async (_name, ways) => {
	const sandbox = createProcessSandbox({ owner: ownerOf(dataDir, 'boot-1'), ways });
	const up = Promise.withResolvers<void>();
	const result = sandbox.run({
		file: '/bin/sh',
		args: ['-c', `echo up; sleep ${nap}; echo`],
		env: {},
		cwd: '/',
		timeoutMs: 60_000,
		maxOutputBytes: 1000,
		onOutput: () => up.resolve()
	});
	await up.promise;
	expect(await sweepLeftovers({ dataDir, startId: 'boot-2' })).toBeGreaterThan(0);
	expect(await result).toMatchObject({ signal: 'SIGKILL' });
	await eventually(() => expect(processesWith(nap)).toEqual([]));
	await sandbox.close();
});
