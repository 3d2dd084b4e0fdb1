/** Watches a page and reports, at the end of the test, anything it did that it shouldn't have. */
import type { Page } from '@playwright/test';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { expect, test as base } from './app.ts';
import { HOSTILE_MODELS } from './hostile-content.ts';

export interface Watch {
	/** Violations in order; empty is good. */
	seen: string[];
}

export const test = base.extend<{ quiet: Watch }, { model: ModelServer }>({
	model: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const model = await startModelServer([], { models: HOSTILE_MODELS });
			await use(model);
			await model.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ model }, use) => {
		await use({
			env: { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'sk-or-v1-test', OPENROUTER_MODEL: 'test/model' }
		});
	},
	quiet: async ({ page, app }, use) => {
		const watch = await watchPage(page, app.url);
		await use(watch);
		expect(watch.seen).toEqual([]);
	}
});

/** Dangerous elements within rendered foreign content. */
const DANGEROUS =
	// Diagrams and previews use frames with an opaque origin, which can't reach the page.
	'script, iframe:not([src="/frames/diagram"][sandbox="allow-scripts"], [src$="view=plain"][sandbox=""]), object, embed, form, ' +
	'link, meta, base, style, video, audio, svg script, foreignObject, [srcdoc], [style*="url("], [formaction], ' +
	'a[href^="javascript" i], a[href^="data" i], a[href^="vbscript" i], a[href^="file" i], ' +
	'img:not([src^="/api/"], [src^="blob:"]), ' +
	'[onload], [onerror], [onclick], [onfocus], [ontoggle], [onbegin], [onmouseover], [onstart]';

async function watchPage(page: Page, url: string): Promise<Watch> {
	const seen: string[] = [];
	page.on('dialog', async (dialog) => {
		seen.push(`a dialog: ${dialog.message()}`);
		await dialog.dismiss();
	});
	// Only requests that would really be sent get here; those the policy blocks don't.
	await page.context().route(
		(address) => /^(https?|ftp|file):/.test(address.href) && !address.href.startsWith(url),
		async (route) => {
			seen.push(`a request: ${route.request().url()}`);
			await route.abort();
		}
	);
	page.on('framenavigated', (frame) => {
		const isOwn = frame.url().startsWith(url) || /^about:(blank|srcdoc)$/.test(frame.url());
		// A frame whose navigation was blocked shows Chromium's error page.
		const isRefused = frame !== page.mainFrame() && frame.url() === 'chrome-error://chromewebdata/';
		if (!isOwn && !isRefused) seen.push(`a page: ${frame.url()}`);
	});
	page.on('popup', (popup) => seen.push(`a window: ${popup.url()}`));
	return { seen };
}

export async function expectHarmless(page: Page, region: string): Promise<void> {
	expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	const dangers = page.locator(region).locator(DANGEROUS);
	expect(await dangers.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML.slice(0, 200)))).toEqual([]);
	// Direction overrides are either removed from the text or replaced by a visible mark.
	expect(await page.locator(region).evaluateAll(turnedTexts)).toEqual([]);
}

/** Runs in the page: texts that contain direction overrides, each with its element. */
function turnedTexts(regions: Element[]): string[] {
	return regions.flatMap((region) => {
		const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
		const found: string[] = [];
		for (let node = walker.nextNode(); node; node = walker.nextNode()) {
			const at = node.textContent?.search(/[\u202A-\u202E\u2066-\u2069]/) ?? -1;
			if (at === -1) continue;
			const element = node.parentElement?.closest('[data-testid]')?.getAttribute('data-testid') ?? region.tagName;
			found.push(`${element}: ${node.textContent?.slice(Math.max(0, at - 20), at + 20)}`);
		}
		return found;
	});
}

export async function ask(page: Page, question: string): Promise<void> {
	await page.getByTestId('composer-input').fill(question);
	await page.keyboard.press('Enter');
}
