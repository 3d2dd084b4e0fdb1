import { expect, test } from 'vitest';
import type { ModelRequest } from '../../agent/model.ts';
import { createResponsesModel, nothingKnown } from './responses.ts';

const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
const PATCH = {
	...{ type: 'function' as const, name: 'apply_patch', description: 'Edits files. Use `input`.' },
	parameters: { type: 'object', properties: { input: { type: 'string' } } },
	custom: { description: 'Edits files.', format }
};
const REQUEST: ModelRequest = {
	instructions: '',
	input: [
		{ type: 'message', role: 'user', content: 'Patch' },
		{ type: 'function_call', call_id: 'a', name: 'apply_patch', arguments: '{"input":"x \\"y\\""}' },
		{ type: 'function_call_output', call_id: 'a', output: 'ok' },
		{ type: 'function_call', call_id: 'b', name: 'other', arguments: '{"input":"x"}' },
		{ type: 'function_call_output', call_id: 'b', output: 'ok' }
	],
	tools: [PATCH],
	toolChoice: { type: 'function', name: 'apply_patch' },
	sessionId: ''
};

/** Asks a server at an address that only this `fetch` knows. */
async function ask(baseUrl: string, id: string, ...answers: Response[]) {
	const bodies: Record<string, unknown>[] = [];
	const send: typeof fetch = async (_url, init) => {
		bodies.push(JSON.parse(String(init?.body)));
		return answers.shift() ?? new Response('', { status: 500 });
	};
	const catalog = { contextTokens: async () => null, takesTools: () => true, cacheSaving: () => null };
	const model = createResponsesModel({ id, baseUrl, fetch: send, catalog, server: nothingKnown(), maxAttempts: 1 });
	const events = await Array.fromAsync(model.stream(REQUEST, new AbortController().signal));
	return { bodies, events };
}

const made = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'apply_patch', input: '*** "ü"\n' };
const frames = (...events: object[]) =>
	new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
		headers: { 'content-type': 'text/event-stream' }
	});
const calling = () =>
	frames(
		{ type: 'response.output_item.added', output_index: 0, item: { ...made, input: '' } },
		{ type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'ctc_1', delta: '*** ' },
		{ type: 'response.output_item.done', output_index: 0, item: made },
		{ type: 'response.completed', response: { status: 'completed', output: [made] } }
	);

test.each([
	['https://api.openai.com/v1', 'gpt-5.5'],
	['https://openrouter.ai/api/v1', 'openai/gpt-5.5']
])('F12: a custom tool is one on %s, and its call a function’s in the history', async (baseUrl, id) => {
	const { bodies, events } = await ask(baseUrl, id, calling());
	expect(bodies[0]).toMatchObject({
		tools: [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format }],
		tool_choice: { type: 'custom', name: 'apply_patch' },
		input: [
			{ role: 'user' },
			{ type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: 'x "y"' },
			{ type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
			{ type: 'function_call', call_id: 'b' },
			{ type: 'function_call_output', call_id: 'b' }
		]
	});
	const args = JSON.stringify({ input: made.input });
	expect(events).toMatchObject([
		{ type: 'call.started', callId: 'c', name: 'apply_patch' },
		{ type: 'call.delta', delta: args },
		{ type: 'call.done', callId: 'c', name: 'apply_patch', arguments: args },
		{ type: 'completed', items: [{ type: 'function_call', call_id: 'c', arguments: args }] }
	]);
});

test.each([
	['https://api.example.com/v1', 'gpt-5.5'],
	['https://openrouter.ai/api/v1', 'anthropic/claude']
])('F12: on %s with %s it is a function', async (baseUrl, id) => {
	const { bodies } = await ask(baseUrl, id, calling());
	const { custom: _text, ...tool } = PATCH;
	expect(bodies[0]?.tools).toEqual([{ ...tool, strict: null }]);
	expect(bodies[0]?.tool_choice).toEqual({ type: 'function', name: 'apply_patch' });
});

test('F12: a model that refuses custom tools gets a function, and nothing is said to be left out', async () => {
	const no = Response.json({ error: { message: 'Custom tools are not supported with this model.' } }, { status: 400 });
	const { bodies, events } = await ask('https://api.openai.com/v1', 'gpt-4', no, calling());
	expect(bodies.map(({ tools }) => (tools as { type: string }[])[0]?.type)).toEqual(['custom', 'function']);
	expect(events.at(-1)).not.toHaveProperty('leftOut');
});
