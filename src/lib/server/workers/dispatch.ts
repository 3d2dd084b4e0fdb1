/** The server's side of workers: a sandbox whose scripts run on other machines, through a queue in Postgres (decision 019). */
import { randomUUID } from 'node:crypto';
import type { FolderSender } from '../file-storage/sent-folders.ts';
import { createOutageLog, type Log } from '../log.ts';
import type { OpenReach, Reach } from '../network/network-access.ts';
import type { Replica } from '../replica.ts';
import { failed } from '../sandbox/running.ts';
import type { Sandbox, SandboxCommand, SandboxIsolation, SandboxResult } from '../sandbox/sandbox.ts';
import type { ScriptCounts, ScriptJobNews, ScriptJobs } from '../store/script-jobs.ts';
import { INSTALLING, readOutput, readResult, sealJob, stopped } from './job.ts';

/** What servers know of the workers' backend. */
export type WorkersBackend = Pick<Sandbox, 'name' | 'programs' | 'locate'> & {
	/** null: as the workers say. */
	isolation: SandboxIsolation | null;
};

export interface DispatchOptions {
	jobs: ScriptJobs;
	replica: Replica;
	/** Only servers and workers have it. */
	key: Buffer;
	dataDir: string;
	/** null: workers share the data folder. */
	sender: FolderSender | null;
	/** In the data folder. */
	temporaryFolder: string;
	log: Log;
}

export interface Dispatch {
	/** `image`: a container image instead of the workers' usual one. */
	sandbox(backend: WorkersBackend, image?: string): Sandbox;
	/** The proxy of an execution is on the worker that runs it. */
	openReach: OpenReach;
	/** What waits and runs, and on which worker: of all servers. */
	counts(): Promise<ScriptCounts>;
	close(): Promise<void>;
}

/** How often a server looks by itself. */
const LOOK_EVERY_MS = 1_000;
/** Less than this is no wait to tell of. */
const WAITS_MS = 500;
/** A worker that doesn't end a script by then isn't waited for. */
const GIVE_UP_MS = 15_000;

const NOTHING: SandboxIsolation = { files: false, network: false, processes: false, limits: false };

const ASKING = 'Couldn’t ask after scripts on workers';
const LOOKING = 'Couldn’t look after scripts on workers';

/** A script that this server waits for. */
interface Waiter {
	/** The last batch of output. */
	after: number;
	take(news: ScriptJobNews): void;
	/** Still in the queue, since then (`performance.now`). */
	waitsSince: number | null;
	/** When it has waited for long, and there is no worker. */
	giveUp(): void;
	timeoutMs: number;
}

