/** F14: a page always finds its run again: after a reload, in another browser, after losing the network or a long sleep. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, gate, response, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, questions, test } from './played-model.ts';

const shownBy = (part: string) => `[data-testid=${part}]`;

test('F14: a reload while the arguments of a call still come shows the call, and then what it did', async ({
	page,
	app,
	model
}) => {
	const held = gate();
	const item = { type: 'function_call', id: 'f1', call_id: 'c1', name: 'use_skill', arguments: '' };
	const args = JSON.stringify({ skill: 'count-words', tool: 'count_words', input: { text: 'a b c' } });
	model.push(async (exchange) => {
		exchange.begin();
		const frame = (event: object) => exchange.write(`data: ${JSON.stringify(event)}\n\n`);
		await frame({ type: 'response.output_item.added', output_index: 0, item });
		await frame({ type: 'response.function_call_arguments.delta', output_index: 0, delta: args.slice(0, 20) });
		if (!(await exchange.wait(held))) return;
		await frame({ type: 'response.function_call_arguments.delta', output_index: 0, delta: args.slice(20) });
		const done = { ...item, arguments: args };
		await frame({ type: 'response.function_call_arguments.done', output_index: 0, arguments: args });
		await frame({ type: 'response.output_item.done', output_index: 0, item: done });
		await frame({ type: 'response.completed', response: { status: 'completed', output: [done] } });
		exchange.end();
	}, text('Three.'));
	await page.goto(app.url);
	await ask(page, 'count them');
	await expect(page.locator(shownBy('step'))).toBeVisible();
	await page.waitForURL(/\/c\//);
	await page.reload();
	await expect(page.locator(shownBy('step'))).toHaveAttribute('data-status', 'preparing');
	held.open();
	await expect(page.locator(shownBy('step'))).toHaveAttribute('data-status', 'done');
	await expect(answers(page)).toContainText('Three.');
	await expect(answers(page)).toHaveCount(1);
});

test('F14, F15: a reload while a script runs shows what it has said and goes on; a second browser sees the same', async ({
	page,
	app,
	model,
	browser
}) => {
	await mkdir(join(app.skillsDir, 'slow/scripts'), { recursive: true });
	const script = 'echo begun; while [ ! -e go ]; do sleep 0.05; done; printf "\\033[32mended\\033[0m\\n"\n';
	await writeFile(join(app.skillsDir, 'slow/scripts/slow.sh'), script);
	await writeFile(join(app.skillsDir, 'slow/SKILL.md'), '---\nname: slow\ndescription: Waits.\n---\nRun slow.sh.\n');
	await page.goto(`${app.url}/skills`);
	await expect(page.locator('[data-testid=skill-row][data-name=slow]')).toBeVisible();
	model.push(call('use_skill', { skill: 'slow', script: 'slow.sh' }), text('Over.'));
	await page.goto(app.url);
	await ask(page, 'go slowly');
	await expect(page.getByTestId('terminal-output')).toContainText('begun');
	await page.reload();
	await expect(page.getByTestId('terminal-output')).toContainText('begun');
	const other = await (await browser.newContext()).newPage();
	await other.goto(page.url());
	await expect(other.getByTestId('terminal-output')).toContainText('begun');

	const conversation = page.url().split('/').at(-1);
	await fetch(`${app.url}/api/conversations/${conversation}/files/go`, { method: 'PUT', body: 'x' });
	for (const tab of [page, other]) {
		await expect(answers(tab)).toContainText('Over.');
		await expect(answers(tab)).toHaveAttribute('data-status', 'complete');
	}
	// The script ran once, however many pages watched, so its two lines appear once.
	await page.getByTestId('step').getByRole('button').first().click();
	await expect(page.getByTestId('terminal-output')).toHaveText(/^\s*begun\s*ended\s*$/);
});

test('F14: the network goes and comes back: nothing is missing, nothing is there twice', async ({
	page,
	app,
	model,
	context
}) => {
	const [gone, back] = [gate(), gate()];
	model.push(text('One ', gone, 'two ', back, 'three.'));
	await page.goto(app.url);
	await ask(page, 'count');
	await expect(answers(page)).toContainText('One');
	await page.waitForURL(/\/c\//);
	await context.setOffline(true);
	gone.open();
	back.open();
	await context.setOffline(false);
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(answers(page).getByTestId('markdown')).toHaveText('One two three.');
});

test('F14: a page that slept through the end of a run shows all of it when it wakes up', async ({
	page,
	app,
	model
}) => {
	const asleep = gate();
	const number = model.requests.length + 1;
	model.push(response([text('Before ', asleep, 'and after.')]));
	await page.goto(app.url);
	await ask(page, 'good night');
	await expect(answers(page)).toContainText('Before');
	const devtools = await page.context().newCDPSession(page);
	await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
	asleep.open();
	await (
		await model.received(number)
	).closed;
	await devtools.send('Page.setWebLifecycleState', { state: 'active' });
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await expect(answers(page).getByTestId('markdown')).toHaveText('Before and after.');
});

test('F14: a cursor from the future, or of another run, gets the whole run', async ({ page, app, model }) => {
	model.push(text('Short.'));
	await page.goto(app.url);
	await ask(page, 'hello');
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.waitForURL(/\/c\//);
	const conversation = page.url().split('/').at(-1);
	const { messages } = (await (await fetch(`${app.url}/api/conversations/${conversation}`)).json()) as {
		messages: { runId: string | null }[];
	};
	const runId = messages.at(-1)?.runId;
	const read = async (cursor: string) =>
		(await fetch(`${app.url}/api/runs/${runId}/events`, { headers: { 'last-event-id': cursor } })).text();
	const whole = await read('0');
	expect(whole).toContain('RUN_FINISHED');
	for (const cursor of ['999999', '-1', '1.5', 'of-another-run']) expect(await read(cursor)).toBe(whole);
});

test('F14: a new conversation that is reloaded before it has an address is the same one, and what was sent is not in the box', async ({
	page,
	app,
	model
}) => {
	model.push(text('Here you are.'), text('And here.'));
	const held = gate();
	// The server has the message, but the page never finds out.
	await page.route('**/api/chat', async (route) => {
		const answer = await route.fetch();
		await held.opened;
		await route.fulfill({ response: answer }).catch(() => undefined);
	});
	await page.goto(app.url);
	const number = model.requests.length + 1;
	await ask(page, 'a first message');
	await model.received(number);
	expect(new URL(page.url()).pathname).toBe('/');
	await page.reload();
	held.open();
	await page.waitForURL(/\/c\//);
	await expect(questions(page)).toHaveText([/a first message/]);
	await expect(answers(page)).toHaveText([/Here you are\./]);
	await expect(page.getByTestId('composer-input')).toHaveValue('');
	await page.unroute('**/api/chat');
	await ask(page, 'a second one');
	await expect(answers(page)).toHaveText([/Here you are\./, /And here\./]);
	await page.goto(app.url);
	await expect(page.getByTestId('composer-input')).toBeVisible();
	await expect(answers(page)).toHaveCount(0);
});

