/** First success: one click on a bare machine, and dropping a skill anywhere. */
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Page } from '@playwright/test';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from './app.ts';

/** PATH with this machine's programs except Python. */
const bareTest = test.extend({
	// Playwright reads a fixture's dependencies from this pattern: none.
	// eslint-disable-next-line no-empty-pattern
	appOptions: async ({}, use) => {
		const folder = await mkdtemp(join(tmpdir(), 'bare-machine-'));
		const linked = new Set<string>();
		for (const path of (process.env.PATH ?? '').split(delimiter)) {
			const names = await readdir(path).catch(() => []);
			for (const name of names.filter((each) => !/^(python|uvx?$)/.test(each) && !linked.has(each))) {
				linked.add(name);
				await symlink(join(path, name), join(folder, name));
			}
		}
		await use({ env: { PATH: folder } });
		await rm(folder, { recursive: true });
	}
});

const answerOf = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');

/** Drops a zip file on the page. */
async function drop(page: Page, name: string, files: Record<string, string>): Promise<void> {
	const zip = zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));
	await page.evaluate(
		({ bytes, name: called }) => {
			const data = new DataTransfer();
			data.items.add(new File([new Uint8Array(bytes)], called, { type: 'application/zip' }));
			document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
		},
		{ bytes: [...zip], name }
	);
}

const WALRUS = {
	'walrus/SKILL.md': '---\nname: walrus\ndescription: Greets walruses. Use when a walrus comes.\n---\nSay hello.'
};

bareTest('UI 10: one click on an example gives a chart that a script drew, with every step', async ({ page, app }) => {
	await page.goto(app.url);
	await page.getByTestId('example').filter({ hasText: 'Chart revenue by region' }).click();
	const answer = answerOf(page);
	await expect(answer).toHaveAttribute('data-status', 'complete');
	await expect(page.locator('[data-testid=message][data-role=user]')).toContainText('sample-sales.csv');
	const chart = answer.locator('[data-testid=file-card][data-path$=".svg"] img').first();
	await expect.poll(() => chart.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
	await expect(chart).toBeInViewport({ ratio: 0.95 });
	await expect(answer.getByText('has the highest total revenue')).toBeInViewport({ ratio: 1 });
	await answer.getByTestId('step-fold').click();
	await expect(answer.locator('[data-testid=step][data-tool=use_skill]')).toHaveAttribute('data-status', 'done');
	await page.goBack();
	await expect(page).toHaveURL(`${app.url}/`);
	await expect(page.getByTestId('example').first()).toBeVisible();
	await page.goForward();
	await expect(answerOf(page)).toContainText('has the highest total revenue');
});

bareTest(
	'UI 10: every example of the first page runs a script to its end, without a model and without Python',
	async ({ page, app }) => {
		test.slow();
		await page.goto(app.url);
		await expect(page.getByTestId('example')).toHaveCount(4);
		for (let index = 0; index < 4; index++) {
			await page.goto(app.url);
			await page.getByTestId('example').nth(index).click();
			await expect(answerOf(page)).toHaveAttribute('data-status', 'complete');
			await answerOf(page).getByTestId('step-fold').click();
			const ran = answerOf(page).locator('[data-testid=step]:not([data-tool=load_skill])');
			await expect(ran.first()).toHaveAttribute('data-status', 'done');
		}
	}
);

test('UI 10: a skill that is dropped on the chat is checked and installed, if somebody says so', async ({
	page,
	app
}) => {
	await page.goto(app.url);
	await expect(page.getByTestId('composer-input')).toBeVisible();
	await drop(page, 'walrus.zip', WALRUS);
	await page.getByTestId('install-dropped').click();
	await expect(page.locator('[data-testid=staged-skill][data-name=walrus]')).toBeVisible();
});

test('UI 10: on any other page a skill is checked at once, and what is no skill is told so', async ({ page, app }) => {
	await page.goto(`${app.url}/settings`);
	await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
	await drop(page, 'walrus.zip', WALRUS);
	await expect(page.locator('[data-testid=staged-skill][data-name=walrus]')).toBeVisible();
	// On the install page, outside its drop field.
	await page.goto(`${app.url}/skills/install`);
	await expect(page.getByTestId('drop-skill')).toBeVisible();
	await drop(page, 'walrus.zip', WALRUS);
	await expect(page.locator('[data-testid=staged-skill][data-name=walrus]')).toBeVisible();
	await page.goto(`${app.url}/settings`);
	await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
	await drop(page, 'notes.txt.zip', { 'notes.txt': 'nothing' });
	await expect(page.getByTestId('staging-error')).toBeVisible();
});
