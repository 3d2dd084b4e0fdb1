/** `/v1/responses` over WebSockets, behind the real access checks: successive turns, what a connection remembers, how it ends. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { call, gate, status, text, type Reply } from '../support/model-server.ts';
import { processesWith } from '../support/processes.ts';
import {
	createResponsesRigs,
	type ResponsesRig,
	type ResponsesRigOptions,
	type StreamedEvent
} from '../support/responses-rig.ts';
import { connectResponses, refusalOf, type ResponsesSocket, type SocketSettings } from '../support/responses-socket.ts';

let rig: ResponsesRig;
const sockets: ResponsesSocket[] = [];
afterEach(async () => {
	for (const socket of sockets.splice(0)) socket.ws.terminate();
	await rigs.settle();
});

const TOKEN = 'the-token-of-this-test-0123456789';
const SKILLS = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"\n',
	'demo/scripts/wait.sh': 'echo waiting; exec sleep 600.42917\n'
};

const rigs = createResponsesRigs(SKILLS);
afterAll(() => rigs.close());
const open = async (script: Reply[], more?: ResponsesRigOptions) => (rig = await rigs.open(script, more));
const dial = async (settings?: SocketSettings): Promise<ResponsesSocket> => {
	const socket = await connectResponses(`${rig.url}/responses`, settings);
	sockets.push(socket);
	return socket;
};
const keyOf = async (scopes: ('read' | 'write' | 'execute')[]) => rig.app.apiKeys.create({ name: 'a client', scopes });
const sentItems = (number: number) => rig.model?.requests[number]?.body.input as Record<string, unknown>[];
/** In a sandbox a process has a different id than outside. */
const waiting = () => processesWith('sleep 600.42917');

/** The head of the handshake response, and the raw socket. */
async function rawSocket(key = randomBytes(16).toString('base64')): Promise<{ raw: Socket; head: string }> {
	const { hostname, port } = new URL(rig.url);
	const raw = connect(Number(port), hostname);
	raw.on('error', () => undefined);
	const lines = [
		'GET /v1/responses HTTP/1.1',
		`host: ${hostname}:${port}`,
		'connection: Upgrade',
		'upgrade: websocket',
		'sec-websocket-version: 13',
		`sec-websocket-key: ${key}`
	];
	raw.write(`${lines.join('\r\n')}\r\n\r\n`);
	const [head] = (await once(raw, 'data')) as [Buffer];
	raw.resume();
	return { raw, head: String(head) };
}

describe('F12: turns', () => {
	test('one connection answers one request after the other, with the events of a stream', async () => {
		await open([
			text('Hel', 'lo.'),
			call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hi'] }),
			text('It said hi.')
		]);
		const socket = await dial();
		const first = await socket.turn({ model: 'some/model', input: 'Hi' });
		expect(first[0]?.type).toBe('response.created');
		expect(first.at(-1)).toMatchObject({ type: 'response.completed', response: { model: 'some/model', store: true } });
		const second = await socket.turn({ input: 'Say hi' });
		expect(second.at(-1)?.response.output).toMatchObject([
			{ type: 'reasoning', openrouter_skills: { executed: true, exit_code: 0 } },
			{ type: 'message', content: [{ text: 'It said hi.' }] }
		]);
		await socket.close();
		expect((await socket.closed).code).toBe(1005);
	});

	test('a request while one is answered is refused, and the answer goes on; the next is taken as soon as it has ended', async () => {
		const hold = gate();
		await open([text('One', hold, ' word.'), text('Two.')]);
		const socket = await dial();
		socket.send({ type: 'response.create', input: 'First' });
		expect((await socket.next()).type).toBe('response.created');
		socket.send({ type: 'response.create', input: 'Second' });
		socket.send('not even JSON');
		const types: string[] = [];
		for (let refused = 0; refused < 2;) {
			const event = await socket.next();
			types.push(event.type);
			if (event.type !== 'error') continue;
			expect(event).toMatchObject({ status: 409, error: { code: 'response_in_progress' } });
			refused += 1;
		}
		hold.open();
		while (types.at(-1) !== 'response.completed') types.push((await socket.next()).type);
		const next = await socket.turn({ input: 'Third' });
		expect(next.at(-1)?.type).toBe('response.completed');
		expect(rig.model?.requests).toHaveLength(2);
	});

	test('what the model’s server refuses is the response’s failure, and the connection goes on', async () => {
		await open([status(402, { error: { code: 402, message: 'No credits' } }), text('Paid.')]);
		const socket = await dial();
		const failed = await socket.turn({ input: 'Hi' });
		expect(failed.at(-1)).toMatchObject({
			type: 'response.failed',
			response: { status: 'failed', error: { code: 'insufficient_credits' } }
		});
		expect((await socket.turn({ input: 'Again' })).at(-1)?.type).toBe('response.completed');
	});
});

