/** What no client would send, over raw HTTP: hostile requests first, then the protocol's sessions. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMcp } from '../../src/lib/server/protocols/mcp/mcp.ts';
import { openMcpRig, MODERN, type McpRig } from '../support/mcp-rig.ts';
import { processesWith } from '../support/processes.ts';

let rig: McpRig;
beforeAll(async () => {
	rig = await openMcpRig();
	await rig.put('demo/SKILL.md', '---\nname: demo\ndescription: Says things.\n---\nText.');
	await rig.put('demo/scripts/steps.sh', 'for step in 1 2 3 4; do echo "step $step"; sleep 0.3; done\n');
	await rig.put('demo/scripts/wait.sh', 'exec sleep "$1"\n');
	await rig.app.skills.registry.reload();
});
afterAll(() => rig.close());

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = {
	...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
	params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
};
const envelope = {
	'io.modelcontextprotocol/protocolVersion': MODERN,
	'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
	'io.modelcontextprotocol/clientCapabilities': {}
};

interface Sent {
	body?: unknown;
	/** Sent unchanged, for bodies that aren't JSON. */
	text?: string | Uint8Array<ArrayBuffer>;
	method?: string;
	headers?: Record<string, string>;
	signal?: AbortSignal;
}

function send({ body, text, method = 'POST', headers = {}, signal }: Sent = {}): Promise<Response> {
	const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
	return rig.send({
		method,
		headers: { ...HEADERS, ...headers },
		...(payload === undefined ? {} : { body: payload }),
		...(signal ? { signal } : {})
	});
}

async function codeOf(response: Response): Promise<number | undefined> {
	const { error } = JSON.parse(await response.text()) as { error?: { code: number } };
	return error?.code;
}

async function openSession(version = '2025-11-25'): Promise<Record<string, string>> {
	const body = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: version } };
	const response = await send({ body });
	expect(response.status).toBe(200);
	await response.text();
	const headers = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': version };
	await send({ body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers });
	return headers;
}

const modernHeaders = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' };
const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} };
const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('E15: the server knows which program connected last, also without a key', async () => {
	const nameOf = () => rig.app.mcp.latest()?.name;
	await send({ body: { ...INITIALIZE, params: {} } });
	expect(rig.app.mcp.latest()).toBeNull();
	await openSession();
	expect(nameOf()).toBe('raw');
	const _meta = { ...envelope, 'io.modelcontextprotocol/clientInfo': { name: 'm'.repeat(500), version: '1' } };
	await (await send({ body: { ...list, params: { _meta } }, headers: modernHeaders })).text();
	expect(nameOf()).toBe('m'.repeat(100));
});

test.each<[string, Sent, number, number | undefined]>([
	['nothing', {}, 400, -32700],
	['half a message', { text: '{"jsonrpc":"2.0","id":1,"meth' }, 400, -32700],
	['bytes', { text: new Uint8Array([0xff, 0xfe, 0, 1]) }, 400, -32700],
	['a text', { body: 'initialize' }, 400, -32600],
	['null', { body: null }, 400, -32600],
	['an empty batch', { body: [] }, 400, -32600],
	['another JSON-RPC', { body: { ...list, jsonrpc: '1.0' } }, 400, -32600],
	['an id that is an object', { body: { ...list, id: {} } }, 400, -32600],
	['an id that is null', { body: { ...list, id: null } }, 400, -32600],
	['a fraction as id', { body: { ...list, id: 1.5 } }, 400, -32600],
	['a method that is a number', { body: { ...list, method: 5 } }, 400, -32600],
	['params that are a text', { body: { ...list, params: 'x' } }, 400, -32600],
	['a nest of 200 levels', { text: `{"jsonrpc":"2.0","id":1,"method":"x","params":${deep(200)}}` }, 400, -32600],
	['a nest of 100,000 levels', { text: deep(100_000) }, 400, -32600],
	['5 MiB', { text: `"${'x'.repeat(5 * 1024 * 1024)}"` }, 413, -32000],
	['no session', { body: list }, 400, -32000],
	['a session that is none', { body: list, headers: { 'mcp-session-id': 'nobody' } }, 404, -32001],
	['GET of no session', { method: 'GET', headers: { accept: 'text/event-stream' } }, 400, -32000],
	['DELETE of a session that is none', { method: 'DELETE', headers: { 'mcp-session-id': 'x' } }, 404, -32001],
	['initialize without parameters', { body: { ...INITIALIZE, params: {} } }, 400, -32602],
	['initialize twice in a batch', { body: [INITIALIZE, { ...INITIALIZE, id: 2 }] }, 400, -32000],
	['the current version without its envelope', { body: list, headers: modernHeaders }, 400, -32602],
	[
		'an unknown version in the envelope',
		{
			body: { ...list, params: { _meta: { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } } },
			headers: { ...modernHeaders, 'mcp-protocol-version': '2099-01-01' }
		},
		400,
		-32022
	],
	[
		'a header that is not what the envelope says',
		{
			body: { ...list, params: { _meta: envelope } },
			headers: { ...modernHeaders, 'mcp-protocol-version': '2025-11-25' }
		},
		400,
		-32020
	]
])('E15: %s is answered with an error of the protocol', async (_what, sent, status, code) => {
	const response = await send(sent);
	const answered = response.status;
	expect({ status: answered, code: await codeOf(response) }).toEqual({ status, code });
});