export async function createDispatch(options: DispatchOptions): Promise<Dispatch> {
	const { jobs, replica, log } = options;
	const outages = createOutageLog(log);
	const waiters = new Map<string, Waiter>();
	/** Of executions with a network. */
	const reaches = new Map<string, { reach: Reach; refused: string[]; unreached: string[] }>();
	const dirty = new Set<string>();
	let pulling: Promise<void> | null = null;
	let isolation = NOTHING;

	const pull = async (): Promise<void> => {
		while (dirty.size > 0) {
			const known = new Map<string, number>();
			for (const id of dirty) {
				const waiter = waiters.get(id);
				if (waiter) known.set(id, waiter.after);
			}
			dirty.clear();
			if (known.size === 0) continue;
			for (const [id, news] of await jobs.news(known)) waiters.get(id)?.take(news);
		}
	};
	const wake = (ids: Iterable<string>): void => {
		for (const id of ids) dirty.add(id);
		pulling ??= pull()
			.then(
				() => outages.worked(ASKING),
				(error: unknown) => outages.failed(ASKING, error)
			)
			.finally(() => (pulling = null));
	};
	replica.hear('outputs', (ids) => wake(ids.length > 0 ? ids : waiters.keys()));
	replica.onGone(async (gone) => {
		const lost = await jobs.clear(gone);
		if (lost.length === 0) return;
		replica.tell('outputs', lost);
		wake(lost);
	});

	const look = async (): Promise<void> => {
		wake(waiters.keys());
		const { workers } = await jobs.counts();
		isolation = weakest(workers.map((worker) => worker.isolation)) ?? isolation;
		if (workers.length > 0) return;
		for (const waiter of [...waiters.values()]) {
			const { waitsSince, timeoutMs } = waiter;
			if (waitsSince !== null && performance.now() - waitsSince > timeoutMs) waiter.giveUp();
		}
	};
	const tick = (): void => {
		look().then(
			() => outages.worked(LOOKING),
			(error: unknown) => outages.failed(LOOKING, error)
		);
	};
	await look();
	const timer = setInterval(tick, LOOK_EVERY_MS).unref();

	const run = async (
		command: SandboxCommand,
		{ backend, image, ending }: { backend: WorkersBackend; image: string | null; ending: Promise<'abort' | 'kill'> }
	): Promise<SandboxResult> => {
		const { signal: _, onOutput, onWait, proxySocket, caller, ...rest } = command;
		const { dataDir, key, sender } = options;
		const id = randomUUID();
		const sent = sender && rest.folders ? await sender.send(id, rest.folders) : null;
		let unkept: string | null = null;
		const own = { ...rest, id: rest.id ?? id };
		const reach = proxySocket === undefined ? null : (reaches.get(own.id) ?? null);
		const seen = { stdout: '', stderr: '' };
		const { promise, resolve } = Promise.withResolvers<SandboxResult>();
		let told: 'nothing' | 'waits' | 'installs' | 'begun' = 'nothing';
		const tell = (news: 'waits' | 'installs' | 'begun'): void => {
			if (told === news || told === 'begun') return;
			told = news;
			if (news === 'installs') onWait?.(true, 'packages');
			else onWait?.(news === 'waits');
		};
		const waiter: Waiter = {
			after: 0,
			waitsSince: performance.now(),
			timeoutMs: command.timeoutMs,
			giveUp() {
				resolve(failed(`no worker took it within ${command.timeoutMs / 1000} s. Start one with “npm run worker”`));
			},
			take({ state, output, result }) {
				if (state === 'queued') {
					if (waiter.waitsSince !== null && performance.now() - waiter.waitsSince >= WAITS_MS) tell('waits');
					return;
				}
				if (state !== 'gone') {
					waiter.waitsSince = null;
					// Otherwise the worker says when it begins.
					if (!sent?.packages) tell('begun');
				}
				for (const { n, texts } of output) {
					waiter.after = n;
					for (const [stream, text] of readOutput(texts)) {
						if (stream === 'packages') {
							tell(text === INSTALLING ? 'installs' : 'begun');
							continue;
						}
						seen[stream] += text;
						onOutput?.(stream, text);
					}
				}
				if (state === 'lost')
					resolve({ ...failed(''), ...seen, ...bytesOf(seen), spawnError: undefined, ended: 'lost' });
				// Its run is another server's.
				if (state === 'gone') resolve(stopped('abort'));
				if (state !== 'ended' || result === null) return;
				const read = readResult(result);
				if (!read)
					return resolve(failed('the worker’s result can’t be read: servers and workers need the same version'));
				reach?.refused.push(...read.refused);
				reach?.unreached.push(...read.unreached);
				unkept = read.unkept;
				resolve(read.result);
			}
		};
		const end = async (want: 'abort' | 'kill'): Promise<void> => {
			if (await jobs.withdraw(id)) return resolve(stopped(want));
			await jobs.want(id, want);
			replica.tell('jobs', [id]);
			setTimeout(() => resolve(stopped(want)), GIVE_UP_MS).unref();
		};

		const place = sender ? { dataDir: null, folders: sent } : { dataDir, folders: null };
		const what = { sandbox: backend.name, image, reach: reach?.reach ?? null };
		const job = { at: Date.now(), ...place, ...what, command: sender ? { ...own, folders: undefined } : own };
		try {
			const { key: owner = '', runId = null } = caller ?? {};
			const isOwn = await jobs.add({ id, serverId: replica.id, runId, owner, sealed: sealJob(key, id, job) });
			if (!isOwn) return stopped('abort');
			waiters.set(id, waiter);
			replica.tell('jobs', [id]);
			wake([id]);
			void ending.then(end).catch((error: unknown) => {
				log.error({ reason: String(error) }, 'Couldn’t stop a script on a worker');
				resolve(stopped('abort'));
			});
			return await promise;
		} finally {
			waiters.delete(id);
			const withdrawn = waiter.waitsSince === null ? Promise.resolve() : jobs.withdraw(id);
			// What still runs under this id ends, because it isn't known any more.
			await withdrawn.then(() => jobs.remove([id])).catch(() => undefined);
			if (sender && sent && rest.folders) await sender.receive(sent, rest.folders, unkept);
		}
	};

	const sandbox = (backend: WorkersBackend, image: string | null): Sandbox => {
		const running = new Map<string, { kill(): void; isOver: Promise<unknown> }>();
		let isClosed = false;
		const killAll = async () => {
			const all = [...running.values()];
			for (const { kill } of all) kill();
			await Promise.all(all.map(({ isOver }) => isOver));
		};
		return {
			name: backend.name,
			programs: backend.programs,
			locate: backend.locate,
			get isolation() {
				return backend.isolation ?? isolation;
			},
			hasQueue: true,
			temporaryFolder: options.temporaryFolder,
			async run(command) {
				const id = command.id ?? randomUUID();
				if (isClosed) return failed('The sandbox is closed.');
				if (running.has(id)) return failed(`A script with the id ${id} is already running.`);
				if (command.signal?.aborted) return stopped('abort');
				const { promise: ending, resolve: end } = Promise.withResolvers<'abort' | 'kill'>();
				const onAbort = () => end('abort');
				command.signal?.addEventListener('abort', onAbort, { once: true });
				const isOver = run({ ...command, id }, { backend, image, ending }).catch((error: unknown) =>
					failed(`it couldn’t be given to a worker: ${(error as Error).message}`)
				);
				running.set(id, { kill: () => end('kill'), isOver });
				try {
					return await isOver;
				} finally {
					command.signal?.removeEventListener('abort', onAbort);
					running.delete(id);
				}
			},
			kill(id) {
				running.get(id)?.kill();
				return running.has(id);
			},
			killAll,
			isRunning: (id) => running.has(id),
			get runningCount() {
				return running.size;
			},
			async close() {
				isClosed = true;
				await killAll();
			}
		};
	};

	return {
		sandbox: (backend, image) => sandbox(backend, image ?? null),
		async openReach(executionId, reach) {
			const found = { reach, refused: [], unreached: [] };
			reaches.set(executionId, found);
			return {
				socket: 'on the worker',
				refused: () => found.refused,
				unreached: () => found.unreached,
				async close() {
					reaches.delete(executionId);
				}
			};
		},
		counts: () => jobs.counts(),
		async close() {
			clearInterval(timer);
			await pulling;
			await options.sender?.close();
			await jobs.close();
		}
	};
}

function bytesOf({ stdout, stderr }: { stdout: string; stderr: string }) {
	return { stdoutBytes: Buffer.byteLength(stdout), stderrBytes: Buffer.byteLength(stderr) };
}

/** Of several workers, any may run a script. null without any. */
function weakest(all: readonly Record<string, boolean>[]): SandboxIsolation | null {
	const [first] = all;
	if (!first) return null;
	const is = (name: keyof SandboxIsolation) => all.every((each) => each[name] === true);
	return { files: is('files'), network: is('network'), processes: is('processes'), limits: is('limits') };
}
