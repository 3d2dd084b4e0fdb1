/** The HTTP interface as another program sees it: errors, doors, files and streams. */

import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Health, RunState } from '../../src/lib/shared/api.ts';
import { expect, test } from './app.ts';

interface Frame {
	id: number;
	event: { type: string; [key: string]: unknown };
}

const QUESTION = 'How many words are in: the quick brown fox';

function chatInput(overrides: Record<string, unknown> = {}): Record<string, unknown> {
	const message = { id: randomUUID(), role: 'user', content: QUESTION };
	return { threadId: randomUUID(), runId: randomUUID(), messages: [message], ...overrides };
}

function postChat(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
	return fetch(`${url}/api/chat`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body
	});
}

async function expectError(response: Response, status: number, code: string): Promise<void> {
	const body = (await response.json()) as { error: { code: string; message: string } };
	expect({ status: response.status, code: body.error.code }).toEqual({ status, code });
	expect(body.error.message).not.toBe('');
}

/** Sends path and headers exactly as given; fetch would normalize both. */
function send(
	url: string,
	options: { method?: string; path: string; headers?: Record<string, string>; body?: string }
): Promise<Response> {
	const { hostname, port } = new URL(url);
	const { method = 'GET', path, headers = {}, body } = options;
	return new Promise((resolve, reject) => {
		const outgoing = httpRequest({ hostname, port, method, path, headers, agent: false }, (incoming) => {
			const chunks: Buffer[] = [];
			incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
			incoming.on('error', reject);
			incoming.on('end', () => resolve(new Response(Buffer.concat(chunks), { status: incoming.statusCode ?? 0 })));
		});
		outgoing.on('error', reject);
		outgoing.end(body);
	});
}

function readFrames(text: string): Frame[] {
	return text.split('\n\n').flatMap((block) => {
		const id = /^id: (\d+)$/m.exec(block)?.[1];
		const data = /^data: (.*)$/m.exec(block)?.[1];
		return id && data ? [{ id: Number(id), event: JSON.parse(data) as Frame['event'] }] : [];
	});
}

const isTerminal = ({ event }: Frame): boolean => event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';

test.describe('a chat request is refused with a code and a sentence', () => {
	test('when its body is not JSON: 400', async ({ app }) => {
		await expectError(await postChat(app.url, '{"threadId": '), 400, 'invalid_input');
	});

	test('when it is larger than 10 MB: 413', async ({ app }) => {
		const message = { id: 'm', role: 'user', content: 'x'.repeat(10 * 1024 * 1024) };
		await expectError(await postChat(app.url, JSON.stringify(chatInput({ messages: [message] }))), 413, 'too_large');
	});

	test('when it holds no message, or an empty one: 400', async ({ app }) => {
		const empty = { id: 'm', role: 'user', content: '  ' };
		for (const messages of [[], [empty], undefined]) {
			await expectError(await postChat(app.url, JSON.stringify(chatInput({ messages }))), 400, 'invalid_input');
		}
	});

	// Unknown fields may come from a newer AG-UI and are ignored; wrong types aren't.
	test('when a field of it is of the wrong kind: 400', async ({ app }) => {
		await expectError(await postChat(app.url, JSON.stringify(chatInput({ tools: 'x' }))), 400, 'invalid_input');
	});

	test('when it is sent as text/plain: 415', async ({ app }) => {
		const response = await postChat(app.url, JSON.stringify(chatInput()), { 'content-type': 'text/plain' });
		await expectError(response, 415, 'unsupported_media_type');
	});
});

test('a request that comes from a page of another site is refused: 403', async ({ app }) => {
	const headers = { origin: 'http://evil.example' };
	await expectError(await postChat(app.url, JSON.stringify(chatInput()), headers), 403, 'forbidden');
	await expectError(await fetch(`${app.url}/api/health`, { headers }), 403, 'forbidden');
});

test('a request for a host name that is not loopback is refused: 403', async ({ app }) => {
	const headers = { host: 'evil.example' };
	await expectError(await send(app.url, { path: '/api/health', headers }), 403, 'forbidden');
});

test('an upload whose path climbs out with encoded dots is refused and writes nothing', async ({ app }) => {
	const id = randomUUID();
	for (const name of [
		'%2e%2e%2fescaped.txt',
		'a/%2e%2e%2f%2e%2e%2fescaped.txt',
		'%2e%2e/escaped.txt',
		'..%5cescaped.txt'
	]) {
		const path = `/api/conversations/${id}/files/${name}`;
		const response = await send(app.url, { method: 'PUT', path, body: 'out' });
		expect(response.status, name).toBeGreaterThanOrEqual(400);
		expect(response.status, name).toBeLessThan(500);
	}
	const { data } = (await (await fetch(`${app.url}/api/conversations/${id}/files`)).json()) as { data: unknown[] };
	expect(data).toEqual([]);
});

