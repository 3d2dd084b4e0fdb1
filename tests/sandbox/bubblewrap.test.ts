import { createBubblewrapSandbox } from '../../src/lib/server/sandbox/bubblewrap.ts';
import { lacks } from '../support/sandbox-packages.ts';
import { openWithRunner } from './open.ts';
import { testTorture } from './torture.suite.ts';

testTorture('bubblewrap', {
	open: () => openWithRunner((launcher) => createBubblewrapSandbox({ launcher })),
	isMissing: lacks('bubblewrap'),
	isRoot: process.getuid?.() === 0
});
