/** What scripts run in, as the settings want it and this machine has it: with `app.ts`, where parts are constructed. */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import { createBubblewrapSandbox } from './sandbox/bubblewrap.ts';
import { createContainerSandbox } from './sandbox/container.ts';
import { allowedImages, normalizeImage, type ContainerImages } from './sandbox/container-images.ts';
import { findContainerRuntime, sweepContainers, type ContainerRuntime } from './sandbox/container-runtime.ts';
import { detectSandbox } from './sandbox/detect.ts';
import { ownerOf, sweepLeftovers } from './sandbox/leftovers.ts';
import { createProcessSandbox } from './sandbox/process.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { createSpawner } from './sandbox/spawner.ts';

export interface OpenSandbox {
	sandbox: Sandbox;
	/** Runs programs of this machine as they are. */
	host: Sandbox;
	/** Sentences for the operator: what was not taken and why. */
	notes: string[];
	/** The backend for one image, where there are containers. @throws Error for an image that is not allowed */
	sandboxOfImage?: (image: string) => Sandbox;
	close(): Promise<void>;
}

/** The program that starts all others; Node runs it from the sources. */
const RUNNER = 'src/lib/server/sandbox/runner.ts';

/** @throws Error when the backend that was asked for by name does not work here */
export async function openSandbox({ dataDir, execution }: Config, log: Log): Promise<OpenSandbox> {
	const startId = randomUUID();
	const owner = ownerOf(dataDir, startId);
	const swept = await sweepLeftovers({ dataDir, startId });
	if (swept > 0) log.info({ processes: swept }, 'processes of an earlier start were ended');
	const launcher = createSpawner({
		entry: resolve(RUNNER),
		log: (sentence) => log.error({}, sentence)
	});
	const { limits } = execution;
	const images: ContainerImages = { one: execution.containerImage, allowed: execution.allowedImages };
	const host = createProcessSandbox({ launcher, owner });
	let runtime: ContainerRuntime | null = null;
	const createContainer = (from: ContainerImages): Sandbox => {
		if (!runtime) throw new Error('There is no container runtime.');
		return createContainerSandbox({ launcher, runtime, images: from, limits, owner });
	};
	try {
		const { sandbox, notes } = await detectSandbox({
			wanted: execution.sandbox,
			createProcess: () => createProcessSandbox({ launcher, limits, owner }),
			createBubblewrap: () => createBubblewrapSandbox({ launcher, limits, hidden: [dataDir, process.cwd()] }),
			createContainer: async () => {
				const found = await findContainerRuntime(execution.containerRuntime, { launcher, host: process.env });
				if (!found.runtime) throw new Error(found.reasons.join(' ') || 'neither docker nor podman is there');
				await sweepContainers(launcher, found.runtime, { dataDir, startId });
				runtime = found.runtime;
				return createContainer(images);
			}
		});
		return {
			sandbox,
			host,
			notes,
			...(runtime
				? {
						sandboxOfImage: (image: string) =>
							createContainer({ ...images, one: normalizeImage(image, allowedImages(images)) })
					}
				: {}),
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
