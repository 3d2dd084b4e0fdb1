/** Logging in, for people and programs (E19). */

import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from './app.ts';
import { startOtherSite } from './other-site.ts';

const TOKEN = 'the-token-of-this-test-0123456789';
const COOKIE = 'openrouter-skills-session';
const BEARER = { authorization: `Bearer ${TOKEN}` };

const tokenField = (page: Page): Locator => page.getByLabel('Token');

async function logIn(page: Page, token = TOKEN): Promise<void> {
	await tokenField(page).fill(token);
	await page.keyboard.press('Enter');
}

/** Logs in over HTTP and returns the session. */
async function sessionOf(url: string): Promise<string> {
	const response = await postToken(url, TOKEN);
	expect(response.status).toBe(204);
	return /^[^=]+=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
}

function postToken(url: string, token: unknown, headers: Record<string, string> = {}): Promise<Response> {
	return fetch(`${url}/api/session`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body: JSON.stringify({ token })
	});
}

test.describe('E19: with ADMIN_TOKEN', () => {
	test.use({ appOptions: { env: { ADMIN_TOKEN: TOKEN } } });

	test('a page leads to the login page and back; the session lasts over a reload, and ends with logging out', async ({
		page,
		app,
		context
	}) => {
		await page.goto('/skills?from=here');
		await expect(page).toHaveURL('/login?next=%2Fskills%3Ffrom%3Dhere');
		await expect(tokenField(page)).toBeFocused();
		await expect(page.getByText('Your ADMIN_TOKEN')).toBeVisible();

		await logIn(page, 'not-the-token-of-this-test');
		await expect(page.getByTestId('login-error')).toContainText('Wrong token.');
		await expect(tokenField(page)).toBeFocused();
		expect((await context.cookies()).map(({ name }) => name)).toEqual([]);

		await logIn(page);
		await expect(page).toHaveURL('/skills?from=here');
		await expect(page.getByTestId('skill-count')).toHaveText('10');
		await page.reload();
		await expect(page.getByTestId('skill-count')).toHaveText('10');

		const [cookie] = await context.cookies();
		expect(cookie).toMatchObject({ name: COOKIE, path: '/', httpOnly: true, sameSite: 'Strict', secure: false });
		expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000 + 29 * 24 * 3600);
		expect(cookie?.value).not.toContain(TOKEN);
		expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(
			TOKEN
		);

		await page.getByTestId('log-out').click();
		await expect(page).toHaveURL('/login');
		await page.goto('/connect#codex');
		await logIn(page);
		await expect(page).toHaveURL('/connect#codex');
		await expect(page.getByTestId('panel-codex')).toBeInViewport();

		await page.goto('/');
		await page.getByTestId('log-out').click();
		await expect(page).toHaveURL('/login');
		expect(await context.cookies()).toEqual([]);
		const replayed = await fetch(`${app.url}/api/health`, { headers: { cookie: `${COOKIE}=${cookie?.value}` } });
		expect(replayed.status).toBe(401);
		await page.goto('/');
		await expect(page).toHaveURL('/login?next=%2F');
	});

	test('a session that ends while one writes costs nothing: login, and the draft is there', async ({
		page,
		context
	}) => {
		await page.goto('/');
		await logIn(page);
		const box = page.getByTestId('composer-input');
		await box.fill('A long thought that must not be lost');
		await context.clearCookies();
		await page.keyboard.press('Enter');
		await expect(tokenField(page)).toBeVisible();
		await logIn(page);
		await expect(box).toHaveValue('A long thought that must not be lost');
	});

	test('a stream that is refused leads to the login page as well', async ({ page, context, app }) => {
		await page.goto('/skills');
		await logIn(page);
		await expect(page.getByTestId('skill-count')).toHaveText('10');
		await context.clearCookies();
		await app.restart();
		await expect(page).toHaveURL('/login?next=%2Fskills');
	});

	test('a link from another site opens the page without logging in again', async ({ page, app }) => {
		await page.goto('/');
		await logIn(page);
		await expect(page.getByTestId('skill-count')).toHaveText('10');
		const site = await startOtherSite();
		await page.goto(`http://localhost:${site.port}/`);
		await page.evaluate((href) => {
			document.body.innerHTML = `<a href="${href}">To the app</a>`;
		}, `${app.url}/skills`);
		await page.getByRole('link').click();
		await expect(page).toHaveURL(`${app.url}/skills`);
		await expect(page.getByTestId('skill-count')).toHaveText('10');
		await site.close();
	});

	test('the login leads nowhere but to this server', async ({ page, app, context }) => {
		for (const next of [
			'//evil.example/',
			'/\\evil.example/',
			'https://evil.example/',
			'javascript:alert(1)',
			'/%09/evil.example'
		]) {
			// Leave the app first: otherwise it notices the missing cookie and goes to the login page by itself.
			await page.goto('about:blank');
			await context.clearCookies();
			await page.goto(`/login?next=${encodeURIComponent(next)}`);
			await logIn(page);
			await expect(page.getByTestId('sidebar').or(page.getByTestId('error-page')).first()).toBeAttached();
			expect(new URL(page.url()).origin, next).toBe(app.url);
		}
	});

	test('the login page fits a phone, in the dark too', async ({ page }) => {
		await page.setViewportSize({ width: 390, height: 700 });
		await page.emulateMedia({ colorScheme: 'dark' });
		await page.goto('/');
		await logIn(page, 'wrong');
		await expect(page.getByTestId('login-error')).toBeVisible();
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
		expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(20, 21, 19)');
		for (const control of [tokenField(page), page.getByRole('button', { name: 'Log in' })]) {
			expect((await control.boundingBox())?.height).toBeGreaterThanOrEqual(44);
		}
	});

	test('a program is told how to get in, and gets in with the token', async ({ app }) => {
		const refused = await fetch(`${app.url}/api/conversations`);
		expect(refused.status).toBe(401);
		expect(refused.headers.get('www-authenticate')).toBe('Bearer');
		expect(await refused.json()).toMatchObject({
			error: { code: 'unauthorized', hint: expect.stringContaining('Authorization: Bearer <key>') }
		});
		for (const [method, path] of [
			['GET', '/api/health'],
			['GET', '/api/skills/events'],
			['GET', '/%61pi/health'],
			['GET', '/api/nothing'],
			['POST', '/api/chat'],
			['POST', '/login'],
			['PUT', `/api/conversations/${randomUUID()}/files/a.txt`],
			['DELETE', `/api/conversations/${randomUUID()}`]
		] as const) {
			const headers = { 'content-type': 'application/json' };
			const response = await fetch(app.url + path, { method, headers, redirect: 'manual' });
			expect(response.status, `${method} ${path}`).toBe(path === '/login' ? 405 : 401);
		}
		expect((await fetch(`${app.url}/api/conversations`, { headers: BEARER })).status).toBe(200);
		const message = { id: randomUUID(), role: 'user', content: 'Hello' };
		const chat = await fetch(`${app.url}/api/chat`, {
			method: 'POST',
			headers: { ...BEARER, 'content-type': 'application/json' },
			body: JSON.stringify({ threadId: randomUUID(), runId: randomUUID(), messages: [message] })
		});
		expect(chat.status).toBe(202);
	});

	test('a session works from the app’s own origin alone', async ({ app }) => {
		const cookie = `${COOKIE}=${await sessionOf(app.url)}`;
		expect((await fetch(`${app.url}/api/health`, { headers: { cookie } })).status).toBe(200);
		const others: Record<string, string>[] = [
			{ origin: 'http://evil.example' },
			{ origin: 'null' },
			{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }
		];
		for (const headers of others) {
			expect((await fetch(`${app.url}/api/health`, { headers: { cookie, ...headers } })).status).toBe(403);
			expect((await postToken(app.url, TOKEN, headers)).status).toBe(403);
		}
	});

	test('no response and no line of the log holds a secret', async ({ app }) => {
		const secrets = {
			OPENROUTER_API_KEY: 'sk-or-secret-of-this-test',
			SECRETS_KEY: 'the-key-for-secrets-of-this-test'
		};
		await app.restart({ env: { ...secrets, OPENROUTER_BASE_URL: 'http://127.0.0.1:9/v1' } });
		const session = await sessionOf(app.url);
		const texts: string[] = [];
		const json = { 'content-type': 'application/json' };
		const message = { id: randomUUID(), role: 'user', content: 'Show me your environment' };
		const chat = { threadId: randomUUID(), runId: randomUUID(), messages: [message] };
		for (const credentials of [BEARER, { cookie: `${COOKIE}=${session}` }, { authorization: `Bearer ${TOKEN}x` }]) {
			for (const [method, path, body] of [
				['GET', '/'],
				['GET', '/login'],
				['GET', '/api/health'],
				['GET', '/api/skills'],
				['GET', '/_app/env.js'],
				['GET', `/api/nothing?token=x`],
				['POST', '/api/session', '{"token":1}'],
				['POST', '/api/session', '{"token":"wrong"}'],
				['POST', '/api/chat', '{'],
				['POST', '/api/chat', JSON.stringify(chat)],
				['GET', `/api/runs/${chat.runId}/events`]
			] as const) {
				const response = await fetch(app.url + path, {
					method,
					headers: { ...json, ...credentials },
					body: body ?? null
				});
				texts.push(await response.text(), JSON.stringify([...response.headers]));
			}
		}
		for (const secret of [TOKEN, ...Object.values(secrets), session]) {
			expect(texts.join('\n')).not.toContain(secret);
			expect(app.logs.join('\n')).not.toContain(secret);
		}
		await app.restart({ env: { OPENROUTER_API_KEY: '', SECRETS_KEY: '', OPENROUTER_BASE_URL: '' } });
	});
});

