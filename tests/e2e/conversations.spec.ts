/** What the chat list shows and keeps by itself, and its keyboard actions (F14); the rest is in `shell.spec.ts`. */
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { gate, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, test } from './played-model.ts';

const links = (page: Page): Locator => page.getByTestId('conversation-link');
const rowOf = (page: Page, title: string): Locator => page.getByTestId('conversation').filter({ hasText: title });
const idOf = (page: Page): string => new URL(page.url()).pathname.replace('/c/', '');

/** 140 messages; the 5th mentions an albatross, the 71st a pelican. */
function longConversation() {
	const createdAt = '2026-01-01T00:00:00.000Z';
	const rest = { files: [], error: null, usage: null, limit: null, context: null, retry: null, createdAt };
	const words: Record<number, string> = { 4: 'albatross', 70: 'pelican' };
	const messages = Array.from({ length: 140 }, (_, index) => ({
		...{ id: `m${index}`, parentId: index === 0 ? null : `m${index - 1}`, status: 'complete', ...rest },
		role: index % 2 === 0 ? 'user' : 'assistant',
		parts: [{ type: 'text', id: 't', text: `turn ${index} ${words[index] ?? ''} ${'and so on '.repeat(60)}` }]
	}));
	const format = { format: 'openrouter-skills/conversation', version: 1 };
	return { ...format, title: 'Birds', createdAt, exportedAt: createdAt, head: 'm139', messages };
}

