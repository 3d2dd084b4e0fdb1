/** What one request may use of the skills, whatever their modes. */
import { afterEach, expect, test } from 'vitest';
import { call, text } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { FunctionTool } from '../agent/model.ts';
import { runAgentInput } from '../../shared/api.ts';
import type { RunRequest } from '../turns/run-request.ts';
import { toRunRequests } from './agui-input.ts';
import type { BuiltinTools } from '../turns/toolbox.ts';

let rig: RunRig;
afterEach(() => rig?.close());

const skill = (name: string) => ({
	[`${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Says ${name}.\n---\nRun it.`,
	[`${name}/say.sh`]: `echo ${name} spoke\n`
});

/** Replaces the server's built-in skills; their own tests cover which of them a request may use. */
function playedBuiltins(only: readonly string[] = ['web_search', 'file_read']): BuiltinTools {
	const tool = (name: string): FunctionTool => ({ type: 'function', name, description: name, parameters: {} });
	return {
		tools: () => only.map(tool),
		has: (name) => only.includes(name),
		lane: () => null,
		approval: () => null,
		call: async (name) => ({ ok: true, output: `${name} was called` })
	};
}

const requestOf = (skills: unknown) =>
	toRunRequests(
		runAgentInput.parse({
			threadId: 'c',
			runId: 'r',
			messages: [{ id: 'm', role: 'user', content: 'hello' }],
			forwardedProps: { skills }
		})
	)[0] as RunRequest;
const toolNames = (request: number) =>
	(rig.server.requests[request]?.body.tools as { name: string }[]).map(({ name }) => name);
const results = (request: number) => JSON.stringify(rig.server.requests[request]?.body.input);

test('D42: the request’s policy is read from forwardedProps; a wrong one is refused with the field named', () => {
	expect(requestOf({ customSkillExecutionEnabled: false, builtinToolNames: ['omniroute_web_search'] }).policy).toEqual({
		allowed: [],
		builtins: ['omniroute_web_search']
	});
	expect(requestOf({ allowed: ['a'] }).policy).toEqual({ allowed: ['a'] });
	expect(requestOf({}).policy).toEqual({});
	expect(requestOf(undefined).policy).toBeUndefined();
	expect(() => requestOf({ allowed: 'a' })).toThrow('forwardedProps');
	expect(() => requestOf({ everything: true })).toThrow('forwardedProps');
});

test('D42: without custom skills none is named or can be called, and the server’s own work as before', async () => {
	rig = await createRunRig(
		[call('use_skill', { skill: 'a', script: 'say.sh' }), call('web_search', {}), text('Done.')],
		{ skills: skill('a'), builtins: ({ only }) => playedBuiltins(only) }
	);
	await rig.run('hello', { policy: { allowed: [], builtins: ['web_search'] } });
	expect(toolNames(0)).toEqual(['web_search']);
	expect(JSON.stringify(rig.server.requests[0]?.body.instructions)).not.toContain('Says a');
	expect(results(2)).toContain('SkillNotFound');
	expect(results(2)).not.toContain('a spoke');
	expect(results(2)).toContain('web_search was called');
});

test('B14, B15: with a list of names no other skill is offered, found or run', async () => {
	rig = await createRunRig(
		[
			call('use_skill', { skill: 'b', script: 'say.sh' }),
			call('use_skill', { skill: 'a', script: 'say.sh' }),
			text('Done.')
		],
		{ skills: { ...skill('a'), ...skill('b') } }
	);
	await rig.run('hello', { policy: { allowed: ['a'] } });
	const instructions = JSON.stringify(rig.server.requests[0]?.body.instructions);
	expect([instructions.includes('Says a'), instructions.includes('Says b')]).toEqual([true, false]);
	expect(results(2)).toContain('a spoke');
	expect(results(2)).not.toContain('b spoke');
	expect(results(2)).toContain('SkillNotFound');
});
