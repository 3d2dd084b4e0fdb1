import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../../../../tests/support/folder.ts';
import { findChromium as findTestChromium } from '../../../../tests/support/chromium.ts';
import { openProxy } from '../network/proxy.ts';
import { createWorkspaceRooms } from '../workspace-rooms.ts';
import { createBrowser } from './browser.ts';
import type { Builtin } from './builtin.ts';
import { findChromium } from './browser-page.ts';

const PAGE = `<!doctype html><title>Shop</title><h1>Hello</h1>
<button onclick="document.querySelector('p').textContent='clicked'">Press</button><p></p>
<form action="/sent"><input name="word"><button>Send</button></form>
<a href="file:///etc/passwd" id="file">file</a>`;

let server: Server;
let port: number;
const home = sharedFolder();
const asked: { path: string; host: string }[] = [];
const made: Builtin[] = [];

beforeAll(async () => {
	server = createServer((request, response) => {
		asked.push({ path: request.url ?? '', host: request.headers.host ?? '' });
		if (request.url === '/download') {
			return response.writeHead(200, { 'content-disposition': 'attachment; filename=a.bin' }).end('bytes');
		}
		if (request.url === '/inward') {
			return response
				.writeHead(200, { 'content-type': 'text/html' })
				.end(`<p>outer</p><img src="http://127.0.0.1:${port}/inside" onerror="document.title='refused'">`);
		}
		response.writeHead(200, { 'content-type': 'text/html' }).end(request.url?.startsWith('/sent') ? 'got it' : PAGE);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
	await Promise.all(made.map((builtin) => builtin.close?.()));
	server.closeAllConnections();
	server.close();
});

/** `isOpen`: addresses of this machine are allowed, also as `shop.test`. */
function browser({
	isOpen = true,
	isEnabled = true,
	hosts = [] as string[],
	rooms = createWorkspaceRooms()
} = {}): Builtin {
	const addresses = { resolve: async () => ['127.0.0.1'], ...(isOpen ? { isAllowed: () => true } : {}) };
	const allows = (host: string) => hosts.length === 0 || hosts.includes(host);
	const builtin = createBrowser({
		isEnabled,
		async findChromium() {
			const { executablePath, args, env } = await findTestChromium();
			const needed = Object.entries(env).filter(([name]) => /^(LD_LIBRARY_PATH|FONTCONFIG)/.test(name));
			return { executablePath, args, env: Object.fromEntries(needed) };
		},
		openNetwork: (id) => openProxy({ socketPath: join(home, `${made.length}-${id}.sock`), allows, ...addresses }),
		rooms,
		maxChars: 20_000
	});
	made.push(builtin);
	return builtin;
}

const calling = (builtin: Builtin, workspace = join(home, 'workspace')) => {
	return (args: Record<string, unknown>) =>
		builtin.run(args, { workspace, signal: new AbortController().signal, executionId: 'e1' });
};

describe('D31: off, and what is refused without a browser', () => {
	test('switched off it is not offered, and a call says how to switch it on', async () => {
		const off = browser({ isEnabled: false });
		expect(off.unavailable()).toContain('SKILLS_BROWSER_ENABLED');
		expect(await calling(off)({ action: 'open', url: 'https://a.example' })).toMatchObject({ error: 'SkillDisabled' });
	});
	test('without a Chromium the call says what to install', async () => {
		const none = createBrowser({
			isEnabled: true,
			findChromium: () => null,
			openNetwork: () => Promise.reject(new Error('not needed')),
			rooms: createWorkspaceRooms(),
			maxChars: 1000
		});
		expect(await calling(none)({ action: 'open', url: 'https://a.example' })).toMatchObject({
			error: 'MissingDependency',
			hint: expect.stringContaining('CHROMIUM_PATH')
		});
	});
	test('CHROMIUM_PATH decides, and what it names must be there', () => {
		expect(findChromium({ CHROMIUM_PATH: process.execPath }, '/own')).toEqual({ executablePath: process.execPath });
		expect(findChromium({ CHROMIUM_PATH: '/missing' }, process.execPath)).toBeNull();
		expect(findChromium({ PATH: '' }, process.execPath)).toEqual({ executablePath: process.execPath });
	});
	test.each([
		['an unknown action', { action: 'download' }],
		['open without an address', { action: 'open' }],
		['a file', { action: 'open', url: 'file:///etc/passwd' }],
		['a page made of data', { action: 'open', url: 'data:text/html,<p>x' }],
		['a page of Chromium itself', { action: 'open', url: 'chrome://settings' }],
		['a script', { action: 'open', url: 'javascript:alert(1)' }],
		['an address with a login', { action: 'open', url: 'http://a:b@c.example' }],
		['a click before a page is open', { action: 'click', selector: 'button' }],
		['a picture before a page is open', { action: 'screenshot', path: 'a.png' }]
	])('%s', async (_, args) => {
		expect(await calling(browser())(args)).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});
});

describe('D31: a page in a real Chromium', { timeout: 60_000 }, () => {
	test('is opened, read, clicked, typed into and photographed', async () => {
		const call = calling(browser());
		expect(await call({ action: 'open', url: `http://shop.test:${port}/` })).toMatchObject({
			ok: true,
			value: { title: 'Shop', status: 200, text: expect.stringContaining('Hello'), truncated: false }
		});
		expect(await call({ action: 'click', selector: 'text=Press' })).toMatchObject({
			value: { text: expect.stringContaining('clicked') }
		});
		await call({ action: 'type', selector: 'input[name=word]', text: 'skill' });
		await call({ action: 'click', selector: 'text=Send' });
		expect(await call({ action: 'text' })).toMatchObject({ value: { text: 'got it' } });
		expect(asked.at(-1)).toEqual({ path: '/sent?word=skill', host: `shop.test:${port}` });
		expect(await call({ action: 'screenshot', path: 'shots/a.png' })).toMatchObject({
			ok: true,
			files: [{ path: 'shots/a.png' }]
		});
		const picture = await readFile(join(home, 'workspace', 'shots', 'a.png'));
		expect(picture.subarray(1, 4).toString()).toBe('PNG');
		for (const path of ['../a.png', '.git/a.png', 'a.sh']) {
			expect(await call({ action: 'screenshot', path })).toMatchObject({ ok: false, error: 'InvalidArgs' });
		}
		expect(await call({ action: 'close' })).toMatchObject({ ok: true });
		expect(await call({ action: 'text' })).toMatchObject({ ok: false, message: 'No page is open.' });
	});

	test('a page leads neither to files of this machine nor to what only this machine reaches', async () => {
		const call = calling(browser({ hosts: ['shop.test'] }));
		const inside = () => asked.filter(({ path }) => path === '/inside');
		expect(await call({ action: 'open', url: `http://shop.test:${port}/inward` })).toMatchObject({ ok: true });
		await expect.poll(() => call({ action: 'text' })).toMatchObject({ value: { title: 'refused' } });
		expect(inside()).toEqual([]);
		await call({ action: 'open', url: `http://shop.test:${port}/` });
		expect(await call({ action: 'click', selector: '#file' })).toMatchObject({
			value: { url: `http://shop.test:${port}/`, title: 'Shop' }
		});
	});

	test('D33: a picture that the workspace has no room for is not kept, and the call says what to do', async () => {
		const workspace = join(home, 'full');
		const call = calling(
			browser({ rooms: createWorkspaceRooms({ workspaceBytes: 1000, workspaceFiles: 10 }) }),
			workspace
		);
		await call({ action: 'open', url: `http://shop.test:${port}/` });
		expect(await call({ action: 'screenshot', path: 'a.png' })).toMatchObject({
			ok: false,
			error: 'OutputTooLarge',
			hint: expect.stringMatching(/^Delete .*SKILLS_WORKSPACE_MB/)
		});
		expect(await readdir(workspace).catch(() => [])).toEqual([]);
	});

	test('another conversation does not see it', async () => {
		const builtin = browser();
		await calling(builtin, join(home, 'one'))({ action: 'open', url: `http://shop.test:${port}/` });
		expect(await calling(builtin, join(home, 'two'))({ action: 'text' })).toMatchObject({ ok: false });
	});

	test('D28: no address of this machine or its networks is reached, by number, by name, or from inside a page', async () => {
		const call = calling(browser({ isOpen: false }));
		const before = asked.length;
		for (const host of [
			`127.0.0.1:${port}`,
			`localhost:${port}`,
			`[::1]:${port}`,
			`shop.test:${port}`,
			'169.254.169.254'
		]) {
			const outcome = await call({ action: 'open', url: `http://${host}/` });
			expect(outcome, host).toMatchObject({ ok: false, error: 'InvalidArgs' });
			expect(outcome.message).toContain('isn’t on the public internet');
		}
		expect(asked).toHaveLength(before);
	});

	test('what a page downloads is not kept', async () => {
		const call = calling(browser());
		expect(await call({ action: 'open', url: `http://shop.test:${port}/download` })).toMatchObject({
			ok: false,
			error: 'ExecutionFailed'
		});
	});

	test('more conversations than four at once leave four browsers', async () => {
		const builtin = browser();
		const places = Array.from({ length: 7 }, (_, index) => join(home, `many-${index}`));
		const url = `http://shop.test:${port}/`;
		await Promise.all(places.map((place) => calling(builtin, place)({ action: 'open', url })));
		const left = await Promise.all(places.map((place) => calling(builtin, place)({ action: 'text' })));
		expect(left.filter(({ ok }) => ok)).toHaveLength(4);
	});

	test('a call that is stopped ends the page', async () => {
		const builtin = browser();
		const workspace = join(home, 'stopped');
		await calling(builtin, workspace)({ action: 'open', url: `http://shop.test:${port}/` });
		const stop = new AbortController();
		const context = { workspace, signal: stop.signal, executionId: 'e1' };
		const waiting = builtin.run({ action: 'click', selector: '#not-there' }, context);
		stop.abort();
		expect(await waiting).toMatchObject({ ok: false, error: 'Cancelled' });
		expect(await calling(builtin, workspace)({ action: 'text' })).toMatchObject({ message: 'No page is open.' });
	});
});
