import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSafeFetch } from '../network/safe-fetch.ts';
import { createSearxngProvider, createWebSearch } from './web.ts';

let server: Server;
let origin: string;
let asked: string[] = [];
let reply: { status: number; body: string };

beforeAll(async () => {
	server = createServer((request, response) => {
		asked.push(request.url ?? '');
		response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const results = [
	{ title: 'One\n\u0007', url: 'https://one.example/', content: 'First\u200B thing' },
	{ title: 'Script', url: 'javascript:alert(1)', content: 'x' },
	{ title: 'Two', url: 'http://two.example/', content: null },
	'nonsense'
];
beforeEach(() => {
	asked = [];
	reply = { status: 200, body: JSON.stringify({ results }) };
});

// The operator's own URL may be private.
const fetch = createSafeFetch({ isAllowed: () => true });
let clock = 0;
const searching = (path = '') =>
	createWebSearch({ provider: createSearxngProvider(`${origin}${path}`, fetch), now: () => clock });
const call = (builtin: ReturnType<typeof createWebSearch>, args: Record<string, unknown>) =>
	builtin.run(args, { workspace: '/nowhere', signal: new AbortController().signal, executionId: 'e1' });

test('D29: without a provider it is not offered, and a call says what to set', async () => {
	const none = createWebSearch({ provider: null });
	expect(none.unavailable()).toContain('SKILLS_SEARCH_URL');
	expect(await call(none, { query: 'x' })).toMatchObject({ ok: false, error: 'SkillDisabled' });
});

describe('D29: a provider that answers as SearXNG does', () => {
	test('is asked for JSON; what it found comes in plain lines, addresses of the web only', async () => {
		expect(await call(searching(), { query: 'a & b' })).toEqual({
			ok: true,
			value: {
				query: 'a & b',
				provider: new URL(origin).host,
				cached: false,
				results: [
					{ title: 'One', url: 'https://one.example/', snippet: 'First thing' },
					{ title: 'Two', url: 'http://two.example/', snippet: '' }
				]
			},
			sandbox: 'direct'
		});
		expect(asked).toEqual(['/search?q=a+%26+b&format=json']);
	});
	test('may have a path and parameters of its own', async () => {
		await call(searching('/api/find?lang=de'), { query: 'x', count: 1 });
		expect(asked).toEqual(['/api/find?lang=de&q=x&format=json']);
	});
	test('“count” is the most that come back', async () => {
		expect(await call(searching(), { query: 'x', count: 1 })).toMatchObject({ value: { results: [{ title: 'One' }] } });
	});
	test.each([
		['an error', 403, 'no'],
		['a page', 200, '<html></html>'],
		['JSON of another kind', 200, '{"hits":[]}']
	])('that gives %s is said to be unusable', async (_, status, body) => {
		reply = { status, body };
		const outcome = await call(searching(), { query: 'x' });
		expect(outcome).toMatchObject({ ok: false, error: 'ExecutionFailed' });
		expect(outcome.hint).toContain('SKILLS_SEARCH_URL');
	});
});

describe('D29: the cache', () => {
	test('answers the same question for 15 minutes, and no failure', async () => {
		const builtin = searching();
		reply = { status: 500, body: '' };
		await call(builtin, { query: 'Same  question' });
		reply = { status: 200, body: JSON.stringify({ results }) };
		expect(await call(builtin, { query: 'same question' })).toMatchObject({ value: { cached: false } });
		clock += 15 * 60_000 - 1;
		expect(await call(builtin, { query: 'Same question ', count: 1 })).toMatchObject({ value: { cached: true } });
		expect(asked).toHaveLength(2);
		clock += 1;
		expect(await call(builtin, { query: 'same question' })).toMatchObject({ value: { cached: false } });
	});
	test('keeps the hundred that were used last', async () => {
		const builtin = searching();
		for (let index = 0; index < 100; index += 1) await call(builtin, { query: `q${index}` });
		await call(builtin, { query: 'q0' });
		await call(builtin, { query: 'new' });
		expect(await call(builtin, { query: 'q0' })).toMatchObject({ value: { cached: true } });
		expect(await call(builtin, { query: 'q1' })).toMatchObject({ value: { cached: false } });
	});
});