/** Starts a new chat with the sidebar's button and waits for the first answer. */
async function begin(page: Page, question: string, answer: string): Promise<string> {
	await page.getByTestId('new-chat').click();
	await expect(page).toHaveURL(/\/$/);
	await ask(page, question);
	await expect(answers(page)).toContainText(answer);
	await expect(answers(page)).toHaveAttribute('data-status', 'complete');
	await page.waitForURL(/\/c\//);
	return idOf(page);
}

interface Noted {
	/** How often the page heard that its chat was deleted, and what it asked of the chat until it heard that it's back. */
	noted: { deletions: number; asked: string[] };
}

/** Runs in the page, before its own scripts. */
function noteRequestsOfDeleted(path: string): void {
	const noted: Noted['noted'] = { deletions: 0, asked: [] };
	Object.assign(window, { noted });
	let isDeleted = false;
	window.EventSource = class extends EventSource {
		constructor(url: string | URL, init?: EventSourceInit) {
			super(url, init);
			this.addEventListener('change', ({ data }: MessageEvent<string>) => {
				const was = isDeleted;
				({ isDeleted } = JSON.parse(data) as { isDeleted: boolean });
				if (isDeleted && !was) noted.deletions++;
			});
		}
	};
	const send = window.fetch;
	window.fetch = (input, init) => {
		const url = input instanceof Request ? input.url : String(input);
		if (isDeleted && url.includes(path)) noted.asked.push(`${init?.method ?? 'GET'} ${url}`);
		return send(input, init);
	};
}

/** Marks all chats as read: earlier tests closed their page too soon for that, and unread chats count in the title. */
async function readAll(page: Page, { url }: { url: string }): Promise<void> {
	const list = await page.request.get(`${url}/api/conversations?limit=100`);
	const { data } = (await list.json()) as { data: { id: string; isUnread: boolean }[] };
	for (const { id } of data.filter(({ isUnread }) => isUnread)) {
		const answer = await page.request.patch(`${url}/api/conversations/${id}`, { data: { isUnread: false } });
		expect(answer.ok()).toBe(true);
	}
}

test('F14: words of an answer are found with what stands around them; cleared, the list is back', async ({
	page,
	app,
	model
}) => {
	model.push(text('Otters hold hands while they sleep.'), text('Bread needs flour, water and salt.'));
	await page.goto(app.url);
	await begin(page, 'An animal fact', 'Otters');
	await begin(page, 'A recipe', 'Bread');
	const search = page.getByTestId('conversation-search');
	await search.fill('hands sleep');
	await expect(page.getByTestId('search-result')).toHaveCount(1);
	await expect(page.getByTestId('search-result')).toContainText('An animal fact');
	await expect(page.getByTestId('snippet')).toContainText('Otters hold hands');
	await expect(page.getByTestId('snippet').locator('mark')).toHaveText(['hands', 'sleep']);
	await expect(page.getByTestId('search-status')).toHaveText('1 chat');

	await search.fill('zeppelin');
	await expect(page.getByTestId('search-status')).toHaveText('No results.');
	await page.getByTestId('clear-search').click();
	await expect(search).toBeFocused();
	await expect(links(page)).toHaveText([/A recipe/, /An animal fact/]);
});

test('F14: what is found far back in a conversation opens there, also when the conversation is open already', async ({
	page,
	app
}) => {
	const response = await page.request.post(`${app.url}/api/conversations/import`, { data: longConversation() });
	expect(response.status()).toBe(201);
	await page.goto(app.url);
	const search = page.getByTestId('conversation-search');
	const message = (word: string): Locator => page.getByTestId('message').filter({ hasText: word });
	for (const word of ['albatross', 'pelican']) {
		await search.fill(word);
		await expect(page.getByTestId('snippet')).toContainText(word);
		await page.getByTestId('search-result').click();
		await expect(message(word)).toBeInViewport();
		await expect(page.locator('[data-found]')).toContainText(word);
		await page.getByTestId('scroll-bottom').click();
		await expect(message('turn 139')).toBeInViewport();
		await expect(message(word)).not.toBeInViewport();
		// Opening a result ends the search.
		await search.fill(word);
		await page.getByTestId('search-result').click();
		await expect(message(word)).toBeInViewport();
		await expect(page.getByTestId('chat-title')).toBeInViewport();
	}
	await page.reload();
	await expect(message('pelican')).toBeInViewport();
	await expect(page.getByTestId('chat-title')).toBeInViewport();
});

test('F14: by keyboard: through the list, renamed in it and in the header, deleted and brought back', async ({
	page,
	app,
	model
}) => {
	// A long test.
	test.slow();
	model.push(text('One.'), text('Two.'), text('Three.'));
	await page.goto(app.url);
	const ids = [];
	for (const [name, answer] of [
		['key one', 'One.'],
		['key two', 'Two.'],
		['key three', 'Three.']
	] as const) {
		ids.push(await begin(page, name, answer));
	}
	const [one, two] = ids;
	await links(page).filter({ hasText: 'key three' }).focus();
	await page.keyboard.press('ArrowDown');
	await expect(links(page).filter({ hasText: 'key two' })).toBeFocused();
	await page.keyboard.press('F2');
	await page.keyboard.type('Given up');
	await page.keyboard.press('Escape');
	await expect(links(page).filter({ hasText: 'key two' })).toBeFocused();
	await page.keyboard.press('F2');
	await page.keyboard.type('Second key');
	await page.keyboard.press('Enter');
	await expect(links(page).filter({ hasText: 'Second key' })).toBeFocused();
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(new RegExp(`/c/${two}$`));
	await expect(page.getByTestId('chat-title')).toHaveText('Second key');

	await page.getByTestId('composer-input').focus();
	await page.keyboard.press('F2');
	await page.keyboard.type('Second of three');
	await page.keyboard.press('Enter');
	await expect(page.getByTestId('chat-title')).toHaveText('Second of three');
	await expect(rowOf(page, 'Second of three')).toHaveCount(1);

	await links(page).filter({ hasText: 'key one' }).focus();
	const status = async () => (await page.request.get(`${app.url}/api/conversations/${one}`)).status();
	await page.keyboard.press('Delete');
	await expect(rowOf(page, 'key one')).toHaveCount(0);
	await expect(page.locator('[data-testid=conversation-link]:focus')).toHaveCount(1);
	await expect.poll(status).toBe(404);
	await page.getByTestId('toast').filter({ hasText: 'Deleted “key one”' }).getByTestId('toast-action').click();
	await expect(rowOf(page, 'key one')).toHaveCount(1);
	expect(await status()).toBe(200);
	await page.reload();
	await expect(rowOf(page, 'key one')).toHaveCount(1);
	await expect(rowOf(page, 'Second of three')).toHaveCount(1);

	// Delete the open chat from its header. After a reload it can't be undone, and the chat stays gone.
	await page.getByTestId('chat-menu').click();
	await page.keyboard.press('ArrowUp');
	await expect(page.getByTestId('conversation-delete')).toBeFocused();
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(/\/$/);
	await expect(page.getByTestId('toast').filter({ hasText: 'Deleted “Second of three”' })).toBeVisible();
	await page.reload();
	await expect(rowOf(page, 'key one')).toHaveCount(1);
	await expect(rowOf(page, 'Second of three')).toHaveCount(0);
	expect((await page.request.get(`${app.url}/api/conversations/${two}`)).status()).toBe(404);
});

test('F14: what is written and not sent is there after a reload and in a new tab, and marked in the list', async ({
	page,
	app,
	model,
	context
}) => {
	model.push(text('Drafted.'), text('Other.'));
	await page.goto(app.url);
	const first = await begin(page, 'with a draft', 'Drafted.');
	await page.getByTestId('composer-input').fill('half a thought');
	await expect(page.getByTestId('draft-mark')).toHaveCount(0);
	await page.reload();
	await expect(page.getByTestId('composer-input')).toHaveValue('half a thought');
	await begin(page, 'without', 'Other.');
	await expect(rowOf(page, 'with a draft').getByTestId('draft-mark')).toHaveText('Draft');
	await expect(page.getByTestId('composer-input')).toHaveValue('');

	const second = await context.newPage();
	await page.close();
	await second.goto(`${app.url}/c/${first}`);
	await expect(second.getByTestId('composer-input')).toHaveValue('half a thought');
	await second.getByTestId('composer-input').fill('');
	await second.getByTestId('new-chat').click();
	await expect(rowOf(second, 'with a draft')).toHaveCount(1);
	await expect(second.getByTestId('draft-mark')).toHaveCount(0);
});

test('F14: what is renamed, deleted or restored in one tab is so in the other, at once and without a failed request', async ({
	page,
	app,
	model,
	context
}) => {
	await readAll(page, app);
	model.push(text('Both see this.'));
	await page.goto(app.url);
	const id = await begin(page, 'two tabs', 'Both see this.');
	const second = await context.newPage();
	await second.addInitScript(noteRequestsOfDeleted, `/api/conversations/${id}`);
	const failed: string[] = [];
	second.on('response', (response) => {
		// What it asked before it could know may cross the deletion; what it asks afterwards is noted in the page.
		if (response.url().includes(`/api/conversations/${id}`) && response.status() === 404) return;
		if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
	});
	await second.goto(`${app.url}/c/${id}`);
	await expect(answers(second)).toContainText('Both see this.');

	await page.getByTestId('chat-title').dblclick();
	await page.keyboard.type('Renamed here');
	await page.keyboard.press('Enter');
	await expect(second.getByTestId('chat-title')).toHaveText('Renamed here');
	await expect(second).toHaveTitle(/^Renamed here · /);
	await expect(rowOf(second, 'Renamed here')).toHaveCount(1);
	await expect(rowOf(second, 'Renamed here').getByTestId('unread-mark')).toHaveCount(0);

	await second.getByTestId('composer-input').fill('half a thought');
	await links(page).filter({ hasText: 'Renamed here' }).focus();
	await page.keyboard.press('Delete');
	const notice = second.getByTestId('deleted-notice');
	await expect(notice).toContainText('This chat was deleted.');
	await expect(answers(second)).toContainText('Both see this.');
	await expect(rowOf(second, 'Renamed here')).toHaveCount(0);
	await expect(second.getByTestId('composer-input')).toHaveCount(0);
	await page.getByTestId('toast').filter({ hasText: 'Deleted' }).getByTestId('toast-action').click();
	await expect(notice).toHaveCount(0);
	await expect(second.getByTestId('composer-input')).toHaveValue('half a thought');

	await links(page).filter({ hasText: 'Renamed here' }).focus();
	await page.keyboard.press('Delete');
	await notice.getByTestId('restore-conversation').click();
	await expect(notice).toHaveCount(0);
	await expect(rowOf(page, 'Renamed here')).toHaveCount(1);
	expect(failed).toEqual([]);
	const noted = await second.evaluate(() => (window as unknown as Noted).noted);
	expect(noted).toEqual({ deletions: 2, asked: [] });
});

test('F14: a deleted chat stands in the trash of every tab at once, and comes back or goes for good from there', async ({
	page,
	app,
	model,
	context
}) => {
	await readAll(page, app);
	model.push(text('To be kept.'), text('To be lost.'));
	await page.goto(app.url);
	const kept = await begin(page, 'keep me', 'To be kept.');
	const lost = await begin(page, 'lose me', 'To be lost.');
	const second = await context.newPage();
	await second.goto(`${app.url}/c/${lost}`);
	await expect(answers(second)).toContainText('To be lost.');
	await second.getByTestId('list-menu').click();
	await second.getByTestId('show-deleted').click();
	const rows = second.getByTestId('deleted-chat');
	await expect(second.getByTestId('deleted-chats')).toContainText(/stay here\s+for 30 days/);
	await expect(rows.filter({ hasText: 'keep me' })).toHaveCount(0);
	for (const title of ['keep me', 'lose me']) {
		await links(page).filter({ hasText: title }).focus();
		await page.keyboard.press('Delete');
		await expect(rows.filter({ hasText: title })).toHaveCount(1);
	}

	await rows.filter({ hasText: 'lose me' }).getByRole('button', { name: 'forever' }).click();
	// The row goes before the server has answered.
	const isGone = second.waitForResponse((response) => response.request().method() === 'DELETE');
	await second.getByTestId('confirm-delete').click();
	await expect(rows.filter({ hasText: 'lose me' })).toHaveCount(0);
	await isGone;
	expect((await page.request.post(`${app.url}/api/conversations/trash/${lost}`, { data: {} })).status()).toBe(404);
	await rows.filter({ hasText: 'keep me' }).getByTestId('restore').click();
	await expect(rowOf(page, 'keep me')).toHaveCount(1);
	await second.getByRole('link', { name: 'Open chat' }).click();
	await expect(second).toHaveURL(`${app.url}/c/${kept}`);
	await expect(answers(second)).toContainText('To be kept.');
	await expect(second.getByTestId('deleted-chats')).toHaveCount(0);
});

test('F14: who looks elsewhere sees that an answer is written, and hears that it is there', async ({
	page,
	app,
	model
}) => {
	await readAll(page, app);
	const held = [gate(), gate()] as const;
	model.push(text('It ', held[0], 'is done.'), text('Shorter ', held[1], 'this time.'));
	await page.goto(app.url);
	await ask(page, 'a long task');
	await expect(answers(page)).toContainText('It');
	await expect(page).toHaveTitle(/^… a long task · /);
	await page.waitForURL(/\/c\//);
	const row = rowOf(page, 'a long task');
	await expect(row.getByTestId('answering-mark')).toHaveCount(1);
	await page.getByTestId('new-chat').click();
	await expect(row.getByTestId('answering-mark')).toHaveCount(1);
	await expect(page).not.toHaveTitle(/^…/);
	held[0].open();
	const toast = page.getByTestId('toast').filter({ hasText: '“a long task” is ready' });
	await expect(toast).toBeVisible();
	await expect(row.getByTestId('unread-mark')).toHaveCount(1);
	await expect(row.getByTestId('answering-mark')).toHaveCount(0);
	await expect(page).toHaveTitle(/^\(1\) /);
	await toast.getByTestId('toast-action').click();
	await expect(answers(page)).toContainText('It is done.');
	await expect(row.getByTestId('unread-mark')).toHaveCount(0);
	await expect(page).toHaveTitle(/^a long task · /);
	await expect(toast).toHaveCount(0);

	// On another page, the answer is announced at once and only once; after it's read, a reload shows nothing new.
	await ask(page, 'again');
	await expect(answers(page).last()).toContainText('Shorter');
	await page.getByTestId('settings-link').click();
	await expect(page.getByTestId('settings-page')).toBeVisible();
	held[1].open();
	await expect(toast).toHaveCount(1);
	await expect(page).toHaveTitle(/^\(1\) /);
	await links(page).filter({ hasText: 'a long task' }).click();
	await expect(answers(page).last()).toContainText('Shorter this time.');
	await expect(page).toHaveTitle(/^a long task · /);
	await page.reload();
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
	await expect(page).toHaveTitle(/^a long task · /);
	await expect(page.getByTestId('unread-mark')).toHaveCount(0);
});

test('F14: a conversation is saved as Markdown and as JSON; read again it is another one with the same text', async ({
	page,
	app,
	model
}) => {
	model.push(text('The **bold** truth.'));
	await page.goto(app.url);
	const id = await begin(page, 'saved as a file', 'truth');
	const save = async (item: string): Promise<{ name: string; path: string }> => {
		await page.getByTestId('chat-menu').click();
		const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId(item).click()]);
		return { name: download.suggestedFilename(), path: await download.path() };
	};
	const markdown = await save('conversation-export-markdown');
	expect(markdown.name).toMatch(/\.md$/);
	const written = await readFile(markdown.path, 'utf8');
	expect(written).toContain('saved as a file');
	expect(written).toContain('The **bold** truth.');

	const json = await save('conversation-export-json');
	expect(json.name).toMatch(/\.json$/);
	expect(JSON.parse(await readFile(json.path, 'utf8'))).toMatchObject({ title: 'saved as a file' });
	const buffer = await readFile(json.path);
	await page.getByTestId('import-file').setInputFiles({ name: 'chat.json', mimeType: 'application/json', buffer });
	await expect(page).not.toHaveURL(new RegExp(id));
	await expect(page.getByTestId('toast').filter({ hasText: 'Imported' })).toBeVisible();
	await expect(answers(page)).toContainText('The bold truth.');
	await expect(rowOf(page, 'saved as a file')).toHaveCount(2);

	const wrong = { name: 'wrong.json', mimeType: 'application/json', buffer: Buffer.from('{"a":1}') };
	await page.getByTestId('import-file').setInputFiles(wrong);
	await expect(page.getByTestId('toasts').getByRole('alert').last()).toBeVisible();
	await expect(rowOf(page, 'saved as a file')).toHaveCount(2);
});

