/** Constructs the sandbox of scripts, chosen by settings and availability: on this machine, or on workers. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from './config.ts';
import type { FolderSender } from './file-storage/sent-folders.ts';
import type { Log } from './log.ts';
import type { OpenReach } from './network/network-access.ts';
import type { Replica } from './replica.ts';
import { BUBBLEWRAP, createBubblewrapSandbox } from './sandbox/bubblewrap.ts';
import { allowedImages, type ContainerImages, normalizeImage } from './sandbox/container-arguments.ts';
import { type ContainerRuntime, findContainerRuntime, sweepContainers } from './sandbox/container-runtime.ts';
import { CONTAINER, createContainerSandbox } from './sandbox/container.ts';
import { detectSandbox } from './sandbox/detect.ts';
import { createSpawner } from './sandbox/launch/spawner.ts';
import { createProcessSandbox } from './sandbox/process.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { ownerOf, type Sweep, sweepLeftovers } from './sandbox/workspace.ts';
import type { ScriptCounts } from './store/script-jobs.ts';
import type { Store } from './store/store.ts';
import { createDispatch, type WorkersBackend } from './workers/dispatch.ts';

export interface OpenSandbox {
	sandbox: Sandbox;
	/** Runs host programs without file isolation. */
	host: Sandbox;
	/** Sentences for the operator: what was rejected and why. */
	notes: string[];
	/** The backend for a container image, if containers work. @throws Error if the image isn’t allowed */
	sandboxOfImage?: ((image: string) => Sandbox) | undefined;
	/** Opens proxies where scripts run. Default: here. */
	openReach?: OpenReach;
	/** What waits for workers and runs there; absent without workers. */
	scriptCounts?: () => Promise<ScriptCounts>;
	close(): Promise<void>;
}

/** The runner process’s program: Node runs it from source, or bundled in the package. */
const RUNNERS = { source: 'src/lib/server/sandbox/launch/runner.ts', packaged: 'dist/bin/runner.js' };

type SandboxConfig = Pick<Config, 'dataDir' | 'execution'>;

/** Where scripts see the machine's own paths, a worker's must be the server's. @throws Error */
export function requireIsolation({ bucket }: Pick<Config, 'bucket'>, sandbox: string): void {
	if (bucket === null || sandbox !== 'process') return;
	throw new Error(
		'With S3_URL, workers need a sandbox that isolates files. Set SKILLS_SANDBOX to bubblewrap or container for servers and workers.'
	);
}

function openLauncher(log: Log) {
	const entry = resolve(existsSync(RUNNERS.source) ? RUNNERS.source : RUNNERS.packaged);
	return createSpawner({ entry, log: (sentence) => log.error({}, sentence) });
}

/**
 * On this machine. `among`: this start, and others beside it with the same data folder, whose processes go on until they
 * are gone.
 * @throws Error if the wanted backend doesn’t work here
 */
export async function openSandbox(
	{ dataDir, execution }: SandboxConfig,
	log: Log,
	among: { place?: string; startId?: string; live?: Sweep['live']; onGone?(sweep: () => void): void } = {}
): Promise<OpenSandbox> {
	const { place = dataDir, startId = randomUUID(), live, onGone } = among;
	const left = { dataDir: place, startId, live };
	const owner = ownerOf(place, startId);
	const sweep = async () => {
		const swept = await sweepLeftovers(left);
		if (swept > 0) log.info({ processes: swept }, 'stopped processes of a server that has stopped');
	};
	await sweep();
	const launcher = openLauncher(log);
	const { limits } = execution;
	const images: ContainerImages = { one: execution.containerImage, allowed: execution.allowedImages };
	const host = createProcessSandbox({ launcher, owner });
	let runtime: ContainerRuntime | null = null;
	const createContainer = (from: ContainerImages): Sandbox => {
		if (!runtime) throw new Error('No container program found.');
		return createContainerSandbox({ launcher, runtime, images: from, limits, owner });
	};
	try {
		const { sandbox, notes } = await detectSandbox({
			wanted: execution.sandbox,
			createProcess: () => createProcessSandbox({ launcher, limits, owner }),
			createBubblewrap: () => createBubblewrapSandbox({ launcher, limits, hidden: [dataDir, process.cwd()] }),
			createContainer: async () => {
				const found = await findContainerRuntime(execution.containerRuntime, { launcher, host: process.env });
				if (!found.runtime) throw new Error(found.reasons.join(' ') || 'docker and podman aren’t installed');
				await sweepContainers(launcher, found.runtime, left);
				runtime = found.runtime;
				return createContainer(images);
			}
		});
		onGone?.(() => {
			const containers = runtime ? sweepContainers(launcher, runtime, left) : null;
			void Promise.all([sweep(), containers]).catch((error: unknown) => {
				log.error({ error: String(error) }, 'couldn’t stop what a stopped server has left');
			});
		});
		return {
			sandbox,
			host,
			notes,
			sandboxOfImage: runtime
				? (image: string) => createContainer({ ...images, one: normalizeImage(image, allowedImages(images)) })
				: undefined,
			async close() {
				await sandbox.close();
				await host.close();
				await launcher.close();
			}
		};
	} catch (error) {
		await launcher.close();
		throw error;
	}
}

/** Backends of workers; what differs between machines, they say themselves. */
const OF_WORKERS: Record<'process' | 'bubblewrap' | 'container', WorkersBackend> = {
	process: { name: 'process', isolation: null, locate: (folders) => folders },
	bubblewrap: BUBBLEWRAP,
	container: CONTAINER
};

/** Folder of temporary files for scripts that can't have one of their own machine. */
const SCRATCH = 'scratch';

/** On workers. `auto` is bubblewrap: servers and workers must agree, and nothing may fall back without a word. */
export async function openWorkersSandbox(
	{ dataDir, execution, bucket }: SandboxConfig & Pick<Config, 'bucket'>,
	log: Log,
	{ store, replica, key, sender }: { store: Store; replica: Replica; key: Buffer; sender: FolderSender | null }
): Promise<OpenSandbox> {
	requireIsolation({ bucket }, execution.sandbox);
	const launcher = openLauncher(log);
	const host = createProcessSandbox({ launcher });
	const temporaryFolder = join(dataDir, SCRATCH, replica.id);
	await mkdir(temporaryFolder, { recursive: true });
	const jobs = await store.openScriptJobs();
	const dispatch = await createDispatch({
		...{ jobs, replica, key, log, sender },
		dataDir: await realpath(dataDir),
		temporaryFolder: await realpath(temporaryFolder)
	});
	const backend = OF_WORKERS[execution.sandbox === 'auto' ? 'bubblewrap' : execution.sandbox];
	const sandbox = dispatch.sandbox(backend);
	const images: ContainerImages = { one: execution.containerImage, allowed: execution.allowedImages };
	return {
		sandbox,
		host,
		notes: [],
		sandboxOfImage:
			backend === CONTAINER
				? (image) => dispatch.sandbox(backend, normalizeImage(image, allowedImages(images)))
				: undefined,
		openReach: dispatch.openReach,
		scriptCounts: dispatch.counts,
		async close() {
			await sandbox.close();
			await dispatch.close();
			await host.close();
			await launcher.close();
			await rm(temporaryFolder, { recursive: true, force: true });
		}
	};
}