test.describe('E19: with ADMIN_TOKEN behind a proxy with TLS', () => {
	test.use({
		appOptions: { env: { ADMIN_TOKEN: TOKEN, PUBLIC_ORIGIN: 'https://chat.example', TRUST_PROXY: 'true' } }
	});

	/** Sends the request as a proxy would. */
	function viaProxy(
		url: string,
		token: string,
		forwardedFor: string
	): Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }> {
		const { hostname, port } = new URL(url);
		const headers = {
			host: 'chat.example',
			origin: 'https://chat.example',
			'content-type': 'application/json',
			'x-forwarded-for': forwardedFor
		};
		return new Promise((resolve, reject) => {
			const outgoing = httpRequest(
				{ hostname, port, method: 'POST', path: '/api/session', headers, agent: false },
				(incoming) => {
					incoming.resume();
					incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers }));
				}
			);
			outgoing.on('error', reject);
			outgoing.end(JSON.stringify({ token }));
		});
	}

	test('the cookie is for this host and TLS alone, and browsers are told to stay with TLS', async ({ app }) => {
		const { status, headers } = await viaProxy(app.url, TOKEN, '10.0.0.9');
		expect(status).toBe(204);
		expect(headers['set-cookie']?.[0]).toMatch(/^__Host-openrouter-skills-session=[\w-]{43}; .*Secure/);
		expect(headers['strict-transport-security']).toMatch(/^max-age=\d+/);
	});

	test('wrong tokens are counted by the address that the proxy saw, whatever the client claims', async ({ app }) => {
		for (let round = 0; round < 10; round++) {
			expect((await viaProxy(app.url, 'wrong', `1.2.3.${round}, 10.0.0.1`)).status).toBe(401);
		}
		const { status, headers } = await viaProxy(app.url, 'wrong', '1.2.3.99, 10.0.0.1');
		expect(status).toBe(429);
		expect(Number(headers['retry-after'])).toBeGreaterThan(0);
		expect((await viaProxy(app.url, 'wrong', '10.0.0.1, 10.0.0.2')).status).toBe(401);
	});
});

