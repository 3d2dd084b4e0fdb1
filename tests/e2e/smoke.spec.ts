import { expect, test } from './app.ts';

test('the first page opens with its title and without an error in the console', async ({ page }) => {
	const problems: string[] = [];
	page.on('console', (message) => {
		if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
	});
	page.on('pageerror', (error) => problems.push(String(error)));
	page.on('response', (response) => {
		if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
	});

	await page.goto('/');

	await expect(page).toHaveTitle('openrouter-skills');
	await page.waitForLoadState('networkidle');
	expect(problems).toEqual([]);
});
