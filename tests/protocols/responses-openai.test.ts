/** What a user of the `openai` package writes, each with its own client: requests, streams, helpers, errors (F12, D41). */
import OpenAI from 'openai';
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { call, gate, hang, item, reasoning, response, status, text, type Reply } from '../support/model-server.ts';
import { openResponses, type ResponsesRig } from '../support/responses-rig.ts';

type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Answer = OpenAI.Responses.Response;
const PNG = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a0000000d494844520000000a0000000a0806000000', 'hex').toString('base64')}`;
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.4 nothing').toString('base64')}`;
const WEATHER = {
	type: 'function' as const,
	name: 'get_weather',
	parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
	strict: true
};
const count = z.object({ words: z.number() });
const HELLO: Reply = text('Hello.');
const said = (words: string) => (answer: Answer) => expect(answer.output_text).toBe(words);
const hasHello = said('Hello.');

let rig: ResponsesRig;
let openai: OpenAI;
beforeAll(async () => {
	rig = await openResponses({ script: [], skills: {} });
	openai = new OpenAI({ baseURL: rig.url, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => rig.close());
const script = (...replies: Reply[]) => rig.model?.restart(replies);
const model = 'test/model';

/** What's asked, what the model answers, and what the user gets. */
const REQUESTS: [string, Partial<Create>, Reply, (answer: Answer) => void][] = [
	['a text', { input: 'Hi' }, HELLO, hasHello],
	[
		'messages of all roles',
		{
			input: [
				{ role: 'system', content: 'Be short.' },
				{ role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
				{ role: 'user', content: 'Hi' },
				{ role: 'assistant', content: 'Yes?' },
				{ role: 'user', content: 'Hi' }
			]
		},
		HELLO,
		hasHello
	],
	[
		'instructions',
		{ input: 'Hi', instructions: 'Talk like a pirate.' },
		HELLO,
		(answer) => expect(answer.instructions).toContain('pirate')
	],
	[
		'a picture',
		{
			input: [
				{
					role: 'user',
					content: [
						{ type: 'input_text', text: 'What?' },
						{ type: 'input_image', image_url: 'https://a.example/a.png', detail: 'high' }
					]
				}
			]
		},
		HELLO,
		hasHello
	],
	[
		'a picture by its file',
		{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1', detail: 'auto' }] }] },
		HELLO,
		hasHello
	],
	[
		'a file with data',
		{
			input: [
				{
					role: 'user',
					content: [
						{ type: 'input_file', filename: 'a.pdf', file_data: PDF },
						{ type: 'input_text', text: 'Read' }
					]
				}
			]
		},
		HELLO,
		hasHello
	],
	[
		'a file at an address',
		{ input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a.example/a.pdf' }] }] },
		HELLO,
		hasHello
	],
	[
		'a function',
		{ input: 'Weather?', tools: [WEATHER] },
		call('get_weather', { place: 'Rome' }, 'call_1'),
		(answer) => {
			expect(answer.output).toMatchObject([
				{ type: 'function_call', name: 'get_weather', arguments: '{"place":"Rome"}' }
			]);
		}
	],
	[
		'a chosen function',
		{ input: 'Weather?', tools: [WEATHER], tool_choice: { type: 'function', name: 'get_weather' } },
		call('get_weather', { place: 'Rome' }, 'call_1'),
		(answer) => expect(answer.output).toHaveLength(1)
	],
	[
		'two functions at once',
		{ input: 'Weather?', tools: [WEATHER], parallel_tool_calls: true },
		[call('get_weather', { place: 'a' }, 'c_1'), call('get_weather', { place: 'b' }, 'c_2')],
		(answer) => expect(answer.output).toHaveLength(2)
	],
	['no function', { input: 'Hi', tools: [WEATHER], tool_choice: 'none' }, HELLO, hasHello],
	[
		'a custom tool',
		{ input: 'Run', tools: [{ type: 'custom', name: 'code', format: { type: 'text' } }] },
		call('code', { input: '1+1' }),
		(answer) => {
			expect(answer.output).toMatchObject([{ type: 'custom_tool_call', name: 'code', input: '1+1' }]);
		}
	],
	[
		'a custom tool with a grammar',
		{
			input: 'Run',
			tools: [{ type: 'custom', name: 'code', format: { type: 'grammar', syntax: 'regex', definition: '\\d+' } }],
			tool_choice: { type: 'custom', name: 'code' }
		},
		call('code', { input: '7' }),
		(answer) => {
			expect(answer.output).toMatchObject([{ type: 'custom_tool_call', input: '7' }]);
		}
	],
	[
		'web search',
		{
			input: 'News?',
			tools: [
				{ type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', country: 'IT' } }
			],
			include: ['web_search_call.action.sources']
		},
		[item('web_search_call', { id: 'ws_1', status: 'completed' }), text('Hello.')],
		(answer) => {
			expect(answer.output.map(({ type }) => type)).toEqual(['web_search_call', 'message']);
		}
	],
	['the older web search', { input: 'News?', tools: [{ type: 'web_search_preview' }] }, HELLO, hasHello],
	[
		'file search',
		{
			input: 'Find',
			tools: [{ type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 2 }],
			include: ['file_search_call.results']
		},
		[item('file_search_call', { id: 'fs_1', status: 'completed', queries: ['x'] }), text('Hello.')],
		(answer) => {
			expect(answer.output[0]).toMatchObject({ type: 'file_search_call', id: 'fs_1' });
		}
	],
	[
		'a code interpreter',
		{
			input: 'Sum',
			tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
			include: ['code_interpreter_call.outputs']
		},
		HELLO,
		hasHello
	],
	[
		'image generation',
		{ input: 'Draw', tools: [{ type: 'image_generation', quality: 'low' }], tool_choice: { type: 'image_generation' } },
		HELLO,
		hasHello
	],
	[
		'an MCP server',
		{
			input: 'Ask',
			tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.example', require_approval: 'never' }]
		},
		[item('mcp_list_tools', { id: 'mcpl_1', server_label: 'a', tools: [] }), text('Hello.')],
		(answer) => {
			expect(answer.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'message']);
		}
	],
	[
		'a computer',
		{
			input: 'Click',
			tools: [{ type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'browser' }],
			truncation: 'auto'
		},
		item('computer_call', {
			id: 'cu_1',
			call_id: 'c_1',
			status: 'completed',
			action: { type: 'screenshot' },
			pending_safety_checks: []
		}),
		(answer) => {
			expect(answer.output).toMatchObject([{ type: 'computer_call', call_id: 'c_1' }]);
		}
	],
	[
		'a shell and patches',
		{ input: 'List', tools: [{ type: 'shell' }, { type: 'apply_patch' }, { type: 'local_shell' }] },
		item('shell_call', { id: 'sh_1', call_id: 'c_1', status: 'completed', action: { commands: ['ls'] } }),
		(answer) => {
			expect(answer.output).toMatchObject([{ type: 'shell_call', call_id: 'c_1' }]);
		}
	],
	[
		'allowed tools',
		{
			input: 'Hi',
			tools: [WEATHER, { type: 'web_search' }],
			tool_choice: {
				type: 'allowed_tools',
				mode: 'auto',
				tools: [{ type: 'function', name: 'get_weather' }, { type: 'web_search' }]
			}
		},
		HELLO,
		hasHello
	],
	[
		'reasoning',
		{
			input: 'Think',
			reasoning: { effort: 'minimal', summary: 'detailed' },
			include: ['reasoning.encrypted_content'],
			store: false
		},
		[reasoning('Hm.'), text('Hello.')],
		(answer) => {
			expect(answer.output[0]).toMatchObject({
				type: 'reasoning',
				summary: [{ text: 'Hm.' }],
				encrypted_content: expect.any(String)
			});
		}
	],
	[
		'an effort of tomorrow',
		{ input: 'Think', reasoning: { effort: 'ultra' as 'high' } },
		HELLO,
		() => {
			expect(rig.model?.requests[0]?.body.reasoning).toEqual({ effort: 'ultra' });
		}
	],
	[
		'sampling, logprobs and limits',
		{
			input: 'Hi',
			temperature: 0.2,
			top_p: 0.9,
			top_logprobs: 2,
			max_output_tokens: 100,
			max_tool_calls: 2,
			include: ['message.output_text.logprobs']
		} as Partial<Create>,
		HELLO,
		(answer) => expect(answer.max_output_tokens).toBe(100)
	],
	[
		'all the rest',
		{
			input: 'Hi',
			metadata: { a: 'b' },
			user: 'u',
			safety_identifier: 's',
			prompt_cache_key: 'k',
			prompt_cache_retention: '24h',
			service_tier: 'scale',
			text: { verbosity: 'low' },
			background: false,
			context_management: [{ type: 'compaction' }]
		} as Partial<Create>,
		HELLO,
		(answer) => {
			expect(answer.metadata).toEqual({ a: 'b' });
			expect(rig.model?.requests[0]?.body).not.toHaveProperty('context_management');
		}
	],
	[
		'nothing but nulls',
		{
			input: 'Hi',
			instructions: null,
			tools: null,
			tool_choice: null,
			temperature: null,
			include: null,
			metadata: null,
			reasoning: null,
			text: null,
			previous_response_id: null,
			truncation: null
		} as unknown as Partial<Create>,
		HELLO,
		hasHello
	],
	[
		'a list of its own answer',
		{
			input: [
				{ role: 'user', content: 'Hi' },
				{
					id: 'msg_1',
					type: 'message',
					role: 'assistant',
					status: 'completed',
					content: [{ type: 'output_text', text: 'Yes?', annotations: [], logprobs: [] }]
				},
				{
					id: 'ws_1',
					type: 'web_search_call',
					status: 'completed',
					action: { type: 'search', query: 'x', queries: ['x'] }
				},
				{ type: 'function_call', call_id: 'c', name: 'get_weather', arguments: '{}' },
				{
					type: 'function_call_output',
					call_id: 'c',
					output: [
						{ type: 'input_text', text: '25' },
						{ type: 'input_image', image_url: PNG }
					]
				}
			] as OpenAI.Responses.ResponseInput,
			tools: [WEATHER]
		},
		HELLO,
		hasHello
	],
	[
		'an answer that is cut',
		{ input: 'Hi' },
		response([text('Hel')], { incomplete: 'max_output_tokens' }),
		(answer) => {
			expect(answer).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
		}
	]
];

describe('F12, D41: openai – responses.create and responses.stream', () => {
	test.each(REQUESTS)('%s', async (_what, params, reply, check) => {
		script(reply, reply);
		check(await openai.responses.create({ model, ...params }));
		rig.model?.requests.splice(0, 1);
		check(
			await openai.responses
				.stream({ model, ...params } as Parameters<typeof openai.responses.stream>[0])
				.finalResponse()
		);
		rig.model?.assertDone();
	});
});

describe('F12: openai – helpers', () => {
	test('parse with zodTextFormat gives the object', async () => {
		script(text('{"words":5}'));
		const format = zodTextFormat(count, 'count');
		const parsed = await openai.responses.parse({ model, input: 'Count', text: { format } });
		expect(parsed.output_parsed).toEqual({ words: 5 });
		expect(rig.model?.requests[0]?.body.text).toMatchObject({
			format: { type: 'json_schema', name: 'count', strict: true }
		});
	});

	test('parse with zodResponsesFunction gives the arguments', async () => {
		script(call('count', { words: 5 }));
		const tools = [zodResponsesFunction({ name: 'count', parameters: count })];
		const { output } = await openai.responses.parse({ model, input: 'Count', tools });
		expect(output).toMatchObject([{ type: 'function_call', parsed_arguments: { words: 5 } }]);
	});

	test('a stream tells each piece, and can be stopped', async () => {
		const more = gate();
		script(text('Hel', more, 'lo.'));
		const events = await openai.responses.create({ model, input: 'Hi', stream: true });
		let told = '';
		for await (const event of events) {
			if (event.type !== 'response.output_text.delta') continue;
			told += event.delta;
			break;
		}
		expect(told).toBe('Hel');
		await rig.model?.requests[0]?.closed;
		more.open();
	});

	test('a conversation by previous_response_id, read again and deleted', async () => {
		script(HELLO, text('Again.'));
		const first = await openai.responses.create({ model, input: 'Hi' });
		const second = await openai.responses.create({ model, input: 'And?', previous_response_id: first.id });
		expect(second.output_text).toBe('Again.');
		expect((await openai.responses.retrieve(first.id)).output).toEqual(first.output);
		await openai.responses.delete(first.id);
		await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
	});

	test('a request that is aborted ends the model’s, too', async () => {
		script(hang());
		const controller = new AbortController();
		const answer = openai.responses.create({ model, input: 'Hi' }, { signal: controller.signal });
		const request = await rig.model?.received(1);
		controller.abort();
		await expect(answer).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
		await request?.closed;
	});
});

describe('F12: openai – errors are its own classes', () => {
	test.each([
		['a wrong parameter', { input: 5 as unknown as string }, null, OpenAI.BadRequestError, 'input'],
		[
			'a tool without a name',
			{ input: 'Hi', tools: [{ type: 'custom' }] as never },
			null,
			OpenAI.BadRequestError,
			'tools[0].name'
		],
		['a prompt', { prompt: { id: 'pmpt_1' } }, null, OpenAI.BadRequestError, 'prompt'],
		[
			'a model that isn’t there',
			{ input: 'Hi' },
			status(404, { error: { message: 'No such model' } }),
			OpenAI.NotFoundError,
			'model'
		],
		['too many requests', { input: 'Hi' }, status(429, {}, { 'retry-after': '3600' }), OpenAI.RateLimitError, null],
		[
			'a failure of the model’s server',
			{ input: 'Hi' },
			status(401, { error: { message: 'No' } }),
			OpenAI.InternalServerError,
			null
		]
	])('%s', async (_what, params, reply, kind, param) => {
		script(...(reply ? [reply] : []));
		const error: unknown = await openai.responses.create({ model, ...params }).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(kind);
		expect(error).toMatchObject({ param });
	});

	test('its retries are answered', async () => {
		const retrying = new OpenAI({ baseURL: rig.url, apiKey: 'any', maxRetries: 1 });
		script(status(401, { error: { message: 'No' } }), HELLO);
		hasHello(await retrying.responses.create({ model, input: 'Hi' }));
	});
});
