/** The model connection: add, test and remove a key, sign in, choose a model, use a local server. */
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { openRouterModel, startOpenRouter, type OpenRouterServer } from '../support/openrouter-server.ts';
import { expect, test as base } from './app.ts';
import { answers, ask } from './played-model.ts';

const KEY = 'sk-or-v1-0123456789abcdef0123456789abcdef';

interface Played {
	/** Plays models, key, credits and sign-in. */
	openRouter: OpenRouterServer;
	/** The same server's model replies. */
	model: ModelServer;
	/** A local model server. */
	local: Server;
}

const test = base.extend<object, { played: Played }>({
	played: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const openRouter = await startOpenRouter();
			const model = await startModelServer();
			const local = await startLocal(model);
			playOpenRouter(openRouter, model);
			await use({ openRouter, model, local });
			await openRouter.close();
			await model.close();
			local.closeAllConnections();
			local.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ played }, use) => {
		const env = {
			OPENROUTER_BASE_URL: played.openRouter.baseUrl,
			MODEL_PORTS: String((played.local.address() as AddressInfo).port)
		};
		await use({ env });
	}
});

function playOpenRouter(server: OpenRouterServer, model: ModelServer): void {
	server.answers['/models'] = {
		json: { data: [openRouterModel('acme/large'), openRouterModel('acme/small'), openRouterModel('test/model')] }
	};
	server.answers['/key'] = ({ authorization }, response) => {
		const data = { label: 'laptop', limit: 20, limit_remaining: 12.5, usage: 7.5, is_free_tier: false };
		if (authorization === `Bearer ${KEY}`) return send(response, 200, { data });
		send(response, 401, { error: { code: 401, message: 'User not found.' } });
	};
	server.answers['/credits'] = { json: { data: { total_credits: 50, total_usage: 10 } } };
	server.answers['/responses'] = ({ body, authorization }, response) => {
		void fetch(`${model.url}/responses`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization: authorization ?? '' },
			body
		}).then(async (answer) =>
			response.writeHead(answer.status, { 'content-type': 'text/event-stream' }).end(await answer.text())
		);
	};
}

function send(response: ServerResponse, status: number, json: unknown): void {
	response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

/** Lists two models and answers like the scripted model. */
async function startLocal(model: ModelServer): Promise<Server> {
	const server = createServer((request, response) => {
		if (request.url === '/v1/models') return send(response, 200, { data: [{ id: 'qwen3:8b' }, { id: 'llama4' }] });
		const parts: Buffer[] = [];
		request.on('data', (part: Buffer) => parts.push(part));
		request.on('end', () => {
			void fetch(model.url.replace(/\/v1$/, request.url ?? ''), { method: 'POST', body: Buffer.concat(parts) }).then(
				async (answer) =>
					response.writeHead(answer.status, { 'content-type': 'text/event-stream' }).end(await answer.text())
			);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return server;
}

test.describe.configure({ mode: 'serial' });

test('UI 2: a key is tested, stored and used, and never comes back', async ({ page, app, played }) => {
	await page.goto(`${app.url}/settings#account`);
	await page.getByTestId('connect').click();
	await page.getByTestId('model-key').fill('sk-or-v1-wrong-wrong-wrong');
	await page.getByTestId('connect-now').click();
	await expect(page.getByTestId('key-status')).toHaveAttribute('data-valid', 'false');
	await page.getByTestId('model-key').fill(KEY);
	await page.getByTestId('connect-now').click();
	await expect(page.getByTestId('key-facts')).toContainText('$40.00 left');
	await page.reload();
	await page.getByTestId('connect').click();
	await expect(page.getByTestId('remove-model-key')).toBeVisible();
	expect(await page.content()).not.toContain(KEY);

	await page.goto(app.url);
	played.model.push(text('Hello from the model.'));
	await ask(page, 'Hello');
	await expect(answers(page)).toContainText('Hello from the model.');
	expect(played.model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
});

test('F11: a model is chosen for a conversation, kept over a reload, and another one for a retry', async ({
	page,
	app,
	played
}) => {
	await page.goto(app.url);
	await page.getByTestId('model-chip').click();
	await page.getByTestId('model-search').fill('small');
	await page.getByTestId('model-option').first().click();
	await page.getByTestId('effort').selectOption('high');
	played.model.push(text('From the small one.'));
	await ask(page, 'Who are you?');
	await expect(answers(page)).toContainText('From the small one.');
	expect(played.model.requests.at(-1)?.body).toMatchObject({ model: 'acme/small', reasoning: { effort: 'high' } });
	await expect(page).toHaveURL(/\/c\//);
	await page.reload();
	await expect(page.getByTestId('model-chip')).toContainText('small');
	await expect(page.getByTestId('effort')).toHaveValue('high');
	played.model.push(text('From the small one again.'));
	await ask(page, 'And now?');
	await expect(answers(page)).toHaveCount(2);
	await expect(answers(page).last()).toHaveAttribute('data-status', 'complete');
	expect(played.model.requests.at(-1)?.body).toMatchObject({ model: 'acme/small' });
	const address = page.url();
	await page.getByTestId('settings-link').click();
	await page.getByRole('link', { name: 'Back to the chat' }).click();
	await expect(page).toHaveURL(address);
});

test('F11: a server of this machine answers when it is chosen, and the key does not go to it', async ({
	page,
	app,
	played
}) => {
	await page.goto(`${app.url}/settings#account`);
	await page.getByTestId('connect').click();
	await page.getByRole('tab', { name: 'My own server' }).click();
	await page.getByTestId('local-server').click();
	await expect(page.getByTestId('connect-model')).toHaveCount(0);
	await page.getByTestId('connect').click();
	await expect(page.getByTestId('remove-model-key')).toHaveCount(0);
	await page.goto(app.url);
	played.model.push(text('From home.'));
	await ask(page, 'Hello');
	await expect(answers(page)).toContainText('From home.');
	const last = played.model.requests.at(-1);
	expect(last?.body).toMatchObject({ model: 'qwen3:8b' });
	expect(last?.headers.authorization).toBeUndefined();
	await page.goto(`${app.url}/settings#account`);
	await page.getByTestId('reset-modelBaseUrl').click();
	await page.getByTestId('confirm-delete').click();
	await expect(page.getByTestId('connection')).toContainText(new URL(played.openRouter.baseUrl).host);
});

test('UI 2: one signs in instead of pasting a key; the code is of use once', async ({ page, app, played }) => {
	await page.goto(`${app.url}/settings#account`);
	await page.getByTestId('connect').click();
	let address = '';
	// OpenRouter asks the user and sends the browser back with a code.
	await page.route(
		(url) => url.href.startsWith(`${played.openRouter.origin}/auth?`),
		async (route) => {
			const asked = new URL(route.request().url()).searchParams;
			played.openRouter.allow('code-1', asked.get('code_challenge') ?? '', KEY);
			const back = new URL(asked.get('callback_url') ?? '');
			back.searchParams.set('code', 'code-1');
			address = back.href;
			await route.fulfill({ status: 302, headers: { location: back.href } });
		}
	);
	await page.getByTestId('sign-in').click();
	await expect(page.getByTestId('signed-in')).toBeVisible();
	expect(page.url()).toBe(`${app.url}/account/callback`);
	await page.goto(address);
	await expect(page.getByTestId('sign-in-error')).toContainText('This sign-in has expired or was already used.');
	await page.goto(`${app.url}/settings#account`);
	await page.getByTestId('connect').click();
	await page.getByTestId('connect-now').click();
	await expect(page.getByTestId('key-status')).toHaveAttribute('data-valid', 'true');
});