test('UI 7: the palette opens a conversation by its words, Ctrl+B hides the sidebar, “?” lists the keys', async ({
	page,
	app,
	model
}) => {
	model.push(text('Ravens remember faces.'), text('Yes.'));
	await page.goto(app.url);
	const id = await begin(page, 'birds of the tower', 'Ravens');
	await begin(page, 'something else', 'Yes.');
	await page.keyboard.press('Control+k');
	await page.keyboard.type('birds tower');
	await expect(page.getByTestId('palette-item').first()).toContainText('birds of the tower');
	await page.keyboard.press('Enter');
	await expect(page).toHaveURL(new RegExp(`/c/${id}$`));
	await expect(page.getByTestId('palette')).toHaveCount(0);
	await page.getByTestId('new-chat').click();
	await page.keyboard.press('Control+k');
	await page.keyboard.type('remember faces');
	await expect(page.getByTestId('palette-item').filter({ hasText: 'birds of the tower' })).toContainText('Ravens');
	await page.keyboard.press('Enter');
	await expect(answers(page)).toContainText('Ravens remember faces.');

	await page.keyboard.press('Control+b');
	await expect(page.getByTestId('sidebar')).toBeHidden();
	await page.reload();
	await expect(answers(page)).toContainText('Ravens');
	await expect(page.getByTestId('sidebar')).toBeHidden();
	await page.keyboard.press('Control+b');
	await expect(page.getByTestId('sidebar')).toBeVisible();

	// In the message box it's just a character.
	await page.getByTestId('composer-input').focus();
	await page.keyboard.press('?');
	await expect(page.getByTestId('composer-input')).toHaveValue('?');
	await page.getByTestId('composer-input').fill('');
	await page.getByTestId('messages').focus();
	await page.keyboard.press('?');
	await expect(page.getByTestId('shortcuts-dialog')).toBeVisible();
	for (const name of ['Command palette', 'Search chats', 'Toggle sidebar', 'Rename chat', 'New line']) {
		await expect(page.getByTestId('shortcut-list')).toContainText(name);
	}
	await page.getByTestId('close-shortcuts').click();
	await expect(page.getByTestId('shortcuts-dialog')).toHaveCount(0);
});

