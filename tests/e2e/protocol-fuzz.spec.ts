/** Fuzzes the five protocols of the built app: each answers any request in its own format, and nothing is left behind. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import type { SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import type { App } from '../support/app-process.ts';
import { processesWith } from '../support/processes.ts';
import { framesOf, idOf, problemOf, PROTOCOLS, type Protocol, type WireAnswer } from '../support/protocol-answers.ts';
import { beginRequest, exchange, postHead } from '../support/raw-http.ts';
import { COUNT_WORDS, FIVE_WORDS, missingSums, SALES, SUMMARISE } from '../support/tasks.ts';
import { expect, test } from './app.ts';
import { fuzzedRequests, type ProtocolRequest } from './protocol-fuzz-requests.ts';
import { initialize, JSON_TYPE, MCP_TYPES, templates, type Known } from './protocol-templates.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 8);
const REQUESTS_EACH = 120;
const AT_ONCE = 16;
/** No request here should take this long. */
const ANSWER_MS = 20_000;
/** Between two bursts of the same size. */
const MAX_GROWTH_MB = 200;
const MB = 1024 * 1024;
const TOKEN = 'the-token-of-the-protocol-fuzz-test';
/** Identifies the waiting script; nothing else on the machine contains it. */
const WAITS = 'sleep 98765.0808';

// Failed keys are counted per IP address; behind a proxy, each request can use another one.
test.use({ appOptions: { env: { ADMIN_TOKEN: TOKEN, TRUST_PROXY: 'true' } } });
test.setTimeout(90_000);

const ENTRY: Record<Protocol, { path: string; headers: Record<string, string>; body: string }> = {
	responses: { path: '/v1/responses', headers: JSON_TYPE, body: '{"input":"Hello there!"}' },
	chat: {
		path: '/v1/chat/completions',
		headers: JSON_TYPE,
		body: '{"messages":[{"role":"user","content":"Hello there!"}]}'
	},
	agui: {
		path: '/api/chat',
		headers: JSON_TYPE,
		body: '{"threadId":"a","runId":"b","messages":[{"id":"c","role":"user","content":"Hello there!"}]}'
	},
	mcp: { path: '/mcp', headers: MCP_TYPES, body: JSON.stringify(initialize('2025-11-25')) },
	a2a: {
		path: '/a2a',
		headers: JSON_TYPE,
		body: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"Hello there!"}]}}}'
	}
};

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

async function makeKey(app: App, scopes: ApiScope[]): Promise<{ id: string; key: string }> {
	const headers = { ...JSON_TYPE, ...bearer(TOKEN) };
	const body = JSON.stringify({ name: 'fuzz', scopes });
	const response = await fetch(`${app.url}/api/keys`, { method: 'POST', headers, body });
	return (await response.json()) as { id: string; key: string };
}

type Sent = WireAnswer & { headers: Headers };

async function send(app: App, path: string, init: RequestInit): Promise<Sent> {
	const response = await fetch(app.url + path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
	const type = response.headers.get('content-type') ?? '';
	return { status: response.status, type, text: await response.text(), headers: response.headers };
}

async function openSession(app: App, key: string, version: string): Promise<Record<string, string>> {
	const headers = { ...MCP_TYPES, ...bearer(key) };
	const opened = await send(app, '/mcp', { method: 'POST', headers, body: JSON.stringify(initialize(version)) });
	expect(opened.status).toBe(200);
	const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': version };
	const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
	expect((await send(app, '/mcp', { method: 'POST', headers: { ...headers, ...session }, body })).status).toBe(202);
	return session;
}

/** Creates one of each object, so requests find what they name. */
async function prepare(app: App, key: string): Promise<Known> {
	const post = (protocol: Protocol): Promise<Sent> => {
		const { path, headers, body } = ENTRY[protocol];
		return send(app, path, { method: 'POST', headers: { ...headers, ...bearer(key) }, body });
	};
	const response = JSON.parse((await post('responses')).text) as { id: string };
	const { result: task } = JSON.parse((await post('a2a')).text) as { result: { id: string; contextId: string } };
	expect((await post('agui')).status).toBe(202);
	const versions = ['2025-11-25', '2025-06-18', '2025-03-26'];
	return {
		sessions: await Promise.all(versions.map((version) => openSession(app, key, version))),
		...{ responseId: response.id, taskId: task.id, contextId: task.contextId, threadId: 'a' }
	};
}

/** Describes each request that wasn't answered as its protocol requires. */
async function storm(app: App, key: string, requests: readonly ProtocolRequest[]): Promise<string[]> {
	const problems: string[] = [];
	const waiting = [...requests];
	const work = async (): Promise<void> => {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			const { name, protocol, method, path, headers, body } = next;
			const init = { method, headers: { ...headers, ...bearer(key) }, ...(body === undefined ? {} : { body }) };
			const answer = await send(app, path, init).catch((error: unknown) => String(error));
			const problem = typeof answer === 'string' ? answer : problemOf(protocol, answer, idOf(body));
			if (problem === null) continue;
			const told = typeof answer === 'string' ? '' : `${answer.status} ${answer.text.slice(0, 300)}`;
			problems.push(`FUZZ_SEED=${SEED} ${name}: ${problem} → ${told}`);
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return problems;
}

/** The server's resident memory in megabytes; null if unknown. */
function memoryOf(app: App): number | null {
	const path = `/proc/${app.pid()}/status`;
	if (!existsSync(path)) return null;
	return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(path, 'utf8'))?.[1]) / 1024;
}

