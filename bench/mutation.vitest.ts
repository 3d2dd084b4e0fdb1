/** The tests that `npm run test:mutation` tries mutants with: those of the rooms beside their files, or of one (`ROOM=access`). */
import { defineConfig } from 'vitest/config';

const rooms = process.env.ROOM ?? '{skills,runs,agent,trust,network,access}';

export default defineConfig({
	test: {
		environment: 'node',
		include: [`src/lib/server/${rooms}/**/*.test.ts`],
		// It reads the tree of routes, which mutants have in another place.
		exclude: ['src/lib/server/access/caller.test.ts'],
		testTimeout: 60_000,
		hookTimeout: 60_000
	}
});
