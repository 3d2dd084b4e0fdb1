/** On a phone: install, sharing from other apps, the on-screen keyboard, and long press menus. */
import type { CDPSession, Locator, Page } from '@playwright/test';
import { expect, test } from './app.ts';
import { startOtherSite } from './other-site.ts';

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

const input = (page: Page) => page.getByTestId('composer-input');
const attachments = (page: Page) => page.getByTestId('attachment');

/** A page controlled by the service worker. */
async function openInstalled(page: Page): Promise<void> {
	await page.goto('/');
	await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
	await page.reload();
	await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
	await expect(input(page)).toBeVisible();
}

interface Shared {
	action: string;
	fields: Record<string, string>;
	files: Record<string, string>;
	/** Sends no Origin header. */
	isNameless?: boolean;
}

/** Shares like the system's share sheet; a foreign page can do the same. */
async function share(page: Page, shared: Shared): Promise<void> {
	await page.evaluate(({ action, fields, files, isNameless }) => {
		const form = document.createElement('form');
		Object.assign(form, { method: 'post', action, enctype: 'multipart/form-data' });
		for (const [name, value] of Object.entries(fields)) {
			form.append(Object.assign(document.createElement('input'), { name, value }));
		}
		const chosen = new DataTransfer();
		for (const [name, content] of Object.entries(files)) chosen.items.add(new File([content], name));
		const picker = Object.assign(document.createElement('input'), { type: 'file', name: 'files', multiple: true });
		picker.files = chosen.files;
		form.append(picker);
		if (isNameless)
			document.head.append(Object.assign(document.createElement('meta'), { name: 'referrer', content: 'no-referrer' }));
		document.body.append(form);
		form.submit();
	}, shared);
	await page.waitForURL((url) => url.pathname === '/' && url.search === '');
}

/** Uploads from now on. */
function watchUploads(page: Page): string[] {
	const uploads: string[] = [];
	page.on('request', (request) => {
		if (request.method() === 'PUT')
			uploads.push(decodeURIComponent(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
	});
	return uploads;
}

test('UI 8: the app can be installed, with an icon for every shape', async ({ page, app }) => {
	await openInstalled(page);
	const session = await page.context().newCDPSession(page);
	const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
	// The test window counts as incognito, which must be the only reason it can't install.
	expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
	const manifest = (await (await fetch(`${app.url}/manifest.webmanifest`)).json()) as {
		icons: { src: string; sizes: string; purpose: string }[];
	};
	for (const purpose of ['any', 'maskable']) {
		for (const side of [192, 512]) {
			const icon = manifest.icons.find((each) => each.purpose === purpose && each.sizes === `${side}x${side}`);
			const bytes = Buffer.from(await (await fetch(`${app.url}${icon?.src}`)).arrayBuffer());
			expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], `${purpose} ${side}`).toEqual([side, side]);
		}
	}
});

test('UI 8: the editor numbers its lines, and the fields of the settings are of one size', async ({ page }) => {
	await page.goto('/skills/edit/count-words');
	await expect(page.getByTestId('code-editor')).toBeVisible();
	await expect(page.locator('.cm-lineNumbers').getByText('1', { exact: true })).toBeVisible();
	await page.goto('/settings');
	const fields = [page.getByTestId('choose-model'), page.getByLabel('Reasoning', { exact: true })];
	const sizes = fields.map((field) => field.evaluate((shown) => getComputedStyle(shown).fontSize));
	expect(new Set(await Promise.all(sizes))).toEqual(new Set(['16px']));
});

