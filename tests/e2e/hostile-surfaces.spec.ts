/** Other places that show foreign text: titles, search results, notices, models, imported chats. */
import { text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { HOSTILE_MODELS, HOSTILE_TEXTS } from './hostile-content.ts';
import { ask, expectHarmless, test } from './hostile-watch.ts';

const TITLES = HOSTILE_TEXTS.filter(({ length }) => length < 300);
const SOME = TITLES.join(' ');

/** An exported chat with `hostile` in every text field. */
function conversationFile(title: string, hostile: string) {
	const createdAt = '2026-01-01T00:00:00.000Z';
	const own = { status: 'complete', error: null, usage: null, limit: null, context: null, retry: null, createdAt };
	const execution = {
		...{ skill: hostile, script: hostile, args: [hostile], sandbox: hostile, exitCode: 1, error: hostile },
		...{ output: [{ stream: 'stdout', text: hostile }], files: [{ path: `${hostile.slice(0, 90)}.svg`, bytes: 9 }] },
		...{ message: hostile, executionId: hostile, refused: [hostile] }
	};
	const approval = {
		...{ interruptId: 'i', skill: hostile, script: hostile, args: [hostile], reason: hostile, digest: hostile },
		...{ trust: 'changed', missing: [hostile], skillId: hostile, decision: { choice: 'deny', reason: hostile } }
	};
	const tool = { type: 'tool', name: hostile, arguments: JSON.stringify({ [hostile]: hostile }), result: hostile };
	const parts = [
		{ type: 'reasoning', id: 'p1', text: hostile, done: true },
		{ ...tool, id: 'p2', status: 'done', loaded: { skill: hostile, description: hostile, path: hostile, tokens: 1 } },
		{ ...tool, id: 'p3', name: 'use_skill', status: 'failed', execution },
		{ ...tool, id: 'p4', name: 'use_skill', status: 'failed', approval },
		{ ...tool, id: 'p5', name: 'run_script', status: 'cancelled', arguments: hostile },
		{
			...{ type: 'compaction', id: 'p6', removedResults: 1, summarizedMessages: 2, summary: hostile },
			...{ tokensBefore: 2, tokensAfter: 1 }
		},
		{ type: 'text', id: 'p7', text: hostile }
	];
	const usage = { inputTokens: 1, outputTokens: 1, model: hostile };
	return {
		...{ format: 'openrouter-skills/conversation', version: 1, title, createdAt, exportedAt: createdAt, head: 'b' },
		messages: [
			{
				...own,
				id: 'a',
				role: 'user',
				parentId: null,
				parts: [{ type: 'text', id: 't', text: hostile }],
				files: [hostile]
			},
			{
				...{ ...own, id: 'b', role: 'assistant', parentId: 'a', parts, files: [], usage, status: 'failed' },
				error: { code: 'upstream', message: hostile }
			}
		]
	};
}

test('SECURITY What people see: titles, results of a search, notices and what the palette finds are texts', async ({
	page,
	app,
	quiet
}) => {
	test.slow();
	for (const title of TITLES) {
		const response = await page.request.post(`${app.url}/api/conversations/import`, {
			data: conversationFile(title, `window ${title}`)
		});
		expect(response.status(), title).toBe(201);
	}
	await page.goto(app.url);
	await expect(page.getByTestId('conversation').first()).toBeVisible();
	await expectHarmless(page, '[data-testid=sidebar]');
	await page.getByTestId('conversation-search').fill('window');
	await expect(page.getByTestId('snippet').first()).toBeVisible();
	await expectHarmless(page, '[data-testid=sidebar] nav');
	await page.getByTestId('search-result').first().click();
	await expect(page.getByTestId('chat-title')).not.toHaveText('New chat');
	await expectHarmless(page, '[data-testid=chat] header');
	await page.keyboard.press('ControlOrMeta+k');
	await page.getByTestId('palette-input').fill('window');
	await expect(page.getByTestId('palette-item').first()).toBeVisible();
	await expectHarmless(page, '[data-testid=palette]');
	await page.keyboard.press('Escape');

	for (const action of ['Archive', 'Delete']) {
		await page.getByTestId('conversation').first().hover();
		await page.getByTestId('conversation').first().getByTestId('conversation-menu').click();
		await page.getByRole('menuitem', { name: action }).click();
		await expect(page.getByTestId('toast').first()).toBeVisible();
		await expectHarmless(page, '[data-testid=toasts]');
	}
	await page.goto(`${app.url}/?skill=${encodeURIComponent(TITLES[2] ?? '')}`);
	await expect(page.getByTestId('toast')).toContainText('window.pwned');
	await expectHarmless(page, '[data-testid=toasts]');
	expect(quiet.seen).toEqual([]);
});

test('SECURITY What people see: a conversation that somebody sends as a file does nothing, whatever it says that was done', async ({
	page,
	app,
	quiet
}) => {
	await page.goto(app.url);
	const file = conversationFile(TITLES[2] ?? '', SOME);
	await page.getByTestId('import-file').setInputFiles({
		...{ name: '<img src=x onerror=window.pwned=1>\u202E.json', mimeType: 'application/json' },
		buffer: Buffer.from(JSON.stringify(file))
	});
	await page.waitForURL(/\/c\//);
	await expect(page.getByTestId('toast').first()).toBeVisible();
	await expectHarmless(page, '[data-testid=toasts]');
	const answer = page.locator('[data-testid=message][data-role=assistant]');
	await expect(answer).toBeVisible();
	for (const fold of await answer.getByTestId('step-fold').all()) await fold.click();
	for (const name of ['step-toggle', 'compaction-toggle', 'error-detail', 'show-all']) {
		for (const toggle of await answer.getByTestId(name).all()) {
			if ((await toggle.getAttribute('aria-expanded')) !== 'true') await toggle.click();
		}
	}
	for (const menu of await answer.getByTestId('answer-menu').all()) {
		await menu.click();
		await page.getByTestId('figures-toggle').click();
	}
	await answer.getByTestId('reasoning').first().getByRole('button').first().click();
	await expect(answer.getByTestId('step-body').first()).toBeVisible();
	await expectHarmless(page, '[data-testid=messages]');
	// Past decisions aren't asked again here, and the skill they name isn't installed.
	await expect(page.getByTestId('approval')).toHaveCount(0);
	await expect(page.getByTestId('approve-once').and(page.getByRole('button'))).toHaveCount(0);
	expect(quiet.seen).toEqual([]);
});

test('SECURITY What people see: models are called whatever their server says, and that is a text', async ({
	page,
	app,
	model,
	quiet
}) => {
	await page.goto(app.url);
	await page.getByTestId('model-chip').click();
	// Three are left out: a duplicate, one without an id, and one whose id no request can contain.
	await expect(page.getByTestId('model-option')).toHaveCount(HOSTILE_MODELS.length - 3);
	await expectHarmless(page, '[data-testid=model-panel]');
	for (const [number, { id }] of HOSTILE_MODELS.slice(1, 7).entries()) {
		if (number > 0) await page.getByTestId('model-chip').click();
		await page.getByTestId('model-search').fill(String(id));
		await page.locator(`[data-testid=model-option][data-id=${JSON.stringify(id)}]`).click();
		model.push(text('Here I am.'));
		await ask(page, 'Who are you?');
		const answers = page.locator('[data-testid=message][data-role=assistant]');
		await expect(answers).toHaveCount(number + 1);
		await expect(answers.last()).toHaveAttribute('data-status', 'complete');
		expect(model.requests.at(-1)?.body).toMatchObject({ model: id });
		await expectHarmless(page, '[data-testid=chat]:not(:has([data-testid=composer]))');
		await expectHarmless(page, '[data-testid=messages]');
	}
	await page.getByTestId('retry-with').last().click();
	await expect(page.getByTestId('retry-model').first()).toBeVisible();
	await expectHarmless(page, '[data-testid=messages]');
	await page.reload();
	await expect(page.getByTestId('usage').last()).toBeVisible();
	await expectHarmless(page, '[data-testid=messages]');
	await page.goto(`${app.url}/settings`);
	await page.getByTestId('choose-model').click();
	await expect(page.getByTestId('model-option').first()).toBeVisible();
	expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
	expect(quiet.seen).toEqual([]);
});