describe('F12: what a connection remembers', () => {
	const idOf = (events: readonly StreamedEvent[]) => events.at(-1)?.response?.id as string;

	test('store: false can be gone on from on the same connection, from any of its responses, and nowhere else', async () => {
		await open([text('One.'), text('Two.'), text('Three.')]);
		const [socket, other] = [await dial(), await dial()];
		const first = idOf(await socket.turn({ input: 'a', store: false }));
		const second = idOf(await socket.turn({ input: 'b', store: false, previous_response_id: first }));
		await socket.turn({ input: 'c', store: false, previous_response_id: second });
		expect(sentItems(2).map(({ role, content }) => [role, (content as { text: string }[])[0]?.text])).toEqual([
			['user', 'a'],
			['assistant', 'One.'],
			['user', 'b'],
			['assistant', 'Two.'],
			['user', 'c']
		]);
		const elsewhere = await other.turn({ input: 'd', store: false, previous_response_id: second });
		expect(elsewhere).toMatchObject([
			{ status: 400, error: { code: 'previous_response_not_found', param: 'previous_response_id' } }
		]);
		expect((await rig.get(`/responses/${first}`)).status).toBe(404);
		expect((await rig.ask({ input: 'e', previous_response_id: first })).status).toBe(400);
	});

	test('what is stored can be gone on from after a new connection, and over HTTP', async () => {
		await open([text('One.'), text('Two.'), text('Three.')]);
		const first = idOf(await (await dial()).turn({ input: 'a' }));
		const second = idOf(await (await dial()).turn({ input: 'b', previous_response_id: first }));
		expect((await rig.ask({ input: 'c', previous_response_id: second })).status).toBe(200);
		expect(sentItems(2)).toHaveLength(5);
	});

	test('a request that goes on and is refused forgets what it went on from', async () => {
		await open([text('One.'), text('Two.')]);
		const socket = await dial();
		const first = idOf(await socket.turn({ input: 'a', store: false }));
		const second = idOf(await socket.turn({ input: 'b', store: false, previous_response_id: first }));
		const output = { type: 'function_call_output', call_id: 'call_missing', output: 'x' };
		const refused = await socket.turn({ input: [output], store: false, previous_response_id: first });
		expect(refused).toMatchObject([{ type: 'error', status: 400 }]);
		const again = await socket.turn({ input: 'c', store: false, previous_response_id: first });
		expect(again).toMatchObject([{ error: { code: 'previous_response_not_found' } }]);
		rig.model?.push(text('Three.'));
		const other = await socket.turn({ input: 'd', store: false, previous_response_id: second });
		expect(other.at(-1)?.type).toBe('response.completed');
	});

	test('the call of a caller’s tool is answered without sending the items again', async () => {
		await open([call('get_weather', { place: 'Rome' }), text('Warm.')]);
		const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }];
		const socket = await dial();
		const asked = await socket.turn({ input: 'Weather in Rome?', store: false, tools });
		const { id, output } = asked.at(-1)?.response as { id: string; output: { call_id: string }[] };
		const result = { type: 'function_call_output', call_id: output[0]?.call_id, output: '30 degrees' };
		const told = await socket.turn({ input: [result], store: false, previous_response_id: id, tools });
		expect(told.at(-1)?.response.output).toMatchObject([{ type: 'message' }]);
	});
});

