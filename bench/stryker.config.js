/** `npm run test:mutation`: breaks these files line by line and counts what the tests beside them notice. `ROOM=access` takes one room. */

/** Where a wrong line would hurt most, and whose tests need no processes: a mutant takes about a second. */
const FILES = {
	access: ['api-keys', 'doors', 'failure-limit', 'login'],
	agent: ['calls', 'compaction', 'without-skills'],
	network: ['address-guard', 'addresses', 'domains'],
	runs: ['allowed-beforehand', 'approval-policy', 'consent'],
	skills: ['declared-variables', 'environment', 'front-matter', 'limits', 'manifest', 'safe-read', 'script-arguments'],
	trust: ['folder', 'trust']
};

const room = process.env.ROOM;
const rooms = Object.entries(FILES).filter(([name]) => !room || name === room);

export default {
	mutate: rooms.flatMap(([name, files]) => files.map((file) => `src/lib/server/${name}/${file}.ts`)),
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
