/** `POST /v1/chat/completions` over real HTTP, with a scripted model. */
import fc from 'fast-check';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import {
	call,
	calls,
	cited,
	dynamic,
	endless,
	raw,
	reasoning,
	response,
	status,
	text,
	type Reply
} from '../support/model-server.ts';
import { processesWith } from '../support/processes.ts';
import { createResponsesRigs, type ResponsesRig, type ResponsesRigOptions } from '../support/responses-rig.ts';

const SKILLS = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"\n',
	'demo/scripts/note.sh': 'echo "${1:-x}" >> notes.txt; cat notes.txt\n',
	'demo/scripts/wait.sh': 'echo waiting; exec sleep 600.81727\n'
};
const run = (script: string, ...args: string[]) => ({ skill: 'demo', script: `scripts/${script}.sh`, args });
const SAY = call('use_skill', run('say', 'hello'));
const WEATHER = {
	type: 'function',
	function: {
		name: 'get_weather',
		description: 'Weather of a place',
		parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
	}
};
const USER = { role: 'user', content: 'Hi' };

const rigs = createResponsesRigs(SKILLS);
afterAll(() => rigs.close());
afterEach(() => rigs.settle());
let rig: ResponsesRig;
const open = async (script: Reply[], more?: ResponsesRigOptions) => (rig = await rigs.open(script, more));

/* eslint-disable @typescript-eslint/no-explicit-any -- answers are read in many ways */
interface More {
	key?: string;
	headers?: Record<string, string>;
	signal?: AbortSignal;
}
const post = (body: unknown, { key, headers, signal }: More = {}) =>
	fetch(`${rig.url}/chat/completions`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers },
		body: typeof body === 'string' ? body : JSON.stringify(body),
		...(signal && { signal })
	});
const ask = async (body: unknown, more?: More): Promise<{ status: number; body: any }> => {
	const answer = await post(body, more);
	return { status: answer.status, body: await answer.json() };
};
/** The chunks, without `[DONE]`, which must be last. */
const stream = async (body: object, more?: More): Promise<any[]> => {
	const answer = await post({ ...body, stream: true }, more);
	expect(answer.headers.get('content-type')).toBe('text/event-stream');
	const frames = (await answer.text()).split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
	expect(frames.pop()).toBe('data: [DONE]');
	return frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')));
};
const deltas = (chunks: any[]): any[] => chunks.flatMap(({ choices = [] }) => choices.map((each: any) => each.delta));
const joined = (chunks: any[], field: string) =>
	deltas(chunks)
		.map((delta) => delta[field] ?? '')
		.join('');
const finishOf = (chunks: any[]) =>
	chunks
		.flatMap(({ choices = [] }) => choices)
		.map((each) => each.finish_reason)
		.filter(Boolean);
const sent = (number: number): any => rig.model?.requests[number]?.body;
const messageOf = (body: any) => body.choices[0].message;

test('F12: a question is answered with a whole completion, and what the caller says reaches the model', async () => {
	await open([text('Hel', 'lo.')]);
	const { status: code, body } = await ask({
		model: 'some/model',
		messages: [
			{ role: 'system', content: 'Be brief.' },
			{ role: 'developer', content: [{ type: 'text', text: 'And kind.' }] },
			USER
		],
		temperature: 0.5,
		top_p: 0.9,
		max_tokens: 100,
		reasoning_effort: 'low',
		response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' }, strict: true } },
		prompt_cache_key: 'k',
		metadata: { project: 'p' }
	});
	expect(code).toBe(200);
	expect(body).toMatchObject({
		...{ object: 'chat.completion', model: 'some/model', id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/) },
		choices: [
			{
				index: 0,
				finish_reason: 'stop',
				logprobs: null,
				message: { role: 'assistant', content: 'Hello.', refusal: null }
			}
		],
		usage: { prompt_tokens: expect.any(Number), prompt_tokens_details: { cached_tokens: expect.any(Number) } }
	});
	expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
	expect(messageOf(body)).not.toHaveProperty('tool_calls');
	expect(sent(0)).toMatchObject({
		...{ model: 'some/model', temperature: 0.5, top_p: 0.9, max_output_tokens: 100, prompt_cache_key: 'k' },
		...{ metadata: { project: 'p' }, reasoning: { effort: 'low' } },
		text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true } }
	});
	expect(String(sent(0).instructions)).toMatch(/demo[^]*Be brief\.\n\nAnd kind\.$/);
});

