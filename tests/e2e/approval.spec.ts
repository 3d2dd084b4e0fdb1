/** Approvals (F14): asked once, answered from anywhere, and kept when the server stops. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { call, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, test } from './played-model.ts';

test.use({ appEnv: { SKILLS_APPROVAL: 'ask' } });

async function addSkill(page: Page, url: string, skillsDir: string, name: string): Promise<void> {
	await mkdir(join(skillsDir, name, 'scripts'), { recursive: true });
	await writeFile(join(skillsDir, name, 'scripts/say.sh'), 'echo "said: $*"\n');
	const skill = `---\nname: ${name}\ndescription: Says things.\n---\nRun scripts/say.sh.\n`;
	await writeFile(join(skillsDir, name, 'SKILL.md'), skill);
	await page.goto(`${url}/skills`);
	await expect(page.locator(`[data-testid=skill-row][data-name=${name}]`)).toBeVisible();
	await page.goto(url);
}

const say = (skill: string, ...args: string[]) => call('use_skill', { skill, script: 'scripts/say.sh', args });
const lastRequest = (requests: { body: unknown }[]) => JSON.stringify(requests.at(-1)?.body);

test('F14: a call waits in every tab and over a restart; the first answer counts for all', async ({
	page,
	app,
	model,
	context
}) => {
	await addSkill(page, app.url, app.skillsDir, 'once');
	model.push(say('once', 'hello', 'two words'));
	await ask(page, 'say it');
	await expect(page.getByTestId('approval-command')).toHaveText('$ scripts/say.sh hello "two words"');
	await expect(answers(page)).toHaveAttribute('data-status', 'waiting');
	await expect(page.getByTestId('approval-alert')).toContainText('Waiting for your approval');
	await expect(page).toHaveTitle(/^\(!\)/);
	await page.waitForURL(/\/c\//);

	await app.restart();
	const second = await context.newPage();
	await second.goto(page.url());
	await expect(second.getByTestId('approval')).toBeVisible();
	model.push(text('It was said.'));
	await second.getByTestId('approve-once').click();
	for (const tab of [page, second]) {
		await expect(answers(tab)).toContainText('It was said.');
		await expect(tab.getByTestId('approval')).toHaveCount(0);
		await expect(tab.getByTestId('approval-decision')).toContainText('Allowed once');
		await expect(tab.locator('[data-testid=step][data-tool=use_skill]')).toHaveAttribute('data-status', 'done');
		await expect(answers(tab)).toHaveCount(1);
	}
	await expect(page.getByTestId('approval-decision')).toContainText('Answered in another tab');
	expect(lastRequest(model.requests)).toContain('said: hello two words');

	// Its own page replays the step, like for any other execution of a chat.
	await second.goto(`${app.url}/skills/executions`);
	await second.getByTestId('execution-link').first().click();
	const step = second.getByTestId('execution-output').getByTestId('step');
	await expect(step).toHaveAttribute('data-status', 'done');
	await expect(step).toContainText('said: hello two words');
});

test('F14: the reason of a refusal is read by the model; nothing runs', async ({ page, app, model }) => {
	await addSkill(page, app.url, app.skillsDir, 'refused');
	model.push(say('refused', 'hello'));
	await ask(page, 'say it');
	await page.getByTestId('give-reason').click();
	await page.getByTestId('deny-reason').fill('not in this house');
	model.push(text('Then I shall not.'));
	await page.getByTestId('deny-reason').press('Enter');
	await expect(answers(page)).toContainText('Then I shall not.');
	await expect(page.getByTestId('approval-decision')).toHaveText('Denied: not in this house');
	await expect(page.getByTestId('step-toggle').last()).toContainText('Denied');
	expect(lastRequest(model.requests)).toContain('not in this house');
	expect(lastRequest(model.requests)).not.toContain('said: hello');
});

test('F14: what is always allowed is not asked again', async ({ page, app, model }) => {
	await addSkill(page, app.url, app.skillsDir, 'always');
	model.push(say('always', 'one'));
	await ask(page, 'say one');
	model.push(text('Said one.'));
	await page.getByTestId('approve-more').click();
	await page.getByTestId('approve-script').click();
	await expect(answers(page)).toContainText('Said one.');
	model.push(say('always', 'two'), text('Said two.'));
	await ask(page, 'say two');
	await expect(answers(page).last()).toContainText('Said two.');
	await expect(answers(page).last().getByTestId('approval')).toHaveCount(0);
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
});

test('F14: two calls at once are decided one by one, by keyboard', async ({ page, app, model }) => {
	await addSkill(page, app.url, app.skillsDir, 'both');
	model.push([say('both', 'one'), say('both', 'two')]);
	await ask(page, 'say both');
	const cards = page.getByTestId('approval');
	await expect(cards).toHaveCount(2);
	// Nobody was typing, so the focus is on the approval.
	await expect(page.locator('[data-testid=approval]:focus')).toHaveCount(1);
	await cards.first().focus();
	// Skip “Show script” to reach the buttons.
	await page.keyboard.press('Tab');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('approval-decision')).toContainText('waiting for your other answers');
	await expect(cards).toHaveCount(1);
	model.push(text('Said both.'));
	await cards.first().focus();
	await page.keyboard.press('Tab');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await expect(answers(page)).toContainText('Said both.');
	await page.getByTestId('step-fold').click();
	await expect(page.getByTestId('approval-decision')).toHaveText(['Allowed once', 'Allowed once']);
});

test('F14: who writes something else does not make the call', async ({ page, app, model }) => {
	await addSkill(page, app.url, app.skillsDir, 'left');
	model.push(say('left', 'hello'));
	await ask(page, 'say it');
	await expect(page.getByTestId('approval')).toBeVisible();
	model.push(text('Something else, then.'));
	await ask(page, 'leave it');
	await expect(answers(page).last()).toContainText('Something else, then.');
	await expect(page.getByTestId('approval-decision')).toHaveText('You went on without answering, so it didn’t run.');
});
