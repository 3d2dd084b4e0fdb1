/** Tools of the model’s server, and items that only it knows: passed on by `/v1/responses`, or left out with a remark. */
import { describe, expect, test } from 'vitest';
import { item, status, text } from '../support/model-server.ts';
import { openResponses } from '../support/responses-rig.ts';
import { createToolsRig, NO_SEARCH, refusal, say, SEARCH } from '../support/tools-rig.ts';

const SAY = say('hello');
const { open, model, ask, stream, sent, toolsSent } = createToolsRig();

describe('F12: tools of the model’s server', () => {
	test('are passed on as they are, what they did comes back unchanged, and the chain keeps it', async () => {
		const found = { id: 'ws_1', status: 'completed', action: { type: 'search', query: 'Rome' } };
		const ran = { id: 'ci_1', status: 'completed', code: '1+1', container_id: 'c', outputs: null };
		await open([
			[item('web_search_call', found), item('code_interpreter_call', ran), text('Sunny.')],
			text('Still sunny.')
		]);
		const tools = [SEARCH, { type: 'code_interpreter', container: { type: 'auto' } }];
		const include = ['web_search_call.action.sources', 'file_search_call.results', 'what.nobody.knows'];
		const { body } = await ask({ input: 'Weather?', tools, include });
		expect(sent(0).tools.slice(0, 2)).toEqual(tools);
		expect(sent(0).include).toEqual(['reasoning.encrypted_content', 'web_search_call.action.sources']);
		expect(body).toMatchObject({
			tools,
			output: [
				{ type: 'web_search_call', ...found },
				{ type: 'code_interpreter_call', ...ran },
				{ type: 'message', content: [{ text: 'Sunny.' }] }
			]
		});
		expect(body.openrouter_skills).toBeUndefined();
		await ask({ input: 'And now?', tools, previous_response_id: body.id });
		expect(sent(1).input.map(({ type }: { type: string }) => type)).toEqual([
			'message',
			'web_search_call',
			'code_interpreter_call',
			'message',
			'message'
		]);
		expect(sent(1).input[2]).toEqual({ type: 'code_interpreter_call', ...ran });
	});

	test('stream as items, in their place', async () => {
		await open([[item('web_search_call', { id: 'ws_1', status: 'completed' }), text('Sunny.')]]);
		const events = await stream({ input: 'Weather?', tools: [SEARCH] });
		const added = events.filter(({ type }) => type === 'response.output_item.added');
		expect(added.map(({ item: { type }, output_index: at }) => [type, at])).toEqual([
			['web_search_call', 0],
			['message', 1]
		]);
		expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, at) => at));
	});

	test('that it refuses are left out with a remark, and not sent to that model again', async () => {
		await open([refusal('web_search'), text('Hi.'), text('Hi.'), refusal('web_search'), text('Hi.')], {});
		const first = await ask({ input: 'Hi', model: 'a/one', tools: [SEARCH] });
		expect(first.body).toMatchObject({ status: 'completed', openrouter_skills: { left_out: [NO_SEARCH] } });
		expect([toolsSent(0).includes('web_search'), toolsSent(1).includes('web_search')]).toEqual([true, false]);
		const second = await ask({ input: 'Hi', model: 'a/one', tools: [SEARCH], tool_choice: { type: 'web_search' } });
		expect(second.body.openrouter_skills).toEqual({ left_out: [NO_SEARCH] });
		expect(toolsSent(2)).not.toContain('web_search');
		expect(sent(2).tool_choice).toBe('auto');
		await ask({ input: 'Hi', model: 'a/two', tools: [SEARCH] });
		expect(toolsSent(3)).toContain('web_search');
	});

	test.each([
		['in words', 'Web search is not supported with this model.', ['web_search']],
		['by a list of types', '3 validation errors: tools[0]: Input should be of type function, unexpected type', []],
		['as OpenRouter says it', 'No endpoints found that support hosted tools', []]
	])('are found in a refusal %s', async (_how, message, named) => {
		await open([status(400, { error: { message } }), text('Hi.')], {});
		const { body } = await ask({ input: 'Hi', tools: [SEARCH, { type: 'file_search', vector_store_ids: ['vs'] }] });
		expect(body.status).toBe('completed');
		const left = named.length > 0 ? named : ['web_search', 'file_search'];
		expect(body.openrouter_skills.left_out).toHaveLength(left.length);
		for (const type of left) expect(toolsSent(1)).not.toContain(type);
		expect(toolsSent(1)).toContain('use_skill');
	});

	test.each([
		['about what the caller gave', 400, "Missing required parameter: 'tools[0].vector_store_ids'."],
		['that isn’t about tools', 400, 'The model is overloaded with unsupported requests.'],
		['of another kind', 401, 'tools of type web_search are not supported']
	])('stay with an error %s, which is told', async (_what, code, message) => {
		await open([status(code, { error: { message } })], {});
		const answer = await ask({ input: 'Hi', tools: [{ type: 'file_search' }] });
		expect(answer.status).toBe(502);
		expect(model().requests).toHaveLength(1);
	});

	test('a server that refuses ever more of them is asked 4 times at most', async () => {
		const types = ['a_one', 'b_two', 'c_three', 'd_four', 'e_five', 'f_six'];
		await open([refusal('a_one'), refusal('b_two'), refusal('c_three'), text('Hi.')], {});
		const { body } = await ask({ input: 'Hi', tools: types.map((type) => ({ type })) });
		expect(body.openrouter_skills.left_out).toHaveLength(types.length);
	});

	test('can be chosen and allowed by their type', async () => {
		await open([text('Hi.'), [SAY, text('')], text('Hi.'), text('Hi.')]);
		const tools = [SEARCH, { type: 'mcp', server_label: 'a', server_url: 'https://a.example' }];
		await ask({ input: 'Hi', tools, tool_choice: { type: 'web_search' } });
		expect(sent(0).tool_choice).toEqual({ type: 'web_search' });
		const { body } = await ask({ input: 'Hi', tools, tool_choice: { type: 'mcp', server_label: 'a' } });
		expect([sent(1).tool_choice, sent(2).tool_choice]).toEqual([{ type: 'mcp', server_label: 'a' }, 'auto']);
		expect(body.tool_choice).toEqual({ type: 'mcp', server_label: 'a' });
		const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'mcp', server_label: 'a' }] };
		await ask({ input: 'Hi', tools, tool_choice: allowed });
		expect([toolsSent(3), sent(3).tool_choice]).toEqual([['mcp'], 'required']);
		const wrong = await ask({ input: 'Hi', tool_choice: { type: 'web_search' } });
		expect([wrong.status, wrong.body.error.param]).toEqual([400, 'tool_choice']);
	});

	test('whose calls the caller answers come back, also beside a skill, and their outputs go on', async () => {
		const shell = { id: 'lsh_1', call_id: 'call_sh', status: 'completed', action: { type: 'exec', command: ['ls'] } };
		await open([[SAY, item('local_shell_call', shell)], text('One file.')]);
		const tools = [{ type: 'local_shell' }];
		const { body } = await ask({ input: 'List', tools });
		expect(body.status).toBe('completed');
		expect(body.output).toContainEqual({ type: 'local_shell_call', ...shell });
		const output = { type: 'local_shell_call_output', call_id: 'call_sh', output: '{"output":"a.txt"}' };
		const next = await ask({ input: [output], tools, previous_response_id: body.id });
		expect(next.body.output[0].content[0].text).toBe('One file.');
		expect(sent(1).input).toContainEqual(output);
		expect(JSON.stringify(sent(1).input)).toContain('said: hello');
	});

	test('a picture that its tool makes has its bytes', async () => {
		const png = Buffer.from(`89504e470d0a1a0a0000000d494844520000000a0000000a${'0'.repeat(400)}`, 'hex');
		const made = { id: 'ig_1', status: 'completed', result: png.toString('base64') };
		await open([[item('image_generation_call', made), text('Here.')], text('Nice.')]);
		const tools = [{ type: 'image_generation' }];
		const { body } = await ask({ input: 'Draw', tools });
		expect(body.output[0]).toEqual({ type: 'image_generation_call', ...made });
		await ask({ input: 'Nice?', tools, previous_response_id: body.id });
		expect(sent(1).input).toContainEqual(expect.objectContaining(made));
	});

	test('items of types that nobody knows are passed on, and left out once the server refuses them', async () => {
		const thing = { type: 'thing_of_tomorrow', id: 'x', data: { deep: [1] } };
		const no = status(400, { error: { message: "Unknown item type 'thing_of_tomorrow' in input[0]." } });
		await open([text('Hi.'), no, text('Hi.')], {});
		const input = [thing, { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA' } }] }];
		const { body } = await ask({ input });
		expect(sent(0).input[0]).toEqual(thing);
		expect(JSON.stringify(sent(0).input)).toContain('input_audio');
		expect(body.openrouter_skills).toBeUndefined();
		const second = await ask({ input: 'Hi', previous_response_id: body.id });
		const remark = 'Items of the type thing_of_tomorrow were left out: the model’s server doesn’t take them.';
		expect(second.body.openrouter_skills.left_out).toEqual([remark]);
		expect(JSON.stringify(sent(2).input)).not.toContain('thing_of_tomorrow');
	});

	test('a reference to what the server’s tool did is no error', async () => {
		await open([text('Hi.')]);
		const input = [
			{ type: 'item_reference', id: 'ws_68d0a' },
			{ role: 'user', content: 'Hi' }
		];
		expect((await ask({ input })).status).toBe(200);
	});

	test('demo mode leaves them out and says so', async () => {
		const demo = await openResponses();
		const tools = [SEARCH, { type: 'computer_use_preview' }];
		const { body } = await ask({ input: 'How many words are in "a b c"?', tools }, demo);
		await demo.close();
		expect(JSON.stringify(body.output)).toContain('3');
		expect(body.openrouter_skills.left_out).toEqual([
			'The tool web_search was left out: Demo mode doesn’t offer it.',
			'The tool computer_use_preview was left out: Demo mode doesn’t offer it.'
		]);
	});
});
