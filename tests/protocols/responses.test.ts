/** `POST /v1/responses` and related endpoints: every response and event is checked against the document. */
import { createServer } from 'node:http';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import { mcpServerPut } from '../../src/lib/shared/mcp-servers.ts';
import { startFixtureHttp } from '../support/mcp-fixture.ts';
import { processesWith } from '../support/processes.ts';
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import {
	call,
	calls,
	endless,
	item,
	raw,
	reasoning,
	response,
	status,
	text,
	type Reply
} from '../support/model-server.ts';
import {
	createResponsesRigs,
	openResponses,
	type ResponsesRig,
	type ResponsesRigOptions,
	type StreamedEvent
} from '../support/responses-rig.ts';

let rig: ResponsesRig;
afterEach(async () => {
	await rigs.settle();
});

const SKILLS = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"\n',
	'demo/scripts/wait.sh': 'echo waiting; exec sleep 600.81726\n'
};
const SAY = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hello'] });
const WEATHER = {
	type: 'function',
	name: 'get_weather',
	description: 'Weather of a place',
	parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
};

const rigs = createResponsesRigs(SKILLS);
afterAll(() => rigs.close());
const open = async (script: Reply[], more?: ResponsesRigOptions) => (rig = await rigs.open(script, more));
const textOf = (body: { output: { type: string; content?: { text: string }[] }[] }) =>
	body.output
		.flatMap(({ type, content = [] }) => (type === 'message' ? content.map((part) => part.text) : []))
		.join('');
const sentItems = (number: number) => rig.model?.requests[number]?.body.input as Record<string, unknown>[];
interface ExecutedItem {
	type: string;
	id: string;
	openrouter_skills?: { output: string };
}
interface Body {
	output: ExecutedItem[];
}
const lastOf = (events: readonly StreamedEvent[]) =>
	events.at(-1) ?? { type: 'none', sequence_number: -1, response: {} };
const typesOf = (items: readonly { type: string }[]) => items.map(({ type }) => type);

test('F12: a question is answered with a whole response; what the caller says reaches the model', async () => {
	await open([text('Hel', 'lo.')]);
	const { status: code, body } = await rig.ask({
		model: 'some/model',
		input: 'Hi',
		instructions: 'Be brief.',
		temperature: 0.5,
		max_output_tokens: 100,
		text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' } }, verbosity: 'low' },
		reasoning: { effort: 'low', summary: 'auto' },
		metadata: { project: 'p' },
		prompt_cache_key: 'k',
		safety_identifier: 's',
		service_tier: 'flex'
	});
	expect(code).toBe(200);
	expect(textOf(body)).toBe('Hello.');
	expect(body).toMatchObject({
		...{ object: 'response', status: 'completed', model: 'some/model', instructions: 'Be brief.', temperature: 0.5 },
		...{ metadata: { project: 'p' }, prompt_cache_key: 'k', safety_identifier: 's', service_tier: 'flex' },
		...{ max_output_tokens: 100, text: { format: { type: 'json_schema', name: 'x' }, verbosity: 'low' } },
		...{ reasoning: { effort: 'low', summary: 'auto' }, store: true, previous_response_id: null, tools: [] }
	});
	const sent = rig.model?.requests[0]?.body;
	expect(sent).toMatchObject({
		...{ model: 'some/model', temperature: 0.5, max_output_tokens: 100, metadata: { project: 'p' } },
		...{ text: { verbosity: 'low', format: { name: 'x', schema: { type: 'object' } } } },
		...{ reasoning: { effort: 'low', summary: 'auto' }, prompt_cache_key: 'k', safety_identifier: 's' }
	});
	expect(sent).not.toHaveProperty('store');
	expect(String(sent?.instructions)).toMatch(/demo[^]*Be brief\.$/);
});

test('F12: a stream tells each item from its beginning to its end, and ends with what the whole response holds', async () => {
	await open([[reasoning('Let me ', 'see.'), text('It is ', 'warm.')]]);
	const events = await rig.stream({ input: 'Hi', store: false });
	// Deltas that arrive together may be merged.
	expect(typesOf(events).filter((type, index, all) => type !== all[index - 1])).toEqual([
		'response.created',
		'response.in_progress',
		'response.output_item.added',
		'response.reasoning_summary_part.added',
		'response.reasoning_summary_text.delta',
		'response.output_item.added',
		'response.content_part.added',
		'response.output_text.delta',
		'response.reasoning_summary_text.done',
		'response.reasoning_summary_part.done',
		'response.output_item.done',
		'response.output_text.done',
		'response.content_part.done',
		'response.output_item.done',
		'response.completed'
	]);
	const { output } = lastOf(events).response;
	expect(foldItems(events)).toEqual(output);
	expect(output).toMatchObject([
		{ type: 'reasoning', summary: [{ text: 'Let me see.' }] },
		{ type: 'message', status: 'completed', content: [{ text: 'It is warm.' }] }
	]);
});

/** The items of a client that only reads `output_item.done`. */
function foldItems(events: readonly StreamedEvent[]): unknown[] {
	const items: unknown[] = [];
	for (const event of events) if (event.type === 'response.output_item.done') items[event.output_index] = event.item;
	return items;
}

