/** From a chat to a skill: the workbench, in Demo mode and with a model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, linesIn, test } from './app.ts';
import { answers, ask } from './played-model.ts';

const SALES = 'month,revenue\n2026-01,120\n2026-02,150\n2026-03,90\n';

async function draftOfChart(page: Page, url: string): Promise<void> {
	await page.goto(url);
	const file = { name: 'sales.csv', mimeType: 'text/csv', buffer: Buffer.from(SALES) };
	await page.getByTestId('file-input').setInputFiles(file);
	await expect(page.locator('[data-testid=attachment][data-state=ready]')).toHaveCount(1);
	await ask(page, 'Draw a bar chart of revenue by month');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await ask(page, '/save-skill');
	await expect(page.getByTestId('workbench')).toHaveAttribute('data-state', 'ready');
	await expect(page.getByTestId('draft-stage')).toHaveAttribute('data-stage', 'ready');
}
async function draftOfSkill(page: Page, url: string): Promise<void> {
	await page.goto(`${url}/skills/count-words`);
	await page.getByTestId('skill-menu').click();
	await page.getByRole('menuitem', { name: 'Improve in a draft' }).click();
	await expect(page.getByTestId('draft-stage')).toHaveAttribute('data-stage', 'unchanged');
}
const textOf = (page: Page) => page.getByRole('textbox', { name: 'Text of SKILL.md' });

test('F8: a chat becomes a skill: made, changed, checked, saved, and taken back', async ({ page, app }) => {
	await draftOfChart(page, app.url);
	await expect(textOf(page)).toContainText(/Load the skill `data-analysis` and run `scripts\/analyze_csv\.mjs/);
	await expect(
		page.getByRole('navigation', { name: 'Files' }).locator('[data-path="examples/sales.csv"]')
	).toBeVisible();
	await test.info().attach('workbench', { body: await page.screenshot(), contentType: 'image/png' });

	const made = await linesIn(textOf(page));
	await textOf(page).fill(made.replace(/^name: .*$/m, 'name: ../no name'));
	await expect(page.getByTestId('diagnostic').first()).toHaveAttribute('data-severity', 'error');
	await expect(page.getByTestId('save-draft')).toBeDisabled();
	await expect(page.getByTestId('draft-stage')).toHaveText(/1 problem.*Fix it to add the skill to your library/);
	await page.getByRole('navigation', { name: 'Files' }).locator('[data-path="examples/sales.csv"]').click();
	await page.getByTestId('show-problem').click();
	await expect(textOf(page).locator('.cm-askedLine')).toHaveText('name: ../no name');
	await expect(textOf(page).locator('.cm-lintRange-error').first()).toHaveText('name: ../no name');
	await page.getByRole('navigation', { name: 'Files' }).locator('[data-path="examples/sales.csv"]').click();
	await page.getByTestId('problem-line').first().click();
	await expect(textOf(page)).toBeFocused();
	// The list says it, too, and leads there.
	await expect(page.getByTestId('draft-status')).toHaveText('Draft saved');
	await page.getByRole('link', { name: 'Back to drafts' }).click();
	await expect(page.getByTestId('draft-stage')).toHaveText('1 problem');
	await page.getByTestId('draft-fault').click();
	await expect(textOf(page).locator('.cm-askedLine')).toHaveText('name: ../no name');
	await page.getByTestId('undo-draft').click();
	await expect.poll(() => linesIn(textOf(page))).toBe(made);
	await textOf(page).fill(made.replace(/^name: .*$/m, 'name: monthly-chart'));
	await expect(page.getByTestId('draft-status')).toHaveText('Draft saved');
	await page.reload();
	await expect(page.getByRole('heading', { name: 'Draft of monthly-chart' })).toBeVisible();

	await expect(page.getByTestId('draft-stage')).toHaveAttribute('data-stage', 'ready');
	// It's said before it's tried.
	await expect(page.getByTestId('demo-cannot-run')).toContainText('Demo mode can’t run it');
	await expect(page.getByTestId('draft-trial')).toHaveCount(0);

	await page.getByTestId('save-draft').click();
	await expect(page.getByTestId('skill-page')).toContainText('monthly-chart');
	await expect(page.getByTestId('skill-page').getByTestId('chat-with-skill')).toBeVisible();
	const placed = join(app.skillsDir, 'monthly-chart');
	expect(await readFile(join(placed, 'examples/sales.csv'), 'utf8')).toBe(SALES);
	await page.getByRole('button', { name: 'Undo' }).click();
	await expect(page.getByTestId('workbench')).toBeVisible();
	await expect(readFile(join(placed, 'SKILL.md'))).rejects.toThrow('ENOENT');
	await expect(page.getByTestId('save-draft')).toBeEnabled();
	await page.getByTestId('discard-draft').click();
	await expect(page.getByTestId('drafts-page')).toContainText('No drafts');
	await page.getByRole('button', { name: 'Undo' }).last().click();
	await expect(page.getByTestId('workbench')).toHaveAttribute('data-state', 'ready');

	// From the list, too.
	await page.goto('/skills/drafts');
	await expect(page.getByTestId('draft-stage')).toHaveText('Ready to add');
	await expect(page.getByTestId('draft-fault')).toHaveCount(0);
	await expect(page.getByTestId('draft-made')).toHaveText(/^By Demo mode, from “Draw a bar chart.*”$/);
	await page.getByTestId('discard-row').click();
	await expect(page.getByTestId('draft-row')).toHaveCount(0);
	await page.getByRole('button', { name: 'Undo' }).last().click();
	await page.getByTestId('draft-row').click();
	await expect(page.getByTestId('made-by-rules')).toContainText('Connect a model');
});

test('F8: a draft of a skill has nothing to save until something differs, and is tried before', async ({
	page,
	app
}) => {
	await draftOfSkill(page, app.url);
	const stage = page.getByTestId('draft-stage');
	await expect(stage).toHaveText('No changes yetChange its text. Chats use the skill as it is.');
	await expect(page.getByTestId('draft-status')).toBeEmpty();
	await expect(page.getByTestId('draft-changes')).toHaveCount(0);
	await expect(page.getByTestId('save-draft')).toBeDisabled();
	const address = page.url();
	// Looking leaves nothing behind, and the next look is at the same.
	await page.getByRole('link', { name: 'Back to drafts' }).click();
	await expect(
		page
			.getByTestId('drafts-page')
			.getByText(/No drafts yet|^By /)
			.first()
	).toBeVisible();
	const row = page.getByTestId('draft-row').filter({ hasText: 'count-words' });
	await expect(row).toHaveCount(0);
	await draftOfSkill(page, app.url);
	expect(page.url()).toBe(address);
	await expect(textOf(page)).toContainText('# Count words');
	// Beside a text, the names of the files have the room that badges would take.
	const cut = await page
		.getByTestId('skill-file')
		.locator('.truncate')
		.evaluateAll((names) =>
			names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)
		);
	expect(cut).toEqual([]);
	const wrap = page.getByTestId('wrap-lines');
	await expect(wrap).toHaveAttribute('aria-pressed', 'true');
	await wrap.click();
	await expect(wrap).toHaveAttribute('aria-pressed', 'false');
	await textOf(page).press('ControlOrMeta+End');
	await page.keyboard.type('Be brief.');
	await expect(stage).toHaveText(/^Ready to saveTry it, then save your changes/);
	await expect(page.getByTestId('save-draft')).toBeEnabled();
	const checks = page.getByRole('region', { name: 'Checks' });
	await expect(checks.getByRole('heading').first()).toHaveText('What’s different from the skill you have');
	await page.getByTestId('draft-evals').click();
	await expect(page.getByTestId('eval-run')).toHaveAttribute('data-state', 'done');
	await page.getByRole('button', { name: 'Try it' }).click();
	const tried = page.getByTestId('trial-answer');
	await expect(tried).toHaveAttribute('data-state', 'done');
	await expect(tried).toContainText('loaded count-words');

	// A change of many lines leaves the answer in sight.
	await textOf(page).fill(`${await linesIn(textOf(page))}\n${'One more line.\n'.repeat(60)}`);
	await expect(page.getByTestId('draft-changes')).toContainText('One more line.');
	await page.getByRole('button', { name: 'Try it' }).click();
	await expect(page.getByTestId('old-trial')).toHaveCount(0);
	await expect(tried).toHaveAttribute('data-state', 'done');
	await expect(tried.getByRole('listitem').first()).toBeInViewport();

	// All ways in lead to it, and say that it’s there.
	await page.getByRole('link', { name: 'Back to drafts' }).click();
	await expect(row.getByTestId('draft-content')).toHaveText('Changed SKILL.md');
	await page.goto(`${app.url}/skills/count-words`);
	await expect(page.getByTestId('skill-draft')).toContainText('Changed SKILL.md +');
	await expect(page.getByTestId('row-draft')).toHaveCount(1);
	await page.getByTestId('skill-menu').click();
	await page.getByRole('menuitem', { name: 'Continue draft' }).click();
	await expect(page.getByTestId('draft-changes')).toContainText('One more line.');
	expect(page.url()).toBe(address);
	await page.getByTestId('undo-draft').click();
	await page.getByTestId('undo-draft').click();
	await expect(stage).toHaveAttribute('data-stage', 'unchanged');
	await page.getByTestId('discard-draft').click();
	await expect(page.getByTestId('drafts-page')).toBeVisible();
});

test('F8: what is typed while the server is killed is there again, in another tab too, and is sent by itself', async ({
	page,
	app,
	context
}) => {
	await draftOfChart(page, app.url);
	const made = await linesIn(textOf(page));
	await app.signal('SIGKILL');
	await textOf(page).fill(`${made}\nTyped in vain.\n`);
	await expect(page.getByTestId('draft-status')).toHaveText('Kept in this browser until the server is back');
	const address = page.url();
	await page.close();
	await app.restart();
	const next = await context.newPage();
	await next.goto(address);
	await expect(textOf(next)).toContainText('Typed in vain.');
	await expect(next.getByTestId('draft-status')).toHaveText('Draft saved');
	await app.signal('SIGKILL');
	await textOf(next).fill(`${made}\nTyped again.\n`);
	await expect(next.getByTestId('draft-status')).toHaveText('Kept in this browser until the server is back');
	await app.restart();
	await expect(next.getByTestId('draft-status')).toHaveText('Draft saved');
	await next.reload();
	await expect(textOf(next)).toContainText('Typed again.');
	expect(await next.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('draft-typed')))).toEqual(
		[]
	);
});

test('F8: of two tabs none overwrites the other', async ({ page, app, context }) => {
	await draftOfChart(page, app.url);
	const other = await context.newPage();
	await other.goto(page.url());
	await expect(textOf(other)).toContainText(/data-analysis/);
	const made = await linesIn(textOf(page));
	await textOf(page).fill(`${made}\nMine.\n`);
	await expect(page.getByTestId('draft-status')).toHaveText('Draft saved');
	await textOf(other).fill(`${made}\nTheirs.\n`);
	await expect(other.getByTestId('draft-conflict')).toBeVisible();
	await other.getByRole('button', { name: 'Use theirs' }).click();
	await expect(textOf(other)).toContainText(/Mine\./);
	await textOf(other).fill(`${made}\nBoth.\n`);
	await expect(other.getByTestId('draft-status')).toHaveText('Draft saved');
	await textOf(page).fill(`${made}\nMine again.\n`);
	await page.getByRole('button', { name: 'Keep mine' }).click();
	await expect(page.getByTestId('draft-status')).toHaveText('Draft saved');
	await other.reload();
	await expect(textOf(other)).toContainText(/Mine again\./);
});

test.describe('on a phone', () => {
	test.use({ viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
	test('F8: the workbench fits, is accessible, and previews', async ({ page, app }) => {
		await draftOfSkill(page, app.url);
		await test.info().attach('workbench', { body: await page.screenshot(), contentType: 'image/png' });
		await page.getByTestId('preview-draft').click();
		await expect(page.getByRole('heading', { name: 'Count words' })).toBeVisible();
		await page.getByRole('button', { name: 'Try and check' }).click();
		await expect(page.getByTestId('draft-trial').getByRole('button', { name: 'Try it' })).toBeInViewport();
		await test.info().attach('trial', { body: await page.screenshot(), contentType: 'image/png' });
		await page.getByTestId('verdict').scrollIntoViewIfNeeded();
		expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
		const width = await page.evaluate(() => document.documentElement.scrollWidth);
		expect(width).toBeLessThanOrEqual(390);
	});
});

test('F8, F9: in Demo mode, a message asks for the draft, too', async ({ page, app }) => {
	await page.goto(app.url);
	await ask(page, 'How many words are in “one two three”?');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await ask(page, 'Save this chat as a skill');
	// In words, not as what a program would read.
	await expect(answers(page).last()).toContainText('is drafted');
	await page.getByTestId('draft-link').click();
	await expect(page.getByTestId('workbench')).toHaveAttribute('data-state', 'ready');
	await expect(textOf(page)).toContainText(/count-words/);
});
