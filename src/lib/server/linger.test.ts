import { Agent, createServer, request as requestHttp, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedFolder } from '../../../tests/support/folder.ts';
import { beginRequest, postHead, sendBeforeReading } from '../../../tests/support/raw-http.ts';
import { serveRoutes, type RouteServer, type Routes } from '../../../tests/support/route-server.ts';
import { createApp, type App } from './app.ts';
import { loadConfig } from './config.ts';
import { lingerAfter } from './linger.ts';

const MB = 1024 * 1024;
/** More than any of these routes accepts, and more than a connection buffers when nobody reads. */
const FAR_TOO_LARGE = 80 * MB;
/** These accept about 50 MB; all others at most half of 40. */
const LARGE = ['/api/skills/install/staged', '/v1/responses', '/v1/responses/compact'];
const farTooLargeFor = (path: string) => (LARGE.includes(path) ? FAR_TOO_LARGE : 40 * MB);

const root = sharedFolder();
let app: App;
let server: RouteServer;
/** All routes, by path. */
const routes = Object.fromEntries(
	Object.entries(import.meta.glob<Routes[string]>('../../routes/**/+server.ts', { eager: true })).map(
		([file, methods]) => [file.replace(/^.*\/routes/, '').replace(/\/\+server\.ts$/, ''), methods]
	)
);
const writing = Object.entries(routes).flatMap(([path, methods]) =>
	['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) => (method in methods ? [[method, path] as const] : []))
);

beforeAll(async () => {
	const env = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' };
	app = await createApp(loadConfig({ ...env, SKILLS_WORKSPACE_MB: '1' }));
	server = await serveRoutes(app, routes);
});
afterAll(async () => {
	await server.close();
	await app.close();
});

test('SECURITY The server: there are routes that take bodies', () => {
	expect(writing.length).toBeGreaterThan(40);
});

test.each(writing)(
	'SECURITY The server: %s %s answers a body that is far too large, and does not cut the connection',
	async (method, path) => {
		const address = path.replaceAll(/\[(\.\.\.)?\w+\]/g, 'x');
		const bytes = farTooLargeFor(path);
		const { status, error } = await sendBeforeReading(server.url, { method, path: address, bytes });
		expect(error).toBeNull();
		expect(status).toBeGreaterThanOrEqual(200);
	}
);

test.each([
	['POST', '/api/chat', 'application/json', 10],
	['POST', '/api/conversations', 'application/json', 10],
	['PUT', '/api/conversations/c1/files/large.bin', 'application/octet-stream', 1],
	['POST', '/api/skills/install/staged', 'application/zip', 50],
	['POST', '/api/skills/install/staged', 'multipart/form-data; boundary=b', 50]
])(
	'SECURITY The server: %s %s (%s) says in JSON that a body of more than %i MB is too large, and what to do',
	async (...row) => {
		const [method, path, type, limit] = row;
		for (const bytes of [limit * MB + 1, farTooLargeFor(path)]) {
			for (const isChunked of [false, true]) {
				const sent = { method, path, bytes, isChunked, headers: { 'content-type': type } };
				const { status, body, error } = await sendBeforeReading(server.url, sent);
				expect({ error, status }).toEqual({ error: null, status: 413 });
				expect(JSON.parse(body)).toMatchObject({
					error: { code: 'too_large', hint: expect.stringMatching(/^(Send|Delete|Remove) /) }
				});
			}
		}
	}
);

test.each([
	['POST', '/v1/responses', 413],
	['POST', '/v1/responses/compact', 413],
	['POST', '/mcp', 413],
	// A JSON-RPC error comes with status 200 here.
	['POST', '/a2a', 200]
])('SECURITY The server: %s %s says that the body is too large in the words of its protocol', async (...row) => {
	const [method, path, expected] = row;
	const { status, body, error } = await sendBeforeReading(server.url, { method, path, bytes: FAR_TOO_LARGE });
	expect({ error, status }).toEqual({ error: null, status: expected });
	expect(body).toMatch(/larger than.*Send less in one request/);
});

test('SECURITY The server: after a body that was too large its connection answers the next request', async () => {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const send = (path: string, body: Buffer) =>
		new Promise<{ status: number | undefined; port: number | undefined }>((resolve, reject) => {
			const headers = { 'content-type': 'application/json', 'content-length': body.length };
			const sent = requestHttp(server.url + path, { method: 'POST', agent, headers }, (response: IncomingMessage) => {
				const port = response.socket.localPort;
				response.resume().on('end', () => resolve({ status: response.statusCode, port }));
			});
			sent.on('error', reject).end(body);
		});
	const refused = await send('/api/conversations', Buffer.alloc(FAR_TOO_LARGE, 'x'));
	const next = await send('/api/conversations', Buffer.from('{}'));
	agent.destroy();
	expect(refused.status).toBe(413);
	expect(next).toEqual({ status: 201, port: refused.port });
});

test('SECURITY The server: fetch gets the answer to a body that is far too large', async () => {
	const response = await fetch(`${server.url}/api/conversations`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: Buffer.alloc(FAR_TOO_LARGE, 'x')
	});
	expect(response.status).toBe(413);
	expect(await response.json()).toMatchObject({ error: { code: 'too_large' } });
});

/** A server that answers at once and lingers within these limits. */
async function serveWithLimits(limits: { bytes: number; ms: number; silenceMs: number }) {
	const http = createServer((request, response) => {
		lingerAfter(request, response, limits);
		response.writeHead(413, { 'content-length': 2 }).end('no');
	});
	await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
		close: () => new Promise((resolve) => http.close(resolve))
	};
}

test.each([
	['more than may be thrown away', { bytes: 4 * MB, ms: 600_000, silenceMs: 600_000 }],
	['for longer than it may', { bytes: Infinity, ms: 0, silenceMs: 600_000 }]
])('SECURITY The server: who goes on sending %s after the answer is cut off', async (_what, limits) => {
	const limited = await serveWithLimits(limits);
	const piece = Buffer.alloc(MB, 'x');
	await new Promise<void>((resolve) => {
		const socket = connect(Number(new URL(limited.url).port), '127.0.0.1');
		socket.write(postHead('/', { 'content-length': String(1024 * 1024 * MB) }));
		const send = (): void => void (socket.writable && socket.write(piece, send));
		send();
		socket.on('error', () => undefined);
		socket.on('close', () => resolve());
		socket.resume();
	});
	await limited.close();
});

test('SECURITY The server: who sends no more of a body that was answered has the answer, and is cut off', async () => {
	const limited = await serveWithLimits({ bytes: Infinity, ms: 600_000, silenceMs: 50 });
	const { socket, received } = await beginRequest(limited.url, `${postHead('/', { 'content-length': '100' })}x`);
	await new Promise((resolve) => socket.once('close', resolve));
	expect(received()).toMatch(/^HTTP\/1\.1 413 [^]*\r\n\r\nno$/);
	await limited.close();
});