test('D40, F12: a skill’s script runs here, its result goes to the model, and the output tells of it as done', async () => {
	await open([SAY, text('It said hello.')]);
	const { body } = await rig.ask({ input: 'Say hello' });
	expect(typesOf(body.output)).toEqual(['reasoning', 'message']);
	expect(body.output[0]).toMatchObject({
		openrouter_skills: { executed: true, name: 'use_skill', skill: 'demo', exit_code: 0, is_error: false }
	});
	expect(body.output[0].openrouter_skills.output).toContain('said: hello');
	expect(body.output[0].summary[0].text).toContain('said: hello');
	expect(sentItems(1).at(-1)).toMatchObject({ type: 'function_call_output' });
	expect(body.usage.total_tokens).toBeGreaterThan(0);
});

test('D40: who asks for items gets the call and its output as such, both marked as executed', async () => {
	await open([SAY, text('It said hello.')]);
	const events = await rig.stream({ input: 'Say hello', openrouter_skills: { calls: 'items' } });
	const { output } = lastOf(events).response;
	expect(typesOf(output)).toEqual(['function_call', 'function_call_output', 'message']);
	expect(output[0]).toMatchObject({ name: 'use_skill', status: 'completed', openrouter_skills: { executed: true } });
	expect(output[1].call_id).toBe(output[0].call_id);
	expect(output[1].output).toContain('said: hello');
	expect(foldItems(events)).toEqual(output);
});

test('D41, B13: a caller’s tool comes back as a call to run, and its output by previous_response_id goes on', async () => {
	await open([call('get_weather', { place: 'Rome' }, 'call_rome'), text('Sunny.')]);
	const events = await rig.stream({ input: 'Weather in Rome?', tools: [WEATHER] });
	const first = lastOf(events).response;
	expect(first.output).toMatchObject([
		{
			type: 'function_call',
			call_id: 'call_rome',
			name: 'get_weather',
			arguments: '{"place":"Rome"}',
			status: 'completed'
		}
	]);
	expect(typesOf(events).filter((type) => type.includes('function_call_arguments'))).toContain(
		'response.function_call_arguments.done'
	);
	expect(rig.model?.requests[0]?.body.tools).toEqual(
		expect.arrayContaining([expect.objectContaining({ name: 'load_skill' }), expect.objectContaining(WEATHER)])
	);
	const second = await rig.ask({
		previous_response_id: first.id,
		tools: [WEATHER],
		input: [{ type: 'function_call_output', call_id: 'call_rome', output: '25°' }]
	});
	expect(textOf(second.body)).toBe('Sunny.');
	expect(second.body.previous_response_id).toBe(first.id);
	expect(typesOf(sentItems(1) as { type: string }[])).toEqual(['message', 'function_call', 'function_call_output']);
});

test.each([
	['their ids', (body: Body) => [{ type: 'item_reference', id: body.output[0]?.id }, { id: body.output[1]?.id }]],
	['the items as they came', (body: Body) => body.output]
])('D40, D41: a skill’s call and a caller’s in one turn, gone on from with %s', async (_how, replayed) => {
	await open([
		calls([
			{ name: 'use_skill', args: { skill: 'demo', script: 'scripts/say.sh', args: ['x'] }, callId: 'call_own' },
			{ name: 'get_weather', args: { place: 'Rome' }, callId: 'call_rome' }
		]),
		text('Both.')
	]);
	const first = await rig.ask({ input: 'Do both', tools: [WEATHER] });
	const open_ = first.body.output.filter(({ type }: { type: string }) => type === 'function_call');
	expect(open_).toMatchObject([{ name: 'get_weather' }]);
	expect(first.body.status).toBe('completed');
	const items = replayed(first.body) as { type?: string; id: string }[];
	const second = await rig.ask({
		tools: [WEATHER],
		input: [
			{ role: 'user', content: 'Do both' },
			...items,
			{ type: 'function_call_output', call_id: 'call_rome', output: '25°' }
		]
	});
	expect(textOf(second.body)).toBe('Both.');
	const sent = sentItems(1);
	expect(
		sent
			.filter(({ type }) => type === 'function_call')
			.map(({ name }) => name)
			.toSorted()
	).toEqual(['get_weather', 'use_skill']);
	const own = sent.find(({ type, call_id }) => type === 'function_call_output' && call_id === 'call_own');
	expect(own?.output).toContain('said: x');
});

test('B13: a caller’s tool of the name of one of ours is the caller’s', async () => {
	await open([call('use_skill', { x: 1 }, 'call_1')]);
	const { body } = await rig.ask({ input: 'Hi', tools: [{ type: 'function', name: 'use_skill' }] });
	expect(body.output).toMatchObject([{ type: 'function_call', name: 'use_skill' }]);
	const { tools } = rig.model?.requests[0]?.body as { tools: { name: string }[] };
	expect(tools.filter(({ name }) => name === 'use_skill')).toHaveLength(1);
});

