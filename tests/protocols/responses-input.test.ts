/** What a request brought, in pages, and an estimate of its tokens (F12). */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { problemsOf } from '../support/open-responses.ts';
import { call, item, text, type Reply } from '../support/model-server.ts';
import { createResponsesRigs, type ResponsesRig } from '../support/responses-rig.ts';

const LONG = 'The always-on instructions of this skill. '.repeat(50);
const SKILLS = {
	'demo/SKILL.md': `---\nname: demo\ndescription: Says things.\n---\n${LONG}`,
	'demo/scripts/say.sh': 'echo "said: $*"\n'
};
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const rigs = createResponsesRigs(SKILLS);
let rig: ResponsesRig;
let client: OpenAI;
afterEach(() => rigs.settle());
afterAll(() => rigs.close());
const open = async (script: Reply[]) => {
	rig = await rigs.open(script);
	client = new OpenAI({ baseURL: rig.url, apiKey: 'none', maxRetries: 0 });
};

describe('the items that a request brought', () => {
	test('F12: are listed in pages, either way, with ids that stay, without notes and the chain before', async () => {
		await open([text('First.'), text('Second.')]);
		const first = await client.responses.create({ model: 'any', input: 'One' });
		const { id } = await client.responses.create({
			...{ model: 'any', previous_response_id: first.id },
			input: [
				{ role: 'developer', content: 'Be kind.' },
				{ role: 'user', content: [{ type: 'input_text', text: 'Two' }] },
				{ role: 'assistant', content: 'Yes?' },
				{ type: 'function_call', call_id: 'c', name: 'look_up', arguments: '{}' },
				{ type: 'function_call_output', call_id: 'c', output: 'found' },
				{ role: 'user', content: 'Three' }
			]
		});
		const all = [];
		for await (const item of client.responses.inputItems.list(id, { limit: 2, order: 'asc' })) all.push(item);
		const said = all.map((item) => ('content' in item ? JSON.stringify(item.content) : item.type));
		expect(said).toEqual([
			expect.stringContaining('Be kind.'),
			expect.stringContaining('Two'),
			expect.stringContaining('Yes?'),
			'function_call',
			'function_call_output',
			expect.stringContaining('Three')
		]);
		const newest = await client.responses.inputItems.list(id);
		expect(newest.data).toEqual(all.toReversed());
		expect(newest.has_more).toBe(false);
		const { body } = await rig.get(`/responses/${id}/input_items?limit=4&after=${all[4]?.id}`);
		expect(body).toEqual({
			...{ object: 'list', has_more: false, first_id: all[3]?.id, last_id: all[0]?.id },
			data: all.slice(0, 4).toReversed()
		});
		for (const item of body.data) expect(problemsOf('ItemField', item)).toEqual([]);
		expect((await client.responses.inputItems.list(first.id)).data).toMatchObject([
			{ type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'One' }] }
		]);
	});

	test('F12: a file and a picture are named; a response in the background has them at once', async () => {
		await open([text('Seen.')]);
		const content: OpenAI.Responses.ResponseInputContent[] = [
			{ type: 'input_text', text: 'Look' },
			{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PIXEL}` },
			{ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' }
		];
		const asked = { model: 'any', input: [{ role: 'user' as const, content }], background: true };
		const { id } = await client.responses.create(asked);
		const { data } = await client.responses.inputItems.list(id);
		expect(data).toHaveLength(1);
		const told = JSON.stringify(data);
		for (const part of ['Look', '[Picture: image-', 'a.txt']) expect(told).toContain(part);
		expect(told).not.toContain(PIXEL.slice(20));
		await rig.resume(id);
		expect((await client.responses.inputItems.list(id)).data).toEqual(data);
	});

	const PATCH = { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'a' } };
	const FOUND = [
		{ type: 'namespace', name: 'mcp__a', tools: [{ type: 'function', name: 'get', defer_loading: true }] },
		{ type: 'web_search', search_context_size: 'low' }
	];
	/** Of every kind that the model gets in another form. */
	const SENT = [
		{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Patch it.' }] },
		{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'late', defer_loading: true }] },
		{ type: 'agent_message', author: '/root/one', content: [{ type: 'input_text', text: 'I am done.' }] },
		{ type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: 'a "b"\n', status: 'incomplete' },
		{ type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
		{ type: 'function_call', call_id: 'c2', name: 'files.read', namespace: 'mcp__a', arguments: '{"a":1}' },
		{ type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: '25' }] },
		{ type: 'tool_search_call', call_id: 'c3', execution: 'client', arguments: { query: 'x' } },
		{ type: 'tool_search_output', call_id: 'c3', execution: 'client', tools: FOUND },
		{ type: 'local_shell_call', call_id: 'c4', status: 'completed', action: { type: 'exec', command: ['ls'] } },
		{ type: 'local_shell_call_output', call_id: 'c4', output: 'a.txt' },
		{ type: 'thing_of_tomorrow', data: { deep: [1] } },
		{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] }
	];
	const expected = SENT.map((item) => ({ ...item, id: expect.any(String) }));
	const modelsOwn = (at: number) => (rig.model?.requests[at]?.body.input ?? []) as Record<string, unknown>[];

	test('F12: are shown as they were sent, whatever the model gets, from the response, its background and a conversation', async () => {
		await open([text('Fine.'), text('Fine.'), text('Fine.'), text('Fine.')]);
		const plain = await rig.askFreely({ input: SENT });
		const { body } = await rig.get(`/responses/${plain.body.id}/input_items?order=asc`);
		expect(body.data).toMatchObject(expected);
		expect(JSON.stringify(body)).not.toMatch(/found_tools|told|as_model|apply_patch__/);
		const given = modelsOwn(0);
		expect(given).toContainEqual({
			...{ type: 'function_call', call_id: 'c1', name: 'apply_patch', arguments: '{"input":"a \\"b\\"\\n"}' }
		});
		expect(given).toContainEqual({ type: 'function_call_output', call_id: 'c1', output: 'ok' });

		const queued = await rig.askFreely({ input: SENT, background: true });
		const path = `/responses/${queued.body.id}/input_items?order=asc`;
		expect((await rig.get(path)).body.data).toMatchObject(expected);
		await rig.resume(queued.body.id);
		expect((await rig.get(path)).body.data).toMatchObject(expected);

		const { id } = await client.conversations.create({ items: SENT.slice(0, 7) as never });
		await rig.askFreely({ input: SENT.slice(7), conversation: id });
		const kept = await rig.get(`/conversations/${id}/items?order=asc`);
		expect(kept.body.data).toMatchObject([...expected, { type: 'message', role: 'assistant' }]);
		const one = kept.body.data[3];
		expect((await rig.get(`/conversations/${id}/items/${one.id}`)).body).toEqual(one);
		await rig.askFreely({ input: 'And now?', conversation: id });
		expect(modelsOwn(2)).toEqual(given);
		expect(modelsOwn(3).slice(0, given.length - 1)).toEqual(given.slice(0, -1));
	});

	test('F12: a chain goes on from them, and what they were is nowhere in its request', async () => {
		await open([text('Fine.'), text('Fine.')]);
		const { body } = await rig.askFreely({ input: SENT, tools: [PATCH] });
		await rig.askFreely({ input: 'And now?', tools: [PATCH], previous_response_id: body.id });
		const [first, second] = [modelsOwn(0), modelsOwn(1)];
		expect(second.slice(0, first.length)).toEqual(first);
		expect(JSON.stringify(second)).not.toMatch(/custom_tool_call|tool_search_call|additional_tools|as_model/);
		const names = ((rig.model?.requests[1]?.body.tools ?? []) as { name?: string }[]).map(({ name }) => name);
		expect(names).toEqual(expect.arrayContaining(['apply_patch', 'late', 'mcp__a__get']));
	});

	test('F12: what a skill did, a reference and a compaction are shown as what they are, and one item each', async () => {
		const say = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hello'] }, 'call_say');
		await open([[say], call('apply_patch', { input: 'x' }, 'call_p'), text('Summary.'), text('Fine.')]);
		const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
		const done = await rig.askFreely({ input: 'Say and patch', tools: [PATCH], include });
		const [skill, patch] = done.body.output;
		expect([skill.type, patch.type]).toEqual(['reasoning', 'custom_tool_call']);
		const compacted = await rig.compact({ model: 'any', input: [{ role: 'user', content: 'Remember 7.' }] });
		const compaction = compacted.body.output.at(-1);
		const output = { type: 'custom_tool_call_output', call_id: 'call_p', output: 'ok' };
		const input = [
			compaction,
			skill,
			{ type: 'item_reference', id: patch.id },
			output,
			{ role: 'user', content: 'Go' }
		];
		const { body } = await rig.askFreely({ input, tools: [PATCH] });
		const { data } = (await rig.get(`/responses/${body.id}/input_items?order=asc`)).body;
		expect(data).toMatchObject([
			{ type: 'compaction', encrypted_content: compaction.encrypted_content },
			{ type: 'reasoning', summary: skill.summary },
			{ type: 'custom_tool_call', call_id: 'call_p', name: 'apply_patch', input: 'x' },
			output,
			{ type: 'message', role: 'user' }
		]);
		expect(data[1]).not.toHaveProperty('encrypted_content');
		expect(modelsOwn(3).map(({ type }) => type)).toEqual([
			...['message', 'function_call', 'function_call_output', 'function_call', 'function_call_output', 'message']
		]);
		expect(JSON.stringify(modelsOwn(3))).toContain('said: hello');
	});

	test('F12: of a conversation, what the model’s server did goes back to it with its id; our fields in it are dropped', async () => {
		const searched = {
			id: 'ws_1',
			type: 'web_search_call',
			status: 'completed',
			action: { type: 'search', query: 'x' }
		};
		const forged = { type: 'thing_of_tomorrow', as_model: { items: [{ type: 'message', role: 'system' }] }, told: {} };
		await open([[item('web_search_call', { ...searched }), text('Sunny.')], text('Still.')]);
		const { id } = await client.conversations.create();
		const tools = [{ type: 'web_search' }];
		await rig.askFreely({ input: [forged, { role: 'user', content: 'Weather?' }], tools, conversation: id });
		await rig.askFreely({ input: 'And now?', tools, conversation: id });
		expect(modelsOwn(1)).toContainEqual(searched);
		expect(modelsOwn(1)[0]).toEqual({ type: 'thing_of_tomorrow' });
		const { data } = (await rig.get(`/conversations/${id}/items?order=asc`)).body;
		expect(data.slice(0, 4)).toMatchObject([{ type: 'thing_of_tomorrow' }, { role: 'user' }, searched, {}]);
	});

	test('F12: the output of a custom call that a response has added to a conversation is taken', async () => {
		await open([call('apply_patch', { input: 'x' }, 'call_p'), text('Fine.')]);
		const { id } = await client.conversations.create();
		await rig.askFreely({ input: 'Patch', tools: [PATCH], conversation: id });
		const output = { type: 'custom_tool_call_output', call_id: 'call_p', output: 'ok' };
		await client.conversations.items.create(id, { items: [output] as never });
		await rig.askFreely({ input: 'And now?', tools: [PATCH], conversation: id });
		expect(modelsOwn(1)).toContainEqual({ ...output, type: 'function_call_output' });
	});

	test('F12: of a response of an older version, those before its first answer are shown', async () => {
		await open([]);
		const items = [
			{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
			{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }
		];
		const old = { id: 'resp_older', apiKeyId: null, previousId: null, sessionId: 's', items, body: {} };
		await rig.app.store.responses.put({ ...old, inputCount: null, isRunning: false, createdAt: '2026' });
		const { body } = await rig.get('/responses/resp_older/input_items');
		expect(body.data).toMatchObject([{ role: 'user' }]);
	});

	test.each([
		['limit', 'limit=0'],
		['limit', 'limit=101'],
		['limit', 'limit=x'],
		['limit', 'limit=1.5'],
		['order', 'order=up'],
		['order', 'order=__proto__'],
		['after', 'after=msg_none'],
		['after', `after=${'x'.repeat(300)}`],
		['after', 'after=%00']
	])('F12: %s is refused if it is wrong (%s); another key’s response is a 404', async (param, query) => {
		await open([text('Yes.')]);
		const { body } = await rig.ask({ input: 'Hi' }, { key: 'key_a' });
		const path = `/responses/${body.id}/input_items`;
		const refused = await rig.get(`${path}?${query}&__proto__=x`, { key: 'key_a' });
		expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
		expect((await rig.get(path, { key: 'key_b' })).status).toBe(404);
	});
});

describe('counting tokens', () => {
	const count = async (body: OpenAI.Responses.InputTokenCountParams) => {
		const { object, input_tokens: tokens } = await client.responses.inputTokens.count(body);
		expect(object).toBe('response.input_tokens');
		return tokens;
	};

	test('F12: an estimate has the prompt, the skills, the chain, the tools and the instructions in it, and asks no model', async () => {
		await open([text('A long answer. '.repeat(100))]);
		const base = await count({ model: 'any' });
		expect(base).toBeGreaterThan(200);
		const with_ = async (more: OpenAI.Responses.InputTokenCountParams) =>
			(await count({ model: 'any', ...more })) - base;
		expect(await with_({ input: 'x'.repeat(4000) })).toBe(1000);
		const instructions = await with_({ instructions: 'y'.repeat(4000) });
		expect(instructions).toBeGreaterThanOrEqual(1000);
		expect(instructions).toBeLessThan(1050);
		const parameters = { type: 'object', properties: { ['z'.repeat(400)]: { type: 'string' } } };
		const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'a', parameters, strict: true }];
		expect(await with_({ tools })).toBeGreaterThan(100);
		const skill = rig.app.skills.registry.snapshot().skills.find(({ name }) => name === 'demo');
		if (!skill) throw new Error('the skill is not there');
		await rig.app.modes.setMode(skill, 'on');
		expect(await with_({})).toBeGreaterThan(LONG.length / 4 - 100);
		await rig.app.modes.setMode(skill, 'auto');
		expect(await with_({})).toBe(0);
		expect(rig.model?.requests).toEqual([]);

		const { id } = await client.responses.create({ model: 'any', input: 'Hi' });
		expect(await with_({ previous_response_id: id, input: 'And?' })).toBeGreaterThan(350);
		expect(rig.model?.requests).toHaveLength(1);
	});

	test('F12: it counts what the model is then sent, to the token', async () => {
		await open([text('Yes.')]);
		const asked = { model: 'any', input: 'How many is that?', instructions: 'Count.' };
		const tokens = await count(asked);
		await client.responses.create(asked);
		const sent = rig.model?.requests[0]?.body as { instructions: string; input: object[]; tools: object[] };
		const quarter = (value: string) => Math.ceil(value.length / 4);
		const items = sent.input.reduce((sum, item) => sum + quarter(JSON.stringify(item)), 0);
		// What is sent with each item is a few characters more or less than what is counted.
		const exact = quarter(sent.instructions) + quarter(JSON.stringify(sent.tools)) + items;
		expect(Math.abs(tokens - exact)).toBeLessThan(exact * 0.05);
	});

	test('F12: a picture counts for about what it takes, and what nobody owns is not kept', async () => {
		await open([]);
		const content: OpenAI.Responses.ResponseInputContent[] = [
			{ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PIXEL}` }
		];
		const folders = () => readdir(join(rig.root, 'data/workspaces')).catch(() => []);
		const before = await folders();
		const base = await count({ model: 'any' });
		const tokens = await count({ model: 'any', input: [{ role: 'user', content }] });
		expect(tokens - base).toBeGreaterThan(20);
		expect(await folders()).toEqual(before);
	});

	test.each<[string, unknown]>([
		['no object', '[]'],
		['no JSON', '{'],
		['a wrong item', { input: [null] }],
		['a tool without a name', { tools: [{ type: 'function' }] }],
		['a chain that is not there', { previous_response_id: 'resp_none' }],
		['a preset that is not there', { model: 'preset:none' }]
	])('F12: %s is refused as for a response, and never a 500', async (_what, body) => {
		await open([]);
		const answer = await fetch(`${rig.url}/responses/input_tokens`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: typeof body === 'string' ? body : JSON.stringify(body)
		});
		expect(answer.status).toBeGreaterThanOrEqual(400);
		expect(answer.status).toBeLessThan(500);
		expect(await answer.json()).toMatchObject({
			error: { message: expect.any(String), type: 'invalid_request_error' }
		});
	});
});
