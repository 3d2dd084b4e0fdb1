/** Scripts on workers: a worker of its own process, which has plain processes in namespaces where the machine allows them. */
import { afterAll } from 'vitest';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { createWorkerRig } from '../support/worker-rig.ts';
import { testTorture } from './torture.suite.ts';

let postgres: Promise<TestPostgres> | undefined;
let count = 0;
afterAll(async () => (await postgres)?.stop());

testTorture('workers', {
	async open() {
		postgres ??= startPostgres();
		const rig = await createWorkerRig(await (await postgres).createDatabase(`torture_${(count += 1)}`));
		await rig.startWorker();
		const { sandbox } = await rig.startServer();
		// Closing all closes the sandbox.
		const close = sandbox.close.bind(sandbox);
		sandbox.close = () => {
			sandbox.close = close;
			return rig.close();
		};
		return sandbox;
	},
	// `workers.test.ts` has the proxy, which is on the worker.
	hasProxyHere: false,
	isMissing: lacksPostgres(),
	isRoot: process.getuid?.() === 0
});
