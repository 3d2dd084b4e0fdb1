/** A foreign web page can't do anything with the visitor's app: a real second origin in a real browser. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser } from '@playwright/test';
import { startApp, type App } from '../support/app-process.ts';
import { findChromium } from '../support/chromium.ts';
import { expect, test } from './app.ts';
import { attack, startOtherSite, type OtherSite, type Target } from './other-site.ts';

const PICTURE = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64'
);

function chatInput(text: string): { threadId: string; runId: string; messages: unknown[] } {
	return {
		threadId: randomUUID(),
		runId: randomUUID(),
		messages: [{ id: randomUUID(), role: 'user', content: text }]
	};
}

/** A chat whose files include a picture and a script. */
async function fillApp(app: App): Promise<Target> {
	const conversationId = randomUUID();
	for (const [name, body] of [
		['picture.png', PICTURE],
		['script.js', Buffer.from('window.attacked = true')]
	] as const) {
		const url = `${app.url}/api/conversations/${conversationId}/files/${name}`;
		expect((await fetch(url, { method: 'PUT', body })).status).toBe(201);
	}
	return { app: app.url, conversationId, chat: chatInput('How many words are in: a b c') };
}

/** Everything a request could have changed. */
async function stateOf(app: App): Promise<unknown> {
	const read = async (path: string): Promise<unknown> => (await fetch(app.url + path)).json();
	const conversations = (await read('/api/conversations?limit=200')) as { data: { id: string }[] };
	const files = await Promise.all(conversations.data.map(({ id }) => read(`/api/conversations/${id}/files`)));
	const details = await Promise.all(conversations.data.map(({ id }) => read(`/api/conversations/${id}`)));
	return { conversations, files, details };
}

test.describe('SECURITY The server: a page of another origin', () => {
	let browser: Browser;
	let site: OtherSite;
	test.beforeAll(async () => {
		const options = await findChromium();
		const args = [...(options.args ?? []), '--host-resolver-rules=MAP evil.example 127.0.0.1'];
		browser = await chromium.launch({ ...options, args });
		site = await startOtherSite();
	});
	test.afterAll(async () => {
		await browser.close();
		await site.close();
	});

	for (const [name, pageHost, appHost] of [
		['another port of 127.0.0.1', '127.0.0.1', '127.0.0.1'],
		['localhost, which is another site than 127.0.0.1', 'localhost', '127.0.0.1'],
		['127.0.0.1, when the app is opened as localhost', '127.0.0.1', 'localhost'],
		['a site somewhere in the world', 'evil.example', '127.0.0.1']
	] as const) {
		test(`reads nothing, writes nothing and runs nothing: ${name}`, async ({ app }) => {
			const target = await fillApp(app);
			const before = await stateOf(app);
			const page = await browser.newPage();
			await page.goto(`http://${pageHost}:${site.port}/`);

			const outcome = await page.evaluate(attack, { ...target, app: app.url.replace('127.0.0.1', appHost) });

			// A beacon has no result.
			expect(Object.entries(outcome).filter(([, what]) => what !== 'failed')).toEqual([['beacon', 'sent']]);
			expect(await page.evaluate('window.attacked')).toBeUndefined();
			expect(await stateOf(app)).toEqual(before);
			await page.close();
		});
	}

	test('would succeed with all of it from the app’s own page: so the attempts are real ones', async ({ app }) => {
		const target = await fillApp(app);
		const page = await browser.newPage();
		await page.goto(app.url);
		// Its policy forbids frames and forms even from itself, and workspace files can't be scripts.
		const outcome = await page.evaluate(attack, target);
		for (const name of ['get', 'getFile', 'getPage', 'postJson', 'image', 'events', 'rename', 'remove'] as const) {
			expect(outcome[name], name).toMatch(/^read: (2|loaded|open)/);
		}
		await page.close();
	});

	test('can open the app in a tab, as every link does, and has no hold on it', async ({ app }) => {
		const page = await browser.newPage();
		await page.goto(`http://evil.example:${site.port}/`);
		const opened = page.context().waitForEvent('page');
		await page.evaluate(`window.tab = window.open('${app.url}/skills')`);
		const tab = await opened;
		await expect(tab.getByTestId('sidebar')).toBeVisible();
		expect(await page.evaluate('tab.closed')).toBe(true);
		expect(await tab.evaluate('window.opener')).toBeNull();

		const second = page.context().waitForEvent('page');
		await page.evaluate((url) => void window.open(url), `${app.url}/api/conversations`);
		await expect((await second).locator('body')).toContainText('"code":"forbidden"');
		await page.context().close();
	});

	test('is refused when its name is made to point at the app (DNS rebinding)', async ({ app }) => {
		const { port } = new URL(app.url);
		const page = await browser.newPage();
		const answer = await page.goto(`http://evil.example:${port}/`);
		expect(answer?.status()).toBe(403);
		const statuses = await page.evaluate(async () => {
			const paths = ['/api/conversations', '/api/health', '/api/skills', '/skills'];
			return Promise.all(paths.map(async (path) => (await fetch(path)).status));
		});
		expect(statuses).toEqual([403, 403, 403, 403]);
		await page.close();
	});
});