test('F12: a choice of a tool holds for the first step; of allowed tools the others are not offered', async () => {
	await open([SAY, text('Done.'), text('Done.'), text('No.')]);
	await rig.ask({ input: 'Hi', tools: [WEATHER], tool_choice: 'required', parallel_tool_calls: false });
	expect(rig.model?.requests.map(({ body }) => body.tool_choice)).toEqual(['required', 'auto']);
	expect(rig.model?.requests[0]?.body.parallel_tool_calls).toBe(false);
	const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_weather' }] };
	await rig.ask({ input: 'Hi', tools: [WEATHER], tool_choice: allowed });
	expect(rig.model?.requests[2]?.body).toMatchObject({ tool_choice: 'required', tools: [{ name: 'get_weather' }] });
	expect((rig.model?.requests[2]?.body.tools as unknown[]).length).toBe(1);
	const none = await rig.ask({ input: 'Hi', tools: [WEATHER], tool_choice: 'none' });
	expect(none.body.tool_choice).toBe('none');
	expect(rig.model?.requests[3]?.body.tool_choice).toBe('none');
	const unknown = await rig.ask({ input: 'Hi', tools: [WEATHER], tool_choice: { type: 'function', name: 'nope' } });
	expect(unknown).toMatchObject({ status: 400, body: { error: { param: 'tool_choice' } } });
});

test('B14, D42: a request may use fewer skills, or none, than there are', async () => {
	await open([call('use_skill', { skill: 'demo', script: 'scripts/say.sh' }), text('No.')]);
	const { body } = await rig.ask({ input: 'Say', openrouter_skills: { allowed: [], builtins: [] } });
	expect(body.output[0].openrouter_skills).toMatchObject({ is_error: true });
	expect(String(rig.model?.requests[0]?.body.instructions)).not.toContain('Says things.');
});

test('F12: of calls to skills no more are made than max_tool_calls says', async () => {
	await open([SAY, SAY, text('Enough.')]);
	const { body } = await rig.ask({ input: 'Say', max_tool_calls: 1 });
	const outputs = body.output.flatMap((item: ExecutedItem) => item.openrouter_skills?.output ?? []);
	expect(outputs[0]).toContain('said: hello');
	expect(outputs[1]).toContain('ToolCallLimit');
	expect(rig.model?.requests[1]?.body).not.toHaveProperty('tools');
});

test('F12: what the model’s server cuts off, and what its limits end, is incomplete and says why', async () => {
	await open([response([text('Hal')], { incomplete: 'max_output_tokens' })]);
	const { body } = await rig.ask({ input: 'Hi' });
	expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
	expect(textOf(body)).toBe('Hal');
});

test('F12: a model that writes for ever is left when the turn’s time is over; what it said is gone on from', async () => {
	const said = 'On and on.';
	const delta = { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: said };
	await open([endless(delta), text('Enough.')], { env: { AGENT_TIMEOUT_MS: '1000' } });
	const { body } = await rig.ask({ input: 'Hi' });
	expect(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_duration' } });
	await rig.model?.requests[0]?.closed;
	const next = await rig.ask({ input: 'And?', previous_response_id: body.id });
	expect(textOf(next.body)).toBe('Enough.');
	expect(sentItems(1)).toMatchObject([
		{ role: 'user' },
		{ role: 'assistant', content: [{ text: textOf(body) }] },
		{ role: 'user' }
	]);
});

test('F12: phase, citations and log probabilities of the model’s message are passed on', async () => {
	const annotations = [{ type: 'url_citation', url: 'https://example.org', start_index: 0, end_index: 2, title: 'E' }];
	const logprobs = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }];
	const content = [{ type: 'output_text', text: 'Hi', annotations, logprobs }];
	const item = {
		type: 'message',
		id: 'msg_up',
		role: 'assistant',
		status: 'completed',
		phase: 'final_answer',
		content
	};
	await open([
		raw(
			{ type: 'response.output_text.delta', output_index: 0, item_id: 'msg_up', delta: 'Hi' },
			{ type: 'response.output_item.done', output_index: 0, item },
			{ type: 'response.completed', response: { id: 'r', status: 'completed', output: [item], usage: null } }
		)
	]);
	const events = await rig.stream({ input: 'Hi', include: ['message.output_text.logprobs'], top_logprobs: 1 });
	expect(events.at(-1)?.response.output).toMatchObject([
		{ phase: 'final_answer', content: [{ annotations, logprobs }] }
	]);
	expect(typesOf(events)).toContain('response.output_text.annotation.added');
	expect(rig.model?.requests[0]?.body).toMatchObject({
		include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
		top_logprobs: 1
	});
});

