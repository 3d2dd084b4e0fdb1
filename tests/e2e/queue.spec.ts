/** Messages written during a reply (F14): queued in every tab, and none is lost. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, gate, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, questions, test } from './played-model.ts';

test('F14: messages wait in every tab and over a reload, can be changed, and are sent in order', async ({
	page,
	app,
	model,
	context
}) => {
	const held = gate();
	model.push(text('The first ', held, 'answer.'), text('The second answer.'), text('The third answer.'));
	await page.goto(app.url);
	await ask(page, 'first');
	await expect(answers(page)).toContainText('The first');
	await page.waitForURL(/\/c\//);
	for (const message of ['second', 'to be removed', 'thrid']) await ask(page, message);
	const second = await context.newPage();
	await second.goto(page.url());
	await page.reload();
	for (const tab of [page, second]) await expect(tab.getByTestId('queued-message')).toHaveCount(3);

	const wrong = second.getByTestId('queued-message').filter({ hasText: 'thrid' });
	await wrong.getByTestId('queue-edit').click();
	await second.getByTestId('edit-input').fill('third');
	await second.keyboard.press('Enter');
	await page.getByTestId('queued-message').filter({ hasText: 'removed' }).getByTestId('queue-remove').click();
	for (const tab of [page, second]) {
		await expect(tab.getByTestId('queued-message').locator('p')).toHaveText(['second', 'third']);
	}

	held.open();
	for (const tab of [page, second]) {
		await expect(answers(tab)).toHaveCount(3);
		await expect(answers(tab).last()).toContainText('The third answer.');
		await expect(questions(tab).locator('p')).toHaveText(['first', 'second', 'third']);
		await expect(tab.getByTestId('queue')).toHaveCount(0);
	}
});

test('F14: “Send now” lets the step end, and then the message is sent', async ({ page, app, model }) => {
	await mkdir(join(app.skillsDir, 'demo/scripts'), { recursive: true });
	await writeFile(
		join(app.skillsDir, 'demo/SKILL.md'),
		'---\nname: demo\ndescription: Says things.\n---\nRun say.sh.\n'
	);
	await writeFile(join(app.skillsDir, 'demo/scripts/say.sh'), 'echo "said: $*"\n');
	await page.goto(`${app.url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=demo]')).toBeVisible();

	const held = gate();
	const number = model.requests.length + 1;
	const say = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hello'] });
	model.push([text('I shall say it. ', held), say], text('In French, then.'));
	await page.goto(app.url);
	await ask(page, 'say hello');
	await expect(answers(page)).toContainText('I shall say it.');
	await ask(page, 'in French!');
	const [response] = await Promise.all([
		page.waitForResponse((response) => response.url().endsWith('/send')),
		page.getByTestId('queue-send').click()
	]);
	expect(await response.json()).toEqual({ runId: null });
	held.open();
	await expect(answers(page)).toHaveCount(2);
	await expect(answers(page).last()).toContainText('In French, then.');
	await expect(page.getByTestId('queue')).toHaveCount(0);
	await expect(answers(page).first().getByTestId('step')).toHaveAttribute('data-status', 'done');
	const { input } = (await model.received(number + 1)).body as { input: unknown };
	expect(JSON.stringify(input)).toContain('said: hello');
	expect(JSON.stringify(input)).toContain('in French!');
});

test('F14: after a stop the messages stay where they are until somebody sends them', async ({ page, app, model }) => {
	model.push(text('The beginning', gate()));
	await page.goto(app.url);
	await ask(page, 'first');
	await expect(answers(page)).toContainText('The beginning');
	await ask(page, 'second');
	await expect(page.getByTestId('queued-message')).toContainText('second');
	await page.waitForURL(/\/c\//);
	await page.keyboard.press('Escape');
	await expect(answers(page)).toHaveAttribute('data-status', 'cancelled');
	await page.reload();
	await expect(page.getByTestId('queue')).toContainText('1 message queued until you send it');
	model.push(text('The second answer.'));
	await page.getByTestId('queue-send').click();
	await expect(answers(page).last()).toContainText('The second answer.');
	await expect(questions(page).last()).toContainText('second');
	await expect(page.getByTestId('queue')).toHaveCount(0);
});