async function answerTo(app: App, key: string, content: object[]): Promise<string> {
	const body = JSON.stringify({ input: [{ role: 'user', content }] });
	const { text } = await send(app, '/v1/responses', {
		...{ method: 'POST', headers: { ...JSON_TYPE, ...bearer(key) } },
		body
	});
	const { output } = JSON.parse(text) as { output: { type: string; content: { text: string }[] }[] };
	return output.flatMap((item) => (item.type === 'message' ? item.content.map((part) => part.text) : [])).join('');
}

/** It's the same process and still works, nothing secret leaked, and no earlier work is still running. */
async function expectWell(app: App, key: string): Promise<void> {
	const say = (text: string) => ({ type: 'input_text', text });
	const file = {
		...{ type: 'input_file', filename: SALES.name },
		file_data: `data:text/csv;base64,${Buffer.from(SALES.text).toString('base64')}`
	};
	expect(await answerTo(app, key, [say(COUNT_WORDS)])).toMatch(FIVE_WORDS);
	expect(missingSums(await answerTo(app, key, [file, say(SUMMARISE)]))).toEqual([]);
	expect((await send(app, '/api/health', { headers: bearer(TOKEN) })).status).toBe(200);
	for (const status of ['pending', 'running']) {
		await expect
			.poll(async () => {
				const { text } = await send(app, `/api/skills/executions?status=${status}`, { headers: bearer(TOKEN) });
				return (JSON.parse(text) as SkillExecutionList).total;
			})
			.toBe(0);
	}
	await expect.poll(() => processesWith(WAITS)).toEqual([]);
	expect(app.logs.filter((line) => /^\s+at |Error:|"level":"error"/.test(line))).toEqual([]);
	expect(app.logs.filter((line) => line.startsWith('Listening on'))).toHaveLength(1);
	expect(({} as { isAdmin?: true }).isAdmin).toBeUndefined();
}

test('E15, E16, F12, F13: no faulty request gets more than an error of its protocol, and no memory is lost', async ({
	app
}) => {
	const { key } = await makeKey(app, ['read', 'write', 'execute']);
	const known = await prepare(app, key);
	const stormOf = (seed: number): Promise<string[]> =>
		storm(app, key, fuzzedRequests(templates(known), seed, REQUESTS_EACH));
	expect(await stormOf(SEED)).toEqual([]);
	const before = memoryOf(app);
	expect(await stormOf(SEED + 1)).toEqual([]);
	const after = memoryOf(app);
	if (before !== null && after !== null) expect(after - before).toBeLessThan(MAX_GROWTH_MB);
	await expectWell(app, key);
});

