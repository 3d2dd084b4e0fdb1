/** MCP servers (E36): added in settings, approved, called, and shown in the timeline and the list of executions. */
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { startAuthorizedServer } from '../support/mcp-authorization.ts';
import { type FixtureHttpServer, startFixtureHttp } from '../support/mcp-fixture.ts';
import { call, text } from '../support/model-server.ts';
import { expect } from './app.ts';
import { answers, ask, test as base } from './played-model.ts';

const test = base.extend<{ remote: FixtureHttpServer; demo: FixtureHttpServer }>({
	// eslint-disable-next-line no-empty-pattern -- needs nothing
	remote: async ({}, use) => {
		const remote = await startFixtureHttp();
		await use(remote);
		await remote.stop();
	},
	/** Added as `demo`: its tools run without asking. */
	demo: async ({ remote, page, app }, use) => {
		const body = { transport: { type: 'http', url: remote.url }, approval: 'auto' };
		expect((await page.request.put(`${app.url}/api/mcp-servers/demo`, { data: body })).status()).toBe(200);
		const state = async () => (await (await page.request.get(`${app.url}/api/mcp-servers/demo`)).json()).status.state;
		await expect.poll(state).toBe('connected');
		await use(remote);
	}
});

const FIXTURE = join(import.meta.dirname, '../support/mcp-fixture.ts');
/** The app's own Node, which can run TypeScript. */
const NODE = join(import.meta.dirname, '../../node_modules/.bin/node');

const listed = (page: Page, name: string): Locator => page.locator(`[data-testid=mcp-server][data-name=${name}]`);

/** In the settings, as JSON from a page of the server's makers; returns its line. */
async function paste(page: Page, app: { url: string }, name: string, server: object): Promise<Locator> {
	await page.goto(`${app.url}/settings#mcp-servers`);
	await page.getByTestId('mcp-paste').click();
	await page.getByTestId('mcp-json').fill(JSON.stringify({ mcpServers: { [name]: server } }));
	await page.getByTestId('mcp-json-add').click();
	return listed(page, name.toLowerCase());
}

/** The question that the server asks when the model has called its tool. */
async function asked(page: Page, app: { url: string }, message: string): Promise<Locator> {
	await page.goto(app.url);
	await ask(page, message);
	return page.getByTestId('question');
}

test('E36: a program is added, its tool is allowed and called, and the call is among the executions', async ({
	page,
	app,
	model
}) => {
	await page.goto(`${app.url}/settings#mcp-servers`);
	await expect(page.getByTestId('mcp-add')).toBeInViewport();
	await expect(page.getByTestId('sidebar')).toBeInViewport({ ratio: 1 });
	await page.getByTestId('mcp-add').click();
	await page.getByTestId('mcp-name').fill('sums');
	await page.getByTestId('mcp-command').fill(NODE);
	await page.getByTestId('mcp-args').fill(FIXTURE);
	await page.getByTestId('mcp-save').click();
	const server = listed(page, 'sums');
	await expect(server).toHaveAttribute('data-state', 'connected', { timeout: 30_000 });
	await expect(server).toContainText('fixture 1.2.3');

	await page.goto(app.url);
	model.push(call('mcp__sums__add', { a: 20, b: 22 }));
	await ask(page, 'How much is 20 and 22?');
	const card = page.getByTestId('approval');
	await expect(card).toContainText('“add” of the MCP server “sums”');
	model.push(text('It is 42.'));
	await page.getByTestId('approve-more').click();
	await page.getByTestId('approve-script').click();
	await expect(answers(page)).toContainText('It is 42.');
	const step = page.locator('[data-testid=step][data-tool=mcp__sums__add]');
	await expect(step).toHaveAttribute('data-status', 'done');
	await expect(step).toContainText('Ran add of sums');
	expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('The sum is 42.');

	model.push(call('mcp__sums__add', { a: 1, b: 1 }), text('It is 2.'));
	await ask(page, 'And 1 and 1?');
	await expect(answers(page).last()).toContainText('It is 2.');
	await page.goto(`${app.url}/skills/executions`);
	await expect(page.getByText('mcp/sums').first()).toBeVisible();
});

test('E36: an address is pasted, works over a restart, is switched off, and is removed', async ({
	page,
	app,
	remote
}) => {
	const headers = { 'X-Key': 'very-secret-value' };
	const server = await paste(page, app, 'Remote', { url: remote.url, headers });
	await expect(server).toHaveAttribute('data-state', 'connected');
	expect(remote.requests.every((request) => request.headers['x-key'] === 'very-secret-value')).toBe(true);
	await app.restart();
	await page.reload();
	await expect(server).toHaveAttribute('data-state', 'connected');
	expect(await page.content()).not.toContain('very-secret-value');
	await server.getByTestId('mcp-enabled').click();
	await expect(server).toHaveAttribute('data-state', 'off');
	await server.getByTestId('mcp-remove').click();
	await page.getByTestId('confirm-delete').click();
	await expect(server).toHaveCount(0);
});

