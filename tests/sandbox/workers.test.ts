/** Scripts on workers: a worker of its own process, which has plain processes in namespaces where the machine allows them. */
import { afterAll } from 'vitest';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import type { Sandbox } from '../../src/lib/server/sandbox/sandbox.ts';
import { createWorkerRig, type WorkerRig } from '../support/worker-rig.ts';
import { testTorture } from './torture.suite.ts';

let postgres: TestPostgres | undefined;
let rig: WorkerRig | undefined;
/** One for all: it outlives what it runs, and so does the worker. */
let sandbox: Promise<Sandbox> | undefined;
afterAll(async () => {
	await rig?.close();
	await postgres?.stop();
});

async function openSandbox(): Promise<Sandbox> {
	postgres = await startPostgres();
	rig = await createWorkerRig(await postgres.createDatabase('torture'));
	await rig.startWorker();
	const { sandbox } = await rig.startServer();
	sandbox.close = sandbox.killAll;
	return sandbox;
}

testTorture('workers', {
	open: () => (sandbox ??= openSandbox()),
	// `workers.test.ts` has the proxy, which is on the worker.
	hasProxyHere: false,
	isMissing: lacksPostgres(),
	isRoot: process.getuid?.() === 0
});
