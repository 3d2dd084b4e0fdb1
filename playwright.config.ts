import { defineConfig } from '@playwright/test';
import { findChromium } from './tests/support/chromium.ts';

export default defineConfig({
	testDir: 'tests/e2e',
	outputDir: 'test-results/playwright',
	reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
	fullyParallel: false,
	forbidOnly: Boolean(process.env.CI),
	retries: 0,
	workers: 2,
	timeout: 30_000,
	use: {
		// Of what the page was made of at each step; a film of it took a third of the time.
		trace: { mode: 'retain-on-failure', screenshots: false, sources: false },
		// Recording video needs a download of its own.
		video: 'off',
		screenshot: 'off',
		viewport: { width: 1280, height: 800 }
	},
	projects: [{ name: 'chromium', use: { browserName: 'chromium', launchOptions: await findChromium() } }]
});