test('F12: a stream begins with the role, has what the whole completion has, and ends with reason and usage', async () => {
	await open([[reasoning('Let me ', 'see.'), text('It is ', 'warm.')]]);
	const chunks = await stream({ messages: [USER], stream_options: { include_usage: true } });
	expect(
		new Set(chunks.map(({ id, object, created, model }) => JSON.stringify([id, object, created, model]))).size
	).toBe(1);
	expect(chunks[0].object).toBe('chat.completion.chunk');
	expect(deltas(chunks)[0]).toEqual({ role: 'assistant', content: '' });
	expect(joined(chunks, 'content')).toBe('It is warm.');
	expect(joined(chunks, 'reasoning_content')).toBe('Let me see.');
	expect(joined(chunks, 'reasoning')).toBe('Let me see.');
	expect(finishOf(chunks)).toEqual(['stop']);
	const last = chunks.at(-1);
	expect(last).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
	expect(chunks.slice(0, -1).every(({ choices, usage }) => choices.length === 1 && usage === undefined)).toBe(true);
});

test('F12: without include_usage no chunk has usage, and each has a choice', async () => {
	await open([text('Hello.')]);
	const chunks = await stream({ messages: [USER] });
	expect(chunks.every(({ choices, usage }) => choices.length === 1 && usage === undefined)).toBe(true);
});

test('D40: a skill runs here; what ran is reasoning, and its files are named', async () => {
	await open([[text('I will note it.'), call('use_skill', run('note', 'milk'))], text('Noted.')]);
	const { body } = await ask({ messages: [USER] });
	expect(messageOf(body)).toMatchObject({ content: 'I will note it.\n\nNoted.' });
	expect(messageOf(body).reasoning_content).toMatch(/Running use_skill[^]*answered: [^]*milk/);
	expect(messageOf(body)).not.toHaveProperty('tool_calls');
	expect(body.choices[0].finish_reason).toBe('stop');
	expect(body.openrouter_skills.files).toMatchObject([{ path: 'notes.txt' }]);
});

test('D40: who asks for items gets them in the extension; who wants no reasoning gets none', async () => {
	await open([SAY, text('One.'), SAY, text('Two.'), SAY, text('Three.')]);
	const { body } = await ask({ messages: [USER], openrouter_skills: { calls: 'items' } });
	expect(body.openrouter_skills.calls).toMatchObject([
		{ executed: true, name: 'use_skill', skill: 'demo', exit_code: 0 }
	]);
	expect(messageOf(body)).not.toHaveProperty('reasoning_content');
	for (const off of [{ reasoning: { exclude: true } }, { include_reasoning: false }]) {
		expect(joined(await stream({ messages: [USER], ...off }), 'reasoning')).toBe('');
	}
});

test('B14, D42: a request may use fewer skills than there are', async () => {
	await open([call('use_skill', run('say')), text('No.')]);
	await ask({ messages: [USER], openrouter_skills: { allowed: [], builtins: [] } });
	expect(String(sent(0).instructions)).not.toContain('Says things.');
	expect(JSON.stringify(sent(1).input.at(-1))).not.toContain('said:');
});

