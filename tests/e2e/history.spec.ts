/** Actions on existing messages (F14): edit, retry, continue, fork, remove. */
import { randomUUID } from 'node:crypto';
import { AxeBuilder } from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import { dynamic, gate, status, text, type ModelServer } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, questions, test } from './played-model.ts';

test('F14: an edited message is a branch; both stay, and every tab shows the same one', async ({
	page,
	app,
	model,
	context
}) => {
	model.push(text('Answer to one.'), text('Answer to two.'), text('Answer to two, otherwise.'));
	await page.goto(app.url);
	await ask(page, 'one');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await ask(page, 'two');
	await expect(answers(page).last()).toContainText('Answer to two.');
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
	const second = await context.newPage();
	await second.goto(page.url());

	await questions(page).last().getByTestId('edit-message').click();
	await expect(page.getByTestId('edit-input')).toBeFocused();
	await page.getByTestId('edit-input').fill('two, otherwise');
	await page.keyboard.press('Enter');
	for (const tab of [page, second]) {
		await expect(answers(tab).last()).toContainText('Answer to two, otherwise.');
		await expect(questions(tab).last().getByTestId('branch-position')).toHaveText('2 / 2');
		await expect(answers(tab)).toHaveCount(2);
	}
	const body = JSON.stringify(model.requests.at(-1)?.body.input);
	expect(body).toContain('Answer to one.');
	expect(body).not.toContain('Answer to two.');

	await questions(page).last().getByTestId('branch-previous').click();
	for (const tab of [page, second]) await expect(answers(tab).last()).toContainText('Answer to two.');
	// The buttons moved with the message and kept the focus.
	await expect(questions(page).last().getByTestId('branch-next')).toBeFocused();
	await page.reload();
	await expect(questions(page).last()).toContainText('two');
	await expect(questions(page).last().getByTestId('branch-position')).toHaveText('1 / 2');
});

test('F14: an edit that is given up changes nothing', async ({ page, app, model }) => {
	model.push(text('Answer.'));
	await page.goto(app.url);
	await ask(page, 'question');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.getByTestId('edit-message').click();
	await page.getByTestId('edit-input').fill('something else');
	await page.keyboard.press('Escape');
	await expect(questions(page)).toContainText('question');
	await expect(page.getByTestId('edit-message')).toBeFocused();
});

test('F14: another answer stands beside the first; a deleted one leaves the other, and comes back with Undo, in every tab', async ({
	page,
	app,
	model,
	context
}) => {
	model.push(text('The first answer.'), text('Another answer.'));
	await page.goto(app.url);
	await ask(page, 'question');
	await expect(answers(page)).toContainText('The first answer.');
	await answers(page).getByTestId('retry').click();
	await expect(answers(page)).toContainText('Another answer.');
	await expect(answers(page)).toHaveCount(1);
	await expect(answers(page).getByTestId('branch-position')).toHaveText('2 / 2');
	await answers(page).getByTestId('branch-previous').click();
	await expect(answers(page)).toContainText('The first answer.');
	await answers(page).getByTestId('answer-menu').click();
	await page.getByRole('menuitem', { name: 'Delete' }).click();
	await expect(answers(page)).toContainText('Another answer.');
	await expect(page.getByTestId('branches')).toHaveCount(0);
	await expect(page.getByTestId('composer-input')).toBeFocused();
	const second = await context.newPage();
	await second.goto(page.url());
	await expect(answers(second)).toContainText('Another answer.');
	await expect(page.getByTestId('toast')).toContainText('Deleted answer');
	await page.getByTestId('toast-action').click();
	for (const tab of [page, second]) {
		await expect(answers(tab)).toContainText('The first answer.');
		await expect(answers(tab).getByTestId('branch-position')).toHaveText('1 / 2');
	}
	// A question takes its answers along.
	await questions(page).getByTestId('delete-message').click();
	for (const tab of [page, second]) await expect(questions(tab)).toHaveCount(0);
	await expect(page.getByTestId('toast')).toContainText('Deleted message and everything after it');
	// Another tab writes meanwhile: Undo has to wait for the answer, and is still offered then.
	const writing = gate();
	model.push(text('Busy', writing));
	await ask(second, 'something else');
	await expect(answers(page)).toContainText('Busy');
	await page.getByTestId('toast-action').click();
	await expect(page.getByTestId('toast').filter({ hasText: 'Deleted message' })).toBeVisible();
	await expect(questions(page)).toContainText('something else');
	writing.open();
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.getByTestId('toast-action').click();
	for (const tab of [page, second]) {
		await expect(questions(tab)).toContainText('question');
		await expect(questions(tab).getByTestId('branch-position')).toHaveText('1 / 2');
		await expect(answers(tab)).toContainText('The first answer.');
	}
});

