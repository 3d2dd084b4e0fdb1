import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { API_SCOPES, type ApiScope } from '../../shared/names.ts';
import { checkRoute, checkScope, isOwn, isProgramRoute, MANAGER, type Caller } from './caller.ts';

/** What a key needs for what; whatever else there is in the server is not for keys. */
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
	['read', 'GET', '/v1/models'],
	['read', 'GET', '/v1/models/[...id]'],
	['execute', 'POST', '/v1/responses'],
	['execute', 'POST', '/v1/responses/compact'],
	['read', 'GET', '/v1/responses/[id]'],
	['execute', 'DELETE', '/v1/responses/[id]'],
	['execute', 'POST', '/a2a'],
	['read', 'GET', '/mcp'],
	['read', 'POST', '/mcp'],
	['read', 'DELETE', '/mcp']
];

const METHODS = [
	'GET',
	'HEAD',
	'POST',
	'PUT',
	'PATCH',
	'DELETE',
	'OPTIONS',
	'TRACE',
	'get',
	'constructor',
	'__proto__'
];

const callerWith = (...scopes: ApiScope[]): Caller => ({ apiKeyId: 'key_1', scopes });

/** `may`, or the code of the error. */
function outcome(check: () => void): string {
	try {
		check();
		return 'may';
	} catch (error) {
		return (error as { code: string }).code;
	}
}

/** Ids of every route there is, pages too, as Kit forms them from folders. */
function everyRoute(): string[] {
	const root = join(import.meta.dirname, '../../../routes');
	const files = globSync('**/{+server.ts,+page.svelte}', { cwd: root });
	return [
		...new Set(files.map((file) => `/${dirname(file)}`.replace('/.', '/').replaceAll(/\/\([^)]+\)/g, '') || '/'))
	];
}

describe('F12: what a key may do', () => {
	test.each(OPEN)('F12: with “%s”, and with no other scope, a key may %s %s', (needed, method, route) => {
		for (const scope of API_SCOPES) {
			const expected = scope === needed ? 'may' : 'forbidden';
			expect(
				outcome(() => checkRoute(callerWith(scope), route, method)),
				scope
			).toBe(expected);
		}
		expect(outcome(() => checkRoute(callerWith(...API_SCOPES), route, method))).toBe('may');
		expect(outcome(() => checkRoute(callerWith(), route, method))).toBe('forbidden');
		expect(outcome(() => checkRoute(MANAGER, route, method))).toBe('may');
	});

	test('F12: of all routes there are, a key with every scope may use these alone', () => {
		const all = everyRoute();
		expect(all.length).toBeGreaterThan(60);
		expect(all).toEqual(expect.arrayContaining(['/', '/settings', '/api/keys', '/api/keys/[id]', '/api/settings']));
		const may = all.flatMap((route) =>
			METHODS.filter((method) => outcome(() => checkRoute(callerWith(...API_SCOPES), route, method)) === 'may').map(
				(method) => `${method} ${route}`
			)
		);
		const open = OPEN.filter(([, , route]) => all.includes(route)).flatMap(([, method, route]) =>
			method === 'GET' ? [`GET ${route}`, `HEAD ${route}`] : [`${method} ${route}`]
		);
		expect(may.sort()).toEqual(open.sort());
	});

	test('F12: no key makes, lists, renames or revokes keys, whatever its scopes', () => {
		for (const [route, methods] of [
			['/api/keys', ['GET', 'POST']],
			['/api/keys/[id]', ['PATCH', 'DELETE']]
		] as const) {
			for (const method of methods) {
				expect(outcome(() => checkRoute(callerWith(...API_SCOPES), route, method))).toBe('forbidden');
				expect(outcome(() => checkRoute(MANAGER, route, method))).toBe('may');
			}
		}
	});

	test('F12: what is no route is refused to a key as well, however it is called', () => {
		for (const route of [null, '', 'constructor', '__proto__', 'toString', '/API/health', '/api/health/', '/api']) {
			for (const method of METHODS) {
				expect(
					outcome(() => checkRoute(callerWith(...API_SCOPES), route, method)),
					`${route}`
				).toBe('forbidden');
			}
		}
	});

	test('F12: a refusal says which scope is missing, and where to make a key that has it', () => {
		expect(() => checkScope(callerWith('read'), 'execute')).toThrow(
			expect.objectContaining({
				code: 'forbidden',
				message: 'This API key may not do this: it lacks the scope “execute”.',
				hint: 'Make a key with this scope on the page Connect.'
			})
		);
		expect(outcome(() => checkScope(callerWith('execute'), 'execute'))).toBe('may');
		expect(outcome(() => checkScope(MANAGER, 'write'))).toBe('may');
	});

	test('E18: a key sees what was made under it and nothing else; whoever manages the server sees all', () => {
		const caller = callerWith('read');
		expect([isOwn(caller, 'key_1'), isOwn(caller, 'key_2'), isOwn(caller, null)]).toEqual([true, false, false]);
		expect([isOwn(MANAGER, 'key_1'), isOwn(MANAGER, null)]).toEqual([true, true]);
	});

	test('routes of programs are told from pages by their first segment', () => {
		for (const route of ['/api', '/api/keys', '/v1/responses', '/mcp', '/a2a', '/.well-known/agent-card.json']) {
			expect(isProgramRoute(route), route).toBe(true);
		}
		for (const route of ['/', '/docs/api', '/apis', '/mcps', '/connect', '/v10', '/c/api']) {
			expect(isProgramRoute(route), route).toBe(false);
		}
	});
});

test('F12: every route that keys may use is a route, or one that a protocol serves without Kit', () => {
	const routes = everyRoute();
	for (const [, , route] of OPEN.filter(([, , each]) => each.startsWith('/api/'))) expect(routes).toContain(route);
	expect(readFileSync(join(import.meta.dirname, 'caller.ts'), 'utf8').match(/^\t'\/.*': \{/gm)).toHaveLength(
		new Set(OPEN.map(([, , route]) => route)).size
	);
});