test('D41, B13: the caller’s tools come back as tool_calls, streamed and whole, and their results go on', async () => {
	const both = calls([
		{ name: 'get_weather', args: { place: 'Rome' }, callId: 'call_rome' },
		{ name: 'get_weather', args: { place: 'Oslo' }, callId: 'call_oslo' }
	]);
	await open([both, both, text('Sunny.')]);
	const { body } = await ask({ messages: [USER], tools: [WEATHER] });
	expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
	const made = [
		{ id: 'call_rome', type: 'function', function: { name: 'get_weather', arguments: '{"place":"Rome"}' } },
		{ id: 'call_oslo', type: 'function', function: { name: 'get_weather', arguments: '{"place":"Oslo"}' } }
	];
	expect(messageOf(body).tool_calls).toEqual(made);
	const chunks = await stream({ messages: [USER], tools: [WEATHER] });
	const parts = deltas(chunks).flatMap(({ tool_calls: list = [] }) => list);
	const folded = [0, 1].map((index) => {
		const own = parts.filter((part) => part.index === index);
		const args = own.map((part) => part.function.arguments).join('');
		return { id: own[0].id, type: own[0].type, function: { name: own[0].function.name, arguments: args } };
	});
	expect(folded).toEqual(made);
	expect(finishOf(chunks)).toEqual(['tool_calls']);
	expect(sent(0).tools).toContainEqual(expect.objectContaining({ type: 'function', ...WEATHER.function }));
	const next = await ask({
		messages: [
			USER,
			messageOf(body),
			{ role: 'tool', tool_call_id: 'call_oslo', content: '5°' },
			{ role: 'tool', tool_call_id: 'call_rome', content: [{ type: 'text', text: '25°' }] }
		],
		tools: [WEATHER]
	});
	expect(messageOf(next.body).content).toBe('Sunny.');
	expect(sent(2).input.slice(-4)).toMatchObject([
		{ type: 'function_call', call_id: 'call_rome' },
		{ type: 'function_call', call_id: 'call_oslo' },
		{ type: 'function_call_output', call_id: 'call_oslo', output: '5°' },
		{ type: 'function_call_output', call_id: 'call_rome', output: '25°' }
	]);
});

const MIXED = calls([
	{ name: 'use_skill', args: run('say', 'x'), callId: 'call_own' },
	{ name: 'get_weather', args: { place: 'Rome' }, callId: 'call_rome' }
]);
const goOn = (message: object) => ({
	messages: [USER, message, { role: 'tool', tool_call_id: 'call_rome', content: '25°' }],
	tools: [WEATHER]
});
const callsSent = (number: number) =>
	sent(number)
		.input.filter(({ type }: any) => type === 'function_call')
		.map(({ name }: any) => name)
		.toSorted();

test('D40, D41: a skill’s call and the caller’s in one turn: the next request knows what the skill answered', async () => {
	await open([[reasoning('Both.'), ...MIXED], text('Done.')]);
	const { body } = await ask({ messages: [USER], tools: [WEATHER] });
	expect(messageOf(body).tool_calls).toMatchObject([{ function: { name: 'get_weather' } }]);
	// As a client sends it that knows nothing of our fields.
	const { content, tool_calls: made } = messageOf(body);
	const next = await ask(goOn({ role: 'assistant', content, tool_calls: made }));
	expect(messageOf(next.body).content).toBe('Done.');
	expect(callsSent(1)).toEqual(['get_weather', 'use_skill']);
	expect(JSON.stringify(sent(1).input)).toContain('said: x');
});

test('D40: such a turn is nobody else’s, and isn’t kept with store: false', async () => {
	await open([MIXED, text('Done.'), MIXED, text('Done.')]);
	const first = await ask({ messages: [USER], tools: [WEATHER] }, { key: 'key_one' });
	await ask(goOn(messageOf(first.body)), { key: 'key_two' });
	expect(callsSent(1)).toEqual(['get_weather']);
	const second = await ask({ messages: [USER], tools: [WEATHER], store: false });
	await ask({ ...goOn(messageOf(second.body)), store: false });
	expect(callsSent(3)).toEqual(['get_weather']);
});

test('D40: without a key, the requests of one conversation share their files; another question has none of them', async () => {
	const note = (word: string) => [call('use_skill', run('note', word)), text('Noted.')];
	await open([...note('milk'), ...note('eggs'), ...note('tea'), ...note('jam'), ...note('nuts')]);
	const first = { role: 'user', content: 'Keep a list: milk' };
	const one = await ask({ messages: [first] });
	await ask({ messages: [first, messageOf(one.body), { role: 'user', content: 'eggs' }] });
	expect(JSON.stringify(sent(3).input.at(-1))).toContain('milk\\\\neggs');
	await ask({ messages: [{ role: 'user', content: 'Another list: tea' }] });
	expect(JSON.stringify(sent(5).input.at(-1))).not.toContain('milk');
	await ask({ messages: [first], session_id: 'a' });
	await ask({ messages: [USER] }, { headers: { 'x-session-id': 'a' } });
	expect(JSON.stringify(sent(9).input.at(-1))).toContain('jam\\\\nnuts');
});