test('F12: a picture that the model makes is a file, named by its step; the response doesn’t have its bytes, the next request has', async () => {
	const png = Buffer.from(`89504e470d0a1a0a0000000d494844520000000a0000000a${'0'.repeat(4000)}`, 'hex');
	const result = png.toString('base64');
	const made = item('image_generation_call', { id: 'ig_1', status: 'completed', result });
	await open([[made, text('Here.')], text('Yes.')]);
	const { body } = await rig.ask({ input: 'Draw' });
	const file = { path: 'picture-1.png', bytes: png.length };
	expect(body.output[0]).toMatchObject({ openrouter_skills: { name: 'image_generation_call', files: [file] } });
	expect(body.output[0].encrypted_content).toBeUndefined();
	expect(JSON.stringify(body)).not.toContain(result.slice(0, 500));
	await rig.ask({ input: 'Nice?', previous_response_id: body.id });
	const sent = JSON.stringify(sentItems(1));
	expect(sent).toContain(png.toString('base64'));
	expect(sent).toContain('picture-1.png');
});

test.each([false, true])(
	'F12: thoughts that only the server can read come back to it in their place (store: %s)',
	async (store) => {
		const thought = { type: 'reasoning', id: 'rs_up', summary: [], encrypted_content: 'secret', signature: 'sig' };
		const asked = { type: 'function_call', id: 'fc_up', call_id: 'call_1', name: 'get_weather', arguments: '{}' };
		await open([
			raw(
				{ type: 'response.output_item.done', output_index: 0, item: thought },
				{ type: 'response.output_item.done', output_index: 1, item: asked },
				{ type: 'response.completed', response: { id: 'r', status: 'completed', output: [thought, asked] } }
			),
			text('Fine.')
		]);
		const first = await rig.ask({ input: 'Hi', tools: [WEATHER], store });
		await rig.ask({
			input: [
				{ role: 'user', content: 'Hi' },
				...first.body.output,
				{ type: 'function_call_output', call_id: 'call_1', output: 'ok' }
			],
			store
		});
		expect(sentItems(1)).toMatchObject([
			{ role: 'user' },
			thought,
			{ type: 'function_call', call_id: 'call_1' },
			{ type: 'function_call_output', call_id: 'call_1' }
		]);
	}
);

test('F12: a chain is told to the model whole, and its instructions are those of the newest request', async () => {
	await open([text('One.'), text('Two.'), text('Three.')]);
	const first = await rig.ask({ input: 'first', instructions: 'Say 1.' });
	const second = await rig.ask({ input: 'second', previous_response_id: first.body.id });
	await rig.ask({ input: 'third', previous_response_id: second.body.id });
	expect(sentItems(2).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
	expect(String(rig.model?.requests[2]?.body.instructions)).not.toContain('Say 1.');
	const sessions = rig.model?.requests.map(({ body }) => body.session_id);
	expect(new Set(sessions).size).toBe(1);
});

const INCLUDE = { include: ['reasoning.encrypted_content'] };
test.each([
	['who asks for it', INCLUDE, true],
	['who has nothing stored, and so must send it back', { store: false }, true],
	['nobody else', {}, false]
])(
	'F12: the sealed content of thoughts goes to %s: in the response, and in each event of a stream',
	async (_, more, isShown) => {
		const has = (items: object[]) => items.map((item) => 'encrypted_content' in item);
		await open([SAY, text('Said.'), SAY, text('Said.')]);
		const { body } = await rig.ask({ input: 'Say it', ...more });
		expect(has(body.output)).toEqual([isShown, false]);
		const events = await rig.stream({ input: 'Say it', ...more });
		expect(has(lastOf(events).response.output)).toEqual([isShown, false]);
		const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item as object] : []));
		expect(has(items)).toEqual([isShown, false]);
	}
);

test('F12: what is stored is read with its sealed content by who asks for that, and without it by others', async () => {
	await open([SAY, text('Said.')]);
	const { body } = await rig.ask({ input: 'Say it' });
	const read = async (query: string) => (await rig.get(`/responses/${body.id}${query}`)).body.output[0] as object;
	expect(await read('')).not.toHaveProperty('encrypted_content');
	expect(await read('?include=reasoning.encrypted_content')).toHaveProperty('encrypted_content');
});

test('F12: a response that its caller has left is not stored; nobody can go on from half an answer', async () => {
	await open([call('use_skill', { skill: 'demo', script: 'scripts/wait.sh' })]);
	const leaving = new AbortController();
	const { events } = await rig.app.responses.respond({ input: 'Wait' }, { apiKeyId: null, scopes: [] }, leaving.signal);
	let last: StreamedEvent | undefined;
	for await (const event of events) {
		last = event;
		if (event.type === 'response.output_item.added') leaving.abort();
	}
	expect(last).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } });
	const { id } = last?.response as { id: string };
	expect((await rig.get(`/responses/${id}`)).status).toBe(404);
	expect(await rig.ask({ input: 'Go on', previous_response_id: id })).toMatchObject({
		status: 400,
		body: { error: { code: 'previous_response_not_found' } }
	});
});

