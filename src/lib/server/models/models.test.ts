/** The model hub against real servers that play OpenRouter. Settings are in memory here, and in the database in `tests/api`. */
import { afterEach, describe, expect, test } from 'vitest';
import { gate } from '../../../../tests/support/gate.ts';
import {
	openRouterModel,
	startOpenRouter,
	type OpenRouterServer,
	type Played
} from '../../../../tests/support/openrouter-server.ts';
import { createModels, type ModelsOptions } from './models.ts';

const KEY = 'sk-or-v1-0123456789abcdef';
const MINUTE = 60_000;

const open: OpenRouterServer[] = [];
afterEach(async () => {
	await Promise.all(open.splice(0).map((server) => server.close()));
});

async function startServer(path?: string): Promise<OpenRouterServer> {
	const server = await startOpenRouter(path);
	open.push(server);
	return server;
}

/** One configured server, with a key for its origin. */
function createHub(
	server: OpenRouterServer,
	{ apiKey = KEY, ...options }: Partial<ModelsOptions & { apiKey: string | null }> = {}
) {
	const set = { baseUrl: server.baseUrl, apiKey, isOffline: false, model: 'acme/large' };
	const stored: { key: string; baseUrl: string }[] = [];
	const settings: ModelsOptions['settings'] = {
		current: () => ({
			model: {
				...{ id: set.model, effort: 'high', baseUrl: set.baseUrl, defaultBaseUrl: set.baseUrl },
				...{ isOffline: set.isOffline, keyFrom: null, canSignIn: true, routing: {} }
			}
		}),
		modelKeyFor: (baseUrl) => (new URL(baseUrl).origin === server.origin ? set.apiKey : null),
		async setModelKey(key, baseUrl) {
			stored.push({ key, baseUrl });
			return {} as never;
		}
	};
	return { set, stored, models: createModels({ settings, ports: [], ...options }) };
}

describe('F11: which model answers', () => {
	test('is the one of the conversation, else the one of the settings, made once for each server and key', async () => {
		const server = await startServer();
		const { models, set } = createHub(server);
		const first = models.modelFor({});
		expect(first.id).toBe('acme/large');
		expect(models.modelFor({ id: null })).toBe(first);
		expect(models.modelFor({ id: 'acme/small' }).id).toBe('acme/small');
		expect(models.effort()).toBe('high');
		set.model = 'acme/small';
		expect(models.modelFor({}).id).toBe('acme/small');
		expect(models.modelFor({ id: 'acme/large' })).toBe(first);
		set.apiKey = 'sk-another-0123456789';
		expect(models.modelFor({ id: 'acme/large' })).not.toBe(first);
	});

	test('F9: is the built-in responder while there is no key, whatever was chosen', async () => {
		const { models, set } = createHub(await startServer());
		set.isOffline = true;
		expect(models.modelFor({ id: 'acme/large' }).id).toBe('offline');
		expect(models.current()).toEqual({ id: 'offline', offline: true, baseUrl: null });
		expect(await models.list()).toEqual({
			data: [],
			baseUrl: null,
			problem: expect.stringContaining('Add an API key')
		});
		set.isOffline = false;
		expect(models.current()).toEqual({ id: 'acme/large', offline: false, baseUrl: set.baseUrl });
	});

	test('the list has how fast a model answered here, where it has', async () => {
		const here = { answers: 2, firstTokenMs: 300, tokensPerSecond: 85 };
		const speeds = async () =>
			new Map([
				['acme/large', here],
				['ghost', here]
			]);
		const { models } = createHub(await startServer(), { speeds });
		expect((await models.list()).data).toMatchObject([{ id: 'acme/large', here }]);
		expect((await createHub(await startServer()).models.list()).data[0]?.here).toBeUndefined();
	});

	test('one list serves those who choose and the context length of every model', async () => {
		const server = await startServer();
		const { models } = createHub(server);
		const lengths = ['acme/large', 'acme/large:nitro', 'ghost'].map((id) => models.modelFor({ id }).contextTokens?.());
		expect(await Promise.all(lengths)).toEqual([128_000, 128_000, null]);
		expect(await models.list()).toMatchObject({ data: [{ id: 'acme/large' }], baseUrl: server.baseUrl, problem: null });
		expect(server.requests).toMatchObject([{ url: '/api/v1/models', authorization: `Bearer ${KEY}` }]);
	});
});