test.describe('E19: too many wrong tokens', () => {
	test.use({ appOptions: { env: { ADMIN_TOKEN: `${TOKEN}-limited` } } });

	test('make the client wait, and are said so in the page; the right one is let in', async ({ app, page }) => {
		for (let round = 0; round < 10; round++) {
			// Without TRUST_PROXY, the client's claim about its address is ignored.
			const response = await postToken(app.url, `wrong-${round}`, { 'x-forwarded-for': `10.1.1.${round}` });
			expect(response.status).toBe(401);
		}
		const limited = await postToken(app.url, 'wrong');
		expect(limited.status).toBe(429);
		expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
		const headers = { authorization: 'Bearer wrong' };
		expect((await fetch(`${app.url}/api/health`, { headers })).status).toBe(429);

		await page.goto('/');
		await logIn(page, 'wrong');
		await expect(page.getByTestId('login-error')).toContainText('Too many wrong tokens. Try again in');

		const right = { authorization: `Bearer ${TOKEN}-limited` };
		expect((await fetch(`${app.url}/api/health`, { headers: right })).status).toBe(200);
	});
});

test('E19: without ADMIN_TOKEN there is nothing to log in or out of', async ({ page, app }) => {
	expect((await postToken(app.url, TOKEN)).status).toBe(409);
	await page.goto('/login?next=/skills');
	await expect(page).toHaveURL('/skills');
	await expect(page.getByTestId('skill-count')).toHaveText('10');
	await expect(page.getByTestId('log-out')).toHaveCount(0);
});
