/** The `app` fixture: a real server for each spec file, with a data folder and skills of its own. */

import { type Locator, test as base } from '@playwright/test';
import { startApp, type App, type AppOptions } from '../support/app-process.ts';

interface Fixtures {
	/** The running server, shared by the tests of a file while `appOptions` stay the same. */
	app: App;
	/** Set with `test.use({ appOptions: … })`, or from another fixture (a scripted model's address, say). */
	appOptions: AppOptions;
}

interface WorkerFixtures {
	appOfFile: (file: string, options: AppOptions) => Promise<App>;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
	appOptions: [{}, { option: true }],

	appOfFile: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			let current: { key: string; app: App } | undefined;
			await use(async (file, options) => {
				const key = JSON.stringify([file, options]);
				if (current?.key === key) return current.app;
				await current?.app.stop();
				current = { key, app: await startApp(options) };
				return current.app;
			});
			await current?.app.stop();
		},
		{ scope: 'worker', timeout: 120_000 }
	],

	app: async ({ appOfFile, appOptions }, use, testInfo) => {
		const app = await appOfFile(testInfo.file, appOptions);
		const firstLine = app.logs.length;
		await use(app);
		if (testInfo.status !== testInfo.expectedStatus)
			await testInfo.attach('server log', { body: app.logs.slice(firstLine).join('\n'), contentType: 'text/plain' });
	},

	baseURL: ({ app }, use) => use(app.url)
});

export { expect } from '@playwright/test';

/** The text in a code editor, as far as it is drawn. */
export async function linesIn(code: Locator): Promise<string> {
	return (await code.locator('.cm-line').allTextContents()).join('\n');
}