test('E15: another content type, another host and another origin are refused at the door', async () => {
	const answers = await Promise.all([
		send({ text: 'x', headers: { 'content-type': 'text/plain' } }),
		send({ body: INITIALIZE, headers: { origin: 'https://evil.example' } }),
		send({ body: INITIALIZE, headers: { authorization: 'Bearer ors_nobody_has_this_key_0123456789abcdef' } })
	]);
	expect(answers.map(({ status }) => status)).toEqual([415, 403, 401]);
});

test('E15: what is asked in a session is checked as well: version, batch, ids, methods, cursors', async () => {
	const headers = await openSession();
	const wrongVersion = await send({ body: list, headers: { ...headers, 'mcp-protocol-version': '1999-01-01' } });
	expect(wrongVersion.status).toBe(400);
	const batch = await send({ body: [list, { ...list, id: 8 }], headers });
	expect([batch.status, await codeOf(batch)]).toEqual([400, -32600]);
	const again = await send({ body: INITIALIZE, headers });
	expect(again.status).toBe(400);
	const answers = [
		[{ ...list, method: 'no/such' }, -32601],
		[{ ...list, method: 'constructor' }, -32601],
		[{ ...list, method: '__proto__' }, -32601],
		[{ ...list, params: { cursor: 'not a cursor' } }, -32602],
		[{ ...list, params: { cursor: 5 } }, -32602],
		[{ ...list, method: 'tools/call', params: {} }, -32602],
		[{ ...list, method: 'tools/call', params: { name: 'x'.repeat(100_000) } }, -32602],
		[{ ...list, method: 'resources/read', params: { uri: 'x'.repeat(100_000) } }, -32602],
		[{ ...list, method: 'prompts/get', params: { name: '../..' } }, -32602]
	] as const;
	for (const [body, code] of answers) {
		const response = await send({ body, headers });
		expect(response.status).toBe(200);
		expect((await dataOf(response)).at(-1)).toMatchObject({ id: 7, error: { code } });
	}
});

test('E15: of versions that have batches, a batch is answered', async () => {
	const headers = await openSession('2025-03-26');
	const response = await send({ body: [list, { ...list, id: 8, method: 'prompts/list' }], headers });
	const ids = (await dataOf(response)).map(({ id }) => id);
	expect(ids.sort()).toEqual([7, 8]);
});

