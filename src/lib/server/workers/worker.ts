/** The worker's side: takes scripts from the queue, runs them, and sends back what they print and how they end (decision 019). */
import { createHash } from 'node:crypto';
import { access, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asTold, BlobDamaged, type Bucket, BucketUnavailable } from '../file-storage/bucket.ts';
import { createOutageLog, type Log } from '../log.ts';
import type { OpenReach } from '../network/network-access.ts';
import type { NetworkSession } from '../skills/run/execution-host.ts';
import type { Replica } from '../replica.ts';
import { failed } from '../sandbox/running.ts';
import type { Sandbox, SandboxResult } from '../sandbox/sandbox.ts';
import type { ScriptJobs, TakenScriptJob } from '../store/script-jobs.ts';
import type { FolderReceiver } from '../file-storage/sent-folders.ts';
import { INSTALLING, openJob, type OutputTexts, type ScriptJob, type ScriptResult, stopped } from './job.ts';

export interface WorkerOptions {
	jobs: ScriptJobs;
	replica: Replica;
	sandbox: Sandbox;
	/** @throws Error if the image isn’t allowed */
	sandboxOfImage?: ((image: string) => Sandbox) | undefined;
	openReach: OpenReach;
	key: Buffer;
	dataDir: string;
	/** null: servers share the data folder. */
	own?: { receiver: FolderReceiver; bucket: Bucket } | undefined;
	/** Scripts at once. */
	slots: number;
	log: Log;
}

export interface Worker {
	readonly running: number;
	/** Takes no more; scripts that still run have so long before they are ended. */
	close(graceMs: number): Promise<void>;
}

/** How often it looks by itself for work and wishes. */
const LOOK_EVERY_MS = 1_000;
/** Output is sent together. */
const FLUSH_MS = 30;
/** Without the database for so long, scripts end: servers may take it for gone, and somebody may run them anew. */
const ALONE_MS = 4_000;
/** How long a result is kept for a database that doesn't answer. */
const FINISH_MS = 30_000;

/** Longer than it stays in the queue. */
const JOB_LIVES_MS = 2 * 60 * 60_000;

/** An object without content. */
const NOTHING = { sha256: createHash('sha256').digest('hex'), bytes: 0 };

const TAKING = 'Couldn’t take a script';
const LOOKING = 'Couldn’t look after scripts';
const SENDING = 'Couldn’t send output';
const ENDING = 'Couldn’t send a result';

/** A script that runs here. */
interface Running {
	serverId: string;
	/** When it was asked for (`performance.now`). */
	askedAt: number;
	controller: AbortController;
	/** Ends it at once; before it runs, what it waits for. */
	kill(): void;
	/** Before it ran. */
	wasKilled: boolean;
	texts: [...OutputTexts];
	/** Number of the last batch. */
	n: number;
	/** Ended because the database was away for too long. */
	isCutOff: boolean;
	task: Promise<void>;
}