describe('F11: the list of models', () => {
	test('is asked for again after five minutes, and by many at once only once', async () => {
		const server = await startServer();
		let now = 0;
		const { models } = createHub(server, { now: () => now });
		await Promise.all([models.list(), models.list(), models.list()]);
		now = 5 * MINUTE - 1;
		await models.list();
		expect(server.requests).toHaveLength(1);
		now = 5 * MINUTE;
		server.answers['/models'] = { json: { data: [openRouterModel('acme/new')] } };
		expect((await models.list()).data.map(({ id }) => id)).toEqual(['acme/new']);
		expect(server.requests).toHaveLength(2);
	});

	test('is kept when it cannot be read again, which is said', async () => {
		const server = await startServer();
		let now = 0;
		const { models } = createHub(server, { now: () => now });
		const { data } = await models.list();
		now = 5 * MINUTE;
		server.answers['/models'] = { status: 503, json: {} };
		expect(await models.list()).toEqual({ data, baseUrl: server.baseUrl, problem: expect.stringContaining('(503)') });
		server.answers['/models'] = { json: { data: [] } };
		expect(await models.list()).toEqual({ data: [], baseUrl: server.baseUrl, problem: null });
	});

	test('is read where OpenRouter’s own SDK knows the shape, and where it does not', async () => {
		const server = await startServer();
		const { models } = createHub(server);
		const known = openRouterModel('acme/large');
		const { canonical_slug: _slug, links: _links, ...older } = known;
		const expected = (await models.list()).data;
		expect(expected).toHaveLength(1);
		server.answers['/models'] = { json: { data: [older, { id: 7 }] } };
		expect((await createHub(server).models.list()).data).toEqual(expected);
	});

	test.each<[string, Played, RegExp]>([
		['a wrong key', { status: 401, json: { error: { message: `Bad key ${KEY}` } } }, /rejected the API key \(401\)/],
		['an account without credit', { status: 402, json: {} }, /no credits left \(402\)/],
		['a key that may not', { status: 403, json: {} }, /\(403\)/],
		['no such address', { status: 404, json: {} }, /Check the base URL/],
		['a redirect', { status: 302, json: {} }, /\(302\)/],
		['something else', { json: { hello: KEY } }, /unexpected response/],
		['a reset', (_request, response) => void response.destroy(), /Couldn’t connect to/]
	])('says what is wrong: %s', async (_name, played, problem) => {
		const server = await startServer();
		server.answers['/models'] = played;
		const list = await createHub(server).models.list();
		expect(list).toEqual({ data: [], baseUrl: server.baseUrl, problem: expect.stringMatching(problem) });
		expect(JSON.stringify(list)).not.toContain(KEY);
	});

	test('ends its request when nobody waits for it any more', async () => {
		const server = await startServer();
		const [arrived, closed] = [gate(), gate()];
		server.answers['/models'] = (_request, response) => {
			response.on('close', closed.open);
			arrived.open();
		};
		const { models } = createHub(server);
		const [first, second] = [new AbortController(), new AbortController()];
		const lists = [first, second].map(({ signal }) => models.list(signal));
		const failures = lists.map((list) => list.catch((error: unknown) => error));
		await arrived.opened;
		first.abort(new Error('first'));
		expect(await failures[0]).toMatchObject({ message: 'first' });
		second.abort(new Error('second'));
		await closed.opened;
		expect(await failures[1]).toMatchObject({ message: 'second' });
		server.answers['/models'] = { json: { data: [] } };
		expect(await models.list()).toMatchObject({ data: [], problem: null });
		expect(server.requests).toHaveLength(2);
	});
});

