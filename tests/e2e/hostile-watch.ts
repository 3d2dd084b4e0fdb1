/** A page that is watched: whatever it does by itself that it should not have done is told at the end of the test. */
import type { Page } from '@playwright/test';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { expect, test as base } from './app.ts';
import { HOSTILE_MODELS } from './hostile-content.ts';

export interface Watch {
	/** What happened, in order; empty is good. */
	seen: string[];
}

export const test = base.extend<{ quiet: Watch }, { model: ModelServer }>({
	model: [
		// Playwright reads the fixtures that this one needs from the pattern: none.
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
		const watch = watchPage(page, app.url);
		await use(watch);
		expect(watch.seen).toEqual([]);
	}
});

/** What would be danger inside of what a page shows of others' texts. */
const DANGEROUS =
	// Frames without an origin are what diagrams are drawn in, and pages looked at; what they show cannot reach the page.
	'script, iframe:not([src="/frames/diagram"][sandbox="allow-scripts"], [src$="view"][sandbox=""]), object, embed, form, ' +
	'link, meta, base, style, video, audio, svg script, foreignObject, [srcdoc], [style*="url("], [formaction], ' +
	'a[href^="javascript" i], a[href^="data" i], a[href^="vbscript" i], a[href^="file" i], ' +
	'img:not([src^="/api/"], [src^="blob:"]), ' +
	'[onload], [onerror], [onclick], [onfocus], [ontoggle], [onbegin], [onmouseover], [onstart]';

function watchPage(page: Page, url: string): Watch {
	const seen: string[] = [];
	page.on('dialog', async (dialog) => {
		seen.push(`a dialog: ${dialog.message()}`);
		await dialog.dismiss();
	});
	page.on('request', (request) => {
		const address = request.url();
		if (!address.startsWith(url) && !/^(data|blob):/.test(address)) seen.push(`a request: ${address}`);
	});
	page.on('framenavigated', (frame) => {
		if (!frame.url().startsWith(url) && frame.url() !== 'about:blank') seen.push(`a page: ${frame.url()}`);
	});
	page.on('popup', (popup) => seen.push(`a window: ${popup.url()}`));
	return { seen };
}

export async function expectHarmless(page: Page, region: string): Promise<void> {
	expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	const dangers = page.locator(region).locator(DANGEROUS);
	expect(await dangers.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML.slice(0, 200)))).toEqual([]);
	// A text that turns the reading direction is shown without what does so, or with a mark in its place.
	for (const each of await page.locator(region).allTextContents())
		expect(each).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
}

export async function ask(page: Page, question: string): Promise<void> {
	await page.getByTestId('composer-input').fill(question);
	await page.keyboard.press('Enter');
}
