/** `npm run test:mutation`: breaks these files line by line and counts what the tests beside them notice. `ROOM=access` takes one room. */

/** Where a wrong line would hurt most, and whose tests need no processes: a mutant takes about a second. */
const FILES = {
	access: ['access/caller', 'access/door', 'access/login'],
	agent: ['agent/calls', 'agent/compaction', 'agent/history'],
	network: ['network/addresses', 'network/network-access'],
	runs: ['trust/approval-policy', 'conversations/consent'],
	skills: [
		'skills/needs/variables',
		'skills/read/front-matter',
		'skills/read/manifest',
		'skills/read/safe-read',
		'skills/run/environment'
	],
	trust: ['trust/folder', 'trust/trust']
};

const room = process.env.ROOM;
const rooms = Object.entries(FILES).filter(([name]) => !room || name === room);

export default {
	mutate: rooms.flatMap(([, files]) => files.map((file) => `src/lib/server/${file}.ts`)),
	testRunner: 'vitest',
	plugins: ['@stryker-mutator/vitest-runner'],
	vitest: { configFile: 'bench/mutation.vitest.ts', related: true },
	// The tests read the types that it writes.
	buildCommand: 'svelte-kit sync',
	coverageAnalysis: 'perTest',
	ignoreStatic: true,
	concurrency: 2,
	timeoutMS: 20_000,
	reporters: ['clear-text', 'json'],
	clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false },
	jsonReporter: { fileName: 'test-results/mutation.json' },
	tempDirName: 'test-results/stryker',
	ignorePatterns: ['data', 'build', 'dist', 'test-results', 'docs/images', 'static']
};