test('F12: a stored response can be read and removed; one that is not stored, or is gone, cannot be gone on from', async () => {
	await open([text('One.'), text('Two.')]);
	const kept = await rig.ask({ input: 'Hi' });
	expect((await rig.get(`/responses/${kept.body.id}`)).body).toEqual(kept.body);
	expect((await rig.get(`/responses/${kept.body.id}`, { method: 'DELETE' })).body).toEqual({
		...{ id: kept.body.id, object: 'response', deleted: true }
	});
	expect((await rig.get(`/responses/${kept.body.id}`)).status).toBe(404);
	const gone = await rig.ask({ input: 'Hi', previous_response_id: kept.body.id });
	expect(gone).toMatchObject({ status: 400, body: { error: { code: 'previous_response_not_found' } } });
	const loose = await rig.ask({ input: 'Hi', store: false });
	expect(loose.body.store).toBe(false);
	expect((await rig.get(`/responses/${loose.body.id}`)).status).toBe(404);
});

test('E18: nobody goes on from, reads or refers to another key’s response', async () => {
	await open([text('One.'), text('Two.')]);
	const own = await rig.ask({ input: 'Hi' }, { key: 'key_a' });
	const { id, output } = own.body;
	expect((await rig.get(`/responses/${id}`, { key: 'key_b' })).status).toBe(404);
	expect((await rig.get(`/responses/${id}`, { key: 'key_b', method: 'DELETE' })).status).toBe(404);
	expect((await rig.ask({ input: 'x', previous_response_id: id }, { key: 'key_b' })).status).toBe(400);
	const referring = await rig.ask({ input: [{ type: 'item_reference', id: output[0].id }] }, { key: 'key_b' });
	expect(referring).toMatchObject({ status: 400, body: { error: { code: 'item_not_found', param: 'input[0]' } } });
	expect((await rig.ask({ input: 'x', previous_response_id: id }, { key: 'key_a' })).status).toBe(200);
});