export async function startWorker(options: WorkerOptions): Promise<Worker> {
	const { jobs, replica, sandbox, slots } = options;
	const outages = createOutageLog(options.log);
	const running = new Map<string, Running>();
	/** Servers that have stopped. */
	const gone = new Set<string>();
	let isClosing = false;
	let isOwnWord = true;
	let heardAt = performance.now();
	let filling: Promise<void> | null = null;
	let isFillWanted = false;
	let flushing: Promise<void> | null = null;

	const facts = () => ({
		...{ host: hostname(), pid: process.pid, slots },
		...{ sandbox: sandbox.name, isolation: { ...sandbox.isolation } }
	});

	// Output

	const flush = async (): Promise<void> => {
		await delay(FLUSH_MS);
		const batches = [...running].flatMap(([id, script]) => {
			if (script.texts.length === 0) return [];
			const texts = JSON.stringify(script.texts satisfies OutputTexts);
			script.texts = [];
			return [{ id, n: (script.n += 1), texts }];
		});
		if (batches.length === 0) return;
		for (let left = 3; ; left -= 1) {
			try {
				await jobs.write(replica.id, batches);
				outages.worked(SENDING);
				break;
			} catch (error) {
				if (left === 0) return outages.failed(SENDING, error);
				await delay(LOOK_EVERY_MS);
			}
		}
		replica.tell(
			'outputs',
			batches.map(({ id }) => id)
		);
	};
	const flushSoon = (): Promise<void> =>
		(flushing ??= flush().finally(() => {
			flushing = null;
			if ([...running.values()].some(({ texts }) => texts.length > 0)) void flushSoon();
		}));

	// Scripts

	const begun = createBegun(join(options.dataDir, 'workers', 'begun'), options.own?.bucket ?? null);
	/** The last moment to find that it must not run; null if it may. */
	const mayBegin = async (id: string, at: number, script: Running): Promise<string | null> => {
		if (Math.abs(Date.now() - at) > JOB_LIVES_MS)
			return 'The job is hours old. Do servers and workers have the same time?';
		if (!(await begun.mark(id))) return 'The job was begun before.';
		// Taking it from a slow database, or fetching its files, may have taken long: it may have been given up.
		if (options.own || performance.now() - script.askedAt > ALONE_MS) {
			const askedAt = performance.now();
			const wish = (await jobs.ofWorker(replica.id)).get(id);
			if (wish !== null) return 'The script was given up before it began. Try again.';
			script.askedAt = askedAt;
		}
		// So may this process.
		return performance.now() - script.askedAt > ALONE_MS ? 'The worker was too slow to begin it. Try again.' : null;
	};
	const perform = async (id: string, job: ScriptJob, script: Running): Promise<ScriptResult> => {
		const { command, reach } = job;
		const on = job.image === null ? sandbox : options.sandboxOfImage?.(job.image);
		const problem = on ? await problemOf(job, options) : 'This worker has no containers.';
		if (!on || problem !== null) return resultOf(failed(problem ?? ''));
		const say = (text: string): void => {
			script.texts.push(['packages', text]);
			void flushSoon();
		};
		const { signal } = script.controller;
		const how = { signal, onInstall: () => say(INSTALLING) };
		const taken = job.folders === null ? null : await options.own?.receiver.take(id, job.folders, how);
		let network: NetworkSession | null = null;
		let isReleased = false;
		const release = async (): Promise<string | null> => {
			isReleased = true;
			return (await taken?.release()) ?? null;
		};
		try {
			if (reach !== null) network = await options.openReach(command.id, reach);
			const refusal = await mayBegin(id, job.at, script);
			if (refusal !== null) return resultOf(failed(refusal));
			await taken?.begin();
			if (job.folders?.packages) say('');
			script.kill = () => void on.kill(command.id);
			const result = await on.run({
				...command,
				...(taken && { folders: taken.folders }),
				...(network && { proxySocket: network.socket }),
				signal,
				onOutput(stream, text) {
					script.texts.push([stream, text]);
					void flushSoon();
				}
			});
			const unkept = await release();
			return { ...resultOf(result, network?.refused(), network?.unreached?.()), unkept };
		} finally {
			if (!isReleased) await release();
			await network?.close();
		}
	};
	const finish = async (id: string, result: ScriptResult): Promise<void> => {
		const until = performance.now() + FINISH_MS;
		for (;;) {
			try {
				await jobs.finish(id, replica.id, JSON.stringify(result));
				replica.tell('outputs', [id]);
				outages.worked(ENDING);
				return;
			} catch (error) {
				outages.failed(ENDING, error);
				if (performance.now() > until) return;
				await delay(LOOK_EVERY_MS);
			}
		}
	};
	const start = ({ id, serverId, sealed }: TakenScriptJob, askedAt: number): void => {
		const script: Running = {
			...{ serverId, askedAt },
			controller: new AbortController(),
			wasKilled: false,
			kill() {
				script.wasKilled = true;
				script.controller.abort();
			},
			texts: [],
			n: 0,
			isCutOff: false,
			task: Promise.resolve()
		};
		running.set(id, script);
		replica.tell('outputs', [id]);
		const work = async (): Promise<void> => {
			const job = openJob(options.key, id, sealed);
			const result = job
				? await perform(id, job, script).catch((error: unknown) => {
						if (!script.controller.signal.aborted) return resultOf(failed((error as Error).message));
						return resultOf(stopped(script.wasKilled ? 'kill' : 'abort'));
					})
				: resultOf(
						failed('The worker can’t read this job: servers and workers need the same SECRETS_KEY and version.')
					);
			// What is on its way, then what is left.
			await flushing;
			while (script.texts.length > 0) await flushSoon();
			await finish(id, script.isCutOff ? { ...result, result: { ...result.result, ended: 'lost' } } : result);
			running.delete(id);
			fillSoon();
		};
		script.task = work();
	};

	// The queue

	const fill = async (): Promise<void> => {
		while (isFillWanted) {
			isFillWanted = false;
			while (!isClosing && isOwnWord && running.size < slots) {
				const askedAt = performance.now();
				const job = await jobs.take(replica.id, [...gone]);
				if (!job) break;
				start(job, askedAt);
			}
		}
	};
	const fillSoon = (): void => {
		isFillWanted = true;
		filling ??= fill()
			.then(
				() => outages.worked(TAKING),
				(error: unknown) => outages.failed(TAKING, error)
			)
			.finally(() => {
				filling = null;
				if (isFillWanted && !isClosing) setTimeout(fillSoon, LOOK_EVERY_MS).unref();
			});
	};
	/** Ends what nobody waits for any more, or somebody wants ended. */
	const check = async (): Promise<void> => {
		const asked = performance.now();
		// Taken meanwhile, it wouldn't be in the answer.
		const known = [...running];
		const own = await jobs.ofWorker(replica.id);
		heardAt = asked;
		isOwnWord = true;
		for (const [id, script] of known) {
			const want = own.has(id) && !gone.has(script.serverId) ? own.get(id) : 'kill';
			if (want === 'abort') script.controller.abort();
			if (want === 'kill') script.kill();
		}
		// Taken, but the answer was lost: it never began.
		const lost = [...own.keys()].filter((id) => !running.has(id));
		for (const id of lost) if (!filling) await finish(id, resultOf(failed('The worker lost the job. Try again.')));
	};
	const look = (): void => {
		if (performance.now() - heardAt > ALONE_MS) {
			isOwnWord = false;
			for (const script of running.values()) {
				script.isCutOff = true;
				script.kill();
			}
		}
		checkSoon();
		fillSoon();
		jobs.present(replica.id, facts()).catch(() => undefined);
	};
	let checking: Promise<void> | null = null;
	let isCheckWanted = false;
	const checkSoon = (): void => {
		isCheckWanted = true;
		checking ??= (async () => {
			while (isCheckWanted) {
				isCheckWanted = false;
				await check();
			}
		})()
			.then(
				() => outages.worked(LOOKING),
				(error: unknown) => outages.failed(LOOKING, error)
			)
			.finally(() => (checking = null));
	};

	replica.hear('jobs', () => {
		checkSoon();
		fillSoon();
	});
	replica.onGone(async (server) => {
		gone.add(server);
		for (const script of running.values()) if (script.serverId === server) script.kill();
	});
	await begun.sweep();
	await jobs.present(replica.id, facts());
	const timer = setInterval(look, LOOK_EVERY_MS);
	look();

	return {
		get running() {
			return running.size;
		},
		async close(graceMs) {
			isClosing = true;
			await filling;
			const tasks = () => Promise.all([...running.values()].map(({ task }) => task));
			const end = new AbortController();
			await Promise.race([tasks(), delay(graceMs, undefined, { signal: end.signal }).catch(() => undefined)]);
			end.abort();
			for (const { kill } of running.values()) kill();
			await tasks();
			clearInterval(timer);
			await checking;
			await jobs.clear(replica.id);
		}
	};
}

