/** Plain processes, in namespaces where the machine allows them. */
import { createProcessSandbox } from '../../src/lib/server/sandbox/process.ts';
import { openWithRunner } from './open.ts';
import { testTorture } from './torture.suite.ts';

testTorture('process', {
	open: () => openWithRunner((launcher) => createProcessSandbox({ launcher })),
	isRoot: process.getuid?.() === 0
});
