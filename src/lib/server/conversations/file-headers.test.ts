import { chromium, type Browser, type Page } from '@playwright/test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findChromium } from '../../../../tests/support/chromium.ts';
import { extensionOf, fileHeaders, mediaTypeOf } from './file-headers.ts';

describe('the headers of a workspace file', () => {
	test.each(['a.html', 'a.svg', 'a.pdf', 'b/c.xhtml', 'noending'])('%s is a download without a view', (path) => {
		const headers = fileHeaders(path, 5, null);
		expect(headers['content-disposition']).toMatch(/^attachment;/);
		expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
		expect(headers['content-type']).not.toMatch(/html/);
	});

	test.each(['a.html', 'a.js', 'a.css', 'a.zip', 'a.yaml'])(
		'E16: %s has its media type for programs, and is bytes for browsers',
		(path) => {
			expect(mediaTypeOf(path)).toMatch(/^(text|application)\/(html|javascript|css|zip|yaml)$/);
			expect(fileHeaders(path, 5, null)['content-type']).toBe('application/octet-stream');
			expect(extensionOf(mediaTypeOf(path) ?? '')).toBe(path.slice(1));
		}
	);

	test('a PDF is shown by the browser’s own viewer, as nothing else than a PDF, and only in our page', () => {
		const headers = fileHeaders('b/a.PDF', 5, 'plain');
		expect(headers).toMatchObject({
			...{ 'content-type': 'application/pdf', 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' },
			'content-disposition': expect.stringMatching(/^inline;/)
		});
		expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'self'/);
		expect(fileHeaders('a.pdf', 5, 'scripts')['content-disposition']).toMatch(/^attachment;/);
	});

	test.each(['a.xhtml', 'a.html.txt', 'a.svgz'])('%s stays a download in a view', (path) => {
		for (const view of ['plain', 'scripts'] as const)
			expect(fileHeaders(path, 5, view)['content-disposition']).toMatch(/^attachment;/);
	});
});

/** Everything a page could try; `ELSE` is another server. */
const HOSTILE = `<!doctype html><base href="ELSE/"><meta http-equiv="refresh" content="0;url=ELSE/refresh">
<link rel="stylesheet" href="ELSE/style"><link rel="icon" href="ELSE/icon"><link rel="prefetch" href="ELSE/prefetch">
<style>@import url("ELSE/import"); body { background: url("ELSE/background") } @font-face { font-family: x; src: url("ELSE/font") } p { font-family: x; color: rgb(1, 2, 3) }</style>
<p>shown</p><img src="ELSE/img" srcset="ELSE/srcset 2x"><video src="ELSE/video" poster="ELSE/poster" autoplay></video><audio src="ELSE/audio" autoplay></audio>
<iframe src="ELSE/frame"></iframe><iframe srcdoc="<script>parent.parent.pwned = 1</script>"></iframe><object data="ELSE/object"></object><embed src="ELSE/embed">
<script>parent.pwned = 1; fetch('ELSE/fetch'); document.title = 'pwned'</script><script src="ELSE/script"></script><script type="module">import 'ELSE/module'</script>
<img src=x onerror="parent.pwned = 1"><svg onload="parent.pwned = 1"><image href="ELSE/svg"/></svg>
<form action="ELSE/form" id="f"><input autofocus onfocus="parent.pwned = 1"><button>send</button></form>
<a href="ELSE/link" ping="ELSE/ping" target="_top">a</a><a href="javascript:parent.pwned=1">j</a>`;

