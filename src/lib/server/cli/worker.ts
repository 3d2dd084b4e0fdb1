/** `npm run worker`: runs scripts for servers with SKILLS_RUN_ON=workers, on this machine. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { mayScrape } from '../access/login.ts';
import { type Config, loadConfig } from '../config.ts';
import { claimFolder, openDataFolder } from '../data-folder.ts';
import { type BucketSettings, openBucket, requireBucket } from '../file-storage/bucket.ts';
import { createFolderReceiver, dropUnfinished } from '../file-storage/sent-folders.ts';
import { createStoredFolders } from '../file-storage/stored-folders.ts';
import { SENT_FOLDERS, WORKSPACE_KINDS } from '../file-storage/stored-workspaces.ts';
import { createLog, type Log } from '../log.ts';
import { createProxies } from '../network/network-access.ts';
import { type OpenSandbox, openSandbox, requireIsolation } from '../open-sandbox.ts';
import { createEnvironments, type EnvironmentsOptions, holdEnvironments } from '../packages/environments.ts';
import { PackagesError } from '../packages/program.ts';
import { openReplica } from '../replica.ts';
import { createInterpreters } from '../skills/run/interpreters.ts';
import { createSkillCopies } from '../skills/skill-copies.ts';
import { connectPostgres, openPostgresStore } from '../store/postgres.ts';
import type { Store } from '../store/store.ts';
import { createScopes } from '../telemetry/scope.ts';
import { createReadiness, openTelemetry, type Readiness, type Telemetry } from '../telemetry/telemetry.ts';
import { createLookup } from '../trust/preflight.ts';
import { keyFor, loadSecretsKey } from '../trust/vault.ts';
import { JOB_KEY } from '../workers/job.ts';
import { startWorker } from '../workers/worker.ts';

/** How often copies of files are looked at that no script uses. */
const TIDY_EVERY_MS = 60_000;

/** Runs until it's told to stop. Uses the settings in the environment; on failure, prints why and ends the process. */
export async function runWorker(): Promise<void> {
	try {
		await work();
	} catch (error) {
		process.stderr.write(`Couldn’t start the worker: ${(error as Error).message}\n`);
		// What was opened before would keep it alive.
		process.exit(1);
	}
}

async function work(): Promise<void> {
	const config = loadConfig(process.env);
	const { bucket, database, dataDir, execution, shutdownTimeoutMs } = config;
	if (database === null) throw new Error('DATABASE_URL isn’t set. Workers and servers meet in the same Postgres.');
	requireIsolation(config, execution.sandbox);
	if (bucket === null && !existsSync(dataDir)) {
		throw new Error(`There is no ${dataDir}. Set DATA_DIR to the folder that this machine shares with the servers.`);
	}
	process.umask(0o077);
	const log = createLog(undefined, config.log);
	// Nobody else changes what it knows of the bucket's files.
	const dataFolder = bucket && openDataFolder(dataDir, log);
	if (bucket) await requireBucket(bucket, log);
	const { url, directUrl } = database;
	const store = await openPostgresStore(url, { directUrl, log });
	if (bucket) claimFolder(dataDir, await store.replicas.database());
	const connect = () => connectPostgres(directUrl, { startMs: 0, log });
	const replica = await openReplica({ connect, replicas: store.replicas, log, isWorker: true });
	const jobs = await store.openScriptJobs({ isWorker: true });
	const shared = await realpath(dataDir);
	// Its processes aren't a server's, which ends those of its earlier starts.
	const box = await openSandbox(config, log, {
		place: join(shared, 'workers'),
		startId: replica.id,
		live: () => replica.live()
	});
	for (const note of box.notes) log.info({ sandbox: box.sandbox.name }, note);
	const telemetry = await openTelemetry(config.telemetry, { log, scopes: createScopes(), instance: replica.id });
	const { packagesInstalled } = telemetry;
	const files = bucket && (await openOwnFiles(config, { bucket, store, dataDir: shared, log, box, packagesInstalled }));
	// Sockets don't work on every shared file system.
	const sockets = await mkdtemp(join(tmpdir(), 'worker-'));
	const worker = await startWorker({
		...{ jobs, replica, log },
		sandbox: box.sandbox,
		sandboxOfImage: box.sandboxOfImage,
		openReach: createProxies(join(sockets, 'net')),
		key: keyFor(await loadSecretsKey(dataDir, config.secretsKey), JOB_KEY),
		dataDir: shared,
		own: files ?? undefined,
		slots: execution.maxScripts
	});
	telemetry.measure({
		// Servers tell what waits.
		queuedMessages: () => Promise.reject(new Error('only on servers')),
		executions: () => ({ waiting: 0, running: worker.running })
	});
	const readiness = createReadiness({ 'The database': () => jobs.counts() });
	const health =
		config.workerPort === null
			? null
			: await openWorkerHealth({
					...{ host: config.host, port: config.workerPort, readiness, scrape: telemetry.scrape },
					token: config.metricsToken ?? config.adminToken
				});
	await replica.start();
	process.stdout.write(`Worker ready: up to ${execution.maxScripts} scripts at once in ${box.sandbox.name}\n`);

	const told = Promise.withResolvers<void>();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, told.resolve);
	await told.promise;
	await readiness.stop(0);
	await worker.close(shutdownTimeoutMs);
	await box.close();
	await files?.close();
	await jobs.close();
	await replica.close();
	await health?.close();
	await telemetry.close();
	await store.close();
	dataFolder?.close();
	await rm(sockets, { recursive: true, force: true });
}