test('F12: what real programs send in messages is taken', async () => {
	await open([text('Yes.')]);
	const { status: code } = await ask({
		messages: [
			{ role: 'system', content: [{ type: 'text', text: 'Rules', cache_control: { type: 'ephemeral' } }], name: 'sys' },
			{ role: 'user', content: 'One', name: 'anna' },
			{
				role: 'assistant',
				content: '',
				tool_calls: [{ id: '', type: 'function', function: { name: 'look', arguments: '' } }]
			},
			{ role: 'tool', content: null, tool_call_id: '' },
			{ role: 'assistant', content: null, function_call: { name: 'legacy', arguments: '{"a":1}' } },
			{ role: 'function', name: 'legacy', content: 'old' },
			{
				role: 'assistant',
				content: [
					{ type: 'thinking', thinking: 'hm' },
					{ type: 'text', text: 'So.' }
				],
				reasoning_content: 'hm',
				audio: null
			},
			{ role: 'system', content: 'In the middle' },
			{ role: 'user', content: '' },
			{
				role: 'assistant',
				content: 'Run',
				tool_calls: [
					{ id: 'i'.repeat(300), type: 'function', index: 0, function: { name: 'look', arguments: { a: 1 } } }
				]
			},
			{ role: 'user', content: ['Two', { type: 'text', text: 'three' }] }
		]
	});
	expect(code).toBe(200);
	const items = sent(0).input;
	expect(items).toMatchObject([
		{ role: 'user', content: [{ text: 'One' }] },
		{ type: 'function_call', name: 'look', arguments: '{}' },
		{ type: 'function_call_output', output: '' },
		{ type: 'function_call', name: 'legacy', arguments: '{"a":1}' },
		{ type: 'function_call_output', output: 'old' },
		{ role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
		{ role: 'system', content: [{ text: 'In the middle' }] },
		{ role: 'assistant', content: [{ text: 'Run' }] },
		{ type: 'function_call', name: 'look', arguments: '{"a":1}' },
		{ type: 'function_call_output', output: expect.stringContaining('No result') },
		{ role: 'user', content: [{ text: 'Two' }, { text: 'three' }, { text: expect.stringContaining('<context>') }] }
	]);
	expect(items[2].call_id).toBe(items[1].call_id);
	expect(items[8].call_id.length).toBeLessThanOrEqual(64);
	expect(sent(0).instructions).toMatch(/Rules$/);
});

/** Extras that programs are known to send, and the values that other servers take. */
const EXTRAS: Record<string, object> = {
	'Open WebUI': {
		...{ stream_options: { include_usage: true }, metadata: { chat_id: 'c', features: { web_search: false } } },
		...{ chat_id: 'c', session_id: 's', background_tasks: { title_generation: true }, features: {}, files: [] }
	},
	LibreChat: { user: '65f', temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, stop: null, seed: 1 },
	aider: { temperature: 0, extra_headers: { 'X-A': 'b' }, extra_body: {}, num_ctx: 8192, timeout: 600 },
	OpenRouter: {
		...{ models: ['a/b'], provider: { sort: 'price' }, route: 'fallback', transforms: ['middle-out'], plugins: [] },
		...{ reasoning: { effort: 'high', max_tokens: 2000 }, usage: { include: true }, top_k: 1, min_p: 0.1 }
	},
	'values under a limit': {
		max_tokens: 1,
		service_tier: 'scale',
		prompt_cache_key: 'k'.repeat(100),
		safety_identifier: 'x'.repeat(99)
	},
	'no limit': {
		max_tokens: -1,
		n: 1,
		logit_bias: { 50256: -100 },
		modalities: ['text'],
		prediction: null,
		audio: null,
		web_search_options: {}
	},
	nulls: Object.fromEntries(
		[
			'model',
			'stop',
			'n',
			'tools',
			'tool_choice',
			'response_format',
			'stream',
			'stream_options',
			'reasoning_effort',
			'functions',
			'metadata',
			'temperature'
		].map((name) => [name, null])
	)
};

test.each(Object.entries(EXTRAS))('F12: the fields of %s are taken or ignored', async (_name, extras) => {
	await open([text('Yes.')]);
	const { status: code, body } = await ask({ messages: [USER], ...extras, stream: false });
	expect([code, messageOf(body).content]).toEqual([200, 'Yes.']);
	expect(sent(0).max_output_tokens).toBe('max_tokens' in extras && extras.max_tokens === 1 ? 16 : undefined);
});

test('F12: a custom tool’s text goes out and comes back', async () => {
	const PATCH = { type: 'custom', custom: { name: 'apply_patch', description: 'Changes files.' } };
	await open([call('apply_patch', { input: '*** Begin' }, 'call_1'), text('Changed.')]);
	const asked = { messages: [USER], tools: [PATCH] };
	const first = await ask(asked);
	const [choice] = first.body.choices;
	expect(choice).toMatchObject({
		finish_reason: 'tool_calls',
		message: { tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin' } }] }
	});
	const result = { role: 'tool', tool_call_id: 'call_1', content: 'Done' };
	const second = await ask({ ...asked, messages: [USER, choice.message, result] });
	expect(second.body.choices[0].message.content).toBe('Changed.');
	const { input } = sent(1) as { input: any[] };
	expect(input.slice(-2)).toMatchObject([
		{ type: 'function_call', call_id: 'call_1', name: 'apply_patch', arguments: '{"input":"*** Begin"}' },
		{ type: 'function_call_output', call_id: 'call_1', output: 'Done' }
	]);
});

test('F12: functions and function_call, from before tools, are answered in kind', async () => {
	await open([call('get_weather', { place: 'Rome' }, 'call_1'), call('get_weather', { place: 'Rome' }, 'call_1')]);
	const request = { messages: [USER], functions: [WEATHER.function], function_call: { name: 'get_weather' } };
	const { body } = await ask(request);
	const made = { name: 'get_weather', arguments: '{"place":"Rome"}' };
	expect(body.choices[0]).toMatchObject({
		finish_reason: 'function_call',
		message: { content: null, function_call: made }
	});
	expect(sent(0)).toMatchObject({ tool_choice: { type: 'function', name: 'get_weather' }, parallel_tool_calls: false });
	const chunks = await stream(request);
	expect(finishOf(chunks)).toEqual(['function_call']);
	const parts = deltas(chunks).flatMap(({ function_call: part }) => part ?? []);
	expect(parts[0].name).toBe('get_weather');
	expect(parts.map((part) => part.arguments).join('')).toBe(made.arguments);
});

test.each([
	['none', 'none'],
	['required', 'required'],
	['any', 'required'],
	[{ type: 'auto' }, 'auto'],
	[
		{ type: 'function', function: { name: 'get_weather' } },
		{ type: 'function', name: 'get_weather' }
	]
])('F12: tool_choice %j is %j for the model', async (choice, expected) => {
	await open([text('Yes.')]);
	await ask({ messages: [USER], tools: [WEATHER], tool_choice: choice });
	expect(sent(0).tool_choice).toEqual(expected);
});

test('F12: of allowed_tools the others are not offered', async () => {
	await open([text('Yes.')]);
	const tools = [{ type: 'function', function: { name: 'get_weather' } }];
	await ask({
		messages: [USER],
		tools: [WEATHER],
		tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } }
	});
	expect(sent(0).tools.map(({ name }: any) => name)).toEqual(['get_weather']);
});

