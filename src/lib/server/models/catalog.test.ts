import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createModelCatalog, type ModelCatalogOptions } from './catalog.ts';
import { createResponsesModel } from './responses/responses.ts';

const open: Server[] = [];

afterEach(() => {
	for (const server of open.splice(0)) {
		server.close();
		server.closeAllConnections();
	}
});

/** A server that counts its answers, and a catalog that uses it. */
async function start(listener: RequestListener, options: Partial<ModelCatalogOptions> = {}) {
	const requests: { url: string | undefined; authorization: string | undefined }[] = [];
	const server = createServer((request, response) => {
		requests.push({ url: request.url, authorization: request.headers.authorization });
		listener(request, response);
	});
	open.push(server);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
	const catalog = createModelCatalog({ url: new URL(`${base}/models`), headers: {}, fetch, ...options });
	return { base, requests, catalog };
}

const lists =
	(...models: unknown[]): RequestListener =>
	(_request, response) => {
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ object: 'list', data: models }));
	};

describe('F7: the context length of a model', () => {
	test.each([
		['OpenRouter', { id: 'acme/large', context_length: 200_000 }, 200_000],
		[
			'OpenRouter, where less is served',
			{ id: 'acme/large', context_length: 9000, top_provider: { context_length: 8000 } },
			8000
		],
		[
			'OpenRouter, where what is served is not known',
			{ id: 'acme/large', context_length: 9000, top_provider: { context_length: null } },
			9000
		],
		['vLLM', { id: 'acme/large', object: 'model', max_model_len: 32_768 }, 32_768],
		['Groq', { id: 'acme/large', context_window: 131_072 }, 131_072],
		['Mistral', { id: 'acme/large', max_context_length: 65_536 }, 65_536],
		['a server that says nothing (Ollama)', { id: 'acme/large', object: 'model' }, null],
		[
			'a server that says nonsense',
			{ id: 'acme/large', context_length: 'long', max_model_len: -1, context_window: 0 },
			null
		],
		['a server that does not list the model', { id: 'acme/small', context_length: 4096 }, null]
	])('is read from the list of %s', async (_name, model, expected) => {
		const { catalog } = await start(lists(null, 7, { id: 5 }, model));
		expect(await catalog.contextTokens('acme/large')).toBe(expected);
	});

	test('of a variant is its own, or else that of the model', async () => {
		const { catalog } = await start(
			lists({ id: 'acme/large', context_length: 200_000 }, { id: 'acme/large:free', context_length: 8000 })
		);
		expect(await catalog.contextTokens('acme/large:free')).toBe(8000);
		expect(await catalog.contextTokens('acme/large:online')).toBe(200_000);
	});

	test('costs one request, however often and by how many it is asked', async () => {
		const { catalog, requests } = await start(
			lists({ id: 'a', context_length: 1000 }, { id: 'b', max_model_len: 2000 })
		);
		expect(await Promise.all(['a', 'b', 'a'].map((id) => catalog.contextTokens(id)))).toEqual([1000, 2000, 1000]);
		expect(await catalog.contextTokens('ghost')).toBeNull();
		expect(requests).toHaveLength(1);
	});

	test.each<[string, RequestListener, Partial<ModelCatalogOptions>]>([
		['an error', (_request, response) => void response.writeHead(500).end('{"data":[]}'), {}],
		['a redirect', (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end(), {}],
		['a page', (_request, response) => void response.end('<html>Sign in</html>'), {}],
		['something that is no list', (_request, response) => void response.end('{"data":{"id":"a"}}'), {}],
		['a reset', (request) => void request.socket.destroy(), {}],
		['silence', () => undefined, { timeoutMs: 50 }],
		[
			'half a list, and silence',
			(_request, response) => void response.write('{"data":[{"id":"a","context_length":1000}'),
			{ timeoutMs: 50 }
		],
		[
			'a list without end',
			(_request, response) => {
				const write = (): void => void (response.destroyed || response.write('x'.repeat(1000), write));
				write();
			},
			{ maxBytes: 10_000 }
		]
	])('is not known after %s, and asked for again a minute later', async (_name, listener, options) => {
		let now = 0;
		let isWell = false;
		const { catalog, requests } = await start(
			(request, response) =>
				isWell ? lists({ id: 'a', context_length: 1000 })(request, response) : listener(request, response),
			{ ...options, now: () => now }
		);
		expect(await catalog.contextTokens('a')).toBeNull();
		isWell = true;
		now = 59_999;
		expect(await catalog.contextTokens('a')).toBeNull();
		expect(requests).toHaveLength(1);
		now = 60_000;
		expect(await catalog.contextTokens('a')).toBe(1000);
		expect(requests).toHaveLength(2);
	});

	test('is asked for at the model’s base URL, with the key, and only when somebody wants to know', async () => {
		const { base, requests } = await start(lists({ id: 'acme/large', context_length: 4096 }));
		const model = createResponsesModel({
			id: 'acme/large',
			baseUrl: `${base}/?region=eu`,
			apiKey: 'sk-or-v1-0123456789'
		});
		expect(requests).toEqual([]);
		expect(await model.contextTokens?.()).toBe(4096);
		expect(requests).toEqual([{ url: '/v1/models?region=eu', authorization: 'Bearer sk-or-v1-0123456789' }]);
	});
});
