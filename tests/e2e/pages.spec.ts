/** Every page, in both themes, on a wide and on a narrow screen: accessible, nothing beside the screen, nothing refused by the policy, little to load. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page, Request } from '@playwright/test';
import { besideScreen } from '../support/beside-screen.ts';
import { expect, test } from './app.ts';

const LOOKS = [
	{ theme: 'light', width: 1280, height: 800 },
	{ theme: 'dark', width: 390, height: 844 }
] as const;

/** Pages that need nothing but the bundled skills, and what is there when they are ready. */
const PAGES = [
	['/', '[data-testid=composer-input]'],
	['/skills', '[data-testid=skills-page]'],
	['/skills/count-words', '[data-testid=skill-page]'],
	['/skills/new', 'form'],
	['/skills/install', '[data-testid=install-page]'],
	['/skills/trash', '[data-testid=trash-page]'],
	['/skills/scores', '[data-testid=scores-page]'],
	['/skills/updates', '[data-testid=updates-page]'],
	['/skills/executions', '[data-testid=executions-page]'],
	['/settings', '[data-testid=settings-page] [data-testid=base-url]'],
	['/connect', '[data-testid=connect-page] [data-testid=snippet-claude-code]'],
	['/account/callback', '[data-testid=sign-in-error]'],
	['/docs/api', '[data-testid=api-page] [data-testid=operation]'],
	['/docs/api#changeSettings', '[data-testid=api-page] [data-testid=send]'],
	['/c/there-is-none', '[data-testid=load-error]'],
	['/nowhere', 'h1']
] as const;

for (const [path, ready] of PAGES) {
	test(`UI 8: ${path} is accessible and fits, light and wide, dark and narrow`, async ({ page }) => {
		const problems = watch(page);
		await page.goto(path);
		for (const { theme, width, height } of LOOKS) {
			// Without motion the new colours are there at once.
			await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
			await page.setViewportSize({ width, height });
			await expect(page.locator(ready).first()).toBeVisible();
			await expectAccessible(page);
		}
		expect(problems).toEqual([]);
	});
}

for (const { theme, width, height } of LOOKS) {
	test.describe(`${theme}, ${width} pixels`, () => {
		test.use({ viewport: { width, height }, colorScheme: theme });

		test('UI 8: a conversation with its steps open is accessible and fits', async ({ page }) => {
			const problems = watch(page);
			await page.goto('/');
			await page.getByTestId('composer-input').fill('Count the words of "the quick brown fox"');
			await page.getByTestId('send').click();
			await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
			for (const toggle of ['step-fold', 'step-toggle']) {
				const closed = page.locator(`[data-testid=${toggle}][aria-expanded=false]`);
				while ((await closed.count()) > 0) await closed.first().click();
			}
			await expectAccessible(page);
			expect(problems).toEqual([]);
		});

		test('UI 8: the palette, the shortcuts and the list of models are accessible and fit', async ({ page }) => {
			await page.goto('/');
			await expect(page.getByTestId('composer-input')).toBeVisible();
			await page.keyboard.press('Control+k');
			await expect(page.getByTestId('palette')).toBeVisible();
			await expectAccessible(page);
			await page.keyboard.press('Escape');
			await page.keyboard.press('Control+/');
			await expect(page.getByTestId('shortcuts-dialog')).toBeVisible();
			await expectAccessible(page);
			await page.keyboard.press('Escape');
			await page.getByTestId('model-chip').click();
			await expect(page.getByTestId('model-panel')).toBeVisible();
			await expectAccessible(page);
		});
	});
}

for (const [path, ready] of [
	['/settings', '[data-testid=mcp-none]'],
	['/settings#mcp-servers', '[data-testid=mcp-none]']
] as const) {
	test(`PERF: nothing on ${path} moves while it loads`, async ({ page }) => {
		await page.addInitScript(() => {
			const shifts = { sum: 0 };
			Object.assign(window, { shifts });
			new PerformanceObserver((list) => {
				for (const entry of list.getEntries()) shifts.sum += (entry as unknown as { value: number }).value;
			}).observe({ type: 'layout-shift', buffered: true });
		});
		await page.goto(path);
		await expect(page.locator(ready)).toBeVisible();
		await expect(page.getByTestId('base-url')).toBeEnabled();
		await page.waitForLoadState('networkidle');
		expect(await page.evaluate(() => (window as unknown as { shifts: { sum: number } }).shifts.sum)).toBeLessThan(0.02);
	});
}

test('PERF: the first page needs less than 150 KB of compressed scripts', async ({ page }) => {
	const scripts: Request[] = [];
	page.on('requestfinished', (request) => {
		if (request.resourceType() === 'script') scripts.push(request);
	});
	await page.goto('/');
	await expect(page.getByTestId('composer-input')).toBeVisible();
	await page.waitForLoadState('networkidle');
	const sizes = await Promise.all(scripts.map(async (request) => (await request.sizes()).responseBodySize));
	const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
	expect(scripts.length).toBeGreaterThan(3);
	expect(total).toBeLessThan(150_000);
});

/** What the browser complains of: refused scripts and styles, errors, what could not be loaded. */
function watch(page: Page): string[] {
	const problems: string[] = [];
	page.on('console', (message) => {
		// What a page says that is not there is the server's answer, and is shown.
		if (message.type() === 'error' && !message.text().includes('404')) problems.push(message.text());
	});
	page.on('pageerror', (error) => problems.push(String(error)));
	return problems;
}

async function expectAccessible(page: Page): Promise<void> {
	const { violations } = await new AxeBuilder({ page }).analyze();
	const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join('\n  ')}`);
	expect(found).toEqual([]);
	expect(await besideScreen(page)).toBe(0);
}