test.each([
	['within one piece', ['One. STOP Two.'], 'One. '],
	['over several', ['One. ST', 'O', 'P Two.'], 'One. '],
	['begun and not ended', ['One. STO', 'NE.'], 'One. STONE.'],
	['begun at the very end', ['One. ST'], 'One. ST'],
	['at once', ['STOP'], '']
])('F12: a stop text %s ends the answer before it', async (_where, pieces, said) => {
	await open([text(...pieces), text(...pieces)]);
	const request = { messages: [USER], stop: ['', '###', 'STOP'] };
	const { body } = await ask(request);
	expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: said } });
	const chunks = await stream(request);
	expect([joined(chunks, 'content'), finishOf(chunks)]).toEqual([said, ['stop']]);
});

test('F12: at a stop text the model is left, even if it would write for ever', async () => {
	const delta = { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'on and on. ' };
	await open([endless(delta)], {});
	expect(messageOf((await ask({ messages: [USER], stop: 'on. on' })).body).content).toBe('on and ');
	await rig.model?.requests[0]?.closed;
});

test('F12: sources and log probabilities are passed on in this API’s form, counted from the start of the text', async () => {
	const source = { type: 'url_citation', url: 'https://example.org', start_index: 0, end_index: 2, title: 'E' };
	const token = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] };
	const message = {
		...{ type: 'message', id: 'msg_up', role: 'assistant', status: 'completed' },
		content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [token] }]
	};
	await open([
		[text('First.'), SAY],
		cited('Hi', source),
		[text('First.'), SAY],
		cited('Hi', source),
		raw(
			{ type: 'response.output_text.delta', output_index: 0, item_id: 'msg_up', delta: 'Hi' },
			{ type: 'response.output_item.done', output_index: 0, item: message },
			{ type: 'response.completed', response: { id: 'r', status: 'completed', output: [message] } }
		)
	]);
	const { body } = await ask({ messages: [USER] });
	const { content, annotations } = messageOf(body);
	expect(annotations).toEqual([
		{ type: 'url_citation', url_citation: { url: 'https://example.org', title: 'E', start_index: 8, end_index: 10 } }
	]);
	expect(content.slice(8, 10)).toBe('Hi');
	const chunks = await stream({ messages: [USER] });
	expect(deltas(chunks).flatMap((delta) => delta.annotations ?? [])).toEqual(annotations);
	const counted = await ask({ messages: [USER], logprobs: true, top_logprobs: 2 });
	expect(counted.body.choices[0].logprobs).toEqual({ content: [token], refusal: null });
	expect(sent(4)).toMatchObject({ include: expect.arrayContaining(['message.output_text.logprobs']), top_logprobs: 2 });
});

