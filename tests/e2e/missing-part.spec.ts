/** Page code that the browser can't load: a new server version has other files, and offline there are none. */
import type { Page } from '@playwright/test';
import { expect, test } from './app.ts';

// The service worker's cache would answer instead of the network.
test.use({ serviceWorkers: 'block' });

const CODE = /\/_app\/immutable\/.*\.js$/;

/** From now on, loading page code fails; returns the requested URLs. */
async function cutOff(page: Page): Promise<string[]> {
	await page.waitForLoadState('networkidle');
	const asked: string[] = [];
	await page.route(CODE, (route) => {
		asked.push(route.request().url());
		return route.abort();
	});
	return asked;
}

test('UI 10.14: parts of the page that do not come are one message, and after Reload what was typed is there', async ({
	page,
	app
}) => {
	await page.goto(app.url);
	const input = page.getByTestId('composer-input');
	await input.fill('half a thought');
	const asked = await cutOff(page);
	const message = page.getByTestId('toast');
	for (const part of ['model-chip', 'add']) {
		const before = asked.length;
		await page.getByTestId(part).click();
		await expect.poll(() => asked.length).toBeGreaterThan(before);
		await expect(message).toHaveText(/^Part of the page didn’t load\. Reload\s*$/);
	}
	await expect(page.getByTestId('error-page')).toHaveCount(0);
	await page.unroute(CODE);
	await message.getByRole('button', { name: 'Reload' }).click();
	await expect(message).toHaveCount(0);
	await expect(input).toHaveValue('half a thought');
	await page.getByTestId('model-chip').click();
	await expect(page.getByTestId('model-panel')).toBeVisible();
});

test('UI 10.14: a whole page that does not come says so in its place, once, and Reload brings it', async ({
	page,
	app
}) => {
	await page.goto(app.url);
	await page.getByTestId('composer-input').fill('half a thought');
	const asked = await cutOff(page);
	await page.getByTestId('model-chip').click();
	await expect(page.getByTestId('toast')).toHaveText(/^Part of the page didn’t load/);
	for (const name of ['skills-link', 'settings-link']) {
		const before = asked.length;
		await page.getByTestId(name).click();
		await expect.poll(() => asked.length).toBeGreaterThan(before);
		await expect(page.getByRole('heading', { name: 'This page didn’t load' })).toBeVisible();
		await expect(page.getByTestId('toast')).toHaveCount(0);
	}
	await expect(page).toHaveURL(/\/settings$/);
	await page.unroute(CODE);
	await page.getByRole('button', { name: 'Reload page' }).click();
	await expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible();
	await page.goto(app.url);
	await expect(page.getByTestId('composer-input')).toHaveValue('half a thought');
});