test('F14: nor is it lost where the code of its address comes late', async ({ page, browser, app, model }) => {
	model.push(text('Here you are.'));
	const nameOf = (url: string): string => new URL(url).pathname;
	const ofConversations = new Set<string>();
	const other = await browser.newPage();
	other.on('request', (request) => ofConversations.add(nameOf(request.url())));
	await other.goto(`${app.url}/c/none`);
	await expect(other.getByTestId('new-chat').first()).toBeVisible();
	await other.close();

	const late = gate();
	let isOpened = false;
	await page.route('**/nodes/*.js', async (route) => {
		// The new-chat page is the last part it needs.
		const isShared = ofConversations.has(nameOf(route.request().url()));
		if (isShared && isOpened) await late.opened;
		isOpened ||= !isShared;
		await route.continue();
	});
	await page.goto(app.url);
	await ask(page, 'a first message');
	await expect(answers(page)).toHaveText([/Here you are\./]);
	expect(new URL(page.url()).pathname).toBe('/');
	const reloaded = page.reload();
	await page.waitForEvent('framenavigated');
	late.open();
	await reloaded;
	await page.waitForURL(/\/c\//);
	await expect(questions(page)).toHaveText([/a first message/]);
	await expect(answers(page)).toHaveText([/Here you are\./]);
	await expect(page.getByTestId('composer-input')).toHaveValue('');
});

test('F14: nor where the reload was asked for a moment before the address was there; a page that is opened is a new one', async ({
	page,
	app,
	model
}) => {
	model.push(text('Here you are.'));
	await page.goto(app.url);
	await ask(page, 'a first message');
	await expect(answers(page)).toHaveText([/Here you are\./]);
	await page.waitForURL(/\/c\//);
	// The browser reloads the page it was showing.
	await page.evaluate(() => history.replaceState(null, '', '/'));
	await page.reload();
	await page.waitForURL(/\/c\//);
	await expect(answers(page)).toHaveText([/Here you are\./]);

	await page.goto(app.url);
	for (const again of [false, true]) {
		if (again) await page.reload();
		await expect(page.getByTestId('example').first()).toBeVisible();
		await expect(questions(page)).toHaveCount(0);
		expect(new URL(page.url()).pathname).toBe('/');
	}
});
