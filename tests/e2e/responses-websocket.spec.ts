/** The built app over WebSockets (F12): both tasks, connection state, compaction, refused connections. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { validate } from '../support/open-responses.ts';
import { processesWith } from '../support/processes.ts';
import { connectResponses, refusalOf } from '../support/responses-socket.ts';
import { COUNT_WORDS, FIVE_WORDS, missingSums, SALES, SUMMARISE } from '../support/tasks.ts';
import { startApp } from '../support/app-process.ts';
import { call, startModelServer } from '../support/model-server.ts';
import { expect, test } from './app.ts';

const TOKEN = 'the-token-of-this-test-0123456789';
const FILE = {
	type: 'input_file',
	filename: SALES.name,
	file_data: `data:text/csv;base64,${Buffer.from(SALES.text).toString('base64')}`
};
const ask = (text: string, ...more: unknown[]) => [
	{ type: 'message', role: 'user', content: [{ type: 'input_text', text }, ...more] }
];
const textOf = (response: { output: { type: string; content?: { text: string }[] }[] } | undefined) =>
	(response?.output ?? [])
		.flatMap(({ type, content = [] }) => (type === 'message' ? content.map((part) => part.text) : []))
		.join('');

test('F12: both tasks over one connection, and the second goes on from the first although nothing is stored', async ({
	app
}) => {
	const socket = await connectResponses(`${app.url}/v1/responses`);
	const first = await socket.turn({ model: 'any', input: ask(SUMMARISE, FILE), store: false });
	expect(missingSums(textOf(first.at(-1)?.response))).toEqual([]);
	const { id } = first.at(-1)?.response as { id: string };
	const again = await socket.turn({ model: 'any', input: SUMMARISE, store: false, previous_response_id: id });
	expect(missingSums(textOf(again.at(-1)?.response))).toEqual([]);
	const counted = await socket.turn({
		...{ model: 'any', input: COUNT_WORDS, store: false },
		previous_response_id: again.at(-1)?.response.id
	});
	expect(textOf(counted.at(-1)?.response)).toMatch(FIVE_WORDS);
	expect((await fetch(`${app.url}/v1/responses/${id}`)).status).toBe(404);
	await socket.close();
});

test('F12: openai’s own client of WebSockets gets the answer', async ({ app }) => {
	const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'none-is-needed' });
	const socket = new ResponsesWS(client);
	socket.send({ type: 'response.create', model: 'any', input: COUNT_WORDS });
	let told = '';
	for await (const event of socket) {
		if (event.type !== 'message') continue;
		if (event.message.type === 'response.output_text.delta') told += event.message.delta;
		if (event.message.type === 'response.completed') break;
	}
	socket.close();
	expect(told).toMatch(FIVE_WORDS);
});

test('F12, F7: a conversation is compacted, and goes on over a WebSocket with its file', async ({ app }) => {
	const answer = await fetch(`${app.url}/v1/responses/compact`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({
			model: 'any',
			input: [...ask('This is our file.', FILE), { type: 'message', role: 'assistant', content: 'I have it.' }]
		})
	});
	expect(answer.status).toBe(200);
	const compacted = (await answer.json()) as { output: unknown[] };
	validate('CompactResource', compacted);
	const socket = await connectResponses(`${app.url}/v1/responses`);
	const turn = await socket.turn({ model: 'any', input: [...compacted.output, ...ask(SUMMARISE)], store: false });
	expect(missingSums(textOf(turn.at(-1)?.response))).toEqual([]);
	await socket.close();
});

test('F12, SECURITY The server: who is refused learns it before there is a connection', async ({ app }) => {
	const url = `${app.url}/v1/responses`;
	const refusals = [
		await refusalOf(url, { headers: { origin: 'https://evil.example' } }),
		await refusalOf(url, { headers: { host: 'evil.example' } as Record<string, string> }),
		await refusalOf(url, { key: `ors_${'x'.repeat(40)}` }),
		await refusalOf(`${app.url}/v1/nope`),
		await refusalOf(`${app.url}/api/chat`)
	];
	expect(refusals.map(({ status }) => status)).toEqual([403, 403, 401, 404, 404]);
	for (const { headers, body } of refusals) {
		expect(headers['x-content-type-options']).toBe('nosniff');
		expect(body).toMatchObject({ error: { message: expect.any(String) } });
	}
});

test('F12: a request that would rather have HTTP/2 is answered as before', async ({ app }) => {
	const { port } = new URL(app.url);
	const socket = connect(Number(port), '127.0.0.1');
	const lines = [
		'GET /api/health HTTP/1.1',
		`host: 127.0.0.1:${port}`,
		'connection: Upgrade, HTTP2-Settings, close',
		'upgrade: h2c',
		'http2-settings: AAMAAABkAAQAAP__'
	];
	socket.write(`${lines.join('\r\n')}\r\n\r\n`);
	const [head] = (await once(socket, 'data')) as [Buffer];
	expect(String(head)).toMatch(/^HTTP\/1\.1 200 OK/);
	socket.destroy();
});

test('F12: hostile messages are told what is wrong, and the server answers all others meanwhile', async ({ app }) => {
	const socket = await connectResponses(`${app.url}/v1/responses`);
	const hostile = ['', '{', '[]', 'null', Buffer.from([1, 2, 3]), { type: 'nonsense' }, { type: 'response.create' }];
	for (const message of hostile) {
		socket.send(message);
		expect((await socket.error()).status).toBe(400);
	}
	const counted = await socket.turn({ input: COUNT_WORDS });
	expect(textOf(counted.at(-1)?.response)).toMatch(FIVE_WORDS);
	socket.send('x'.repeat(10 * 1024 * 1024 + 1));
	expect((await socket.closed).code).toBe(1009);
	expect((await fetch(`${app.url}/api/health`)).status).toBe(200);
});

test.describe('with ADMIN_TOKEN', () => {
	test.use({ appOptions: { env: { ADMIN_TOKEN: TOKEN } } });

	test('F12, E18: a connection needs a key, and one that may execute', async ({ app, page }) => {
		const keyOf = async (scopes: string[]): Promise<string> => {
			const answer = await fetch(`${app.url}/api/keys`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
				body: JSON.stringify({ name: 'a client', scopes })
			});
			return ((await answer.json()) as { key: string }).key;
		};
		const url = `${app.url}/v1/responses`;
		expect((await refusalOf(url)).status).toBe(401);
		expect((await refusalOf(url, { key: await keyOf(['read']) })).status).toBe(403);
		const socket = await connectResponses(url, { key: await keyOf(['execute']) });
		const turn = await socket.turn({ input: COUNT_WORDS });
		expect(textOf(turn.at(-1)?.response)).toMatch(FIVE_WORDS);
		await socket.close();
		// Only our own page when logged in.
		await page.goto(`${app.url}/login`);
		const opens = () =>
			page.evaluate(async () => {
				const ws = new WebSocket('/v1/responses');
				const opened = await new Promise((resolve) => {
					ws.onopen = () => resolve(true);
					ws.onerror = () => resolve(false);
				});
				ws.close();
				return opened;
			});
		expect(await opens()).toBe(false);
		// By its form: a login page that finds itself logged in leaves, and would take the socket with it.
		await page.getByLabel('Token').fill(TOKEN);
		await page.getByRole('button', { name: 'Log in' }).click();
		await expect(page.getByTestId('skill-count')).toHaveText('10');
		expect(await opens()).toBe(true);
	});
});

test('F12, F14: a server that is stopped ends the turn and its script, and says good-bye', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'responses-websocket-'));
	await mkdir(join(folder, 'patient/scripts'), { recursive: true });
	await writeFile(join(folder, 'patient/SKILL.md'), '---\nname: patient\ndescription: Waits.\n---\nWait.\n');
	await writeFile(join(folder, 'patient/scripts/wait.sh'), 'exec sleep 600.37465\n');
	const model = await startModelServer([call('use_skill', { skill: 'patient', script: 'scripts/wait.sh' })]);
	const app = await startApp({
		skillsFrom: folder,
		env: { OPENROUTER_API_KEY: 'test-key-of-the-scripted-model', OPENROUTER_BASE_URL: model.url }
	});
	const running = () => processesWith('sleep 600.37465');
	try {
		const socket = await connectResponses(`${app.url}/v1/responses`);
		socket.send({ type: 'response.create', input: 'Wait' });
		await expect.poll(running).toHaveLength(1);
		await app.restart();
		expect((await socket.closed).code).toBe(1001);
		expect(running()).toEqual([]);
	} finally {
		await app.stop();
		await model.close();
		await rm(folder, { recursive: true, force: true });
	}
});
