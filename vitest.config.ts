import { playwright } from '@vitest/browser-playwright';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { findChromium } from './tests/support/chromium.ts';

const componentTests = 'src/**/*.svelte.test.ts';
/** Start the whole app again and again: minutes, and a build that nobody else makes meanwhile. */
const crashTests = 'tests/crash/**/*.test.ts';
/** Wear the machine out on purpose: one after the other, and beside nothing else. */
const sandboxTests = 'tests/sandbox/**/*.test.ts';

// Half of the start of a program of ours is compiling: what runs scripts, of which each app of a test has one, and a worker.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** How long a test may wait for what must come: for real processes and pages on a machine that is busy with others. */
const patient = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } } };

export default defineConfig({
	test: {
		projects: [
			{
				extends: './vite.config.ts',
				test: {
					name: 'node',
					environment: 'node',
					...patient,
					include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
					exclude: [componentTests, crashTests, sandboxTests, 'tests/fixtures/**']
				}
			},
			{
				extends: './vite.config.ts',
				// They mostly wait for servers that start and stop.
				test: { name: 'crash', environment: 'node', include: [crashTests], maxWorkers: 2, ...patient }
			},
			{
				extends: './vite.config.ts',
				test: {
					name: 'sandbox',
					environment: 'node',
					include: [sandboxTests],
					fileParallelism: false,
					...patient,
					testTimeout: 180_000,
					hookTimeout: 180_000
				}
			},
			{
				extends: './vite.config.ts',
				// All packages of the page, known before the first test: one that is found later reloads the tests under way.
				optimizeDeps: { entries: ['src/lib/page/**/*.{svelte,ts}', componentTests] },
				test: {
					name: 'browser',
					include: [componentTests],
					...patient,
					browser: {
						enabled: true,
						headless: true,
						screenshotFailures: false,
						provider: playwright({ launchOptions: await findChromium() }),
						instances: [{ browser: 'chromium' }]
					}
				}
			}
		]
	}
});