test('E19: on an address that others reach, the server refuses to start without ADMIN_TOKEN, before it opens the port', async () => {
	const taken = createServer().listen(0, '0.0.0.0');
	await once(taken, 'listening');
	const PORT = String((taken.address() as AddressInfo).port);
	// If it had tried to listen, it would have reported that the port is in use.
	await expect(startApp({ env: { HOST: '0.0.0.0', PORT } })).rejects.toThrow(
		/Couldn’t start the app: HOST is “0\.0\.0\.0”.*ADMIN_TOKEN/
	);
	taken.close();
});

test('E19: with ADMIN_TOKEN it listens on the address that it is given', async () => {
	const app = await startApp({ env: { HOST: '0.0.0.0', ADMIN_TOKEN: 'a-token-of-this-server' } });
	const local = app.url.replace('0.0.0.0', '127.0.0.1');
	expect((await fetch(`${local}/api/health`)).status).toBe(401);
	await app.stop();
});

test('SECURITY The server: every response carries the headers, whoever makes it', async ({ app }) => {
	const asset = /href="\.?(\/_app\/[^"]+)"/.exec(await (await fetch(app.url)).text())?.[1];
	expect(asset).toBeDefined();
	for (const [path, method] of [
		['/', 'GET'],
		['/no-such-page', 'GET'],
		['/api/health', 'GET'],
		['/api/nothing', 'GET'],
		['/api/chat', 'POST'],
		['/api/health', 'OPTIONS'],
		['/favicon.svg', 'GET'],
		['/_app/version.json', 'GET'],
		['/_app/immutable/none.js', 'GET'],
		['/%', 'GET'],
		[asset ?? '', 'GET']
	] as const) {
		const { headers } = await fetch(app.url + path, { method });
		const where = `${method} ${path}`;
		expect(headers.get('x-content-type-options'), where).toBe('nosniff');
		expect(headers.get('referrer-policy'), where).toBe('no-referrer');
		expect(headers.get('x-frame-options'), where).toBe('DENY');
		expect(headers.get('cross-origin-opener-policy'), where).toBe('same-origin');
		expect(headers.get('cross-origin-resource-policy'), where).toBe('same-origin');
		expect(headers.get('permissions-policy'), where).toContain('camera=()');
		expect(headers.get('content-security-policy'), where).toMatch(/frame-ancestors 'none'|sandbox/);
		expect(headers.get('strict-transport-security'), where).toBeNull();
		expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
		expect(headers.get('x-powered-by'), where).toBeNull();
	}
});

test('SECURITY The server: pages run no inline script and nothing of another server', async ({ app }) => {
	const policy = (await fetch(app.url)).headers.get('content-security-policy') ?? '';
	const directives = new Map(policy.split('; ').map((line) => [line.split(' ')[0], line] as const));
	expect(directives.get('script-src')).toMatch(/^script-src 'self' 'nonce-[^']+'$/);
	expect(directives.get('default-src')).toBe("default-src 'none'");
	for (const name of ['object-src', 'base-uri', 'frame-ancestors']) {
		expect(directives.get(name)).toBe(`${name} 'none'`);
	}
	expect(directives.get('frame-src')).toBe("frame-src 'self'");
	expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
});