test.describe('UI 8: what another app shares', () => {
	test('stands in the message box of a new chat, and is uploaded when somebody uses the box', async ({ page }) => {
		await openInstalled(page);
		const uploads = watchUploads(page);
		await share(page, {
			...{ action: '/share', fields: { title: 'A plan', text: 'See this', url: 'https://example.com/a' } },
			files: { 'notes.md': '# Plan', 'böse 1.csv': 'a,b' }
		});
		await expect(input(page)).toHaveValue('A plan\nSee this\nhttps://example.com/a');
		await expect(attachments(page)).toHaveCount(2);
		await expect(attachments(page).first()).toHaveAttribute('data-state', 'held');
		await expect(page.getByTestId('send')).toBeDisabled();
		await page.waitForLoadState('networkidle');
		expect(uploads).toEqual([]);
		await attachments(page)
			.first()
			.getByRole('button', { name: /Remove/ })
			.tap();
		await input(page).tap();
		await expect(attachments(page)).toHaveAttribute('data-state', 'ready');
		expect(uploads).toEqual(['böse 1.csv']);
		await page.getByTestId('send').tap();
		await expect(page.getByTestId('message-file')).toHaveText(/böse 1\.csv/);
		await expect(page.getByTestId('message').first()).toContainText('See this');
	});

	test('joins what stands there already, and is taken once', async ({ page }) => {
		await openInstalled(page);
		await input(page).fill('Begun');
		await share(page, { action: '/share', fields: { text: 'Shared' }, files: {} });
		await expect(input(page)).toHaveValue('Begun\n\nShared');
		await page.reload();
		await expect(input(page)).toHaveValue('Begun\n\nShared');
	});

	test('and did not arrive is said', async ({ page }) => {
		await openInstalled(page);
		await share(page, { action: '/share', fields: {}, files: {} });
		await expect(page.getByTestId('toast')).toContainText('didn’t arrive');
		await expect(input(page)).toHaveValue('');
	});

	test('is never uploaded because another site has sent it', async ({ page, app }) => {
		const site = await startOtherSite();
		try {
			await openInstalled(page);
			const uploads = watchUploads(page);
			const planted = { fields: { text: 'Planted' }, files: { 'planted.txt': 'planted' } };
			await page.goto(`http://localhost:${site.port}/`);
			await share(page, { action: `${app.url}/share`, ...planted });
			await expect(page.getByTestId('example').first()).toBeVisible();
			await expect(input(page)).toHaveValue('');
			await page.goto(`http://localhost:${site.port}/`);
			await share(page, { action: `${app.url}/share`, ...planted, isNameless: true });
			await expect(attachments(page)).toHaveAttribute('data-state', 'held');
			await page.waitForLoadState('networkidle');
			expect(uploads).toEqual([]);
		} finally {
			await site.close();
		}
	});
});

test.describe('UI 8: the keyboard on the screen never covers the box', () => {
	const bottom = async (place: Locator) => {
		const box = await place.boundingBox();
		return box ? box.y + box.height : Number.NaN;
	};

	test('where it makes the window smaller, upright and on its side', async ({ page }) => {
		await page.goto('/');
		await expect(page.getByTestId('example').first()).toBeVisible();
		expect(await page.locator('meta[name=viewport]').getAttribute('content')).toContain(
			'interactive-widget=resizes-content'
		);
		await input(page).tap();
		for (const [width, height] of [
			[390, 420],
			[844, 190]
		] as const) {
			await page.setViewportSize({ width, height });
			await expect.poll(() => bottom(page.getByTestId('send'))).toBeLessThanOrEqual(height);
			expect((await input(page).boundingBox())?.y, `${width} × ${height}`).toBeGreaterThanOrEqual(0);
		}
	});

	test('where it lies over the page', async ({ page }) => {
		await page.goto('/');
		await input(page).tap();
		const cover = (height: number) =>
			page.evaluate((seen) => {
				Object.defineProperty(visualViewport, 'height', { configurable: true, get: () => seen });
				visualViewport?.dispatchEvent(new Event('resize'));
			}, height);
		await cover(420);
		await expect.poll(() => bottom(page.getByTestId('send'))).toBeLessThanOrEqual(420);
		await cover(844);
		await expect.poll(() => bottom(page.getByTestId('frame'))).toBe(844);
	});
});