const PNG =
	'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('F12: pictures, files and sound come as parts: the model sees what it can, and scripts find the files', async () => {
	await open([text('Seen.'), text('Seen.')]);
	const content = [
		{ type: 'text', text: 'Look' },
		{ type: 'image_url', image_url: { url: PNG, detail: 'low' } },
		{ type: 'image_url', image_url: 'https://example.org/a.png' },
		{ type: 'file', file: { filename: 'sales.csv', file_data: `data:text/csv;base64,${btoa('a,b\n1,2')}` } },
		{ type: 'file', file: { filename: 'far.pdf', file_data: 'https://example.org/far.pdf' } },
		{ type: 'input_audio', input_audio: { data: btoa('RIFF'), format: 'wav' } }
	];
	expect((await ask({ messages: [{ role: 'user', content }] }, { key: 'key_files' })).status).toBe(200);
	const json = JSON.stringify(sent(0).input);
	expect(json).toContain('data:image/png;base64');
	for (const part of ['https://example.org/a.png', 'https://example.org/far.pdf', 'sales.csv', 'a,b', 'audio.wav']) {
		expect(json).toContain(part);
	}
	const tool = { role: 'tool', tool_call_id: 'c', content: [{ type: 'image_url', image_url: { url: PNG } }] };
	const asked = { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'shoot', arguments: '{}' } }] };
	expect((await ask({ messages: [USER, asked, tool] })).status).toBe(200);
	expect(JSON.stringify(sent(1).input.find(({ type }: any) => type === 'function_call_output'))).toContain('image/png');
});

