import { findContainerRuntime } from '../../src/lib/server/sandbox/container-runtime.ts';
import { createContainerSandbox } from '../../src/lib/server/sandbox/container.ts';
import { makeContainerImage } from '../support/container-image.ts';
import { lacks } from '../support/sandbox-packages.ts';
import { openWithRunner } from './open.ts';
import { testTorture } from './torture.suite.ts';

let image: Promise<string> | undefined;

testTorture('container', {
	open: () =>
		openWithRunner(async (launcher) => {
			const { runtime, reasons } = await findContainerRuntime('podman', { launcher, host: process.env });
			if (!runtime) throw new Error(reasons.join('\n'));
			const images = { one: await (image ??= makeContainerImage(runtime.file)), allowed: [] };
			return createContainerSandbox({ launcher, runtime, images });
		}),
	isMissing: lacks('containers'),
	isRoot: process.getuid?.() === 0
});