test('E15: DELETE ends a session and what runs in it; afterwards it is none', async () => {
	const headers = await openSession();
	const params = { name: 'use_skill', arguments: { skill: 'demo', script: 'scripts/wait.sh', args: ['98765.0303'] } };
	const call = send({ body: { ...list, method: 'tools/call', params }, headers });
	await expect.poll(() => processesWith('sleep 98765.0303')).not.toEqual([]);
	expect((await send({ method: 'DELETE', headers })).status).toBe(200);
	await (await call).text();
	await expect.poll(() => processesWith('sleep 98765.0303')).toEqual([]);
	expect((await send({ body: list, headers })).status).toBe(404);
	expect((await send({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).status).toBe(404);
});

test('E15: a client whose connection broke gets the rest by Last-Event-ID, each message once', async () => {
	const headers = await openSession();
	const params = {
		...{ name: 'use_skill', arguments: { skill: 'demo', script: 'scripts/steps.sh' } },
		_meta: { progressToken: 'p' }
	};
	const broken = new AbortController();
	const body = { ...list, method: 'tools/call', params };
	const response = await send({ body, headers, signal: broken.signal });
	let seen = '';
	for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
		seen += Buffer.from(chunk).toString();
		if (seen.includes('step 1')) break;
	}
	broken.abort();
	const lastId = [...seen.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '';
	const resumed = async () => {
		const accept = 'text/event-stream';
		return send({ method: 'GET', headers: { ...headers, accept, 'last-event-id': lastId } });
	};
	let rest = await resumed();
	// The server may not have noticed yet that the first connection is gone.
	while (rest.status === 409) rest = await resumed();
	expect(rest.status).toBe(200);
	const messages = await dataOf(rest);
	expect(messages.at(-1)).toMatchObject({ id: 7, result: { structuredContent: { success: true } } });
	const whole = `${seen}${JSON.stringify(messages)}`;
	expect(whole.match(/"progressToken":"p"/g)?.length).toBeGreaterThan(1);
	const unknown = await send({
		method: 'GET',
		headers: { ...headers, accept: 'text/event-stream', 'last-event-id': '99' }
	});
	expect(unknown.status).toBe(400);
});

test('E15: a 2026 client that leaves has cancelled', async () => {
	const leaving = new AbortController();
	const params = {
		...{ name: 'use_skill', arguments: { skill: 'demo', script: 'scripts/wait.sh', args: ['98765.0404'] } },
		_meta: envelope
	};
	const headers = { ...modernHeaders, 'mcp-method': 'tools/call', 'mcp-name': 'use_skill' };
	const body = { ...list, method: 'tools/call', params };
	const call = send({ body, headers, signal: leaving.signal }).catch((error: unknown) => error);
	await expect.poll(() => processesWith('sleep 98765.0404')).not.toEqual([]);
	leaving.abort();
	await call;
	await expect.poll(() => processesWith('sleep 98765.0404')).toEqual([]);
});

test('E18: the session of one key is none for another, and none for whoever manages the server', async () => {
	const [one, other] = await Promise.all(
		['one', 'other'].map((name) => rig.app.apiKeys.create({ name, scopes: ['read'] }))
	);
	const authorization = (key: string | undefined) => ({ authorization: `Bearer ${key ?? ''}` });
	const opened = await send({ body: INITIALIZE, headers: authorization(one?.key) });
	await opened.text();
	const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
	const statuses = await Promise.all(
		[authorization(one?.key), authorization(other?.key), {}].map(async (who) => {
			return (await send({ body: list, headers: { ...session, ...who } })).status;
		})
	);
	expect(statuses).toEqual([200, 404, 404]);
});

test('E15: sessions are bounded: the one that was idle the longest makes room, and silence ends them', async () => {
	let now = 0;
	const mcp = createMcp(
		{ ...rig.app, log: { info: () => undefined, error: () => undefined } },
		{ maxSessions: 2, idleMs: 1000, now: () => now }
	);
	const ask = async (body: unknown, session = '') => {
		const headers = { ...HEADERS, ...(session ? { 'mcp-session-id': session } : {}) };
		const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
		const response = await mcp.handle(request, { apiKeyId: null, scopes: ['read'] });
		await response.text();
		now += 1;
		return response;
	};
	const ids: string[] = [];
	for (let count = 0; count < 3; count += 1) ids.push((await ask(INITIALIZE)).headers.get('mcp-session-id') ?? '');
	const found = [];
	for (const id of ids) found.push((await ask(list, id)).status);
	expect(found).toEqual([404, 200, 200]);
	await mcp.close();
});

/** The messages of a response, as JSON or as a stream. */
async function dataOf(response: Response): Promise<{ id?: number }[]> {
	const text = await response.text();
	if (!response.headers.get('content-type')?.includes('event-stream')) return [JSON.parse(text) as { id?: number }];
	return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? '') as { id?: number });
}
