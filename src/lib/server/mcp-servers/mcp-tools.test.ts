import { expect, test } from 'vitest';
import type { QuestionReply } from '../../shared/questions.ts';
import type { Connection } from './connection.ts';
import { createMcpTools } from './mcp-tools.ts';

test('E36: a question is over with its call, also if the server doesn’t wait for the answer', async () => {
	const tool = {
		name: 'mcp__demo__hurry',
		tool: 'hurry',
		shown: 'hurry',
		description: '',
		parameters: {},
		digest: 'd'
	};
	const call: Connection['call'] = async (_tool, _args, { ask }) => {
		void ask({ message: 'Well?', fields: [] }, new AbortController().signal);
		return { content: [{ type: 'text', text: 'done' }] };
	};
	const connection = { listing: () => ({ tools: [tool], note: null }), software: () => null, call };
	const tools = createMcpTools({
		servers: () => [{ name: 'demo', approval: 'auto', digest: 'd', values: [], connection }],
		isEnabled: () => true,
		approvals: { isGranted: async () => false },
		recorder: { started: async () => undefined, running: async () => undefined, finished: async () => undefined },
		...{ maxOutputBytes: 1_000, timeoutMs: () => 1_000 }
	});
	let asked: AbortSignal | undefined;
	const ask = (_question: unknown, signal: AbortSignal) => {
		asked = signal;
		return new Promise<QuestionReply>(() => undefined);
	};
	expect(await tools.call(tool.name, {}, { signal: new AbortController().signal, ask })).toEqual({
		...{ ok: true, output: 'done' }
	});
	expect(asked?.aborted).toBe(true);
});
