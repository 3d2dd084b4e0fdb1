/** The tests that `npm run test:mutation` tries mutants with: those of the rooms beside their files, or of one (`ROOM=access`). */
import { defineConfig } from 'vitest/config';

/**
 * Every skill that is read goes through the lines of `skills`, and every run through those of `runs`: tests that start
 * processes, or read hundreds of skills, would take a minute for each mutant, so here are those that look at these
 * lines, by name. Of the other rooms all tests are fast enough.
 */
const TESTS: Record<string, string[]> = {
	access: ['access/*'],
	agent: ['agent/*'],
	network: ['network/*'],
	runs: ['trust/approval-policy', 'conversations/consent'],
	skills: [
		'skills/needs/needs',
		'skills/parser',
		'skills/pitfalls-parsing',
		'skills/read/front-matter',
		'skills/read/manifest',
		'skills/read/read-file',
		'skills/read/safe-read',
		'skills/read/yaml-repair',
		'skills/run/environment'
	],
	trust: ['trust/*']
};

const room = process.env.ROOM;
const rooms = Object.entries(TESTS).filter(([name]) => !room || name === room);

export default defineConfig({
	test: {
		environment: 'node',
		include: rooms.flatMap(([, tests]) => tests.map((test) => `src/lib/server/${test}.test.ts`)),
		testTimeout: 60_000,
		hookTimeout: 60_000
	}
});
