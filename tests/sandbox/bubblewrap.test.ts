import { createBubblewrapSandbox } from '../../src/lib/server/sandbox/bubblewrap.ts';
import { openWithRunner } from './open.ts';
import { testTorture } from './torture.suite.ts';

testTorture('bubblewrap', {
	open: () => openWithRunner((launcher) => createBubblewrapSandbox({ launcher })),
	isRoot: process.getuid?.() === 0
});