test('a run, a conversation, a file and a path that do not exist: 404', async ({ app }) => {
	const unknown = ['runs/none', 'runs/none/events', 'conversations/none', 'conversations/none/files/a.txt', 'nothing'];
	for (const path of unknown) await expectError(await fetch(`${app.url}/api/${path}`), 404, 'not_found');
});

test('a chat that accepts text/event-stream gets the events, numbered from 1 without a gap, and one end', async ({
	app
}) => {
	const input = chatInput();
	const response = await postChat(app.url, JSON.stringify(input), { accept: 'text/event-stream' });
	expect(response.status).toBe(200);
	expect(response.headers.get('content-type')).toContain('text/event-stream');
	const frames = readFrames(await response.text());

	expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index + 1));
	expect(frames[0]?.event).toMatchObject({ type: 'RUN_STARTED', threadId: input.threadId, runId: input.runId });
	expect(frames.map(({ event }) => event.type)).toContain('TEXT_MESSAGE_CONTENT');
	expect(frames.filter(isTerminal)).toEqual([frames.at(-1)]);
	expect(frames.at(-1)?.event.type).toBe('RUN_FINISHED');
	const run = (await (await fetch(`${app.url}/api/runs/${String(input.runId)}`)).json()) as RunState;
	expect(run).toMatchObject({ conversationId: input.threadId, state: 'success', lastSeq: frames.length });
});

test('the events of a run go on after Last-Event-ID, the same ones', async ({ app }) => {
	const input = chatInput();
	const live = await postChat(app.url, JSON.stringify(input), { accept: 'text/event-stream' });
	const all = readFrames(await live.text());
	const events = `${app.url}/api/runs/${String(input.runId)}/events`;
	const rest = await fetch(events, { headers: { 'last-event-id': '5' } });
	expect(readFrames(await rest.text())).toEqual(all.slice(5));
	expect(readFrames(await (await fetch(events)).text())).toEqual(all);
});

test('a chat that does not ask for a stream is answered 202 with the ids', async ({ app }) => {
	const input = chatInput();
	const response = await postChat(app.url, JSON.stringify(input));
	expect(response.status).toBe(202);
	expect(await response.json()).toEqual({ threadId: input.threadId, runId: input.runId });
});

test('an upload that names no content type is stored whole', async ({ app }) => {
	const path = `/api/conversations/${randomUUID()}/files/notes.txt`;
	const put = await send(app.url, { method: 'PUT', path, headers: { 'content-length': '5' }, body: 'hello' });
	expect(put.status).toBe(201);
	expect(await (await fetch(app.url + path)).text()).toBe('hello');
});

test('an uploaded file comes back as a download that no browser runs', async ({ app }) => {
	const url = `${app.url}/api/conversations/${randomUUID()}/files/page.html`;
	const text = '<script>alert(1)</script>';
	const put = await fetch(url, { method: 'PUT', body: text });
	expect(put.status).toBe(201);
	expect(await put.json()).toMatchObject({ path: 'page.html', bytes: text.length });

	const got = await fetch(url);
	expect(await got.text()).toBe(text);
	expect(got.headers.get('content-disposition')).toMatch(/^attachment; .*page\.html/);
	expect(got.headers.get('x-content-type-options')).toBe('nosniff');
	expect(got.headers.get('content-security-policy')).toContain('sandbox');
});

test('/api/health says what answers and how many skills there are', async ({ app }) => {
	const response = await fetch(`${app.url}/api/health`);
	expect(response.status).toBe(200);
	const health = (await response.json()) as Health;
	expect(health).toEqual({
		status: 'ok',
		version: expect.any(String),
		model: { id: expect.any(String), offline: true, baseUrl: null },
		sandbox: {
			name: expect.stringMatching(/^(process|bubblewrap)$/),
			isolation: {
				files: expect.any(Boolean),
				network: expect.any(Boolean),
				processes: expect.any(Boolean),
				limits: expect.any(Boolean)
			},
			running: expect.any(Number),
			waiting: 0,
			longestWaitMs: 0
		},
		database: 'sqlite',
		login: false,
		skills: { ready: 10, broken: 0 }
	});
});
