import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { findLocalServers } from './keys.ts';

const open: Server[] = [];
afterEach(() => {
	for (const server of open.splice(0)) {
		server.close();
		server.closeAllConnections();
	}
});

async function listen(listener: RequestListener): Promise<number> {
	const server = createServer(listener);
	open.push(server);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

const lists =
	(...data: unknown[]): RequestListener =>
	(_request, response) =>
		void response.end(JSON.stringify({ object: 'list', data }));

const find = (ports: number[], timeoutMs = 5000) => findLocalServers({ ports, fetch, timeoutMs });

test('F11: servers on this machine are found with their models, in the order of the ports', async () => {
	const seen: unknown[] = [];
	const ollama = await listen((request, response) => {
		seen.push([request.method, request.url, request.headers.authorization]);
		lists({ id: 'qwen3:8b', owned_by: 'library' })(request, response);
	});
	const llama = await listen(lists({ id: 'a.gguf', owned_by: 'llamacpp' }));
	const other = await listen(lists({ id: 'x', owned_by: 'constructor' }));
	expect(await find([llama, ollama, ollama, other])).toEqual([
		{ name: 'llama.cpp', baseUrl: `http://127.0.0.1:${llama}/v1`, models: ['a.gguf'] },
		{ name: 'Ollama', baseUrl: `http://127.0.0.1:${ollama}/v1`, models: ['qwen3:8b'] },
		{ name: `Server on port ${other}`, baseUrl: `http://127.0.0.1:${other}/v1`, models: ['x'] }
	]);
	expect(seen).toEqual([['GET', '/v1/models', undefined]]);
});

test('F11: a server that has no models yet is found as well', async () => {
	const port = await listen((_request, response) => void response.end('{"object":"list","data":null}'));
	expect(await find([port])).toMatchObject([{ models: [] }]);
});

test.each<[string, RequestListener, number]>([
	['a page', (_request, response) => void response.end('<html>Hello</html>'), 5000],
	['an error', (_request, response) => void response.writeHead(500).end('{"data":[]}'), 5000],
	['silence', () => undefined, 50],
	['half an answer', (_request, response) => void response.write('{"data":['), 50],
	[
		'an answer without end',
		(_request, response) => {
			const write = (): void => void (response.destroyed || response.write('x'.repeat(10_000), write));
			write();
		},
		5000
	]
])('F11: %s is no server for models, and hides no other', async (_name, listener, timeoutMs) => {
	const [odd, well] = [await listen(listener), await listen(lists({ id: 'm' }))];
	const found = await find([odd, well], timeoutMs);
	expect(found.filter(({ baseUrl }) => baseUrl.includes(`:${odd}/`))).toEqual([]);
	if (timeoutMs > 50) expect(found).toHaveLength(1);
});

test('F11: a redirect is not followed', async () => {
	const asked: unknown[] = [];
	const elsewhere = await listen((request, response) => {
		asked.push(request.url);
		lists({ id: 'm' })(request, response);
	});
	const port = await listen(
		(_request, response) => void response.writeHead(302, { location: `http://127.0.0.1:${elsewhere}/v1/models` }).end()
	);
	expect(await find([port])).toEqual([]);
	expect(asked).toEqual([]);
});

test('F11: ports where nothing listens are no error, and a search can be broken off', async () => {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	expect(await find([port])).toEqual([]);
	const controller = new AbortController();
	const silent = await listen(() => controller.abort(new Error('gone')));
	const search = findLocalServers({ ports: [silent], fetch, timeoutMs: 60_000, signal: controller.signal });
	await expect(search).rejects.toThrow('gone');
});
