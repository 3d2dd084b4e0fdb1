import { expect, test } from 'vitest';
import { createProcessSandbox } from '../sandbox/process.ts';
import { createExecutor } from '../skills/executor.ts';
import { createSkillSession } from '../skills/session.ts';
import { skillOf } from '../skills/skill-of.suite.ts';
import { createSkillToolbox } from './skill-toolbox.ts';

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
	const approvals = { request: async () => null };
	return createSkillToolbox({ session, callerTools: names.map(callerTool), cwd: '/tmp', approvals });
}

test('B13: skill tools come before the caller\u2019s; of one name the caller\u2019s own is offered, once', () => {
	const tools = toolbox('ask', 'use_skill').definitions();
	expect(tools.map(({ name, description }) => [name, description === 'Mine.'])).toEqual([
		['load_skill', false],
		['ask', true],
		['use_skill', true]
	]);
});

test('D41: the caller\u2019s tools are handed back, ours are run, anything else is unknown', () => {
	const { kind } = toolbox('ask', 'use_skill');
	expect(['ask', 'use_skill', 'load_skill', 'ghost'].map(kind)).toEqual(['caller', 'caller', 'own', null]);
});
