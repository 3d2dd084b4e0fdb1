/** Servers that give their scripts to workers: real worker processes on a real Postgres. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadConfig } from '../../src/lib/server/config.ts';
import { createLog } from '../../src/lib/server/log.ts';
import { openWorkersSandbox, type OpenSandbox } from '../../src/lib/server/open-sandbox.ts';
import { openReplica, type Replica } from '../../src/lib/server/replica.ts';
import type { Sandbox, SandboxCommand } from '../../src/lib/server/sandbox/sandbox.ts';
import { connectPostgres, openPostgresStore } from '../../src/lib/server/store/postgres.ts';
import type { Store } from '../../src/lib/server/store/store.ts';
import { keyFor, loadSecretsKey } from '../../src/lib/server/trust/vault.ts';
import { JOB_KEY } from '../../src/lib/server/workers/job.ts';

const root = join(import.meta.dirname, '../..');
const SECRETS_KEY = 'a key of servers and workers';

export interface WorkerServer extends OpenSandbox {
	store: Store;
	replica: Replica;
	/** Runs a line of shell in a workspace of its own. */
	sh(line: string, more?: Partial<SandboxCommand>): ReturnType<Sandbox['run']>;
}

export interface WorkerRig {
	dataDir: string;
	/** Settings of its servers and workers. */
	env: Record<string, string>;
	startServer(): Promise<WorkerServer>;
	startWorker(env?: Record<string, string>): Promise<WorkerProcess>;
	/** A file in the workspace of `sh`. */
	fileOf(workspace: string, name: string): string;
	close(): Promise<void>;
}

export interface WorkerProcess {
	pid: number;
	/** Lines of stdout and stderr. */
	logs: string[];
	/** Resolves with the exit code. */
	stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export async function createWorkerRig(url: string, backend = 'process'): Promise<WorkerRig> {
	const folder = await realpath(await mkdtemp(join(tmpdir(), 'workers-')));
	const dataDir = join(folder, 'data');
	await mkdir(dataDir, { mode: 0o700 });
	const env = { DATABASE_URL: url, SECRETS_KEY, DATA_DIR: dataDir, SKILLS_SANDBOX: backend, SKILLS_RUN_ON: 'workers' };
	const closing: (() => Promise<unknown>)[] = [];
	return {
		dataDir,
		env,
		async startServer() {
			const server = await openWorkerServer(env);
			closing.push(server.close);
			return server;
		},
		async startWorker(more = {}) {
			const worker = await startProcess('src/lib/server/cli/worker.ts', { ...env, ...more }, 'Worker ready');
			closing.push(() => worker.stop('SIGKILL'));
			return worker;
		},
		fileOf: (workspace, name) => join(dataDir, 'workspaces', workspace, name),
		async close() {
			for (const close of closing.reverse()) await close();
			await rm(folder, { recursive: true, force: true });
		}
	};
}

/** Of its servers and workers. */
export async function jobKeyOf({ dataDir, secretsKey = SECRETS_KEY }: { dataDir: string; secretsKey?: string | null }) {
	return keyFor(await loadSecretsKey(dataDir, secretsKey), JOB_KEY);
}

/** What a server has of it, without the rest of the app. */
export async function openWorkerServer(env: Record<string, string>): Promise<WorkerServer> {
	const config = loadConfig(env);
	const url = config.database?.url ?? '';
	const log = createLog(() => undefined);
	const store = await openPostgresStore(url);
	const connect = () => connectPostgres(url, { startMs: 0 });
	const replica = await openReplica({ connect, replicas: store.replicas, log });
	const key = await jobKeyOf(config);
	const box = await openWorkersSandbox(config, log, { store, replica, key, sender: null });
	await replica.start();
	let count = 0;
	return {
		...{ ...box, store, replica },
		async sh(line, more = {}) {
			const workspace = join(config.dataDir, 'workspaces', more.id ?? `w${(count += 1)}`);
			await mkdir(workspace, { recursive: true });
			const folders = { workspace };
			return box.sandbox.run({
				...{ file: '/bin/sh', args: ['-c', line], env: { PATH: '/usr/bin:/bin' } },
				...{ cwd: box.sandbox.locate(folders).workspace, folders, timeoutMs: 60_000, maxOutputBytes: 10_000 },
				...more
			});
		},
		async close() {
			await box.close();
			await replica.close();
			await store.close();
		}
	};
}

/** Starts a program of the project, and waits for a line that says so. */
export async function startProcess(
	path: string,
	env: Record<string, string>,
	ready: string,
	args: string[] = []
): Promise<WorkerProcess> {
	const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
	const child: ChildProcess = spawn(process.execPath, [join(root, path), ...args], {
		cwd: root,
		env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
		stdio: ['ignore', 'pipe', 'pipe']
	});
	const exited = once(child, 'exit');
	const logs: string[] = [];
	const { promise, resolve, reject } = Promise.withResolvers<void>();
	for (const stream of [child.stdout, child.stderr]) {
		createInterface({ input: stream! }).on('line', (line) => {
			logs.push(line);
			if (line.includes(ready)) resolve();
		});
	}
	void exited.then(() => reject(new Error(`${path} has ended:\n${logs.join('\n')}`)));
	await promise;
	return {
		pid: child.pid ?? 0,
		logs,
		async stop(signal = 'SIGTERM') {
			child.kill(signal);
			const [code] = (await exited) as [number | null];
			return code;
		}
	};
}