test.describe('in the light', () => {
	test.use({ colorScheme: 'light' });

	test('UI 8: the theme that was chosen is on the page again before anything is painted', async ({ page, app }) => {
		await page.addInitScript(() => {
			new MutationObserver((_changes, observer) => {
				if (!document.body) return;
				observer.disconnect();
				sessionStorage.setItem('first-theme', document.documentElement.dataset.theme ?? 'none');
			}).observe(document, { childList: true, subtree: true });
		});
		const first = () => page.evaluate(() => sessionStorage.getItem('first-theme'));
		await page.goto(app.url);
		await expect(page.getByTestId('composer-input')).toBeVisible();
		expect(await first()).toBe('none');
		// The order is system, light, dark.
		for (const name of ['system', 'light']) await page.getByRole('button', { name: `Theme: ${name}` }).click();
		await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
		await page.reload();
		await expect(page.getByRole('button', { name: 'Theme: dark' })).toBeVisible();
		expect(await first()).toBe('dark');
	});
});

test.describe('on a phone', () => {
	test.use({ viewport: { width: 390, height: 844 } });

	test('UI 8: the list is a drawer: it opens over the page, keeps the focus, and closes behind what was chosen', async ({
		page,
		app,
		model
	}) => {
		model.push(text('Small.'));
		await page.goto(app.url);
		await expect(page.getByTestId('sidebar')).toBeHidden();
		await ask(page, 'on a phone');
		await expect(answers(page)).toHaveAttribute('data-status', 'complete');
		await page.waitForURL(/\/c\//);
		const opened = page.url();
		await page.getByTestId('open-sidebar').click();
		await expect(page.getByTestId('sidebar')).toBeInViewport({ ratio: 1 });
		await expect(page.locator('main')).toHaveAttribute('inert');
		await page.keyboard.press('Escape');
		await expect(page.getByTestId('sidebar')).toBeHidden();
		await expect(page.getByTestId('open-sidebar')).toBeFocused();
		await page.keyboard.press('Enter');
		await page.getByTestId('scrim').focus();
		await page.keyboard.press('Tab');
		await page.keyboard.press('Escape');
		await expect(page.getByTestId('sidebar')).toBeHidden();
		await expect(page.getByTestId('open-sidebar')).toBeFocused();
		await page.getByTestId('open-sidebar').click();
		await page.getByTestId('new-chat').click();
		await expect(page.getByTestId('sidebar')).toBeHidden();
		await expect(page).toHaveURL(/\/$/);
		await page.getByTestId('open-sidebar').click();
		await links(page).filter({ hasText: 'on a phone' }).click();
		await expect(page.getByTestId('sidebar')).toBeHidden();
		await expect(page).toHaveURL(opened);
		await expect(answers(page)).toContainText('Small.');
		await page.getByTestId('open-sidebar').click();
		await links(page).filter({ hasText: 'on a phone' }).click();
		await expect(page.getByTestId('sidebar')).toBeHidden();
		await page.goBack();
		await expect(page).toHaveURL(/\/$/);
	});
});
