/** Starts the whole app like a user does, `node server.js`, on a free port with folders of its own. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface AppOptions {
	/** Overrides the defaults; an empty value means the variable isn't set. */
	env?: Record<string, string>;
	/** Program and arguments to run instead of `node server.js`. */
	command?: [string, ...string[]];
	/** Working directory. Default: the project's folder. */
	cwd?: string;
	/** Folder whose skills are copied to `skillsDir`. Default: the bundled ones. */
	skillsFrom?: string;
}

export interface App {
	/** `http://127.0.0.1:<port>`; the same after a restart. */
	url: string;
	/** Temporary: kept across restarts, removed at the end. */
	dataDir: string;
	skillsDir: string;
	/** Id of the started process: the server's own, unless `command` is set. */
	pid: () => number;
	/** Of the process after its end; null while it runs, and if a signal ended it. */
	exitCode: () => number | null;
	/** Lines of stdout and stderr so far. */
	logs: string[];
	/** Sends its process a signal; for one that ends it, resolves when it has ended. */
	signal: (signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>;
	/** Stops the server and starts it again on the same port, folders and environment (plus `env`). */
	restart: (options?: RestartOptions) => Promise<void>;
	/** Stops the server and removes its folders. Idempotent. */
	stop: () => Promise<void>;
}

export interface RestartOptions {
	/** `SIGKILL` for a crash. Default: `SIGTERM`, a clean stop. */
	signal?: 'SIGTERM' | 'SIGKILL';
	env?: Record<string, string>;
}

const root = join(import.meta.dirname, '../..');

/** A start may include a build of the client. */
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 10_000;

/** Throws, with the server's output, if it exits or never prints `Listening on …`. */
export async function startApp(options: AppOptions = {}): Promise<App> {
	const folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-app-'));
	const dataDir = join(folder, 'data');
	const skillsDir = join(folder, 'skills');
	await cp(options.skillsFrom ?? join(root, 'skills'), skillsDir, { recursive: true });

	const logs: string[] = [];
	const environment = { ...isolatedEnvironment(), DATA_DIR: dataDir, SKILLS_DIRS: skillsDir, ...options.env };
	const command = options.command ?? [process.execPath, 'server.js'];
	const start = (env: Record<string, string>): Promise<RunningServer> =>
		startServer({ command, cwd: options.cwd ?? root }, env, logs);
	let server = await start(environment).catch(async (error: unknown) => {
		await rm(folder, { recursive: true, force: true });
		throw error;
	});
	const { url } = server;

	return {
		url,
		dataDir,
		skillsDir,
		logs,
		pid: () => server.process.pid ?? 0,
		exitCode: () => server.process.exitCode,
		async signal(signal) {
			if (signal === 'SIGTERM' || signal === 'SIGKILL') await endProcess(server.process, signal);
			else server.process.kill(signal);
		},
		async restart({ signal = 'SIGTERM', env }: RestartOptions = {}) {
			await endProcess(server.process, signal);
			server = await start({ ...environment, PORT: new URL(url).port, ...env });
		},
		async stop() {
			await endProcess(server.process, 'SIGTERM');
			await rm(folder, { recursive: true, force: true });
		}
	};
}

interface RunningServer {
	process: ChildProcess;
	url: string;
}

async function startServer(
	{ command: [file, ...args], cwd }: Required<Pick<AppOptions, 'command' | 'cwd'>>,
	env: Record<string, string>,
	logs: string[]
): Promise<RunningServer> {
	const server = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
	const firstLine = logs.length;
	const failure = (what: string): Error => new Error(`server.js ${what}:\n${logs.slice(firstLine).join('\n')}`);

	let timer: NodeJS.Timeout | undefined;
	try {
		const url = await new Promise<string>((resolve, reject) => {
			timer = setTimeout(() => reject(failure(`did not listen within ${START_TIMEOUT_MS} ms`)), START_TIMEOUT_MS);
			server.once('error', reject);
			server.once('close', (code, signal) => reject(failure(`ended with ${code ?? signal} before it listened`)));
			for (const stream of [server.stdout, server.stderr])
				createInterface({ input: stream }).on('line', (line) => {
					logs.push(line);
					const address = /Listening on (http:\/\/[^\s"]+)/.exec(line)?.[1];
					if (address) resolve(address.replace(/\/$/, ''));
				});
		});
		return { process: server, url };
	} catch (error) {
		await endProcess(server, 'SIGKILL');
		throw error;
	} finally {
		clearTimeout(timer);
	}
}

/** None of the developer's own settings: no keys from the shell, and none from `.env`, which never overrides a set variable. */
function isolatedEnvironment(): Record<string, string> {
	const { PATH = '', HOME = '', LANG = 'C.UTF-8', TMPDIR = tmpdir() } = process.env;
	const open = { HOST: '127.0.0.1', PORT: '0', ADMIN_TOKEN: '', PUBLIC_ORIGIN: '' };
	const own = { CHAT_TITLES: 'false', OPENROUTER_API_KEY: '', DATABASE_URL: '', SHUTDOWN_TIMEOUT_MS: '1000' };
	return { PATH, HOME, LANG, TMPDIR, ...open, ...own };
}

async function endProcess(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
	if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return;
	const ended = once(server, 'exit');
	server.kill(signal);
	const timer = setTimeout(() => server.kill('SIGKILL'), STOP_TIMEOUT_MS);
	await ended;
	clearTimeout(timer);
}