test('E36: one that could not be reached is tried again at once when somebody says so', async ({
	page,
	app,
	remote
}) => {
	await remote.stop();
	const server = await paste(page, app, 'gone', { url: remote.url });
	await expect(server).toHaveAttribute('data-state', 'waiting');
	const reconnected = page.waitForResponse((response) => response.url().endsWith('/api/mcp-servers/gone/reconnect'));
	await server.getByTestId('mcp-reconnect').click();
	expect((await reconnected).status()).toBe(200);
	await expect(server).toHaveAttribute('data-state', 'waiting');
});

test('E36: what a server asks stands in the chat, over a reload and in a second tab; the answer is sent and is in no chat', async ({
	page,
	app,
	model,
	demo: _added,
	context
}) => {
	model.push(call('mcp__demo__book'), text('Booked.'));
	const card = await asked(page, app, 'Book a table.');
	await expect(card).toContainText('The MCP server “demo” asks you');
	await page.reload();
	await expect(card).toContainText('When would you like to come?');
	await expect(card.getByTestId('question-warning')).toContainText('goes only to this server');
	const second = await context.newPage();
	await second.goto(app.url);
	await expect(second.getByTestId('waiting-mark')).toHaveText('(asks you something)');
	await second.goto(page.url());
	await expect(second.getByTestId('question')).toBeVisible();
	await expect(page).toHaveTitle(/^\(!\) /);
	await card.getByLabel('Your name').fill('A');
	await card.getByTestId('question-accept').click();
	await expect(card.getByTestId('question-error')).toHaveText('“Your name” must have at least 2 characters.');
	await card.getByLabel('Your name').fill('Ada Lovelace');
	await card.getByLabel('room (optional)').selectOption('outside');
	await card.getByLabel('vegan').check();
	await card.getByTestId('question-accept').click();
	await expect(answers(page)).toContainText('Booked.');
	await expect(second.getByTestId('question')).toHaveCount(0);
	await expect(answers(second)).toContainText('Booked.');
	await second.close();
	const content = { name: 'Ada Lovelace', guests: 2, room: 'outside', dog: false, diet: ['vegan'] };
	const told = JSON.stringify(`Told: ${JSON.stringify({ action: 'accept', content })}`);
	expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(told.slice(1, -1));
});

test('E36: a page that a server wants opened is shown whole, opens by a click, and can be declined', async ({
	page,
	app,
	model,
	demo: _added
}) => {
	model.push(call('mcp__demo__sign'), text('Not signed.'));
	const card = await asked(page, app, 'Sign it.');
	await expect(card.getByTestId('question-url')).toHaveText('https://sign.example.org/forms/7?a=b');
	const link = card.getByTestId('question-open');
	await expect(link).toHaveAttribute('href', 'https://sign.example.org/forms/7?a=b');
	await expect(link).toHaveAttribute('rel', /noopener/);
	expect(page.context().pages()).toHaveLength(1);
	await card.getByTestId('question-decline').click();
	await expect(answers(page)).toContainText('Not signed.');
	expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('decline');
});

test('E36: a server asks the model of the chat after it is allowed, and what that costs is the answer’s', async ({
	page,
	app,
	model,
	demo: _added
}) => {
	model.push(call('mcp__demo__think'), text('42'), text('It thought 42.'));
	const card = await asked(page, app, 'Think.');
	await expect(card.getByTestId('question-prompt')).toContainText('What is 6 times 7?');
	await card.getByTestId('question-accept').click();
	await expect(answers(page)).toContainText('It thought 42.');
	expect(JSON.stringify(model.requests.at(-2)?.body)).toContain('What is 6 times 7?');
});

test('E36: a server that wants a login is signed in to and out of, on its own page', async ({ page, app }) => {
	const remote = await startAuthorizedServer();
	try {
		const server = await paste(page, app, 'Office', { url: remote.url });
		await page.getByRole('button', { name: 'Sign in to office' }).click();
		await expect(page.getByTestId('mcp-is-signed-in')).toBeVisible();
		expect(new URL(page.url()).search).toBe('');
		await page.getByRole('link', { name: 'Open settings' }).last().click();
		await expect(server).toHaveAttribute('data-state', 'connected');
		await expect(server).toContainText('Signed in');
		await page.goto(`${app.url}/settings/mcp/office?error=access_denied&state=x`);
		await expect(page.getByTestId('mcp-sign-in-error')).toContainText('You didn’t allow it.');
		await page.goto(`${app.url}/settings/mcp/office?error=invalid_scope&error_description=Call+0800&state=x`);
		await expect(page.getByTestId('mcp-sign-in-error')).toContainText('The server refused it (invalid_scope).');
		await expect(page.getByTestId('mcp-sign-in-error')).not.toContainText('0800');
		await page.getByRole('link', { name: 'Open settings' }).last().click();
		remote.revokes = 503;
		await page.getByRole('button', { name: 'Sign out of office' }).click();
		await expect(page.getByTestId('mcp-not-revoked')).toContainText('You’re signed out here.');
		expect(remote.revocations).toHaveLength(1);
		await expect(page.getByRole('button', { name: 'Sign in to office' })).toBeVisible();
		await expect(server).not.toContainText('Signed in');
	} finally {
		await remote.stop();
	}
});