describe('F9: what a key is good for', () => {
	const key = { label: 'Mine', limit: 10, limit_remaining: 7.5, usage: 2.5 };

	test('is asked of OpenRouter, with that key, and nothing is stored', async () => {
		const server = await startServer();
		server.answers['/key'] = { json: { data: key } };
		server.answers['/credits'] = { json: { data: { total_credits: 100, total_usage: 25.5 } } };
		const { models, stored } = createHub(server);
		expect(await models.check({ apiKey: 'sk-or-v1-given' })).toEqual({
			...{ isValid: true, message: expect.stringContaining('works'), label: 'Mine' },
			...{ limit: 10, remaining: 7.5, used: 2.5, credits: { total: 100, used: 25.5 }, models: null }
		});
		expect(stored).toEqual([]);
		expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(
			new Set(['Bearer sk-or-v1-given'])
		);
	});

	test('is told without credits where the key may not ask for them, and without a limit where it has none', async () => {
		const server = await startServer();
		server.answers['/key'] = { json: { data: { ...key, limit: null, limit_remaining: null } } };
		server.answers['/credits'] = { status: 403, json: { error: { code: 403, message: 'Only management keys' } } };
		const status = await createHub(server).models.check({});
		expect(status).toMatchObject({ isValid: true, limit: null, remaining: null, used: 2.5, credits: null });
		expect(server.requests[0]).toMatchObject({ authorization: `Bearer ${KEY}` });
	});

	test.each<[number, RegExp]>([
		[401, /rejected the API key/],
		[402, /Add credits/],
		[403, /doesn’t let this key do that \(403\)\. Check the key’s limits there, or create a new key/],
		[429, /Wait a moment/],
		[500, /failed \(500\)/]
	])('is nothing after %i, and the sentence says what to do', async (status, message) => {
		const server = await startServer();
		server.answers['/key'] = { status, json: { error: { code: status, message: `No: ${KEY}` } } };
		const answer = await createHub(server).models.check({});
		expect(answer).toMatchObject({ isValid: false, message: expect.stringMatching(message), label: null });
		expect(JSON.stringify(answer)).not.toContain(KEY);
		expect(server.requests.filter(({ url }) => url === '/api/v1/key')).toHaveLength(1);
	});

	test('of another server is whether its list can be read', async () => {
		const server = await startServer('/v1');
		server.answers['/models'] = ({ authorization }, response) =>
			void response.writeHead(authorization === `Bearer ${KEY}` ? 200 : 401).end('{"data":[{"id":"a"},{"id":"b"}]}');
		const { models, set } = createHub(server);
		expect(await models.check({})).toMatchObject({ isValid: true, models: 2, limit: null });
		expect(await models.check({ apiKey: 'wrong' })).toMatchObject({ isValid: false, models: null });
		set.apiKey = null;
		expect(await models.check({})).toMatchObject({
			isValid: false,
			message: expect.stringContaining('needs an API key')
		});
	});

	test('SECURITY Outbound requests: a stored key goes to no other host than its own', async () => {
		const [own, other] = [await startServer(), await startServer()];
		const { models } = createHub(own);
		expect(await models.check({ baseUrl: other.baseUrl })).toMatchObject({
			isValid: false,
			message: expect.stringContaining('No API key')
		});
		const plain = `${other.origin}/v1`;
		expect(await models.check({ baseUrl: plain })).toMatchObject({ isValid: false });
		expect(other.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
		expect(own.requests).toEqual([]);
	});

	test('SECURITY Outbound requests: a stored key does not follow a redirect', async () => {
		const [own, other] = [await startServer(), await startServer()];
		own.answers['/key'] = (_request, response) =>
			void response.writeHead(307, { location: `${other.baseUrl}/key` }).end();
		expect(await createHub(own).models.check({})).toMatchObject({ isValid: false });
		expect(other.requests).toEqual([]);
	});

	test('is not waited for when somebody has gone', async () => {
		const server = await startServer();
		const controller = new AbortController();
		server.answers['/key'] = () => controller.abort(new Error('gone'));
		await expect(createHub(server).models.check({}, controller.signal)).rejects.toThrow('gone');
	});
});

describe('F9: signing in at OpenRouter', () => {
	const ORIGIN = 'http://127.0.0.1:3000';

	/** What the browser gets: the URL to go to, and its parts. */
	async function start(models: ReturnType<typeof createModels>) {
		const url = new URL((await models.startSignIn(`${ORIGIN}/settings?tab=model`, ORIGIN)).url);
		const callback = new URL(url.searchParams.get('callback_url') ?? '');
		return {
			url,
			callback,
			state: callback.searchParams.get('state') ?? '',
			challenge: url.searchParams.get('code_challenge') ?? ''
		};
	}

	test('leads to its page with a challenge, back to the page it came from, and ends in a stored key', async () => {
		const server = await startServer();
		const { models, stored } = createHub(server, { apiKey: null });
		const { url, callback, state, challenge } = await start(models);
		expect([url.origin, url.pathname]).toEqual([server.origin, '/auth']);
		expect(url.searchParams.get('code_challenge_method')).toBe('S256');
		expect([callback.origin, callback.pathname, callback.searchParams.get('tab')]).toEqual([
			ORIGIN,
			'/settings',
			'model'
		]);
		server.allow('code-1', challenge, KEY);
		await models.completeSignIn({ code: 'code-1', state });
		expect(stored).toEqual([{ key: KEY, baseUrl: server.baseUrl }]);
		expect(server.requests).toMatchObject([{ method: 'POST', url: '/api/v1/auth/keys', authorization: undefined }]);
	});

	test('SECURITY Outbound requests: a state of a sign-in counts once, for ten minutes, and no other is taken', async () => {
		const server = await startServer();
		let now = 0;
		const { models, stored } = createHub(server, { now: () => now });
		const refused = {
			code: 'invalid_input',
			message: expect.stringContaining('expired or was already used'),
			hint: expect.any(String)
		};
		const used = await start(models);
		server.allow('code-1', used.challenge, KEY);
		await models.completeSignIn({ code: 'code-1', state: used.state });
		server.allow('code-2', used.challenge, KEY);
		await expect(models.completeSignIn({ code: 'code-2', state: used.state })).rejects.toMatchObject(refused);
		await expect(models.completeSignIn({ code: 'code-2', state: 'made-up' })).rejects.toMatchObject(refused);
		const late = await start(models);
		server.allow('code-3', late.challenge, KEY);
		now = 10 * MINUTE;
		await expect(models.completeSignIn({ code: 'code-3', state: late.state })).rejects.toMatchObject(refused);
		expect(stored).toHaveLength(1);
		expect(server.requests).toHaveLength(1);
	});

	test('keeps twenty of them open: the oldest goes', async () => {
		const server = await startServer();
		const { models, stored } = createHub(server);
		const all = [];
		for (let count = 0; count < 21; count += 1) all.push(await start(models));
		const [first, second] = all;
		if (!first || !second) throw new Error('there are none');
		for (const { challenge, state } of [first, second]) server.allow(state, challenge, KEY);
		await expect(models.completeSignIn({ code: first.state, state: first.state })).rejects.toThrow(
			'expired or was already used'
		);
		await models.completeSignIn({ code: second.state, state: second.state });
		expect(stored).toHaveLength(1);
	});

	test('fails with a sentence for a code that is refused, and for a server that fails', async () => {
		const server = await startServer();
		const { models, stored } = createHub(server);
		await expect(models.completeSignIn({ code: 'wrong', state: (await start(models)).state })).rejects.toMatchObject({
			code: 'invalid_input',
			message: expect.stringContaining('rejected the sign-in code (')
		});
		server.answers['/auth/keys'] = { status: 502, json: {} };
		await expect(models.completeSignIn({ code: 'any', state: (await start(models)).state })).rejects.toMatchObject({
			code: 'unavailable',
			message: expect.stringContaining('(502)')
		});
		server.answers['/auth/keys'] = { json: { key: 'no\nkey' } };
		await expect(models.completeSignIn({ code: 'any', state: (await start(models)).state })).rejects.toMatchObject({
			code: 'unavailable'
		});
		expect(stored).toEqual([]);
	});

	test.each(['https://elsewhere.example/settings', 'http://127.0.0.1:3001/', 'http://user@127.0.0.1:3000/'])(
		'SECURITY Outbound requests: a sign-in comes back to this server alone, not to %s',
		async (returnTo) => {
			const { models } = createHub(await startServer());
			await expect(models.startSignIn(returnTo, ORIGIN)).rejects.toThrow('returnTo must be an address of this server');
		}
	);

	test('is not offered for a server that is not built like it', async () => {
		const { models } = createHub(await startServer('/v1'));
		await expect(models.startSignIn(`${ORIGIN}/`, ORIGIN)).rejects.toThrow('has no sign-in');
	});
});