test('E15, E16, F12, F13: what is wrong is named by the code that its protocol has for it', async ({ app }) => {
	const { key } = await makeKey(app, ['read', 'execute']);
	const other = await makeKey(app, ['read', 'execute']);
	const session = await openSession(app, key, '2025-11-25');
	const ended = await openSession(app, key, '2025-11-25');
	const remove = { method: 'DELETE', headers: { ...ended, ...bearer(key) } };
	expect((await send(app, '/mcp', remove)).status).toBe(200);
	const foreign = await openSession(app, other.key, '2025-11-25');
	const rpc = (more: object): string => JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list', ...more });
	const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
	type Case = [string, Protocol, { headers?: Record<string, string>; body: string }, number, unknown];
	const cases: Case[] = [
		['half JSON', 'mcp', { body: '{"id":7' }, 400, { id: null, error: { code: -32_700 } }],
		['another JSON-RPC', 'mcp', { body: rpc({ jsonrpc: '1.0' }) }, 400, { id: 7, error: { code: -32_600 } }],
		[
			'an id beyond what is exact',
			'mcp',
			{ body: rpc({}).replace('7', '9007199254740993') },
			400,
			{ error: { code: -32_600 } }
		],
		['no session', 'mcp', { body: rpc({}) }, 400, { id: 7, error: { code: -32_000 } }],
		['a session that is over', 'mcp', { headers: ended, body: rpc({}) }, 404, { id: 7, error: { code: -32_001 } }],
		['another key’s session', 'mcp', { headers: foreign, body: rpc({}) }, 404, { id: 7, error: { code: -32_001 } }],
		['a batch', 'mcp', { headers: session, body: `[${rpc({})},${rpc({ id: 8 })}]` }, 400, { error: { code: -32_600 } }],
		[
			'an unknown method',
			'mcp',
			{ headers: session, body: rpc({ method: '__proto__' }) },
			200,
			{ id: 7, error: { code: -32_601 } }
		],
		[
			'a version that is none',
			'mcp',
			{ headers: { ...session, 'mcp-protocol-version': '1' }, body: rpc({}) },
			400,
			{ error: { code: -32_000 } }
		],
		[
			'no stream wanted',
			'mcp',
			{ headers: { ...session, accept: 'text/html' }, body: rpc({}) },
			406,
			{ error: { code: -32_000 } }
		],
		[
			'plain text',
			'mcp',
			{ headers: { 'content-type': 'text/plain' }, body: rpc({}) },
			415,
			{ error: { code: -32_000 } }
		],
		['4 MB', 'mcp', { body: `"${'x'.repeat(4 * MB)}"` }, 413, { error: { code: -32_000 } }],
		['half JSON', 'a2a', { body: '{"id":7' }, 200, { id: null, error: { code: -32_700 } }],
		['another JSON-RPC', 'a2a', { body: rpc({ jsonrpc: '1.0' }) }, 200, { id: 7, error: { code: -32_600 } }],
		['a batch', 'a2a', { body: `[${rpc({})}]` }, 200, { id: null, error: { code: -32_600 } }],
		['an unknown method', 'a2a', { body: rpc({ method: 'constructor' }) }, 200, { id: 7, error: { code: -32_601 } }],
		['no params', 'a2a', { body: rpc({ method: 'GetTask' }) }, 200, { id: 7, error: { code: -32_602 } }],
		[
			'Task not found',
			'a2a',
			{ body: rpc({ method: 'GetTask', params: { id: 'x' } }) },
			200,
			{ id: 7, error: { code: -32_001 } }
		],
		[
			'a version that is none',
			'a2a',
			{ headers: { 'a2a-version': '9.9' }, body: rpc({ method: 'GetTask', params: { id: 'x' } }) },
			200,
			{ id: 7, error: { code: -32_009 } }
		],
		[
			'plain text',
			'a2a',
			{ headers: { 'content-type': 'text/plain' }, body: rpc({}) },
			415,
			{ error: { code: -32_005 } }
		],
		['24 MB', 'a2a', { body: `"${'x'.repeat(24 * MB)}"` }, 200, { id: null, error: { code: -32_600 } }],
		['half JSON', 'responses', { body: '{"input":' }, 400, { error: { type: 'invalid_request_error' } }],
		['deep JSON', 'responses', { body: deep }, 400, { error: { code: 'invalid_value' } }],
		[
			'no such response',
			'responses',
			{ body: '{"input":"x","previous_response_id":"resp_x"}' },
			400,
			{ error: { code: 'previous_response_not_found' } }
		],
		[
			'plain text',
			'responses',
			{ headers: { 'content-type': 'text/plain' }, body: '{}' },
			415,
			{ error: { type: 'invalid_request_error' } }
		],
		['48 MB', 'responses', { body: `"${'x'.repeat(48 * MB)}"` }, 413, { error: { code: 'too_large' } }],
		['half JSON', 'chat', { body: '{"messages":' }, 400, { error: { type: 'invalid_request_error' } }],
		['deep JSON', 'chat', { body: deep }, 400, { error: { code: 'invalid_value' } }],
		[
			'two answers',
			'chat',
			{ body: '{"messages":[{"role":"user","content":"x"}],"n":2}' },
			400,
			{ error: { param: 'n' } }
		],
		['48 MB', 'chat', { body: `"${'x'.repeat(48 * MB)}"` }, 413, { error: { code: 'too_large' } }],
		['half JSON', 'agui', { body: '{"threadId":' }, 400, { error: { code: 'invalid_input' } }],
		['deep JSON', 'agui', { body: deep }, 400, { error: { code: 'invalid_input' } }],
		[
			'plain text',
			'agui',
			{ headers: { 'content-type': 'text/plain' }, body: '{}' },
			415,
			{ error: { code: 'unsupported_media_type' } }
		],
		['10 MB', 'agui', { body: `"${'x'.repeat(10 * MB)}"` }, 413, { error: { code: 'too_large' } }]
	];
	for (const [what, protocol, { headers = {}, body }, status, expected] of cases) {
		const { path, headers: usual } = ENTRY[protocol];
		const answer = await send(app, path, { method: 'POST', headers: { ...usual, ...bearer(key), ...headers }, body });
		const [parsed] = answer.type.startsWith('text/event-stream') ? framesOf(answer.text) : [JSON.parse(answer.text)];
		expect([answer.status, parsed], `${protocol}: ${what}`).toMatchObject([status, expected]);
		expect(problemOf(protocol, answer), `${protocol}: ${what}`).toBeNull();
	}
	for (const protocol of PROTOCOLS) {
		const { path, headers } = ENTRY[protocol];
		const answer = await send(app, path, { method: 'PUT', headers: { ...headers, ...bearer(key) }, body: '{}' });
		expect(problemOf(protocol, answer), `PUT ${path}`).toBeNull();
		expect([403, 405]).toContain(answer.status);
	}
	await expectWell(app, key);
});

