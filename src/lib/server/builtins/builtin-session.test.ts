import { describe, expect, test } from 'vitest';
import { sharedFolder } from '../../../../tests/support/folder.ts';
import { builtinNameOf, BUILTIN_NAMES } from '../../shared/names.ts';
import { createSafeFetch } from '../network/safe-fetch.ts';
import { createProcessSandbox } from '../sandbox/process.ts';
import { DEFAULT_LIMITS } from '../sandbox/sandbox.ts';
import type { ExecutionEnd, ExecutionStart } from '../skills/run/execution-host.ts';
import type { SkillEvent } from '../skills/types.ts';
import { createBuiltinCalls, type BuiltinMode, createBuiltinSession, createBuiltins } from './builtins.ts';

const cwd = sharedFolder();

const builtins = createBuiltins({
	sandbox: createProcessSandbox(),
	limits: DEFAULT_LIMITS,
	settings: {
		timeoutMs: 10_000,
		maxOutputChars: 1000,
		maxFileBytes: 1000,
		maxHttpBytes: 1000,
		searchUrl: 'http://127.0.0.1:1/',
		hasBrowser: false
	},
	network: null,
	fetch: createSafeFetch(),
	operatorFetch: createSafeFetch({ isAllowed: () => true }),
	openNetwork: () => Promise.reject(new Error('not needed'))
});

interface Given {
	modes?: Record<string, BuiltinMode>;
	isEnabled?: boolean;
	approvals?: 'ask' | 'auto';
}

function open({ modes = {}, isEnabled = true, approvals = 'auto' }: Given = {}) {
	const records: (ExecutionStart | ExecutionEnd)[] = [];
	const events: SkillEvent[] = [];
	const modeOf = (skillId: string) => modes[skillId] ?? 'auto';
	const calls = createBuiltinCalls({
		builtins,
		modeOf,
		isEnabled: () => isEnabled,
		timeoutMs: 10_000,
		recorder: {
			started: async (start) => void records.push(start),
			running: async () => undefined,
			finished: async (_, end) => void records.push(end)
		}
	});
	const session = createBuiltinSession(calls, { modeOf, approvals });
	const call = async (name: string, args: Record<string, unknown>) => {
		const context = { cwd, signal: new AbortController().signal, onEvent: (event: SkillEvent) => events.push(event) };
		const { ok, output } = await session.call(name, args, { ...context, caller: { conversationId: 'c1' } });
		return { ok, read: JSON.parse(output) as Record<string, unknown> };
	};
	return { session, call, records, events, names: () => session.tools().map(({ name }) => name) };
}

test('the names are those of the built-in skills, in their order, each with a schema that allows nothing else', () => {
	expect(builtins.map(({ name }) => name)).toEqual([...BUILTIN_NAMES]);
	for (const { parameters } of builtins)
		expect(parameters).toMatchObject({ type: 'object', additionalProperties: false });
});

test.each([
	['web_search', 'web_search'],
	['omniroute_web_search', 'web_search'],
	['omniroute_file_read@1.0.0', 'file_read'],
	['omniroute_skills_list', null],
	['constructor', null]
])('aliases: %s is %s', (name, expected) => expect(builtinNameOf(name)).toBe(expected));

describe('modes, as of other skills', () => {
	test('all but those that are off are offered from the first message, so that the list of tools never changes', () => {
		expect(open().names()).toEqual(['file_read', 'file_write', 'http_request', 'web_search']);
		const modes = { 'builtin/file_read': 'on', 'builtin/web_search': 'off' } as const;
		expect(open({ modes }).names()).toEqual(['file_read', 'file_write', 'http_request']);
	});
	test('what is not available is not offered, whatever its mode; a call says why', async () => {
		const { names, call } = open({ modes: { 'builtin/browser': 'on', 'builtin/eval_code': 'on' } });
		expect(names()).not.toContain('browser');
		expect(names()).not.toContain('eval_code');
		expect(await call('browser', { action: 'text' })).toMatchObject({
			ok: false,
			read: { ok: false, error: 'SkillDisabled', message: expect.stringContaining('SKILLS_BROWSER_ENABLED') }
		});
	});
	test('a call of one that is off does nothing, and says so; none runs when all are switched off (E11)', async () => {
		const off = open({ modes: { 'builtin/file_write': 'off' } });
		expect(await off.call('file_write', { path: 'b.txt', content: 'x' })).toMatchObject({
			ok: false,
			read: { error: 'SkillDisabled' }
		});
		expect(off.records).toEqual([]);
		expect(await open({ isEnabled: false }).call('file_write', { path: 'b.txt', content: 'x' })).toMatchObject({
			read: { error: 'SkillsDisabled' }
		});
		expect(await open().call('file_read', { path: 'b.txt' })).toMatchObject({ read: { error: 'FileNotFound' } });
	});
});

describe('E13: each call is recorded and shown', () => {
	test('from its start to its end', async () => {
		const { call, records, events } = open();
		expect(await call('omniroute_file_write', { path: 'c.txt', content: 'hello' })).toEqual({
			ok: true,
			read: { ok: true, path: 'c.txt', bytes: 5 }
		});
		expect(records).toMatchObject([
			{
				skillId: 'builtin/file_write',
				tool: 'file_write',
				input: '{"path":"c.txt","content":"hello"}',
				sandbox: 'direct',
				caller: { conversationId: 'c1' }
			},
			{ status: 'success', files: [{ path: 'c.txt', bytes: 5 }], output: '{"ok":true,"path":"c.txt","bytes":5}' }
		]);
		expect(events).toMatchObject([
			{ type: 'started', skill: 'file_write', sandbox: 'direct' },
			{ type: 'finished', files: [{ path: 'c.txt', bytes: 5 }] }
		]);
	});
	test('a failure with its type and its sentence', async () => {
		const { call, records } = open();
		await call('file_read', { path: '../x' });
		expect(records[1]).toMatchObject({ status: 'error', errorType: 'InvalidArgs', message: expect.any(String) });
	});
});

describe('approval', () => {
	test('where scripts are asked about, so is what reaches out; the answer counts for these arguments alone', () => {
		const { session } = open({ approvals: 'ask' });
		const asked = session.approval('http_request', { url: 'https://a.example' }, null);
		expect(asked).toMatchObject({ skill: 'http_request', args: ['{"url":"https://a.example"}'] });
		const earlier = { ...asked!, decision: { choice: 'once' as const, interruptId: asked!.interruptId } };
		expect(session.approval('http_request', { url: 'https://a.example' }, earlier as never)).toBeNull();
		expect(session.approval('http_request', { url: 'https://b.example' }, earlier as never)).not.toBeNull();
		const denied = { ...earlier, decision: { choice: 'deny' } };
		expect(session.approval('http_request', { url: 'https://a.example' }, denied as never)).not.toBeNull();
		expect(session.approval('file_read', { path: 'a' }, null)).toBeNull();
	});
	test('where they are not, nothing is', () => {
		expect(open().session.approval('http_request', { url: 'https://a.example' }, null)).toBeNull();
	});
});