describe('F12: messages that are no requests', () => {
	test('are told what is wrong with them, and the connection goes on', async () => {
		await open([text('Fine.')]);
		const socket = await dial();
		const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
		const cases: [unknown, string | null][] = [
			...['', 'hello', '{', 'null', '[]', '"text"', '7', nested].map((message): [unknown, null] => [message, null]),
			[Buffer.from(JSON.stringify({ type: 'response.create', input: 'Hi' })), null],
			[{ input: 'Hi' }, 'type'],
			[{ type: 'response.cancel' }, 'type'],
			[{ type: ['response.create'], input: 'Hi' }, 'type'],
			[{ type: 'response.create', input: 'Hi', stream: true }, 'stream'],
			[{ type: 'response.create', input: 'Hi', stream_options: {} }, 'stream_options'],
			[{ type: 'response.create', input: 'Hi', background: false }, 'background'],
			[{ type: 'response.create', input: 'Hi', stream_id: 'a' }, 'stream_id'],
			[{ type: 'response.create', input: 'Hi', generate: false }, 'generate'],
			[{ type: 'response.create' }, 'input'],
			[{ type: 'response.create', input: 7 }, 'input'],
			[{ type: 'response.create', input: [{ type: 'compaction', encrypted_content: 'orsc1.AAAA' }] }, null],
			[{ type: 'response.create', input: 'Hi', previous_response_id: '__proto__' }, 'previous_response_id'],
			[{ type: 'response.create', input: 'Hi', previous_response_id: '' }, 'previous_response_id']
		];
		for (const [message, param] of cases) {
			socket.send(message);
			const refused = await socket.error();
			expect(refused, JSON.stringify(message).slice(0, 100)).toMatchObject({ status: 400 });
			if (param !== null) expect(refused.error.param).toBe(param);
		}
		expect((await socket.turn({ input: 'Hi' })).at(-1)?.type).toBe('response.completed');
	});

	test('end the connection when there are too many of them', async () => {
		await open([], { sockets: { maxRefused: 3 } });
		const socket = await dial();
		for (let count = 0; count < 4; count += 1) socket.send('nothing');
		expect((await socket.closed).code).toBe(1008);
	});

	test('end the connection when they are too large, no text, or no frames of a WebSocket', async () => {
		await open([]);
		const large = await dial();
		large.send('x'.repeat(10 * 1024 * 1024 + 1));
		expect((await large.closed).code).toBe(1009);
		const parts = await dial();
		for (let part = 0; part < 12; part += 1) parts.ws.send('x'.repeat(1024 * 1024), { fin: false });
		expect((await parts.closed).code).toBe(1009);
		const garbled = await dial();
		garbled.ws.send(Buffer.from([0xc3, 0x28]), { binary: false });
		expect((await garbled.closed).code).toBe(1007);
		const { raw, head } = await rawSocket();
		expect(head).toMatch(/^HTTP\/1\.1 101 /);
		raw.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]));
		await once(raw, 'close');
		const { raw: unmasked } = await rawSocket();
		unmasked.write(Buffer.from([0x81, 0x02, 0x7b, 0x7d]));
		await once(unmasked, 'close');
		expect((await rig.get('/models')).status).toBe(200);
	});

	test('half of one is waited for no longer than the client gives a sign of life', async () => {
		await open([], { sockets: { heartbeatMs: 200 } });
		const { raw } = await rawSocket();
		raw.write(Buffer.from([0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 0x7b]));
		await once(raw, 'close');
		const alive = await dial();
		for (let pings = 0; pings < 3; pings += 1) await once(alive.ws, 'ping');
		expect(alive.ws.readyState).toBe(alive.ws.OPEN);
	});
});