/** The start of a PNG, which is all the server reads. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000000a0000000a' + '0'.repeat(16), 'hex');
const PNG_URL = `data:image/png;base64,${PNG.toString('base64')}`;
const models = (...inputs: string[]) => [{ id: 'test/model', architecture: { input_modalities: ['text', ...inputs] } }];
const user = (...content: object[]) => ({ role: 'user', content });
const said = (words: string) => ({ type: 'input_text', text: words });

test('F5, F12: files and pictures that come along are in the workspace of the key; the model is given them as in a chat', async () => {
	const image = { type: 'input_image', image_url: PNG_URL, detail: 'low' };
	const csv = Buffer.from('a,b\n1,2\n').toString('base64');
	const file = { type: 'input_file', filename: '../data.csv', file_data: `data:text/csv;base64,${csv}` };
	await open([call('use_skill', { skill: 'demo', script: 'scripts/cat.sh' }), text('Read.'), text('Other.')], {
		skills: { ...SKILLS, 'demo/scripts/cat.sh': 'cat data.csv; ls\n' }
	});
	const content = [said('Read it'), image, said('and'), file];
	const { body } = await rig.ask({ input: [{ role: 'user', content }] }, { key: 'key_a' });
	expect(body.output[0].openrouter_skills.output).toMatch(/1,2[^]*image-[0-9a-f]{8}\.png/);
	expect(sentItems(0)[0]?.content).toEqual([
		...[said('Read it'), image, said('and')],
		{
			type: 'input_text',
			text: expect.stringMatching(/^Attached files:\n- image-\w{8}\.png\n- data\.csv$/) as unknown
		},
		said('The file data.csv:\n<file_content>\na,b\n1,2\n\n</file_content>'),
		{ type: 'input_text', text: expect.stringContaining('- data.csv (8 bytes)') as unknown }
	]);
	expect(sentItems(1).slice(0, 1)).toEqual(sentItems(0).slice(0, 1));
	const other = { ...file, file_data: Buffer.from('other').toString('base64') };
	await rig.ask({ input: [{ role: 'user', content: [other] }] }, { key: 'key_a' });
	expect(JSON.stringify(sentItems(2))).toMatch(/data-[0-9a-f]{8}\.csv/);
	const folder = join(rig.root, 'data/workspaces');
	const [name = ''] = readdirSync(folder);
	expect(name).toMatch(/^key\./);
	expect(readFileSync(join(folder, name, 'data.csv'), 'utf8')).toBe('a,b\n1,2\n');
});

test('F5, F12: a chain has a picture’s bytes once, in the workspace, and sends them again; a result of the caller’s tool may have one', async () => {
	await open([text('A cat.'), [call('get_weather', { place: 'Rome' })], text('Sunny.')], { models: models('image') });
	const first = await rig.ask({
		model: 'test/model',
		input: [user(said('What?'), { type: 'input_image', image_url: PNG_URL })]
	});
	const next = {
		model: 'test/model',
		tools: [WEATHER],
		previous_response_id: first.body.id,
		input: 'And the weather?'
	};
	const { body } = await rig.ask(next);
	expect(sentItems(1)[0]).toEqual(sentItems(0)[0]);
	expect(JSON.stringify(await rig.app.store.responses.chain(body.id, null))).not.toContain(PNG.toString('base64'));
	const { call_id } = body.output.at(-1) as { call_id: string };
	const output = [{ type: 'input_image', image_url: PNG_URL }];
	const sent = { ...next, previous_response_id: body.id, input: [{ type: 'function_call_output', call_id, output }] };
	expect(textOf((await rig.ask(sent)).body)).toBe('Sunny.');
	expect(sentItems(2).at(-1)?.output).toContainEqual({ type: 'input_image', detail: 'auto', image_url: PNG_URL });
});

const ADDRESSES = [
	{ type: 'input_image', image_url: 'https://pictures.example/cat.png', detail: 'high' },
	{ type: 'input_image', file_id: 'file-1', detail: 'auto' },
	{ type: 'input_file', file_url: 'https://files.example/a.pdf' },
	{ type: 'input_file', file_id: 'file-2' }
];

test('F12: addresses and ids of files are passed on as they are to a model that takes them; nothing is fetched here', async () => {
	let fetched = 0;
	const place = createServer((_request, answer) => void answer.end(String((fetched += 1))));
	await new Promise<void>((resolve) => void place.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => void place.close());
	const { port } = place.address() as { port: number };
	const here = { type: 'input_image', image_url: `http://127.0.0.1:${port}/cat.png`, detail: 'auto' };
	await open([text('Seen.')], { models: models('image', 'file') });
	const { body } = await rig.ask({ model: 'test/model', input: [user(said('Look'), ...ADDRESSES, here)] });
	expect((sentItems(0)[0]?.content as object[]).slice(1, 6)).toEqual([...ADDRESSES, here]);
	expect([body.openrouter_skills, fetched]).toEqual([undefined, 0]);
});

test('F12: a model that takes none is told of each, and the response says what was left out', async () => {
	await open([text('I see none.')], { models: models() });
	const { status: code, body } = await rig.ask({
		model: 'test/model',
		input: [user(said('Look'), ...ADDRESSES, { type: 'input_image', image_url: PNG_URL })]
	});
	expect(code).toBe(200);
	const sent = JSON.stringify(sentItems(0));
	expect(sent).not.toMatch(/input_image|input_file/);
	expect(sent).toContain('The picture https://pictures.example/cat.png isn’t shown, because you can’t see pictures.');
	expect(sent).toContain('The file file-2 isn’t shown, because you can’t read attached files.');
	expect(body.openrouter_skills.left_out).toEqual([
		'The picture https://pictures.example/cat.png wasn’t sent to test/model: it can’t see pictures.',
		'The picture file-1 wasn’t sent to test/model: it can’t see pictures.',
		'The file https://files.example/a.pdf wasn’t sent to test/model: it can’t read attached files.',
		'The file file-2 wasn’t sent to test/model: it can’t read attached files.',
		expect.stringMatching(/^image-\w{8}\.png wasn’t sent to test\/model: it can’t see pictures\.$/)
	]);
});

test('F12: what the server refuses is left out, in the next response of the chain, too, and the first says so', async () => {
	const refusal = status(400, { error: { code: 400, message: 'Failed to download image_url' } });
	await open([refusal, text('None.'), text('Still none.')], { models: models('image') });
	const { body } = await rig.ask({ model: 'test/model', input: [user(said('Look'), ADDRESSES[0]!)] });
	expect(body.openrouter_skills.left_out).toEqual(['test/model refused the pictures, so it was asked without them.']);
	await rig.ask({ model: 'test/model', input: 'And now?', previous_response_id: body.id });
	expect(JSON.stringify(sentItems(2))).not.toContain('input_image');
});

test('F12: Demo mode takes such a request, and says what it can’t see', async () => {
	const own = await openResponses({ skills: SKILLS });
	try {
		const { status: code, body } = await own.ask({ input: [user(said('Hello'), ...ADDRESSES)] });
		expect([code, body.status]).toEqual([200, 'completed']);
		expect(body.openrouter_skills.left_out).toHaveLength(4);
		expect(textOf(body)).not.toContain('example');
	} finally {
		await own.close();
	}
});

test.each([
	['broken base64', { image_url: 'data:image/png;base64,!!!' }, 'image_url must be base64'],
	['base64 that is cut', { image_url: 'data:image/png;base64,AAAAA' }, 'image_url must be base64'],
	['another type', { image_url: 'data:image/png;base64,AAAA' }, 'image_url isn’t a PNG, JPEG, GIF or WebP'],
	['a drawing', { image_url: 'data:image/svg+xml,%3Csvg/%3E' }, 'image_url isn’t a PNG, JPEG, GIF or WebP'],
	['nothing', {}, 'Missing required parameter'],
	['a file of the caller', { image_url: 'file:///etc/passwd' }, 'must be a data URL or an http(s) address'],
	['no address', { image_url: 'cat.png' }, 'must be a data URL or an http(s) address'],
	[
		'too many bytes',
		{ image_url: `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(6_000_000)]).toString('base64')}` },
		'it’s larger than 5 MB'
	],
	['a script', { type: 'input_file', file_url: 'javascript:alert(1)' }, 'must be a data URL or an http(s) address'],
	['data that is cut', { type: 'input_file', file_data: 'AAAAA' }, 'file_data must be base64'],
	['a long address', { image_url: `https://a.example/${'x'.repeat(9000)}` }, 'of at most 8192 characters']
])('F12: a picture or file of %s is a 400 that names the parameter', async (_what, part, message) => {
	await open([]);
	const { status: code, body } = await rig.ask({
		model: 'test/model',
		input: [user({ type: 'input_image', ...part })]
	});
	expect(code).toBe(400);
	expect(body.error).toMatchObject({
		type: 'invalid_request_error',
		message: expect.stringContaining(message) as unknown,
		param: expect.stringMatching(/^input\[0\]\.content\[0\]\./) as unknown
	});
});

test('F12: what the model’s server refuses is an error of its own status, and in a stream the response’s', async () => {
	const failures: [Reply, number, string][] = [
		[status(401, { error: { message: 'bad key' } }), 502, 'upstream_unauthorized'],
		[status(402, { error: { message: 'no credits' } }), 402, 'insufficient_credits'],
		[status(404, { error: { message: 'no model' } }), 404, 'model_not_found'],
		[status(400, { error: { code: 'context_length_exceeded', message: 'too long' } }), 400, 'context_length_exceeded']
	];
	await open(failures.flatMap(([reply]) => [reply, reply]));
	for (const [, code, name] of failures) {
		const { status: answered, body } = await rig.ask({ input: 'Hi' });
		expect([answered, body.error.code]).toEqual([code, name]);
		const events = await rig.stream({ input: 'Hi' });
		expect(events.at(-1)).toMatchObject({
			type: 'response.failed',
			response: { status: 'failed', error: { code: name } }
		});
	}
});

test('F12: a client that goes away ends the turn: the model is left, and the script is killed', async () => {
	await open([call('use_skill', { skill: 'demo', script: 'scripts/wait.sh' })]);
	const leaving = new AbortController();
	const asked = fetch(`${rig.url}/responses`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ input: 'Wait', stream: true }),
		signal: leaving.signal
	});
	const reader = (await asked).body?.getReader();
	let told = '';
	while (!told.includes('Running use_skill')) told += new TextDecoder().decode((await reader?.read())?.value);
	await expect.poll(waiting).toHaveLength(1);
	leaving.abort();
	await expect.poll(waiting).toEqual([]);
	expect(rig.model?.requests).toHaveLength(1);
});

test('F12: one that waits for the whole response and goes away ends the turn as well', async () => {
	await open([call('use_skill', { skill: 'demo', script: 'scripts/wait.sh' })]);
	const leaving = new AbortController();
	const asked = rig.ask({ input: 'Wait' }, { signal: leaving.signal }).catch(() => null);
	await expect.poll(waiting).toHaveLength(1);
	leaving.abort();
	await asked;
	await expect.poll(waiting).toEqual([]);
});

/** In a sandbox a process has a different id than outside. */
const waiting = () => processesWith('sleep 600.81726');

