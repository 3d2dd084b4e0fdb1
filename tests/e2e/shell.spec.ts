/** Around the chat: the chat list, the palette, the theme, and the page while the server is away. */
import type { Page } from '@playwright/test';
import { expect, test } from './app.ts';

async function send(page: Page, text: string): Promise<void> {
	await page.getByTestId('composer-input').fill(text);
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('message').last()).toHaveAttribute('data-status', 'complete');
	await expect(page).toHaveURL(/\/c\//);
}

const links = (page: Page) => page.getByTestId('conversation-link');

async function choose(page: Page, title: RegExp, item: string): Promise<void> {
	const row = page.getByTestId('conversation').filter({ hasText: title });
	await row.hover();
	await row.getByTestId('conversation-menu').click();
	await page.getByTestId(item).click();
}

test('F14: conversations are renamed, pinned, found, archived, deleted and brought back', async ({ page }) => {
	const broken: string[] = [];
	page.on('console', (message) => {
		if (/Content Security Policy/.test(message.text())) broken.push(message.text());
	});
	await page.goto('/');
	await send(page, 'Tell me about walruses');
	await page.keyboard.press('Control+Shift+O');
	await expect(page).toHaveURL(/\/$/);
	await send(page, 'Tell me about teapots');

	await choose(page, /walruses/, 'conversation-rename');
	await page.getByTestId('rename-input').fill('Big animals');
	await page.keyboard.press('Enter');
	await choose(page, /Big animals/, 'conversation-pin');
	await expect(page.getByTestId('conversation-group').first()).toContainText('Big animals');

	await page.keyboard.press('Control+Shift+F');
	await page.keyboard.type('walrus');
	await expect(page.getByTestId('search-result')).toHaveCount(1);
	await expect(page.getByTestId('search-result').locator('mark').first()).toHaveText(/walrus/i);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('chat-title')).toHaveText('Big animals');
	await page.getByTestId('conversation-search').focus();
	await page.keyboard.press('Escape');

	await choose(page, /teapots/, 'conversation-archive');
	await expect(links(page)).toHaveText([/Big animals/]);
	await page.getByTestId('list-menu').click();
	await page.getByTestId('show-archived').click();
	await choose(page, /teapots/, 'conversation-archive');
	await page.getByTestId('leave-archive').click();
	await expect(links(page)).toHaveCount(2);

	await choose(page, /Big animals/, 'conversation-delete');
	await expect(links(page)).toHaveText([/teapots/]);
	await expect(page).toHaveURL(/\/$/);
	await page.getByTestId('toast').filter({ hasText: 'Deleted' }).getByTestId('toast-action').click();
	await expect(page).toHaveURL(/\/c\//);
	await expect(page.getByTestId('chat-title')).toHaveText('Big animals');
	await expect(page.getByTestId('message')).toHaveCount(2);
	expect(broken).toEqual([]);
});

test('F14: a conversation is saved as a file, and read again from it', async ({ page }) => {
	await page.goto('/');
	await send(page, 'Remember the number 7421');
	await page.getByTestId('chat-menu').click();
	const saved = page.waitForEvent('download');
	await page.getByTestId('conversation-export-json').click();
	const file = await (await saved).path();
	const before = page.url();
	await page.getByTestId('import-file').setInputFiles({
		...{ name: 'chat.json', mimeType: 'application/json' },
		buffer: await (await import('node:fs/promises')).readFile(file)
	});
	await expect(page).not.toHaveURL(before);
	await expect(page).toHaveURL(/\/c\//);
	await expect(page.getByTestId('message').first()).toContainText('7421');
});

test('the palette goes anywhere by keyboard', async ({ page }) => {
	await page.goto('/');
	await expect(page.getByTestId('composer-input')).toBeVisible();
	await page.keyboard.press('Control+k');
	await expect(page.getByTestId('palette-input')).toBeFocused();
	await page.keyboard.type('executions');
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(/\/skills\/executions$/);
	await expect(page.getByRole('main')).toBeFocused();
	await page.keyboard.press('Control+/');
	await expect(page.getByTestId('shortcuts-dialog')).toBeVisible();
	await page.keyboard.press('Escape');
	await expect(page.getByTestId('shortcuts-dialog')).toHaveCount(0);
});

test.describe('the theme is there before anything can be painted', () => {
	test.use({ colorScheme: 'light' });

	test.beforeEach(({ page }) =>
		page.addInitScript(() => {
			localStorage.setItem('theme', 'dark');
			const observer = new MutationObserver(() => {
				if (!document.body) return;
				observer.disconnect();
				sessionStorage.setItem('first-theme', document.documentElement.dataset.theme ?? 'none');
			});
			observer.observe(document, { childList: true, subtree: true });
		})
	);

	for (const path of ['/', '/skills', '/no-such-page']) {
		test(`at ${path}`, async ({ page }) => {
			await page.goto(path);
			expect(await page.evaluate(() => sessionStorage.getItem('first-theme'))).toBe('dark');
		});
	}

	test.describe('where one has to log in', () => {
		test.use({ appOptions: { env: { ADMIN_TOKEN: 'a-token-of-this-spec' } } });

		test('at /login', async ({ page }) => {
			await page.goto('/');
			await expect(page.getByTestId('login')).toBeVisible();
			expect(await page.evaluate(() => sessionStorage.getItem('first-theme'))).toBe('dark');
		});
	});
});

test.describe('on a small screen', () => {
	test.use({ viewport: { width: 390, height: 800 }, hasTouch: true });

	test('the sidebar comes in with a finger from the edge, and goes with a tap beside it', async ({ page }) => {
		await page.goto('/');
		await expect(page.getByTestId('open-sidebar')).toBeVisible();
		await page.evaluate(() => {
			const touch = (x: number): TouchEventInit => ({
				touches: [new Touch({ identifier: 1, target: document.body, clientX: x, clientY: 300 })],
				bubbles: true
			});
			document.body.dispatchEvent(new TouchEvent('touchstart', touch(5)));
			document.body.dispatchEvent(new TouchEvent('touchmove', touch(90)));
		});
		await expect(page.getByTestId('new-chat')).toBeVisible();
		await page.getByTestId('scrim').click({ position: { x: 380, y: 400 } });
		await expect(page.getByTestId('new-chat')).toBeHidden();
	});
});

test('while the server is away a page says so, and opens by itself when it is back', async ({ page, app }) => {
	await page.goto('/skills');
	await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
	await page.reload();
	await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
	process.kill(app.pid(), 'SIGKILL');
	await expect
		.poll(() =>
			fetch(app.url).then(
				() => 'up',
				() => 'down'
			)
		)
		.toBe('down');
	await page.reload();
	await expect(page.getByRole('heading', { name: 'Can’t reach the server' })).toBeVisible();
	await app.restart();
	await expect(page.getByTestId('sidebar')).toBeVisible({ timeout: 60_000 });
	await expect(page).toHaveURL(/\/skills$/);
	const kept = await page.evaluate(async () => {
		const names = await caches.keys();
		const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
		return requests.flat().map(({ url }) => new URL(url).pathname);
	});
	expect(kept).toContain('/offline.html');
	expect(kept.filter((path) => path.startsWith('/api/'))).toEqual([]);
	// Pages always come from the server, never from the cache.
	expect(kept).not.toContain('/');
});