describe('SECURITY: a page that a script made, looked at in a frame', () => {
	let browser: Browser;
	let page: Page;
	let server: Server;
	let other: Server;
	let asked: string[];

	beforeAll(async () => {
		browser = await chromium.launch(await findChromium());
	});
	afterAll(() => browser.close());

	beforeEach(async () => {
		asked = [];
		other = await listen((path) => {
			asked.push(path);
			return { headers: { 'content-type': 'text/plain' }, body: '' };
		});
		const hostile = HOSTILE.replaceAll('ELSE', addressOf(other));
		server = await listen((path) =>
			path === '/'
				? {
						headers: { 'content-type': 'text/html', 'content-security-policy': "frame-src 'self'" },
						body: '<title>ours</title><iframe sandbox="" src="/file?view"></iframe>'
					}
				: {
						headers: fileHeaders('made.html', Buffer.byteLength(hostile), path.endsWith('view') ? 'plain' : null),
						body: hostile
					}
		);
		page = await browser.newPage();
	});
	afterEach(async () => {
		await page.close();
		for (const each of [server, other]) each.close();
	});

	test('shows itself with its styles; no script runs and no request leaves', async () => {
		await page.goto(addressOf(server));
		const frame = page.frameLocator('iframe');
		await frame.getByText('shown').waitFor();
		expect(await frame.getByText('shown').evaluate((element) => getComputedStyle(element).color)).toBe('rgb(1, 2, 3)');
		for (const name of ['send', 'a', 'j']) await frame.getByText(name, { exact: true }).click({ timeout: 5000 });
		// Anything the page sends would arrive before this later request does.
		await page.evaluate(() => fetch('/file').then((response) => response.text()));
		expect(asked).toEqual([]);
		expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
		expect(await page.title()).toBe('ours');
	});

	test.each(['made.html', 'made.svg'])(
		'with its scripts, %s reaches neither the network nor our page',
		async (name) => {
			const tries = `
			const say = (text) => { document.documentElement.dataset.said = (document.documentElement.dataset.said ?? '') + text; };
			say('ran ' + origin);
			for (const reach of [() => parent.document, () => top.location.href, () => localStorage, () => document.cookie, () => open('ELSE/open').x])
				try { reach(); say(' reached'); } catch { say(' refused'); }
			new Image().src = 'ELSE/script-img';
			fetch('ELSE/script-fetch').catch(() => {});
			fetch('/file').then(() => say(' fetched'), () => say(' cut off'));
			navigator.sendBeacon?.('ELSE/beacon');
			try { new WebSocket('ELSE/socket'.replace('http', 'ws')); } catch {}
			try { new Worker('data:text/javascript,fetch("ELSE/worker")'); } catch {}`.replaceAll('ELSE', addressOf(other));
			const body = name.endsWith('svg')
				? `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="${addressOf(other)}/image"/><script href="${addressOf(other)}/code"/><script><![CDATA[${tries}]]></script></svg>`
				: `<!doctype html><script src="${addressOf(other)}/code"></script><script>${tries}</script>`;
			const ours = await listen((path) =>
				path === '/'
					? {
							headers: { 'content-type': 'text/html', 'content-security-policy': "frame-src 'self'" },
							body: '<title>ours</title><iframe sandbox="allow-scripts" src="/file?view"></iframe>'
						}
					: { headers: fileHeaders(name, Buffer.byteLength(body), path.endsWith('view') ? 'scripts' : null), body }
			);
			try {
				await page.goto(addressOf(ours));
				const root = page.frameLocator('iframe').locator(':root');
				await expect.poll(() => root.getAttribute('data-said')).toContain('cut off');
				expect(await root.getAttribute('data-said')).toBe('ran null refused refused refused refused refused cut off');
				// Navigating away leads nowhere either.
				await root
					.evaluate((_root, to) => void (location.href = to), `${addressOf(other)}/led-away`)
					.catch(() => undefined);
				await page.evaluate(() => fetch('/file').then((response) => response.text()));
				expect(asked).toEqual([]);
				expect(await page.title()).toBe('ours');
			} finally {
				ours.close();
			}
		}
	);

	test('opened by itself, it has an origin of its own as well', async () => {
		await page.goto(`${addressOf(server)}/file?view`);
		await page.getByText('shown').waitFor();
		expect(asked).toEqual([]);
		expect(await page.title()).not.toBe('pwned');
	});
});

interface Answer {
	headers: Record<string, string>;
	body: string;
}

async function listen(answer: (path: string) => Answer): Promise<Server> {
	const server = createServer((request, response) => {
		const { headers, body } = answer(request.url ?? '');
		response.writeHead(200, headers).end(body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return server;
}

function addressOf(server: Server): string {
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