test('F14: an answer that was stopped goes on where it was, in the same place', async ({ page, app, model }) => {
	model.push(text('The beginning', gate()));
	await page.goto(app.url);
	await ask(page, 'tell me');
	await expect(answers(page)).toContainText('The beginning');
	await page.waitForURL(/\/c\//);
	await page.getByTestId('stop').click();
	await expect(page.getByTestId('message-note')).toContainText('Stopped');
	model.push(text(' and the end.'));
	await page.getByTestId('continue').click();
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(answers(page)).toContainText('The beginning');
	await expect(answers(page)).toContainText('and the end.');
	await expect(answers(page)).toHaveCount(1);
	// The gauge is the last thing to appear.
	await expect(answers(page).getByTestId('context-gauge')).toBeVisible();
	const before = await answers(page).innerText();
	await page.reload();
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect.poll(() => answers(page).innerText()).toBe(before);
});

test('F14: an answer can be continued in a conversation of its own', async ({ page, app, model }) => {
	model.push(text('Answer one.'), text('Answer two.'), text('Answer of the fork.'));
	await page.goto(app.url);
	await ask(page, 'one');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await ask(page, 'two');
	await expect(answers(page).last()).toContainText('Answer two.');
	await page.waitForURL(/\/c\//);
	const original = page.url();
	await answers(page).first().getByTestId('fork').click();
	await page.waitForURL((url) => url.href !== original);
	await expect(questions(page)).toHaveCount(1);
	await expect(answers(page)).toContainText('Answer one.');
	await ask(page, 'two of the fork');
	await expect(answers(page).last()).toContainText('Answer of the fork.');
	await page.goto(original);
	await expect(answers(page)).toHaveCount(2);
});

/** A chat longer than the first page of messages. */
async function longConversation(page: Page, app: { url: string }, model: ModelServer): Promise<string> {
	const threadId = `long-${randomUUID()}`;
	for (let number = 1; number <= 35; number++) {
		model.push(text(`Answer ${number}.`));
		const message = { id: `${threadId}-${number}`, role: 'user', content: `Question ${number}` };
		const run = { threadId, runId: `${threadId}-run-${number}`, messages: [message] };
		const response = await page.request.post(`${app.url}/api/chat`, {
			data: run,
			headers: { accept: 'text/event-stream' }
		});
		expect(await response.text()).toContain('RUN_FINISHED');
	}
	return `${app.url}/c/${threadId}`;
}

const topOf = (element: Locator): Promise<number> => element.evaluate((seen) => seen.getBoundingClientRect().top);

test('F14: what came earlier is there when one scrolls up, and what is read stays where it is', async ({
	page,
	app,
	model
}) => {
	await page.goto(await longConversation(page, app, model));
	await expect(questions(page).last()).toContainText('Question 35');
	await expect(questions(page).last()).toBeInViewport();
	await expect(page.getByTestId('load-earlier')).toHaveCount(1);
	// All at once: scrolling up has the earlier messages loaded, and so may the first look at the list.
	const { first, shown, before } = await page.getByTestId('messages').evaluate((list) => {
		const rows = [...list.querySelectorAll<HTMLElement>('[data-testid=message][data-role=user]')];
		list.scrollTop = 0;
		const [top] = rows;
		return {
			first: /Question \d+/.exec(top?.textContent ?? '')?.[0] ?? '',
			shown: rows.length,
			before: top?.getBoundingClientRect().top ?? NaN
		};
	});
	expect(shown).toBeLessThan(35);
	const seen = questions(page).filter({ has: page.getByText(first, { exact: true }) });
	await expect(questions(page)).not.toHaveCount(shown);
	await expect.poll(async () => Math.abs((await topOf(seen)) - before)).toBeLessThan(60);

	await expect(async () => {
		await page.getByTestId('messages').evaluate((list) => (list.scrollTop = 0));
		await expect(page.getByTestId('load-earlier')).toHaveCount(0, { timeout: 500 });
		await expect(questions(page).first()).toBeInViewport({ timeout: 500 });
	}).toPass();
	await expect(questions(page)).toHaveCount(35);
	await expect(questions(page).first()).toContainText('Question 1');
});

test('F14: whoever scrolls on while earlier messages are fetched stays where they are by then', async ({
	page,
	app,
	model
}) => {
	const address = await longConversation(page, app, model);
	const asked = gate();
	const held = gate();
	await page.route(/\/messages\?before=/, async (route) => {
		asked.open();
		await held.opened;
		await route.continue();
	});
	await page.goto(address);
	await expect(questions(page).last()).toContainText('Question 35');
	await expect(questions(page).last()).toBeInViewport();
	const shown = await questions(page).count();
	const list = page.getByTestId('messages');
	await list.evaluate((element) => (element.scrollTop = 0));
	await asked.opened;
	// Scrolling hasn't finished yet.
	await list.evaluate((element) => (element.scrollTop = 400));
	const seen = questions(page).filter({ has: page.getByText(`Question ${38 - shown}`, { exact: true }) });
	await expect(seen).toBeInViewport();
	const before = await topOf(seen);
	held.open();
	await expect(questions(page)).not.toHaveCount(shown);
	await expect.poll(async () => Math.abs((await topOf(seen)) - before)).toBeLessThan(60);
	await expect(seen).toBeInViewport();
});

test('side by side: two models answer at once, by keyboard; one fails and is asked again; one is chosen; 1280 and 390', async ({
	page,
	app,
	model,
	context
}) => {
	test.slow();
	const isClean = async () => {
		const { violations } = await new AxeBuilder({ page }).include('[data-testid=chat]').analyze();
		expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
	};
	let begun = gate();
	let failures = 1;
	const reply = dynamic((body) => {
		if (body.model === 'b/two' && failures-- > 0) return status(400, { error: { message: 'Not now', code: 400 } });
		return text(`${String(body.model)} says `, begun, 'yes.');
	});
	model.push(reply, reply, reply, reply, reply, reply);
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.goto(app.url);
	await page.getByTestId('model-chip').focus();
	await page.keyboard.press('Enter');
	await page.getByTestId('compare-models').press('Enter');
	for (const id of ['a/one', 'b/two']) {
		await page.getByTestId('model-search').fill(id);
		await page.keyboard.press('Enter');
		await expect(page.getByTestId('picked-model').last()).toContainText(id.slice(2));
	}
	await isClean();
	await page.getByTestId('compare-done').press('Enter');
	await expect(page.getByTestId('model-chip')).toHaveAccessibleName('Models: one, two');
	await ask(page, 'Is it?');

	const one = page.getByRole('region', { name: 'one' });
	const two = page.getByRole('region', { name: 'two' });
	await expect(one).toContainText('a/one says');
	await expect(two.getByTestId('message-error')).toContainText('Not now');
	await two.getByTestId('retry').press('Enter');
	await expect(two).toContainText('b/two says');
	await isClean();
	// A reload and a second tab follow both, with connections to spare for a message.
	await page.reload();
	const second = await context.newPage();
	await second.goto(page.url());
	for (const tab of [page, second])
		await expect(tab.getByTestId('compared')).toHaveText([/a\/one says/, /b\/two says/]);
	await ask(page, 'And then?');
	await expect(page.getByTestId('queue')).toContainText('until you choose an answer');
	begun.open();
	for (const tab of [page, second])
		await expect(tab.getByTestId('compared')).toHaveText([/a\/one says yes/, /b\/two says yes/]);
	await expect(page.getByTestId('queued-message')).toHaveCount(1);

	begun = gate();
	begun.open();
	await page.setViewportSize({ width: 390, height: 844 });
	await page.getByRole('tab', { name: 'one' }).focus();
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Enter');
	await expect(two).toBeVisible();
	await expect(one).toBeHidden();
	await expect(page.getByTestId('composer-note')).toHaveText('Your message follows two’s answer');
	await isClean();
	await two.getByTestId('choose-answer').press('Enter');
	for (const tab of [page, second]) {
		await expect(questions(tab).last()).toContainText('And then?');
		await expect(answers(tab).last()).toContainText('b/two says yes.');
		await expect(answers(tab).first().getByTestId('branch-position')).toHaveText('3 / 3');
	}
	await second.close();

	// An answer that is there gets another beside it; a message sent before a choice follows the one in front.
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.getByTestId('retry-with').last().click();
	await page.getByTestId('compare-with').click();
	await page.getByTestId('retry-model').filter({ hasText: 'test/model' }).click();
	await page.getByTestId('compare-done').click();
	await expect(page.getByRole('region', { name: 'model' })).toContainText('test/model says yes.');
	// While one is written, it would wait for the choice.
	await expect(page.getByTestId('composer-note')).toHaveText(/^Your message follows /);
	await ask(page, 'Thanks.');
	await expect(questions(page)).toHaveCount(3);
	await expect(page.getByTestId('compared')).toHaveCount(0);
	await expect(answers(page)).toHaveCount(3);
	await expect(answers(page).last()).toContainText('b/two says yes.');
});
