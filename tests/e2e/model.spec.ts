/** The page with a slow or broken model server, or one that stops mid-reply: nothing shown is lost. */
import { randomInt } from 'node:crypto';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { call, gate, reset, startModelServer, status, text, type ModelServer } from '../support/model-server.ts';
import { processesWith } from '../support/processes.ts';
import { expect, test as base } from './app.ts';

const KEY = 'sk-or-v1-this-is-a-secret-of-the-server';

const test = base.extend<object, { model: ModelServer }>({
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
	appOptions: async ({ model }, use) => {
		await use({ env: { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: KEY, OPENROUTER_MODEL: 'test/model' } });
	}
});

test.afterEach(({ model }) => model.assertDone());

const answers = (page: Page) => page.locator('[data-testid=message][data-role=assistant]');
/** Identifies the waiting script among all processes. */
const SECONDS = `600.${randomInt(1e6, 1e7)}`;

async function ask(page: Page, question: string): Promise<void> {
	await page.getByTestId('composer-input').fill(question);
	await page.keyboard.press('Enter');
}

/** A skill with a script that prints its environment and process id, then waits. */
async function addPatientSkill(page: Page, url: string, skillsDir: string): Promise<void> {
	await mkdir(join(skillsDir, 'patient/scripts'), { recursive: true });
	await writeFile(
		join(skillsDir, 'patient/scripts/wait.sh'),
		`env > environment.txt; echo waiting; exec sleep ${SECONDS}\n`
	);
	await writeFile(join(skillsDir, 'patient/SKILL.md'), '---\nname: patient\ndescription: Waits.\n---\nRun wait.sh.\n');
	await page.goto(`${url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=patient]')).toBeVisible();
}
const waitCall = () => call('use_skill', { skill: 'patient', script: 'wait.sh' });

/** Resolves when the step's live output shows that the script is waiting. */
async function isWaiting(page: Page): Promise<void> {
	await expect(page.getByTestId('terminal-output').last()).toContainText('waiting');
}
test('Stop ends a script while its output is on the page; the next message works', async ({ page, app, model }) => {
	await addPatientSkill(page, app.url, app.skillsDir);
	model.push(waitCall());
	await page.goto(app.url);
	await ask(page, 'wait, please');
	await isWaiting(page);
	expect(processesWith(SECONDS)).not.toEqual([]);

	await page.getByTestId('stop').click();
	await expect(answers(page)).toHaveAttribute('data-status', 'cancelled');
	await expect(page.getByTestId('message-note')).toContainText('Stopped');
	await expect(page.locator('[data-testid=step][data-tool=use_skill]')).toContainText('waiting');
	expect(processesWith(SECONDS)).toEqual([]);

	model.push(text('Good.'));
	await ask(page, 'and now?');
	await expect(answers(page).last()).toContainText('Good.');

	const [workspace = ''] = await readdir(join(app.dataDir, 'workspaces'));
	const environment = await readFile(join(app.dataDir, 'workspaces', workspace, 'environment.txt'), 'utf8');
	expect(environment).toContain('SKILL_DIR=');
	expect(environment).not.toContain(KEY);
	expect(environment).not.toContain('OPENROUTER');
});

test('Stop ends an answer in the middle: the text stays, the request to the model is closed', async ({
	page,
	app,
	model
}) => {
	const never = gate();
	const number = model.requests.length + 1;
	model.push(text('The beginning', never));
	await page.goto(app.url);
	await ask(page, 'tell me');
	await expect(answers(page)).toContainText('The beginning');
	await page.waitForURL(/\/c\//);
	await page.keyboard.press('Escape');
	await expect(answers(page)).toHaveAttribute('data-status', 'cancelled');
	await (
		await model.received(number)
	).closed;
	expect((await model.received(number)).isAborted).toBe(true);
	await page.reload();
	await expect(answers(page)).toContainText('The beginning');
	await expect(answers(page)).toHaveAttribute('data-status', 'cancelled');
});

test('a long answer is read from its beginning; whoever has asked can scroll up afterwards, and stays where they are; the button leads back', async ({
	page,
	app,
	model
}) => {
	model.push(text(Array.from({ length: 200 }, (_, index) => `Line ${index}.`).join('\n\n')));
	await page.goto(app.url);
	await ask(page, 'tell me much');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(page.getByText('Line 0.')).toBeInViewport();
	const topAfter = (top: number) =>
		page.getByTestId('messages').evaluate(async (region, to) => {
			region.scrollTop = to;
			for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
			return region.scrollTop;
		}, top);
	expect(await topAfter(300)).toBe(300);
	expect(await topAfter(0)).toBe(0);
	await page.getByTestId('scroll-bottom').click();
	await expect(page.getByText('Line 199.')).toBeInViewport();
});

test('a reload in the middle goes on where it was, and a second tab sees the same', async ({
	page,
	app,
	model,
	context
}) => {
	const [middle, end] = [gate(), gate()];
	model.push(text('One ', middle, 'two ', end, 'three.'));
	await page.goto(app.url);
	await ask(page, 'count');
	await expect(answers(page)).toContainText('One');
	await page.waitForURL(/\/c\//);
	await page.reload();
	await expect(answers(page)).toContainText('One');
	const second = await context.newPage();
	await second.goto(page.url());
	await expect(answers(second)).toHaveAttribute('data-status', 'running');
	middle.open();
	for (const tab of [page, second]) await expect(answers(tab)).toContainText('One two');
	end.open();
	for (const tab of [page, second]) {
		await expect(answers(tab)).toHaveAttribute('data-status', 'complete');
		await expect(answers(tab).getByTestId('markdown')).toHaveText('One two three.');
	}
});

test('closing the tab does not end the run', async ({ page, app, model, context }) => {
	const held = gate();
	const number = model.requests.length + 1;
	model.push(text('Half ', held, 'and whole.'));
	await page.goto(app.url);
	await ask(page, 'take your time');
	await expect(answers(page)).toContainText('Half');
	await page.waitForURL(/\/c\//);
	const address = page.url();
	await page.close();
	held.open();
	await (
		await model.received(number)
	).closed;
	expect((await model.received(number)).isAborted).toBe(false);
	const later = await context.newPage();
	await later.goto(address);
	await expect(answers(later)).toHaveAttribute('data-status', 'complete');
	await expect(answers(later)).toContainText('Half and whole.');
	expect(app.logs.join('\n')).not.toContain('Error');
});

test('a refused key is one clear error; the next message works', async ({ page, app, model }) => {
	model.push(status(401, { error: { code: 401, message: `Bad key ${KEY}` } }));
	await page.goto(app.url);
	await ask(page, 'hello');
	const error = page.getByTestId('message-error');
	await expect(error).toContainText(/key/i);
	await expect(page.locator('body')).not.toContainText(KEY);
	model.push(text('Hello.'));
	await ask(page, 'hello again');
	await expect(answers(page).last()).toContainText('Hello.');
});

test('a connection that breaks in the middle: the text stays, the error says so, Retry asks again', async ({
	page,
	app,
	model
}) => {
	model.push(reset({ type: 'response.output_text.delta', item_id: 'm', delta: 'Almost' }));
	await page.goto(app.url);
	await ask(page, 'hello');
	await expect(page.getByTestId('message-error')).toBeVisible();
	await expect(answers(page)).toContainText('Almost');
	model.push(text('Complete.'));
	await page.getByTestId('retry').click();
	await expect(answers(page).last()).toContainText('Complete.');
});

test('an orderly end of the server ends its scripts; the page says interrupted, and goes on when it is back', async ({
	page,
	app,
	model
}) => {
	await addPatientSkill(page, app.url, app.skillsDir);
	model.push(waitCall());
	await page.goto(app.url);
	await ask(page, 'wait, please');
	await isWaiting(page);
	await app.restart();
	expect(processesWith(SECONDS)).toEqual([]);
	await expect(answers(page)).toHaveAttribute('data-status', 'interrupted');
	await expect(page.getByTestId('continue')).toBeVisible();
	model.push(text('Back.'));
	await page.getByTestId('retry').click();
	await expect(answers(page).last()).toContainText('Back.');
});