/** With a bucket: the files of scripts in the worker's own data folder. */
async function openOwnFiles(
	{ execution }: Pick<Config, 'execution'>,
	{
		bucket: settings,
		store,
		dataDir,
		log,
		box,
		packagesInstalled
	}: {
		bucket: BucketSettings;
		store: Store;
		dataDir: string;
		log: Log;
		box: OpenSandbox;
		packagesInstalled: Telemetry['packagesInstalled'];
	}
) {
	const bucket = openBucket(settings);
	await dropUnfinished(dataDir);
	const files = store.storedFiles;
	const storage = createStoredFolders({
		store: files,
		bucket,
		dataDir,
		log,
		kinds: [...WORKSPACE_KINDS, SENT_FOLDERS]
	});
	const copies = createSkillCopies({
		folder: join(dataDir, 'workers', 'skill-copies'),
		maxBytes: execution.copiesBytes
	});
	const copyOf = (dir: string, digest: string) => copies.take({ dir, name: 'skill' }, digest);
	const environments = holdEnvironments(
		createEnvironments({
			...execution.packages,
			...pythonOf(box),
			folder: join(dataDir, 'environments'),
			environment: process.env,
			onInstalled(seconds, outcome) {
				log.info({ outcome, ms: Math.round(seconds * 1000) }, 'Installed packages of a skill');
				packagesInstalled(seconds, outcome);
			}
		})
	);
	const installed: typeof environments.take = (lock, how) =>
		environments.take(lock, how).catch((error: unknown) => {
			if (!(error instanceof PackagesError)) throw error;
			const message = `Its packages couldn’t be installed on the worker: ${error.message} ${error.hint}`;
			throw new AppError('unavailable', message, { cause: error });
		});
	const { workerFilesBytes: maxBytes } = execution;
	const receiver = createFolderReceiver({ storage, files, dataDir, copyOf, installed, maxBytes });
	const tidy = (): void =>
		void receiver.tidy().catch((error: unknown) => log.error({ error: String(error) }, 'Couldn’t delete old copies'));
	void storage.catchUp().then(tidy);
	const timer = setInterval(tidy, TIDY_EVERY_MS);
	return {
		bucket,
		receiver,
		async close() {
			clearInterval(timer);
			await copies.close();
			await storage.close();
		}
	};
}

/** Of scripts on this machine. */
function pythonOf({ sandbox, host }: OpenSandbox): Pick<EnvironmentsOptions, 'findPython' | 'target'> {
	const path = process.env.PATH ?? '';
	const interpreters = createInterpreters({ host, sandbox: host, path });
	const lookup = createLookup({ sandbox, host, path });
	return {
		findPython: () => interpreters.python().catch(() => null),
		target: () => lookup.foreignPython()
	};
}

// What a worker answers over HTTP, on WORKER_PORT: whether it lives, whether it can take scripts, and its metrics.

interface WorkerHealthOptions {
	host: string;
	port: number;
	/** Needed for metrics; null: whoever reaches it may read them. */
	token: string | null;
	readiness: Readiness;
	scrape: Telemetry['scrape'];
}

/** @throws Error if the port can’t be used */
async function openWorkerHealth({ host, port, token, readiness, scrape }: WorkerHealthOptions) {
	const answer = (response: ServerResponse, status: number, body: object | string): void => {
		const type = typeof body === 'string' ? 'text/plain; version=0.0.4; charset=utf-8' : 'application/json';
		response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
		response.end(typeof body === 'string' ? body : JSON.stringify(body));
	};
	const serve = async (path: string, authorization: string | null, response: ServerResponse): Promise<void> => {
		if (path === '/health') return answer(response, 200, { status: 'ok' });
		if (path === '/ready') {
			const reason = await readiness.reason();
			return reason === null
				? answer(response, 200, { status: 'ready' })
				: answer(response, 503, { error: 'unavailable', message: reason });
		}
		if (path !== '/metrics' || !scrape) return answer(response, 404, { error: 'not_found', message: 'Not found' });
		if (token !== null && !mayScrape(authorization, token)) {
			return answer(response, 401, { error: 'unauthorized', message: 'Send METRICS_TOKEN as a bearer token.' });
		}
		return answer(response, 200, await scrape());
	};
	const server = createServer((request, response) => {
		const [path = ''] = (request.url ?? '').split('?', 1);
		serve(path, request.headers.authorization ?? null, response).catch(() => response.destroy());
	});
	server.listen(port, host);
	await once(server, 'listening').catch((cause: unknown) => {
		const message = `WORKER_PORT can’t be used: ${(cause as Error).message}`;
		throw new Error(message, { cause });
	});
	return {
		async close() {
			server.close();
			server.closeAllConnections();
		}
	};
}

// `npm run worker`: npm runs scripts in the project's folder.
if (import.meta.main) {
	process.chdir(join(import.meta.dirname, '../../../..'));
	if (existsSync('.env')) process.loadEnvFile('.env');
	await runWorker();
}
