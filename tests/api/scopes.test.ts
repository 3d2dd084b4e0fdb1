/** Who may use which endpoint: each endpoint declares it, and this file has the expected result (F12, E18). */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isProgramRoute, MANAGER, type Caller } from '../../src/lib/server/access/caller.ts';
import { AppError } from '../../src/lib/shared/errors.ts';
import { API_SCOPES, type ApiScope } from '../../src/lib/shared/names.ts';
import { EVERY_ENDPOINT, endpointAt, ROUTE_MODULES } from '../support/endpoints.ts';

/** The scope each endpoint needs; keys can't use any other. */
const OPEN: readonly [scope: ApiScope, method: string, route: string][] = [
	['read', 'GET', '/api/health'],
	['read', 'GET', '/api/agent/capabilities'],
	['read', 'GET', '/api/skills'],
	['read', 'GET', '/api/skills/executions'],
	['execute', 'POST', '/api/skills/executions'],
	['execute', 'POST', '/api/chat'],
	['read', 'GET', '/api/runs/[id]'],
	['execute', 'DELETE', '/api/runs/[id]'],
	['read', 'GET', '/api/runs/[id]/events'],
	['read', 'GET', '/api/conversations/[id]/files'],
	['read', 'GET', '/api/conversations/[id]/files/[...path]'],
	['execute', 'PUT', '/api/conversations/[id]/files/[...path]'],
	['execute', 'DELETE', '/api/conversations/[id]/files/[...path]'],
	['execute', 'POST', '/api/conversations/[id]/files/[...path]'],
	['read', 'GET', '/v1/models'],
	['read', 'GET', '/v1/models/[...id]'],
	['execute', 'POST', '/v1/chat/completions'],
	['execute', 'POST', '/v1/responses'],
	['execute', 'POST', '/v1/responses/compact'],
	['read', 'GET', '/v1/responses/[id]'],
	['execute', 'DELETE', '/v1/responses/[id]'],
	['execute', 'POST', '/v1/responses/[id]/cancel'],
	['read', 'GET', '/v1/responses/[id]/input_items'],
	['execute', 'POST', '/v1/responses/input_tokens'],
	['execute', 'POST', '/v1/conversations'],
	['read', 'GET', '/v1/conversations/[id]'],
	['execute', 'POST', '/v1/conversations/[id]'],
	['execute', 'DELETE', '/v1/conversations/[id]'],
	['read', 'GET', '/v1/conversations/[id]/items'],
	['execute', 'POST', '/v1/conversations/[id]/items'],
	['read', 'GET', '/v1/conversations/[id]/items/[item]'],
	['execute', 'DELETE', '/v1/conversations/[id]/items/[item]'],
	['execute', 'POST', '/v1/files'],
	['read', 'GET', '/v1/files'],
	['read', 'GET', '/v1/files/[id]'],
	['execute', 'DELETE', '/v1/files/[id]'],
	['read', 'GET', '/v1/files/[id]/content'],
	['execute', 'POST', '/a2a'],
	['read', 'GET', '/mcp'],
	['read', 'POST', '/mcp'],
	['read', 'DELETE', '/mcp']
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const callerWith = (...scopes: ApiScope[]): Caller => ({ apiKeyId: 'key_1', scopes });

/** An app that reports when it's used, which means the caller was let in. */
const app = new Proxy(
	{},
	{
		get() {
			throw new AppError('conflict', 'The handler was reached.');
		}
	}
);

/** `may` if the handler runs or its body is read; otherwise `forbidden`. */
async function outcome(caller: Caller, route: string, method: string): Promise<'may' | 'forbidden' | 'no endpoint'> {
	const handler = endpointAt(route, method);
	if (!handler) return 'no endpoint';
	const url = new URL(`http://127.0.0.1${route.replaceAll(/\[(?:\.\.\.)?\w+\]/g, 'x')}`);
	const request = new Request(url, { method });
	const cookies = { get: () => undefined };
	const params = { id: 'x', name: 'x', path: 'x', case: 'x', run: 'x', message: 'x', interrupt: 'x' };
	const event = { url, request, params, cookies, locals: { app, caller }, route: { id: route } };
	return (await handler(event as never)).status === 403 ? 'forbidden' : 'may';
}

describe('F12: what a key may do', () => {
	test.each(OPEN)('F12: with “%s”, and with no other scope, a key may %s %s', async (needed, method, route) => {
		for (const scope of API_SCOPES) {
			expect(await outcome(callerWith(scope), route, method), scope).toBe(scope === needed ? 'may' : 'forbidden');
		}
		expect(await outcome(callerWith(...API_SCOPES), route, method)).toBe('may');
		expect(await outcome(callerWith(), route, method)).toBe('forbidden');
		expect(await outcome(MANAGER, route, method)).toBe('may');
	});

	test('F12: of all endpoints there are, a key with every scope may use these alone', async () => {
		const may: string[] = [];
		for (const route of Object.keys(ROUTE_MODULES)) {
			for (const method of METHODS) {
				if ((await outcome(callerWith(...API_SCOPES), route, method)) === 'may') may.push(`${method} ${route}`);
			}
		}
		const open = OPEN.map(([, method, route]) => `${method} ${route}`);
		expect(may.sort()).toEqual(open.sort());
	});

	test('F12: no key makes, lists, renames or revokes keys, or changes and sees MCP servers, whatever its scopes', async () => {
		for (const [route, methods] of [
			['/api/keys', ['GET', 'POST']],
			['/api/keys/[id]', ['PATCH', 'DELETE']],
			['/api/mcp-registry', ['GET']],
			['/api/mcp-servers', ['GET']],
			['/api/mcp-servers/[name]', ['GET', 'PUT', 'DELETE']],
			['/api/mcp-servers/[name]/reconnect', ['POST']],
			['/api/mcp-servers/[name]/sign-in', ['POST', 'DELETE']],
			['/api/mcp-servers/[name]/sign-in/complete', ['POST']]
		] as const) {
			for (const method of methods) {
				expect(await outcome(callerWith(...API_SCOPES), route, method)).toBe('forbidden');
				expect(await outcome(MANAGER, route, method)).toBe('may');
			}
		}
	});
});

test('DESIGN §5: every method of a route for programs is an endpoint, which says who may and what it answers', () => {
	const all = readdirSync(join(import.meta.dirname, '../../src/routes'), { recursive: true, encoding: 'utf8' });
	const files = all.filter((file) => basename(file) === '+server.ts');
	const routes = files.map((file) => `/${dirname(file)}`).filter((route) => !route.startsWith('/frames/'));
	expect(routes).toContain('/.well-known/agent-card.json');
	expect(routes.length).toBeGreaterThan(60);
	const missing = routes.flatMap((route) =>
		Object.keys(ROUTE_MODULES[route] ?? {})
			.filter((name) => !endpointAt(route, name))
			.map((name) => `${name} ${route}`)
	);
	expect(missing).toEqual([]);
	// Any key could open a page at these paths.
	const pages = all.filter((file) => basename(file).startsWith('+page') && isProgramRoute(`/${file}`));
	expect(pages).toEqual([]);
	expect(new Set(EVERY_ENDPOINT.map(({ path }) => path)).size).toBe(routes.length);
	const known = readFileSync(join(import.meta.dirname, '../../src/routes/endpoints.ts'), 'utf8').matchAll(
		/^\t'(.*)': typeof/gm
	);
	expect([...known].map(([, route]) => route)).toEqual(routes.filter((route) => route.startsWith('/api/')).toSorted());
});
