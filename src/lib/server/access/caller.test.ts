import { describe, expect, test } from 'vitest';
import { API_SCOPES, type ApiScope } from '../../shared/names.ts';
import { checkCaller, checkScope, isOwn, isProgramRoute, MANAGER, type Caller } from './caller.ts';

const callerWith = (...scopes: ApiScope[]): Caller => ({ apiKeyId: 'key_1', scopes });

/** `may`, or the error code. */
function outcome(check: () => void): string {
	try {
		check();
		return 'may';
	} catch (error) {
		return (error as { code: string }).code;
	}
}

describe('F12: what a key may do', () => {
	test('F12: what has a scope is for keys that have it; what has none is for whoever manages the server alone', () => {
		for (const scope of API_SCOPES) {
			expect(outcome(() => checkCaller(callerWith(scope), scope))).toBe('may');
			expect(outcome(() => checkCaller(callerWith(...API_SCOPES.filter((each) => each !== scope)), scope))).toBe(
				'forbidden'
			);
			expect(outcome(() => checkCaller(MANAGER, scope))).toBe('may');
		}
		expect(outcome(() => checkCaller(callerWith(...API_SCOPES), undefined))).toBe('forbidden');
		expect(outcome(() => checkCaller(MANAGER, undefined))).toBe('may');
	});

	test('F12: a refusal says which scope is missing, and where to make a key that has it', () => {
		expect(() => checkScope(callerWith('read'), 'execute')).toThrow(
			expect.objectContaining({
				code: 'forbidden',
				message: 'This API key can’t do this: it lacks the scope “execute”.',
				hint: 'Create a key with this scope on the Connect page.'
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