test('E18: a wrong key, one that was revoked and one that lacks a scope are refused in each protocol’s words', async ({
	app
}) => {
	const revoked = await makeKey(app, ['read', 'execute']);
	const removed = await fetch(`${app.url}/api/keys/${revoked.id}`, { method: 'DELETE', headers: bearer(TOKEN) });
	expect(removed.ok).toBe(true);
	const writer = await makeKey(app, ['write']);
	const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
	for (const protocol of PROTOCOLS) {
		const { path, headers, body } = ENTRY[protocol];
		const post = async (proof: Record<string, string>): Promise<number> => {
			const answer = await send(app, path, { method: 'POST', headers: { ...headers, ...proof }, body });
			expect(problemOf(protocol, answer), protocol).toBeNull();
			if (answer.status === 401) expect(answer.headers.get('www-authenticate'), protocol).toBe('Bearer');
			return answer.status;
		};
		expect(await post({}), protocol).toBe(401);
		expect(await post({ ...bearer('ors_wrong'), ...from('10.0.0.1') }), protocol).toBe(401);
		expect(await post({ ...bearer(revoked.key), ...from('10.0.0.2') }), protocol).toBe(401);
		expect(await post(bearer(writer.key)), protocol).toBe(403);
		// Too many failed keys: the client is told to wait.
		const guesses = Array.from({ length: 12 }, () =>
			post({ ...bearer('ors_wrong'), ...from(`10.0.1.${PROTOCOLS.indexOf(protocol)}`) })
		);
		expect(await Promise.all(guesses), protocol).toContain(429);
	}
	const reader = await makeKey(app, ['read']);
	const session = await openSession(app, reader.key, '2025-11-25');
	const called = await send(app, '/mcp', {
		...{ method: 'POST', headers: { ...MCP_TYPES, ...session, ...bearer(reader.key) } },
		body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_words","arguments":{"text":"x"}}}'
	});
	expect(framesOf(called.text).at(-1)).toMatchObject({ id: 1, result: { isError: true } });
	const { key } = await makeKey(app, ['read', 'execute']);
	await expectWell(app, key);
});

