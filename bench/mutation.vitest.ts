/** The tests that `npm run test:mutation` tries mutants with: those of the rooms beside their files, or of one (`ROOM=access`). */
import { defineConfig } from 'vitest/config';

/**
 * Every skill that is read goes through the lines of `skills`, and every run through those of `runs`: tests that start
 * processes, or read hundreds of skills, would take a minute for each mutant, so here are those that look at these
 * lines, by name. Of the other rooms all tests are fast enough.
 */
const TESTS: Record<string, string> = {
	access: '*',
	agent: '*',
	network: '*',
	runs: '{allowed-beforehand,approval-policy,consent}',
	skills:
		'{environment,front-matter,limits,manifest,needs,parser,pitfalls-parsing,read-file,safe-read,script-arguments,yaml-repair}',
	trust: '*'
};

const room = process.env.ROOM;
const rooms = Object.entries(TESTS).filter(([name]) => !room || name === room);

export default defineConfig({
	test: {
		environment: 'node',
		include: rooms.map(([name, files]) => `src/lib/server/${name}/${files}.test.ts`),
		// It reads the tree of routes, which mutants have in another place.
		exclude: ['src/lib/server/access/caller.test.ts'],
		testTimeout: 60_000,
		hookTimeout: 60_000
	}
});
