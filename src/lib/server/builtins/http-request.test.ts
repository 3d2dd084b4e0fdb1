import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSafeFetch } from '../network/safe-fetch.ts';
import { createHttpRequest } from './web.ts';

const MAX_BYTES = 256_000;
let server: Server;
let origin: string;
const received: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
	server = createServer((request, response) => void answer(request, response));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
	server.closeAllConnections();
	server.close();
});

async function answer(request: IncomingMessage, response: ServerResponse) {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const { method = '', url = '', headers } = request;
	received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
	switch (url) {
		case '/redirect':
			return response.writeHead(302, { location: '/elsewhere' }).end('moved');
		case '/cookie':
			return response.writeHead(200, { 'set-cookie': 'session=1', 'x-other': 'yes' }).end('ok');
		case '/long':
			return response.writeHead(200, { 'content-type': 'text/plain' }).end('é'.repeat(MAX_BYTES));
		case '/latin1':
			return response
				.writeHead(200, { 'content-type': 'text/html; charset=ISO-8859-1' })
				.end(Buffer.from('caf\xe9', 'latin1'));
		case '/bytes':
			return response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0, 1]));
		case '/never':
			return undefined;
		default:
			return response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
	}
}

const guarded = createHttpRequest({ fetch: createSafeFetch(), maxBytes: MAX_BYTES });
const open = createHttpRequest({ fetch: createSafeFetch({ isAllowed: () => true }), maxBytes: MAX_BYTES });
const call = (args: Record<string, unknown>, builtin = open) =>
	builtin.run(args, { workspace: '/nowhere', signal: new AbortController().signal, executionId: 'e1' });

describe('D28: what is refused before anything is sent', () => {
	test.each([
		['no URL', {}],
		['a method that is not on the list', { url: 'http://a.example', method: 'TRACE' }],
		['a method in small letters', { url: 'http://a.example', method: 'get' }],
		['another scheme', { url: 'file:///etc/passwd' }],
		['a login in the URL', { url: 'http://user:word@a.example' }],
		['a body where there is none', { url: 'http://a.example', body: 'x' }],
		['a timeout over 60 s', { url: 'http://a.example', timeoutMs: 60_001 }],
		['a key that nobody knows', { url: 'http://a.example', follow: true }]
	])('%s', async (_, args) => {
		expect(await call(args)).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});

	test.each([
		...['host', 'connection', 'content-length', 'cookie', 'set-cookie', 'authorization', 'proxy-authorization'],
		...['Host', 'COOKIE', 'AuthorizatioN', ' authorization', 'Proxy-Authorization ', 'transfer-encoding'],
		...['x\r\nauthorization: y', 'x y', '']
	])('the header “%s”, with a text and with a list', async (name) => {
		const before = received.length;
		for (const value of ['x', ['x', 'y']]) {
			expect(await call({ url: `${origin}/`, headers: { [name]: value } })).toMatchObject({
				ok: false,
				error: 'InvalidArgs'
			});
		}
		expect(received).toHaveLength(before);
	});

	test('a value that would begin another header', async () => {
		const headers = { 'x-a': 'b\r\ncookie: c' };
		expect(await call({ url: `${origin}/`, headers })).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});

	test.each([
		'http://127.0.0.1/',
		'http://localhost/',
		'http://169.254.169.254/latest/meta-data/',
		'http://[::ffff:127.0.0.1]/',
		'http://2130706433/',
		'http://10.0.0.1/'
	])('an address that is not public: %s', async (url) => {
		const outcome = await call({ url }, guarded);
		expect(outcome).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(outcome.message).toContain('isn’t on the public internet');
	});
});

describe('D28: what comes of a request', () => {
	test('method, headers and body go out; status, headers and body come back', async () => {
		const headers = { 'x-one': '1', accept: ['text/html', 'text/plain'] };
		expect(await call({ url: `${origin}/items?q=1`, method: 'POST', headers, body: 'héllo' })).toMatchObject({
			ok: true,
			value: {
				status: 200,
				statusText: 'OK',
				url: `${origin}/items?q=1`,
				headers: { 'content-type': 'application/json' },
				body: '{"ok":true}',
				encoding: 'utf8',
				bytes: 11,
				truncated: false
			},
			sandbox: 'direct'
		});
		expect(received.at(-1)).toMatchObject({
			method: 'POST',
			url: '/items?q=1',
			headers: { 'x-one': '1', accept: 'text/html, text/plain' },
			body: 'héllo'
		});
	});
	test('a redirect is returned, not followed', async () => {
		const before = received.length;
		expect(await call({ url: `${origin}/redirect` })).toMatchObject({
			ok: true,
			value: { status: 302, headers: { location: '/elsewhere' } }
		});
		expect(received).toHaveLength(before + 1);
	});
	test('cookies that are set do not come back', async () => {
		const { value } = await call({ url: `${origin}/cookie` });
		expect(value).toMatchObject({ headers: { 'x-other': 'yes' } });
		expect(JSON.stringify(value)).not.toContain('session=1');
	});
	test('D34: 256,000 bytes are kept, and said to be not all', async () => {
		const { value } = await call({ url: `${origin}/long` });
		expect(value).toMatchObject({ truncated: true, bytes: MAX_BYTES, encoding: 'utf8' });
		expect((value as { body: string }).body).toBe('é'.repeat(MAX_BYTES / 2));
	});
	test('text is read by its charset, and what is no text is base64', async () => {
		expect(await call({ url: `${origin}/latin1` })).toMatchObject({ value: { body: 'café', encoding: 'utf8' } });
		expect(await call({ url: `${origin}/bytes` })).toMatchObject({ value: { body: 'iVAAAQ==', encoding: 'base64' } });
	});
	test('HEAD has no body', async () => {
		expect(await call({ url: `${origin}/`, method: 'HEAD' })).toMatchObject({ ok: true, value: { bytes: 0 } });
	});
	test('who does not answer in time is left', async () => {
		expect(await call({ url: `${origin}/never`, timeoutMs: 50 })).toMatchObject({
			ok: false,
			error: 'ExecutionTimeout'
		});
	});
	test('a call that is stopped is given up', async () => {
		const stop = new AbortController();
		const before = received.length;
		const stopped = open.run(
			{ url: `${origin}/never` },
			{ workspace: '/nowhere', signal: stop.signal, executionId: 'e1' }
		);
		await expect.poll(() => received.length).toBe(before + 1);
		stop.abort();
		expect(await stopped).toMatchObject({ ok: false, error: 'Cancelled' });
	});
});