test.each([
	['no messages', { messages: [] }, 'messages'],
	['messages missing', {}, 'messages'],
	['an unknown role', { messages: [{ role: 'model', content: 'x' }] }, 'messages[0].role'],
	['more than one answer', { messages: [USER], n: 2 }, 'n'],
	['too many stop texts', { messages: [USER], stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
	[
		'a part of an unknown type',
		{ messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
		'messages[0].content[0].type'
	],
	[
		'a damaged picture',
		{
			messages: [
				{ role: 'system', content: 'a' },
				{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }
			]
		},
		'messages[1].content[0].image_url'
	],
	[
		'a result without its call',
		{ messages: [USER, { role: 'tool', tool_call_id: 'x', content: 'y' }] },
		'messages[1].tool_call_id'
	],
	[
		'an unknown tool as the choice',
		{ messages: [USER], tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'nope' } } },
		'tool_choice'
	],
	[
		'a bad name of a tool',
		{ messages: [USER], tools: [{ type: 'function', function: { name: 'a b' } }] },
		'tools[0].name'
	],
	['a format that is none', { messages: [USER], response_format: 'json' }, 'response_format'],
	['a temperature in words', { messages: [USER], temperature: 'warm' }, 'temperature']
])('F12: %s is refused in OpenAI’s shape, with the parameter', async (_what, body, param) => {
	await open([]);
	const answer = await ask(body);
	expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error', param } } });
	expect(answer.body.error.message).not.toContain('input[');
});

test('F12: an error of the model’s server has a status, and in a stream is a chunk before the end', async () => {
	const refused = () => status(404, { error: { message: 'No such model.' } });
	await open([refused(), refused()]);
	const whole = await ask({ messages: [USER], model: 'no/such' });
	expect(whole).toMatchObject({
		status: 404,
		body: { error: { code: 'model_not_found', type: 'invalid_request_error' } }
	});
	const chunks = await stream({ messages: [USER], model: 'no/such' });
	expect(chunks.at(-1)).toEqual({
		error: { message: expect.any(String), type: 'invalid_request_error', code: 'model_not_found', param: 'model' }
	});
	expect(finishOf(chunks)).toEqual([]);
});

test('F12: a stream that breaks after some text ends in an error; one that was filtered keeps the text', async () => {
	const failed = (code: string) =>
		raw(
			{ type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'Half' },
			{ type: 'response.failed', response: { id: 'r', status: 'failed', error: { code, message: 'No.' }, output: [] } }
		);
	await open([failed('invalid_prompt'), failed('content_filter')]);
	const broken = await stream({ messages: [USER] });
	expect(joined(broken, 'content')).toBe('Half');
	expect(broken.at(-1)).toEqual({
		error: expect.objectContaining({ type: expect.any(String), code: expect.any(String) })
	});
	const filtered = await stream({ messages: [USER] });
	expect([joined(filtered, 'content'), finishOf(filtered)]).toEqual(['Half', ['content_filter']]);
});

test('F12: a server that stops says so in the stream', async () => {
	const delta = { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'on. ' };
	await open([endless(delta)], {});
	const chunks = stream({ messages: [USER] });
	await expect.poll(() => rig.model?.requests.length).toBe(1);
	await rig.app.responses.close();
	expect((await chunks).at(-1)).toMatchObject({ error: { code: 'interrupted' } });
});

test('F12: what the model’s server cuts off says length; what our limits end says which', async () => {
	await open([response([text('Hal')], { incomplete: 'max_output_tokens' }), SAY, SAY], {
		env: { AGENT_MAX_STEPS: '1' }
	});
	const cut = await ask({ messages: [USER], max_completion_tokens: 20 });
	expect(cut.body.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Hal' } });
	expect(cut.body).not.toHaveProperty('openrouter_skills');
	const limited = await ask({ messages: [USER] });
	expect(limited.body).toMatchObject({
		choices: [{ finish_reason: 'length' }],
		openrouter_skills: { stopped_by: 'max_steps' }
	});
});

test('F12: nothing of an ordinary completion is kept', async () => {
	await open([text('Hello.')]);
	const { body } = await ask({ messages: [USER] });
	const id = String(body.id).replace('chatcmpl-', 'resp_');
	expect((await rig.get(`/responses/${id}`)).status).toBe(404);
});

test.each([true, false])('F12: a client that leaves ends the turn with its script (stream: %s)', async (streams) => {
	await open([call('use_skill', run('wait'))]);
	const leaving = new AbortController();
	const asked = post({ messages: [USER], stream: streams }, { signal: leaving.signal })
		.then((answer) => answer.text())
		.catch(() => null);
	await expect.poll(waiting).toHaveLength(1);
	leaving.abort();
	await asked;
	await expect.poll(waiting).toEqual([]);
	expect(rig.model?.requests).toHaveLength(1);
});
const waiting = () => processesWith('sleep 600.81727');

test('F12: of 200 requests at once, each gets its own answer, whatever its kind', async () => {
	const reply: Reply = dynamic(({ input }) => {
		const word = /word-\d+-\w+/.exec(JSON.stringify(input))?.[0] ?? '';
		return word.endsWith('-tool') ? call('get_weather', { place: word }) : text(`It is `, word, '. STOP', ' and more');
	});
	await open(
		Array.from({ length: 200 }, () => reply),
		{}
	);
	const kinds = ['whole', 'stream', 'tool', 'stop'] as const;
	const answered = await Promise.all(
		Array.from({ length: 200 }, async (_, index) => {
			const kind = kinds[index % kinds.length] ?? 'whole';
			const word = `word-${index}-${kind}`;
			const request = {
				messages: [{ role: 'user', content: word }],
				tools: [WEATHER],
				...(kind === 'stop' && { stop: '. STOP' })
			};
			const chunks = index % 8 < 4 || kind === 'stream' ? await stream(request) : null;
			const { body } = chunks ? { body: null } : await ask(request);
			if (kind === 'tool') {
				const parts = chunks ? deltas(chunks).flatMap((delta) => delta.tool_calls ?? []) : messageOf(body).tool_calls;
				return parts.map((part: any) => part.function.arguments).join('') === `{"place":"${word}"}`;
			}
			const said = chunks ? joined(chunks, 'content') : messageOf(body).content;
			return said === (kind === 'stop' ? `It is ${word}` : `It is ${word}. STOP and more`);
		})
	);
	expect(answered.filter((isRight) => !isRight)).toHaveLength(0);
});

test('F12: no body, however odd, gets more than an error of this API', async () => {
	const base = {
		messages: [
			{ role: 'system', content: 'a' },
			{ role: 'user', content: [{ type: 'text', text: 'b' }] },
			{
				role: 'assistant',
				content: null,
				tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }]
			},
			{ role: 'tool', tool_call_id: 'c', content: 'd' }
		],
		...{ model: 'm', stop: ['x'], tools: [WEATHER], tool_choice: 'auto', functions: [], function_call: 'auto' },
		...{ max_tokens: 9, reasoning: { effort: 'low' }, response_format: { type: 'text' }, openrouter_skills: {} }
	};
	const reply: Reply = text('Yes.');
	const rounds = 300;
	await open([], {});
	const bodies = fc.sample(fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 3 })), { seed: 12, numRuns: rounds });
	for (const [place, value] of bodies) {
		const body = structuredClone(base) as Record<string, unknown>;
		const places = placesIn(body);
		const [holder, key] = places[place % places.length] ?? [body, 'model'];
		holder[key] = value;
		rig.model?.restart([reply]);
		const answer = await post(body);
		const told = await answer.text();
		const isFine = answer.status === 200 || (answer.status === 400 && told.startsWith('{"error":{"message":'));
		expect(isFine, `${JSON.stringify(body)} → ${answer.status} ${told}`).toBe(true);
	}
	rig.model?.restart([]);
});

/** Every key of every object and array, with its holder. */
function placesIn(value: unknown): [Record<string, unknown>, string][] {
	if (typeof value !== 'object' || value === null) return [];
	const holder = value as Record<string, unknown>;
	return Object.keys(holder).flatMap(
		(key) => [[holder, key], ...placesIn(holder[key])] as [Record<string, unknown>, string][]
	);
}

test('C16: a key needs the scope execute', async () => {
	await open([text('Yes.')]);
	const keyOf = async (scopes: ApiScope[]) => (await rig.app.apiKeys.create({ name: 'client', scopes })).key;
	const refused = await ask({ messages: [USER] }, { key: await keyOf(['read']) });
	expect(refused).toMatchObject({ status: 403, body: { error: { type: 'permission_error' } } });
	expect((await ask({ messages: [USER] }, { key: await keyOf(['execute']) })).status).toBe(200);
});
