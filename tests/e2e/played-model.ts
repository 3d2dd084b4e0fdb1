/** The `model` fixture: the real app uses a scripted model, and every request must get its reply. */
import type { Locator, Page } from '@playwright/test';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { test as base } from './app.ts';

interface Fixtures {
	/** The app's environment besides the model's variables. */
	appEnv: Record<string, string>;
	/** Fails the test if a reply is left over. */
	allAsked: undefined;
}

export const test = base.extend<Fixtures, { model: ModelServer }>({
	model: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const model = await startModelServer();
			await use(model);
			await model.close();
		},
		{ scope: 'worker' }
	],
	appEnv: [{}, { option: true }],
	appOptions: async ({ model, appEnv }, use) => {
		const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a-key', OPENROUTER_MODEL: 'test/model' };
		await use({ env: { ...env, ...appEnv } });
	},
	allAsked: [
		async ({ model }, use) => {
			await use(undefined);
			model.assertDone();
		},
		{ auto: true }
	]
});

export const answers = (page: Page): Locator => page.locator('[data-testid=message][data-role=assistant]');
export const questions = (page: Page): Locator => page.locator('[data-testid=message][data-role=user]');

/** Types a message and presses Enter. */
export async function ask(page: Page, text: string): Promise<void> {
	await page.getByTestId('composer-input').fill(text);
	await page.getByTestId('composer-input').press('Enter');
}