test('F12: a script that nobody has trusted does not run, and the result says where to allow it', async () => {
	await open([SAY, text('Not allowed.')], { env: { SKILLS_APPROVAL: 'ask' } });
	const { body } = await rig.ask({ input: 'Say hello' });
	const { output, is_error: isError } = body.output[0].openrouter_skills;
	expect(isError).toBe(true);
	expect(output).toContain('ApprovalRequired');
	expect(output).toMatch(/SKILLS_APPROVAL=auto/);
});

test('C16: with a key what would be asked about does not run, unless the key was made to run unasked', async () => {
	await open([SAY, text('Not allowed.'), SAY, text('Said.')], { env: { SKILLS_APPROVAL: 'ask' } });
	const keyOf = async (scopes: ApiScope[]) => (await rig.app.apiKeys.create({ name: 'client', scopes })).key;
	const refused = await rig.ask({ input: 'Say hello' }, { key: await keyOf(['read', 'write', 'execute']) });
	expect(refused.body.output[0].openrouter_skills).toMatchObject({
		is_error: true,
		output: expect.stringContaining('scope “approve”')
	});
	const ran = await rig.ask({ input: 'Say hello' }, { key: await keyOf(['execute', 'approve']) });
	expect(ran.body.output[0].openrouter_skills).toMatchObject({ is_error: false, skill: 'demo' });
});

test('E36, C16: what an MCP server asks meanwhile is declined for every key, and the client reads what to do', async () => {
	const remote = await startFixtureHttp();
	onTestFinished(() => remote.stop());
	const script = Array.from({ length: 2 }, () => [call('mcp__demo__book'), text('Not booked.')]).flat();
	const own = await openResponses({ skills: SKILLS, script });
	onTestFinished(() => own.close());
	await own.app.mcpServers.put(
		'demo',
		mcpServerPut.parse({ transport: { type: 'http', url: remote.url }, approval: 'auto' })
	);
	await expect.poll(() => own.app.mcpServers.get('demo').status.state).toBe('connected');
	for (const scopes of [
		['read', 'execute'],
		['read', 'execute', 'approve']
	] as ApiScope[][]) {
		const { key } = await own.app.apiKeys.create({ name: 'a client', scopes });
		const { body } = await own.ask({ input: 'Book' }, { key });
		const [step] = body.output;
		expect(step.openrouter_skills).toMatchObject({
			is_error: false,
			output: expect.stringMatching(
				/asked “When would you like to come\?”.*Nobody can be asked here.*arguments, or use the tool in a chat/
			)
		});
		expect(step.summary[0].text).toContain('Nobody can be asked here');
	}
});