describe('F12, E18, SECURITY The server: the door', () => {
	test('a page of another site, and a name that is not this server’s, do not get a connection', async () => {
		await open([]);
		const url = `${rig.url}/responses`;
		for (const headers of [
			{ origin: 'https://evil.example' },
			{ origin: 'null' },
			{ origin: 'http://127.0.0.1:1' },
			{ host: 'evil.example' },
			{ 'sec-fetch-site': 'cross-site' },
			{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'websocket' }
		]) {
			const { status: code, body } = await refusalOf(url, { headers: headers as unknown as Record<string, string> });
			expect([code, body]).toMatchObject([403, { error: { type: 'permission_error' } }]);
		}
		const own = await dial({ headers: { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' } });
		expect(own.ws.readyState).toBe(own.ws.OPEN);
	});

	test('a wrong key, no key where one is needed, and a key that may only read are refused', async () => {
		await open([], { env: { ADMIN_TOKEN: TOKEN } });
		const url = `${rig.url}/responses`;
		const { key: reader } = await keyOf(['read']);
		const { key } = await keyOf(['execute']);
		const refusals = [
			await refusalOf(url, { key: `ors_${'x'.repeat(40)}` }),
			await refusalOf(url),
			await refusalOf(url, { headers: { cookie: 'openrouter-skills-session=made-up' } }),
			await refusalOf(url, { key: reader }),
			await refusalOf(`${rig.url}/responses/compact`, { key })
		];
		expect(refusals.map(({ status: code }) => code)).toEqual([401, 401, 401, 403, 404]);
		expect(refusals[0]?.headers).toMatchObject({ 'www-authenticate': 'Bearer', 'x-content-type-options': 'nosniff' });
		expect(refusals[0]?.body).toMatchObject({ error: { type: 'authentication_error', code: 'invalid_api_key' } });
		const session = await rig.app.login.logIn(TOKEN, '127.0.0.1');
		for (const settings of [
			{ key },
			{ key: TOKEN },
			{ headers: { cookie: `other=1; ${rig.app.login.cookie.name}=${session}` } }
		]) {
			const socket = await dial(settings);
			expect(socket.ws.readyState).toBe(socket.ws.OPEN);
		}
	});

	test('a key that is revoked begins no turn any more on a connection that it has', async () => {
		await open([text('One.')], { env: { ADMIN_TOKEN: TOKEN } });
		const { key, id } = await keyOf(['execute']);
		const socket = await dial({ key });
		expect((await socket.turn({ input: 'Hi' })).at(-1)?.type).toBe('response.completed');
		await rig.app.apiKeys.revoke(id);
		const refused = await socket.turn({ input: 'Hi again' });
		expect(refused).toMatchObject([{ status: 401, error: { code: 'invalid_api_key' } }]);
		expect((await socket.closed).code).toBe(1008);
	});

	test('one key does not go on from another’s response, and nobody learns of it', async () => {
		await open([text('Secret.')], { env: { ADMIN_TOKEN: TOKEN } });
		const [own, other] = [await keyOf(['execute']), await keyOf(['execute'])];
		const made = await (await dial({ key: own.key })).turn({ input: 'Hi' });
		const tried = await (
			await dial({ key: other.key })
		).turn({ input: 'Go on', previous_response_id: made.at(-1)?.response.id });
		expect(tried).toMatchObject([{ error: { code: 'previous_response_not_found' } }]);
	});

	test('other paths, older versions and broken handshakes are answered, as is who asks for too many', async () => {
		await open([], { sockets: { maxConnections: 2 } });
		const origin = new URL(rig.url).origin;
		for (const path of ['/', '/v1/responses/', '/v1/responses/resp_1', '/v1/models', '/api/chat', '/v1/%72esponses']) {
			expect((await refusalOf(`${origin}${path}`)).status, path).toBe(404);
		}
		const url = `${rig.url}/responses`;
		const older = await refusalOf(url, { options: { protocolVersion: 8 } });
		expect([older.status, older.headers['sec-websocket-version']]).toEqual([426, '13']);
		expect((await rawSocket('short')).head).toMatch(/^HTTP\/1\.1 400 /);
		const [first] = [await dial(), await dial({ headers: { 'x-any': '1' } })];
		expect(await refusalOf(url)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
		await first?.close();
		await expect.poll(async () => (await dial().catch(() => null)) !== null).toBe(true);
	});
});

describe('F12: the end of a connection', () => {
	test('a client that goes away ends its turn: the model is left, and the script is killed', async () => {
		await open([call('use_skill', { skill: 'demo', script: 'scripts/wait.sh' })]);
		const socket = await dial();
		socket.send({ type: 'response.create', input: 'Wait', store: false });
		await expect.poll(waiting).toHaveLength(1);
		socket.ws.terminate();
		await expect.poll(waiting).toEqual([]);
		expect(rig.model?.requests).toHaveLength(1);
	});

	test('a model that is still writing is left as well', async () => {
		const never = gate();
		await open([text('One', never, 'two')]);
		const socket = await dial();
		socket.send({ type: 'response.create', input: 'Write' });
		const request = await rig.model?.received(1);
		while ((await socket.next()).type !== 'response.output_text.delta');
		await socket.close();
		await request?.closed;
		expect(request?.isAborted).toBe(true);
	});

	test('an old connection says so once its turn is told, and closes', async () => {
		const hold = gate();
		await open([text('Still', hold, ' here.')], { sockets: { lifetimeMs: 1500 } });
		const [idle, busy] = [await dial(), await dial()];
		busy.send({ type: 'response.create', input: 'Hi' });
		const limit = { status: 400, error: { code: 'websocket_connection_limit_reached' } };
		expect(await idle.error()).toMatchObject(limit);
		expect((await idle.closed).code).toBe(1000);
		expect(busy.ws.readyState).toBe(busy.ws.OPEN);
		hold.open();
		const types: string[] = [];
		while (types.at(-1) !== 'response.completed') types.push((await busy.next()).type);
		expect(await busy.error()).toMatchObject(limit);
		await busy.closed;
	});

	test('F14: a server that stops tells its turns to their end, refuses new ones, and says good-bye', async () => {
		const hold = gate();
		await open([text('Almost', hold, ' done.')], {});
		const [socket, idle] = [await dial(), await dial()];
		socket.send({ type: 'response.create', input: 'Hi' });
		while ((await socket.next()).type !== 'response.output_text.delta');
		const closing = rig.app.responses.close(60_000).then(() => rig.app.sockets.close());
		expect(await idle.turn({ input: 'More' })).toMatchObject([{ status: 503, error: { code: 'unavailable' } }]);
		hold.open();
		const types: string[] = [];
		while (types.at(-1) !== 'response.completed') types.push((await socket.next()).type);
		await closing;
		expect((await socket.closed).code).toBe(1001);
		expect((await idle.closed).code).toBe(1001);
		expect((await refusalOf(`${rig.url}/responses`)).status).toBe(503);
	});

	test('F14: who does not say good-bye is not waited for, and a turn that does not end is ended', async () => {
		await open([call('use_skill', { skill: 'demo', script: 'scripts/wait.sh' })], {});
		const socket = await dial();
		socket.send({ type: 'response.create', input: 'Wait' });
		await expect.poll(waiting).toHaveLength(1);
		socket.ws.pause();
		await rig.app.responses.close();
		await rig.app.sockets.close();
		expect(waiting()).toEqual([]);
	});

	test('a client that reads nothing holds up its own turn alone', async () => {
		const flood = 'x'.repeat(64 * 1024);
		let written = 0;
		const endless: Reply = async (exchange) => {
			exchange.begin();
			const send = (event: object) => exchange.write(`data: ${JSON.stringify(event)}\n\n`);
			const item = { type: 'message', id: 'm', role: 'assistant', status: 'in_progress', content: [] };
			await send({ type: 'response.output_item.added', output_index: 0, item });
			while (!exchange.request.isAborted && written < 200 * 1024 * 1024) {
				await send({
					type: 'response.output_text.delta',
					...{ item_id: 'm', output_index: 0, content_index: 0, delta: flood }
				});
				written += flood.length;
			}
		};
		await open([endless, text('Quick.')], { sockets: { heartbeatMs: 500 } });
		const stuck = await dial();
		stuck.send({ type: 'response.create', input: 'Flood me' });
		await rig.model?.received(1);
		stuck.ws.pause();
		const other = await dial();
		expect((await other.turn({ input: 'Hi' })).at(-1)?.type).toBe('response.completed');
		// The paused client answers no pings, so the server closes it, which ends the turn.
		await rig.model?.requests[0]?.closed;
		expect(written).toBeLessThan(200 * 1024 * 1024);
	});
});