test.describe('UI 8: a finger that rests on a message', () => {
	let session: CDPSession;

	test.beforeEach(async ({ page }) => {
		session = await page.context().newCDPSession(page);
		await page.goto('/');
		await input(page).fill('Count the words of "the quick brown fox"');
		await page.getByTestId('send').tap();
		await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
	});

	/** Long presses the middle of it. */
	async function press(place: Locator): Promise<{ x: number; y: number }> {
		await place.scrollIntoViewIfNeeded();
		const box = await place.boundingBox();
		const at = { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
		await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
		return at;
	}
	const lift = () => session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });

	test('opens what ⋯ opens, where the finger is, and stays open when it is lifted', async ({ page }) => {
		const answer = page.locator('[data-role=assistant]');
		const text = answer.getByTestId('markdown').last();
		const { x, y } = await press(text);
		const menu = page.getByRole('menu');
		await expect(menu).toBeVisible();
		await lift();
		const names = await menu.getByRole('menuitem').allInnerTexts();
		expect(names).toEqual(expect.arrayContaining(['Copy', 'Select text', 'Retry', 'Branch in new chat', 'Delete']));
		const box = await menu.boundingBox();
		expect(Math.abs((box?.y ?? 0) - y)).toBeLessThan(Math.max(60, box?.height ?? 0) + 10);
		expect(box?.x ?? 0).toBeLessThanOrEqual(x + 10);
		await page.getByTestId('delete-message').tap();
		await expect(answer).toHaveCount(0);
		await page.getByTestId('toast-action').tap();
		await page.getByTestId('answer-menu').tap();
		await expect(menu).toBeVisible();
		expect(await menu.getByRole('menuitem').allInnerTexts()).toEqual(names);
	});

	test('opens the menu of a question, too', async ({ page }) => {
		const question = page.locator('[data-role=user]');
		await press(question.locator('p').first());
		await expect(page.getByRole('menu')).toBeVisible();
		await lift();
		await page.getByTestId('edit-message').tap();
		await expect(question.getByRole('textbox', { name: 'Edit message' })).toBeVisible();
	});

	test('lets the text be selected by “Select text”', async ({ page }) => {
		const question = page.locator('[data-role=user]');
		await question.getByTestId('message-menu').tap();
		await page.getByTestId('menu-select').tap();
		const selected = () => page.evaluate(() => getSelection()?.toString().trim());
		await expect.poll(selected).toBe('Count the words of "the quick brown fox"');
		await page.evaluate(() => getSelection()?.removeAllRanges());
		await expect(question).not.toHaveAttribute('data-selecting');
	});

	test('scrolls, when it moves', async ({ page }) => {
		const { x, y } = await press(page.locator('[data-role=user] p').first());
		await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: y - 40 }] });
		await lift();
		await page.getByTestId('message-menu').tap();
		await expect(page.getByRole('menu')).toHaveCount(1);
	});
});

test('UI 10.7: Back closes what lies over the chat, and then leaves the chat; a link in the sidebar is not undone', async ({
	page
}) => {
	await page.goto('/skills');
	await page.goto('/');
	await page
		.getByTestId('file-input')
		.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
	await expect(page.getByTestId('attachment')).toHaveAttribute('data-state', 'ready');
	await input(page).fill('hello');
	await page.getByTestId('send').click();
	await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
	const { pathname } = new URL(page.url());
	const sidebar = page.getByTestId('sidebar');
	await page.getByRole('button', { name: 'Open sidebar' }).click();
	await expect(sidebar).toBeVisible();
	await page.goBack();
	await expect(sidebar).toBeHidden();

	// Back closes the top layer first.
	await page.getByTestId('files-button').click();
	await page.getByTestId('file-row').first().getByRole('button').first().click();
	await expect(page.getByTestId('all-files')).toBeVisible();
	await page.goBack();
	await expect(page.getByTestId('file-row').first()).toBeVisible();
	await page.goBack();
	await expect(page.getByTestId('files-panel')).toBeHidden();
	expect(new URL(page.url()).pathname).toBe(pathname);

	// A link to the page that is open closes it, too.
	await page.getByRole('button', { name: 'Open sidebar' }).click();
	await sidebar.getByTestId('conversation-link').first().click();
	await expect(sidebar).toBeHidden();
	expect(new URL(page.url()).pathname).toBe(pathname);

	// After a layer was closed with its own button, Back has nothing to close.
	await page.getByRole('button', { name: 'Open sidebar' }).click();
	await sidebar.getByRole('link', { name: 'Runs' }).click();
	await page.waitForURL('**/skills/executions');
	await expect(sidebar).toBeHidden();
	await page.goBack();
	await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
	await page.goBack();
	await page.waitForURL((url) => url.pathname !== pathname);
});

test('UI 8: the box takes a sixth of the screen, with the skills of the chat as a number; what Enter does is said', async ({
	page
}) => {
	await page.goto('/');
	await page.getByTestId('example').filter({ hasText: 'Chart revenue' }).tap();
	await expect(page.locator('[data-role=assistant][data-status=complete]')).toBeVisible();
	const fold = page.getByTestId('fold-skills');
	await expect(fold).toHaveAccessibleName('Skills in this chat: 1');
	const height = async () => (await page.getByTestId('composer').boundingBox())?.height ?? Number.NaN;
	expect(await height()).toBeLessThan(844 / 6);
	await fold.tap();
	await expect(page.getByTestId('skill-chip')).toContainText('data-analysis');
	await fold.tap();
	await expect(page.getByTestId('skill-chip')).toHaveCount(0);

	await input(page).fill('one');
	await expect(page.getByTestId('composer-note')).toHaveText('Enter starts a new line; the arrow sends');
	await expect(page.getByTestId('send')).toHaveAttribute('title', 'Send');
	await input(page).press('Enter');
	await expect(input(page)).toHaveValue('one\n');
	await expect(page.getByTestId('composer-note')).toHaveText('');
});
