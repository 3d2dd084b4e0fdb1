import { defineConfig } from '@playwright/test';
import { findChromium } from './tests/support/chromium.ts';

export default defineConfig({
	testDir: 'tests/e2e',
	outputDir: 'test-results/playwright',
	reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
	fullyParallel: false,
	forbidOnly: Boolean(process.env.CI),
	retries: 0,
	workers: 4,
	// For real processes and pages on a machine that is busy with others.
	timeout: 90_000,
	expect: { timeout: 20_000 },
	use: {
		// A failure is looked at with `--trace on`: kept for all, traces cost a fifth of the time.
		trace: 'off',
		// Recording video needs a download of its own.
		video: 'off',
		screenshot: 'off',
		viewport: { width: 1280, height: 800 }
	},
	projects: [{ name: 'chromium', use: { browserName: 'chromium', launchOptions: await findChromium() } }]
});