test('E30: what nobody trusts runs for no key without being asked about', async () => {
	await open([SAY, text('Not allowed.')], { env: { SKILLS_TRUST_LOCAL: 'ask' } });
	const { key } = await rig.app.apiKeys.create({ name: 'client', scopes: ['execute', 'approve'] });
	const { body } = await rig.ask({ input: 'Say hello' }, { key });
	expect(body.output[0].openrouter_skills).toMatchObject({
		is_error: true,
		output: expect.stringContaining('/skills/demo')
	});
});

test('F12: the models of the server are listed, and one is read by its id', async () => {
	await open([]);
	const { body } = await rig.get('/models');
	expect(body).toMatchObject({
		object: 'list',
		data: expect.arrayContaining([{ id: 'test/model', object: 'model', created: 0, owned_by: 'test' }])
	});
	expect((await rig.get('/models/test/model')).body.id).toBe('test/model');
	expect(await rig.get('/models/no/such')).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } });
});

test('F12: a response is kept for 30 days, then it is forgotten when the next one is stored', async () => {
	const rig = await open([text('Yes.')]);
	const at = (age: number) => new Date(Date.now() - age).toISOString();
	const days = 24 * 60 * 60_000;
	const stored = {
		previousId: null,
		apiKeyId: null,
		sessionId: 's',
		items: [],
		body: {},
		inputCount: 0,
		isRunning: false
	};
	const { responses } = rig.app.store;
	await responses.put({ ...stored, id: 'resp_old', createdAt: at(30 * days + 60_000) });
	await responses.put({ ...stored, id: 'resp_young', createdAt: at(30 * days - 60 * 60_000) });
	const { body } = await rig.ask({ input: 'Still there?' });
	expect(await responses.get(body.id, null)).not.toBeNull();
	expect(await responses.get('resp_young', null)).not.toBeNull();
	expect(await responses.get('resp_old', null)).toBeNull();
});

test('F12: beyond the limit of a key its oldest responses are removed, and going on from them is refused in words', async () => {
	const script = ['One.', 'Two.', 'Other.', 'Three.', 'Four.'].map((said) => text(said));
	const own = await openResponses({ skills: SKILLS, script, env: { RESPONSES_MB: '1' } });
	const input = 'x'.repeat(400_000);
	const [mine, other] = [{ key: 'key_mine' }, { key: 'key_other' }];
	const statusOf = async (id: string) => (await own.get(`/responses/${id}`, mine)).status;
	const first = (await own.ask({ input }, mine)).body.id;
	const second = (await own.ask({ input, previous_response_id: first }, mine)).body.id;
	await own.ask({ input }, other);
	expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
	const third = (await own.ask({ input, background: true }, mine)).body.id;
	await own.resume(third, -1, mine);
	const fourth = (await own.ask({ input: 'Hi' }, mine)).body.id;
	expect(await Promise.all([first, second, third, fourth].map(statusOf))).toEqual([404, 200, 200, 200]);
	const gone = await own.ask({ input: 'And?', previous_response_id: second }, mine);
	expect(gone).toMatchObject({ status: 400, body: { error: { code: 'previous_response_not_found' } } });
	expect(gone.body.error.message).toMatch(/oldest responses were removed.*Send the items/);
	await own.close();
});

test('F12: a preset is a model of its own: its model, effort, routing, instructions and skills answer; one that is gone is refused', async () => {
	const { app, get, ask, model } = await open([text('Reviewed.')]);
	const review = {
		name: 'Review',
		icon: null,
		model: 'acme/large',
		effort: 'high',
		web: null,
		approval: null
	} as const;
	const routing = { fallbacks: ['acme/small'], zdr: true as const };
	const presets = { review: { ...review, routing, instructions: 'You review code.', skills: ['demo'] } };
	const server = { modelBaseUrl: model?.url.replace('/v1', '/api/v1'), modelApiKey: 'a-key-of-openrouter' };
	await app.settings.change({ presets, ...server }, new Date().toISOString());
	expect((await get('/models')).body.data[0]).toMatchObject({ id: 'preset:review' });
	expect((await ask({ model: 'preset:review', input: 'hi' })).body).toMatchObject({ model: 'acme/large' });
	const { body } = model?.requests[0] ?? {};
	expect(body).toMatchObject({ model: 'acme/large', reasoning: { effort: 'high' } });
	expect(body).toMatchObject({ models: ['acme/large', 'acme/small'], provider: { zdr: true } });
	expect(String(body?.instructions)).toMatch(/<skill_content name="demo"[^]*You review code\.$/);
	await app.settings.change({ presets: { review: null } }, new Date().toISOString());
	const gone = await ask({ model: 'preset:review', input: 'hi' });
	expect(gone).toMatchObject({ status: 404, body: { error: { code: 'model_not_found', param: 'model' } } });
});
