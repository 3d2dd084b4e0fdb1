/** Tools that a caller runs and Open Responses doesn’t have, as Codex sends them to `/v1/responses`: functions for the model, and what they were in its calls. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { call, raw, reasoning, text } from '../support/model-server.ts';
import { openResponses } from '../support/responses-rig.ts';
import { createToolsRig, NO_SEARCH, refusal, say, SEARCH } from '../support/tools-rig.ts';

const { open, model, ask, stream, sent, toolsSent } = createToolsRig();

describe('F12, D41: tools that the caller runs', () => {
	const PATCH = {
		type: 'custom',
		name: 'apply_patch',
		description: 'Edits files.',
		format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
	};
	const LINES = '*** Begin Patch\n*** Add File: a "b" \\ ü 😀\n*** End Patch\n';

	test('a custom tool is a function with one text, and its call a custom_tool_call', async () => {
		await open([call('apply_patch', { input: LINES }, 'call_1'), text('Done.')]);
		const { body } = await ask({
			input: 'Patch',
			tools: [PATCH],
			tool_choice: { type: 'custom', name: 'apply_patch' }
		});
		const tool = sent(0).tools.find(({ name }: { name: string }) => name === 'apply_patch');
		expect(tool).toMatchObject({
			type: 'function',
			parameters: { properties: { input: { type: 'string' } }, required: ['input'] }
		});
		expect(tool.description).toContain('start: "x"');
		expect(sent(0).tool_choice).toEqual({ type: 'function', name: 'apply_patch' });
		expect(body.tools).toEqual([PATCH]);
		const [made] = body.output;
		expect(made).toMatchObject({ type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: LINES });
		const output = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'ok' };
		const next = await ask({ input: [{ role: 'user', content: 'Patch' }, made, output], tools: [PATCH], store: false });
		expect(next.body.output[0].content[0].text).toBe('Done.');
		expect(sent(1).input.slice(1, 3)).toEqual([
			{ type: 'function_call', call_id: 'call_1', name: 'apply_patch', arguments: JSON.stringify({ input: LINES }) },
			{ type: 'function_call_output', call_id: 'call_1', output: 'ok' }
		]);
	});

	test.each([
		['as plain text', LINES, LINES],
		['under another name', { patch: LINES }, LINES],
		['as a JSON text', JSON.stringify(LINES), LINES],
		['with more than it', { a: '1', b: '2' }, '{"a":"1","b":"2"}']
	])('the text of a custom tool that a model sends %s is understood', async (_how, args, input) => {
		await open([call('apply_patch', args)]);
		const events = await stream({ input: 'Patch', tools: [PATCH] });
		const types = events.map(({ type }) => type).filter((type) => type.includes('custom'));
		expect(types).toEqual(['response.custom_tool_call_input.delta', 'response.custom_tool_call_input.done']);
		expect(events.at(-1)?.response.output[0]).toMatchObject({ type: 'custom_tool_call', input, status: 'completed' });
	});

	test('tools of a namespace are functions, and their calls have it again', async () => {
		const place = { type: 'object', properties: { place: { type: 'string' } } };
		const tools = [
			{ type: 'namespace', name: 'mcp__a', tools: [{ type: 'function', name: 'get', parameters: place }] },
			{ type: 'namespace', name: 'mcp__b__', tools: [{ type: 'function', name: 'get' }, PATCH] }
		];
		await open([
			[call('mcp__a__get', { place: 'Rome' }, 'call_a'), call('mcp__b__apply_patch', { input: 'x' }, 'call_b')],
			text('Fine.')
		]);
		const { body } = await ask({ input: 'Get', tools });
		expect(toolsSent(0)).toEqual(expect.arrayContaining(['mcp__a__get', 'mcp__b__get', 'mcp__b__apply_patch']));
		expect(body.output).toMatchObject([
			{ type: 'function_call', name: 'get', namespace: 'mcp__a', arguments: '{"place":"Rome"}' },
			{ type: 'custom_tool_call', name: 'apply_patch', namespace: 'mcp__b__', input: 'x' }
		]);
		const outputs = [
			{ type: 'function_call_output', call_id: 'call_a', output: '25' },
			{ type: 'custom_tool_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'ok' }] }
		];
		await ask({ input: [{ role: 'user', content: 'Get' }, ...body.output, ...outputs], tools });
		const calls = sent(1).input.filter(({ type }: { type: string }) => type === 'function_call');
		expect(calls.map(({ name }: { name: string }) => name)).toEqual(['mcp__a__get', 'mcp__b__apply_patch']);
		const references = body.output.map(({ id }: { id: string }) => ({ type: 'item_reference', id }));
		model().push(text('Fine.'));
		await ask({ input: [...references, ...outputs], tools });
		expect(sent(2).input.filter(({ type }: { type: string }) => type === 'function_call')).toEqual(calls);
	});

	test('names that models don’t take, and long ids, are the caller’s own again in its calls', async () => {
		const names = ['files.read', 'files/read', `${'long_'.repeat(25)}end`];
		const id = `call_${'x'.repeat(300)}`;
		await open([text('Hi.'), text('Hi.')]);
		const tools = names.map((name) => ({ type: 'function', name }));
		await ask({ input: 'Hi', tools });
		const asked = toolsSent(0).slice(-names.length);
		expect(new Set(asked).size).toBe(names.length);
		for (const name of asked) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
		model().restart([asked.map((name, at) => call(name, {}, `${id}${at}`)), text('Hi.')]);
		const { body } = await ask({ input: 'Hi', tools });
		expect(body.output.map(({ name }: { name: string }) => name)).toEqual(names);
		const outputs = names.map((_, at) => ({ type: 'function_call_output', call_id: `${id}${at}`, output: 'ok' }));
		expect((await ask({ input: outputs, tools, previous_response_id: body.id })).status).toBe(200);
	});

	test('a search by the caller is a function, and the tools that it finds can be called, also along a chain', async () => {
		const search = {
			type: 'tool_search',
			execution: 'client',
			description: 'Finds tools.',
			parameters: { type: 'object' }
		};
		const found = [
			{ type: 'namespace', name: 'mcp__a', tools: [{ type: 'function', name: 'get', defer_loading: true }] }
		];
		await open([call('tool_search', { query: 'x' }, 'call_1'), call('mcp__a__get', {}, 'call_2'), text('Fine.')]);
		const first = await ask({ input: 'Get', tools: [search], tool_choice: { type: 'tool_search' } });
		expect(sent(0).tool_choice).toEqual({ type: 'function', name: 'tool_search' });
		expect(first.body.output).toMatchObject([
			{ type: 'tool_search_call', execution: 'client', call_id: 'call_1', arguments: { query: 'x' } }
		]);
		const output = { type: 'tool_search_output', call_id: 'call_1', execution: 'client', tools: found };
		const second = await ask({ input: [output], tools: [search], previous_response_id: first.body.id });
		expect(toolsSent(1)).toContain('mcp__a__get');
		expect(JSON.stringify(sent(1).input)).not.toContain('found_tools');
		expect(second.body.output).toMatchObject([{ type: 'function_call', name: 'get', namespace: 'mcp__a' }]);
		const result = { type: 'function_call_output', call_id: 'call_2', output: '25' };
		await ask({ input: [result], tools: [search], previous_response_id: second.body.id });
		expect(toolsSent(2)).toContain('mcp__a__get');
	});

	test('tools and messages of agents that come as items are taken', async () => {
		await open([text('Hi.')]);
		const input = [
			{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late' }, SEARCH] },
			{ type: 'agent_message', author: '/root/one', content: [{ type: 'input_text', text: 'I am done.' }] },
			{ role: 'user', content: 'Hi' }
		];
		expect((await ask({ input })).status).toBe(200);
		expect(toolsSent(0)).toEqual(expect.arrayContaining(['late', 'web_search']));
		expect(sent(0).input[0].content).toEqual([
			{ type: 'input_text', text: 'Message of the agent /root/one:\nI am done.' }
		]);
	});

	test('two tools that a model could not tell apart are refused', async () => {
		await open([]);
		const tools = [
			{ type: 'function', name: 'a__b' },
			{ type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] }
		];
		expect(await ask({ input: 'Hi', tools })).toMatchObject({ status: 400, body: { error: { param: 'tools' } } });
	});
});

test('F12: thoughts, a skill’s call and the answer are open one after the other, because Codex follows only one', async () => {
	await open([[reasoning('Hm.'), text('I look.'), say('x')], text('Done.')]);
	const events = await stream({ input: 'Say' });
	const ends = events.flatMap(({ type, output_index: at }) =>
		/^response\.output_item\.(added|done)$/.test(type) ? [`${type.split('.')[2]} ${at}`] : []
	);
	const skill = events.findIndex((event) => event.item?.openrouter_skills);
	expect(ends.indexOf('done 0')).toBeLessThan(ends.indexOf('added 2'));
	expect(ends.indexOf('done 1')).toBeLessThan(ends.indexOf('added 2'));
	expect(events[skill]).toMatchObject({ type: 'response.output_item.added', output_index: 2 });
});

describe('F12: Codex 0.171', () => {
	const recorded = (name: string): Record<string, unknown> =>
		JSON.parse(readFileSync(join(import.meta.dirname, `../fixtures/codex/0.171.0-${name}.json`), 'utf8'));

	test.each(['gpt-5.5', 'test-model'])('what it sends in the middle of a task is understood (%s)', async (name) => {
		await open([refusal('web_search'), text('It is 25 degrees.')], {});
		const events = await stream(recorded(name));
		const response = events.at(-1)?.response;
		expect(response).toMatchObject({ status: 'completed', openrouter_skills: { left_out: [NO_SEARCH] } });
		const types = new Set(sent(1).input.map(({ type }: { type: string }) => type));
		expect([...types].toSorted()).toEqual(['function_call', 'function_call_output', 'message', 'reasoning']);
		expect(new Set(sent(1).tools.map(({ type }: { type: string }) => type))).toEqual(new Set(['function']));
		expect(toolsSent(1)).toContain('mcp__things__get_weather');
		expect(JSON.stringify(sent(1).input)).toContain('said: x');
		expect(sent(1)).not.toHaveProperty('client_metadata');
	});

	test.each(['gpt-5.5', 'test-model'])('demo mode answers it (%s)', async (name) => {
		const demo = await openResponses();
		const request = { ...recorded(name), input: 'How many words are in "one two three four five"?', stream: false };
		const { status: code, body } = await ask(request, demo);
		await demo.close();
		expect(code).toBe(200);
		expect(JSON.stringify(body.output)).toMatch(/\b5\b/);
	});
});

test('F12: tools and items of any shape are answered or refused, and never a fault of the server', async () => {
	const demo = await openResponses({ skills: {} });
	const name = fc.string({ maxLength: 140, unit: 'grapheme' });
	const types = fc.constantFrom(
		...[
			'function',
			'custom',
			'namespace',
			'web_search',
			'web_search_preview_2025_03_11',
			'mcp',
			'tool_search',
			'shell'
		],
		...['hosted', 'other', '__proto__', 'toString', '']
	);
	const any = fc.object({
		maxDepth: 2,
		key: fc.constantFrom('type', 'name', 'tools', 'execution', 'parameters', 'input')
	});
	const tool: fc.Arbitrary<unknown> = fc.oneof(
		fc.record(
			{ type: types, name, execution: fc.constantFrom('client', 'server'), parameters: any },
			{ requiredKeys: ['type'] }
		),
		fc.record({
			type: fc.constant('namespace'),
			name,
			tools: fc.array(fc.record({ type: types, name }), { maxLength: 2 })
		}),
		any
	);
	const output = fc.oneof(
		fc.string(),
		fc.array(fc.oneof(any, fc.record({ type: types, text: fc.string() })), { maxLength: 2 })
	);
	const kinds = fc.constantFrom(
		...['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
		...[
			'tool_search_call',
			'tool_search_output',
			'additional_tools',
			'agent_message',
			'local_shell_call',
			'compaction'
		],
		...['web_search_call', 'item_reference', 'ghost_snapshot', 'hosted', 'other', 'foreign', '__proto__']
	);
	const part = fc.record({ type: types, text: fc.string() });
	const one = fc.record(
		{
			...{
				type: kinds,
				call_id: fc.constantFrom('a', 'b', null),
				name,
				namespace: fc.option(name),
				input: fc.string()
			},
			...{ arguments: fc.oneof(fc.string(), any), output, tools: fc.array(tool, { maxLength: 2 }), id: fc.string() },
			...{ execution: fc.constantFrom('client', 'server', null), role: fc.constantFrom('user', 'assistant', 'tool') },
			...{ content: fc.oneof(fc.string(), fc.array(part, { maxLength: 2 })), summary: fc.constantFrom([], null) }
		},
		{ requiredKeys: ['type'] }
	);
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.oneof(one, any), { maxLength: 4 }),
			fc.array(tool, { maxLength: 3 }),
			fc.oneof(fc.constantFrom('auto', null), tool),
			async (items, tools, tool_choice) => {
				const { status: code } = await ask(
					{ input: [...items, { role: 'user', content: 'Hi' }], tools, tool_choice },
					demo
				);
				expect([200, 400]).toContain(code);
			}
		),
		{ numRuns: 150 }
	);
	await demo.close();
});

test('F12: a stream that breaks off in a custom call ends, with the call as incomplete', async () => {
	const added = { type: 'function_call', id: 'fc', call_id: 'c', name: 'p', arguments: '' };
	await open([
		raw(
			{ type: 'response.output_item.added', output_index: 0, item: added },
			{ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc', delta: '{"input":"ab' }
		)
	]);
	const events = await stream({ input: 'Hi', tools: [{ type: 'custom', name: 'p' }] });
	const last = events.at(-1);
	expect(last?.type).toBe('response.failed');
	expect(last?.response.output[0]).toMatchObject({ type: 'custom_tool_call', status: 'incomplete' });
});