test('E15, E16, F12, F13: half requests wait for nobody, and who leaves in the middle leaves no script behind', async ({
	app
}) => {
	const { key } = await makeKey(app, ['read', 'execute']);
	await mkdir(join(app.skillsDir, 'lighthouse/scripts'), { recursive: true });
	const skill =
		'---\nname: lighthouse\ndescription: Waits for the lighthouse to blink.\n---\nWait for it:\n\n```\nscripts/blink.sh\n```\n';
	await writeFile(join(app.skillsDir, 'lighthouse/SKILL.md'), skill);
	await writeFile(join(app.skillsDir, 'lighthouse/scripts/blink.sh'), `exec ${WAITS}\n`);
	const reload = { method: 'POST', headers: { ...JSON_TYPE, ...bearer(TOKEN) }, body: '{}' };
	expect((await send(app, '/api/skills/reload', reload)).status).toBe(200);

	const half = await Promise.all(
		PROTOCOLS.flatMap((protocol) => {
			const { path, headers, body } = ENTRY[protocol];
			const head = (more: Record<string, string>): string => postHead(path, { ...headers, ...bearer(key), ...more });
			const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
			return [
				beginRequest(app.url, head({ 'content-length': String(body.length + 1) }) + body),
				beginRequest(app.url, head({ 'transfer-encoding': 'chunked' }) + chunk),
				beginRequest(app.url, head({ 'transfer-encoding': 'chunked' }) + chunk.slice(0, -9))
			];
		})
	);
	await expectWell(app, key);
	expect(half.map(({ received }) => received())).toEqual(half.map(() => ''));
	for (const { socket } of half) socket.destroy();

	for (const protocol of PROTOCOLS) {
		const { path, headers, body } = ENTRY[protocol];
		const head = postHead(path, { ...headers, ...bearer(key), 'transfer-encoding': 'chunked' });
		const text = await exchange(app.url, { bytes: Buffer.from(`${head}zz\r\n${body}`), isCut: false });
		expect(text === '' ? '400' : /^HTTP\/1\.1 (\d+)/.exec(text)?.[1], protocol).toBe('400');
	}

	const WAIT = 'Wait for the lighthouse to blink';
	const use = { name: 'use_skill', arguments: { skill: 'lighthouse', script: 'scripts/blink.sh' } };
	const waiting: Record<Exclude<Protocol, 'a2a'>, object> = {
		responses: { input: WAIT, stream: true },
		chat: { messages: [{ role: 'user', content: WAIT }], stream: true },
		agui: {
			...{ threadId: 'leaves', runId: 'leaves', messages: [{ id: 'leaves', role: 'user', content: WAIT }] },
			forwardedProps: { cancelOnDisconnect: true }
		},
		mcp: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: use }
	};
	for (const [protocol, asked] of Object.entries(waiting) as [Exclude<Protocol, 'a2a'>, object][]) {
		const { path, headers } = ENTRY[protocol];
		const session = protocol === 'mcp' ? await openSession(app, key, '2025-11-25') : {};
		const body = JSON.stringify(asked);
		const own = { ...headers, accept: 'application/json, text/event-stream', ...session, ...bearer(key) };
		const begun = await beginRequest(
			app.url,
			postHead(path, { ...own, 'content-length': String(Buffer.byteLength(body)) }) + body
		);
		await expect.poll(() => processesWith(WAITS), { message: protocol }).not.toEqual([]);
		begun.socket.destroy();
		// In MCP versions with sessions, a client may reconnect after a broken connection, but not after the session ended.
		if (protocol === 'mcp') await send(app, '/mcp', { method: 'DELETE', headers: { ...session, ...bearer(key) } });
		await expect.poll(() => processesWith(WAITS), { message: protocol }).toEqual([]);
	}
	// A task continues without its client until someone cancels it.
	const call = async (method: string, params: object): Promise<string> => {
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
		const { text } = await send(app, '/a2a', { method: 'POST', headers: { ...JSON_TYPE, ...bearer(key) }, body });
		return (JSON.parse(text) as { result: { id: string } }).result.id;
	};
	const message = { messageId: 'leaves', role: 'user', parts: [{ kind: 'text', text: WAIT }] };
	const id = await call('message/send', { message, configuration: { blocking: false } });
	await expect.poll(() => processesWith(WAITS)).not.toEqual([]);
	expect(await call('tasks/cancel', { id })).toBe(id);
	await expect.poll(() => processesWith(WAITS)).toEqual([]);
	await expectWell(app, key);
});
