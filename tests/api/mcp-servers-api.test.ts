/** The MCP server endpoints, with a real MCP server. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import type { Endpoint } from '../../src/lib/server/endpoint.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { McpServer, McpServerList } from '../../src/lib/shared/mcp-servers.ts';
import * as all from '../../src/routes/api/mcp-servers/+server.ts';
import * as one from '../../src/routes/api/mcp-servers/[name]/+server.ts';
import * as again from '../../src/routes/api/mcp-servers/[name]/reconnect/+server.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { checkedAnswer } from '../support/checked-answer.ts';
import { startFixtureHttp, type FixtureHttpServer } from '../support/mcp-fixture.ts';

const root = emptyFolder();
let app: App;
let fixture: FixtureHttpServer;

beforeEach(async () => {
	app = await createApp(loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') }));
	fixture = await startFixtureHttp();
});
afterEach(async () => {
	await app.close();
	await fixture.stop();
});

async function ask(handler: unknown, name = '', body?: unknown): Promise<{ status: number; body: unknown }> {
	const url = new URL('http://localhost/api/mcp-servers');
	const request = new Request(url, {
		...(body === undefined
			? {}
			: { method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
	});
	const event = { url, request, params: { name }, locals: { app, caller: MANAGER } };
	const response = await checkedAnswer(handler, await (handler as (given: typeof event) => Promise<Response>)(event));
	const text = await response.text();
	return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}
const list = async () => ((await ask(all.GET)).body as McpServerList).data;

test('E36: a server is added, listed with its tools, reconnected, switched off and removed; no value comes back', async () => {
	const transport = { type: 'http', url: fixture.url, headers: { 'X-Key': 'secret-value' } };
	const added = await ask(one.PUT, 'demo', { transport });
	expect(added.status).toBe(200);
	expect(added.body).toMatchObject({
		...{ name: 'demo', approval: 'ask', isEnabled: true },
		transport: { type: 'http', url: fixture.url, headers: ['X-Key'] }
	});
	await expect.poll(async () => (await list())[0]?.status.state).toBe('connected');
	const found = (await ask(one.GET, 'demo')).body as McpServer;
	expect(found.status.tools.map(({ name }) => name)).toContain('mcp__demo__add');
	expect(JSON.stringify(await list())).not.toContain('secret-value');
	expect((await ask(again.POST, 'demo')).body).toMatchObject({ status: { state: 'connecting' } });
	const off = await ask(one.PUT, 'demo', { transport: { ...transport, headers: { 'X-Key': null } }, isEnabled: false });
	expect(off.body).toMatchObject({ isEnabled: false, status: { state: 'off', tools: [] } });
	expect((await ask(again.POST, 'demo')).status).toBe(409);
	expect(await ask(one.DELETE, 'demo')).toEqual({ status: 200, body: { notRevoked: null } });
	expect(await list()).toEqual([]);
	expect((await ask(one.DELETE, 'demo')).status).toBe(404);
	expect((await ask(one.GET, 'demo')).status).toBe(404);
});

test.each([
	['Demo', { transport: { type: 'http', url: 'http://a/' } }],
	['a'.repeat(33), { transport: { type: 'http', url: 'http://a/' } }],
	['', { transport: { type: 'http', url: 'http://a/' } }],
	['a', {}],
	['a', { transport: { type: 'http', url: 'ftp://a/' } }],
	['a', { transport: { type: 'sse', url: 'http://a/' } }],
	['a', { transport: { type: 'stdio', command: '' } }],
	['a', { transport: { type: 'stdio', command: 'x', args: ['a\0b'] } }],
	['a', { transport: { type: 'stdio', command: 'x', cwd: 'relative' } }],
	['a', { transport: { type: 'stdio', command: 'x', env: { 'A=B': 'c' } } }],
	['a', { transport: { type: 'stdio', command: 'x', env: { A: null } } }],
	['a', { transport: { type: 'stdio', command: 'x' }, approval: 'never' }],
	['a', { transport: { type: 'stdio', command: 'x' }, more: 1 }],
	['a', []]
])('E36: %j with %j is refused, and nothing is stored or started', async (name, body) => {
	const { status, body: answer } = await ask(one.PUT, name, body);
	expect(status).toBe(400);
	expect(answer).toMatchObject({ error: { code: 'invalid_input' } });
	expect(await list()).toEqual([]);
});

test('SECURITY MCP servers: an API key changes and sees none of them', () => {
	const methods: Endpoint[] = [all.GET, one.GET, one.PUT, one.DELETE, again.POST].map(
		(each) => each as unknown as Endpoint
	);
	expect(methods.map(({ spec }) => spec.scope)).toEqual(methods.map(() => undefined));
});
