import { expect, test } from 'vitest';
import { createProcessSandbox } from '../sandbox/process.ts';
import { createExecutor } from '../skills/executor.ts';
import { createSkillSession } from '../skills/call/session.ts';
import { skillOf } from '../skills/skill-of.suite.ts';
import { createSkillToolbox } from './toolbox.ts';

const callerTool = (name: string) => ({
	type: 'function' as const,
	name,
	description: 'Mine.',
	parameters: { type: 'object' }
});

function toolbox(...names: string[]) {
	const snapshot = { skills: [skillOf('demo')], shadowed: [], broken: [], revision: 'r' };
	const executor = createExecutor({ sandbox: createProcessSandbox(), timeoutMs: 1000, maxOutputBytes: 1000, env: {} });
	const session = createSkillSession({ snapshot: () => snapshot, executor });
	const approvals = { request: async () => ({ question: null, digest: null }) };
	return createSkillToolbox({ session, callerTools: names.map(callerTool), cwd: '/tmp', caller: {}, approvals });
}

test('B13: skill tools come before the caller\u2019s; of one name the caller\u2019s own is offered, once', () => {
	const tools = toolbox('ask', 'use_skill').definitions();
	expect(tools.map(({ name, description }) => [name, description === 'Mine.'])).toEqual([
		['load_skill', false],
		['ask', true],
		['use_skill', true]
	]);
});

test('E36: a skill\u2019s tool whose name another source has is called by the skill\u2019s name and its own', () => {
	const tool = { name: 'lookup', description: 'Looks it up.', inputSchema: { type: 'object', properties: {} } };
	const snapshot = { skills: [skillOf('demo', { tools: [tool] })], shadowed: [], broken: [], revision: 'r' };
	const executor = createExecutor({ sandbox: createProcessSandbox(), timeoutMs: 1000, maxOutputBytes: 1000, env: {} });
	const session = createSkillSession({
		snapshot: () => snapshot,
		executor,
		loaded: ['demo'],
		reserved: new Set(['lookup'])
	});
	const approvals = { request: async () => ({ question: null, digest: null }) };
	const box = createSkillToolbox({ session, callerTools: [callerTool('lookup')], cwd: '/tmp', caller: {}, approvals });
	const found = box.definitions().filter(({ name }) => name.includes('lookup'));
	expect(found.map(({ name, description }) => [name, description])).toEqual([
		['demo__lookup', 'Looks it up.'],
		['lookup', 'Mine.']
	]);
	expect([box.kind('demo__lookup'), box.kind('lookup')]).toEqual(['own', 'caller']);
});

test('D41: the caller\u2019s tools are handed back, ours are run, anything else is unknown', () => {
	const { kind } = toolbox('ask', 'use_skill');
	expect(['ask', 'use_skill', 'load_skill', 'ghost'].map(kind)).toEqual(['caller', 'caller', 'own', null]);
});

test('B13: a built-in skill\u2019s tool stands before a skill\u2019s of its name, and the caller\u2019s before both; one that is not offered is told why', async () => {
	const calls: string[] = [];
	const builtins = {
		tools: () => [{ ...callerTool('file_read'), description: 'Built in.' }],
		has: (name: string) => name === 'file_read' || name === 'browser',
		lane: () => 'builtin',
		approval: () => null,
		call: async (name: string) => {
			calls.push(name);
			return { ok: true, output: name };
		}
	};
	const snapshot = { skills: [skillOf('demo')], shadowed: [], broken: [], revision: 'r' };
	const executor = createExecutor({ sandbox: createProcessSandbox(), timeoutMs: 1000, maxOutputBytes: 1000, env: {} });
	const session = createSkillSession({ snapshot: () => snapshot, executor });
	const approvals = { request: async () => ({ question: null, digest: null }) };
	const shared = { session, cwd: '/tmp', caller: {}, approvals, builtins };
	const own = createSkillToolbox({ ...shared, callerTools: [] });
	expect(own.definitions().map(({ name }) => name)).toContain('file_read');
	expect(['file_read', 'browser', 'ghost'].map(own.kind)).toEqual(['own', 'own', null]);
	expect(own.lane('file_read', {})).toBe('builtin');
	const context = {
		toolCallId: 't',
		signal: new AbortController().signal,
		emit: () => undefined,
		spend: () => undefined,
		untimed: <Result>(work: () => Promise<Result>) => work()
	};
	expect(await own.call('browser', {}, context)).toEqual({ output: 'browser', isError: false });
	expect(calls).toEqual(['browser']);
	const callers = createSkillToolbox({ ...shared, callerTools: [callerTool('file_read')] });
	expect(callers.kind('file_read')).toBe('caller');
	expect(callers.definitions().filter(({ name }) => name === 'file_read')).toMatchObject([{ description: 'Mine.' }]);
});
