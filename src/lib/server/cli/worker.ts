/** `npm run worker`: runs scripts for servers with SKILLS_RUN_ON=workers, on this machine. */
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { createProxies } from '../network/network-access.ts';
import { openSandbox } from '../open-sandbox.ts';
import { openReplica } from '../replica.ts';
import { connectPostgres, openPostgresStore } from '../store/postgres.ts';
import { keyFor, loadSecretsKey } from '../trust/vault.ts';
import { JOB_KEY } from '../workers/job.ts';
import { startWorker } from '../workers/worker.ts';

/** Runs until it's told to stop. Uses the settings in the environment; on failure, prints why and sets the exit code. */
export async function runWorker(): Promise<void> {
	try {
		await work();
	} catch (error) {
		process.stderr.write(`Couldn’t start the worker: ${(error as Error).message}\n`);
		process.exitCode = 1;
	}
}

async function work(): Promise<void> {
	const config = loadConfig(process.env);
	const { database, dataDir, execution, shutdownTimeoutMs } = config;
	if (database === null) throw new Error('DATABASE_URL isn’t set. Workers and servers meet in the same Postgres.');
	if (!existsSync(dataDir)) {
		throw new Error(`There is no ${dataDir}. Set DATA_DIR to the folder that this machine shares with the servers.`);
	}
	process.umask(0o077);
	const log = createLog(undefined, config.log);
	const { url, directUrl } = database;
	const store = await openPostgresStore(url, { directUrl, log });
	const connect = () => connectPostgres(directUrl, { startMs: 0, log });
	const replica = await openReplica({ connect, replicas: store.replicas, log, isWorker: true });
	const jobs = await store.openScriptJobs({ isWorker: true });
	const shared = await realpath(dataDir);
	const live = async () => new Set((await jobs.counts()).workers.map(({ id }) => id));
	// Its processes aren't a server's, which ends those of its earlier starts.
	const box = await openSandbox(config, log, { place: join(shared, 'workers'), startId: replica.id, live });
	for (const note of box.notes) log.info({ sandbox: box.sandbox.name }, note);
	// Sockets don't work on every shared file system.
	const sockets = await mkdtemp(join(tmpdir(), 'worker-'));
	const worker = await startWorker({
		...{ jobs, replica, log },
		sandbox: box.sandbox,
		sandboxOfImage: box.sandboxOfImage,
		openReach: createProxies(join(sockets, 'net')),
		key: keyFor(await loadSecretsKey(dataDir, config.secretsKey), JOB_KEY),
		dataDir: shared,
		slots: execution.maxScripts
	});
	await replica.start();
	process.stdout.write(`Worker ready: up to ${execution.maxScripts} scripts at once in ${box.sandbox.name}\n`);

	const told = Promise.withResolvers<void>();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, told.resolve);
	await told.promise;
	await worker.close(shutdownTimeoutMs);
	await box.close();
	await jobs.close();
	await replica.close();
	await store.close();
	await rm(sockets, { recursive: true, force: true });
}

// `npm run worker`: npm runs scripts in the project's folder.
if (import.meta.main) {
	process.chdir(join(import.meta.dirname, '../../../..'));
	if (existsSync('.env')) process.loadEnvFile('.env');
	await runWorker();
}