/** Why this worker can't run it; null if it can. */
async function problemOf({ sandbox: wanted, dataDir, command }: ScriptJob, options: WorkerOptions) {
	const { sandbox } = options;
	if (sandbox.name !== wanted) {
		return `The server expects workers with “${wanted}”, but this one has “${sandbox.name}”. Set SKILLS_SANDBOX to the same for both.`;
	}
	if ((dataDir === null) !== (options.own !== undefined)) {
		return 'Only one of server and worker has S3_URL. Set it to the same for both.';
	}
	if (dataDir !== null && dataDir !== options.dataDir) {
		return `The server’s DATA_DIR is ${dataDir}, the worker’s is ${options.dataDir}. Both must see the same folder under the same path.`;
	}
	const { folders } = command;
	for (const folder of [folders?.workspace, folders?.skill, folders?.packages]) {
		const isThere =
			folder === undefined ||
			(await access(folder).then(
				() => true,
				() => false
			));
		if (!isThere) return `The worker doesn’t see ${folder}. Servers and workers must share DATA_DIR.`;
	}
	return null;
}

function resultOf(result: SandboxResult, refused: string[] = [], unreached: string[] = []): ScriptResult {
	return { result, refused, unreached, unkept: null };
}

/**
 * A file for each job that has begun, in the folder that all workers share; if they share a bucket, an object in it, too.
 * A database that is put back, by a failover or by somebody who can write to it, has jobs in its queue that ran before.
 */
function createBegun(dir: string, bucket: Bucket | null) {
	const { signal } = new AbortController();
	const objectOf = (id: string) => `begun.${id}`;
	const isInBucket = (from: Bucket, id: string): Promise<boolean> =>
		Array.fromAsync(from.get(objectOf(id), NOTHING, signal)).then(
			() => true,
			(error: unknown) => {
				if (error instanceof BlobDamaged) return false;
				throw error;
			}
		);
	let sweptAt = -Infinity;
	const sweep = async (): Promise<void> => {
		sweptAt = performance.now();
		await mkdir(dir, { recursive: true });
		for (const name of await readdir(dir)) {
			const facts = await stat(join(dir, name)).catch(() => null);
			// Jobs of that time are refused, twice over for clocks that differ.
			if (!facts || Date.now() - facts.mtimeMs <= 2 * JOB_LIVES_MS) continue;
			try {
				await bucket?.remove(objectOf(name), signal);
				await rm(join(dir, name), { force: true });
			} catch (error) {
				// Others wouldn't go, either: later.
				if (error instanceof BucketUnavailable) return;
				throw error;
			}
		}
	};
	return {
		sweep,
		/** False if there is one. */
		async mark(id: string): Promise<boolean> {
			if (performance.now() - sweptAt > JOB_LIVES_MS) await sweep();
			const file = await open(join(dir, id), 'wx').catch((error: NodeJS.ErrnoException) => {
				if (error.code === 'EEXIST') return null;
				throw error;
			});
			await file?.close();
			if (file === null || bucket === null) return file !== null;
			try {
				if (await isInBucket(bucket, id)) return false;
				await bucket.put(objectOf(id), { ...NOTHING, async *read() {} }, signal);
				return true;
			} catch (error) {
				throw asTold(error);
			}
		}
	};
}
