/** What `/v1/responses` accepts and refuses: as documented, with the API's own error format, and never a 500. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError, toApiError } from '../../src/lib/server/protocols/responses/errors.ts';
import { readResponseRequest } from '../../src/lib/server/protocols/responses/request.ts';
import { seal } from '../../src/lib/server/protocols/responses/sealed.ts';
import { AppError, STATUS_BY_CODE, type ErrorCode } from '../../src/lib/shared/errors.ts';
import { errorResponseFor } from '../../src/lib/server/http.ts';
import { problemsOf } from '../support/open-responses.ts';
import { openResponses, type ResponsesRig } from '../support/responses-rig.ts';

const inReasoning = (item: { type: string }) => ({
	type: 'reasoning',
	summary: [],
	encrypted_content: seal({ items: [item], model: 'offline' })
});

const or = fc.oneof;
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const object = (shape: Record<string, fc.Arbitrary<unknown>>) =>
	fc.record(shape).map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
const literal = fc.constant;
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);
const callId = fc.string({ minLength: 1, maxLength: 64 });
const id = maybe(or(fc.string(), literal(null)));

const inputText = object({ type: literal('input_text'), text: fc.string() });
const image = object({
	type: literal('input_image'),
	image_url: literal('data:image/png;base64,AAAA'),
	detail: maybe(fc.constantFrom('low', 'high', 'auto', null))
});
const file = object({ type: literal('input_file'), filename: maybe(fc.string()), file_data: literal('QUJD') });
const written = or(fc.string(), fc.array(inputText, { maxLength: 2 }));
const item = or(
	object({
		id,
		type: literal('message'),
		role: literal('user'),
		content: or(written, fc.array(or(inputText, image, file), { maxLength: 3 }))
	}),
	object({
		type: literal('message'),
		role: fc.constantFrom('system', 'developer'),
		content: written,
		status: maybe(fc.string())
	}),
	object({
		type: literal('message'),
		role: literal('assistant'),
		content: or(
			fc.string(),
			fc.array(
				or(
					object({ type: literal('output_text'), text: fc.string() }),
					object({ type: literal('refusal'), refusal: fc.string() })
				)
			)
		),
		phase: maybe(fc.constantFrom('commentary', 'final_answer'))
	}),
	object({
		type: literal('reasoning'),
		summary: fc.array(object({ type: literal('summary_text'), text: fc.string() }), { maxLength: 2 }),
		encrypted_content: maybe(fc.string()),
		id
	}),
	object({
		type: literal('function_call'),
		call_id: callId,
		name,
		arguments: fc.string(),
		status: maybe(fc.constantFrom('completed', 'in_progress'))
	}),
	object({ type: literal('compaction'), encrypted_content: fc.string() })
);
const tool = object({
	type: literal('function'),
	name,
	description: maybe(or(fc.string(), literal(null))),
	parameters: maybe(or(literal(null), literal({ type: 'object', properties: { a: { type: 'string' } } }))),
	strict: maybe(fc.boolean())
});
const body = object({
	input: or(fc.string(), fc.array(item, { maxLength: 4 })),
	model: maybe(or(fc.string({ maxLength: 100 }), literal(null))),
	include: maybe(fc.subarray(['reasoning.encrypted_content', 'message.output_text.logprobs'])),
	tools: maybe(fc.uniqueArray(tool, { selector: (each) => each.name, maxLength: 3 })),
	tool_choice: maybe(fc.constantFrom('none', 'auto', 'required', null)),
	metadata: maybe(fc.dictionary(fc.string(), fc.string(), { maxKeys: 16 })),
	text: maybe(
		object({
			format: maybe(fc.constantFrom({ type: 'text' }, { type: 'json_schema', name: 'n', schema: {} }, null)),
			verbosity: maybe(fc.constantFrom('low', 'medium', 'high'))
		})
	),
	temperature: maybe(fc.double({ noNaN: true, noDefaultInfinity: true })),
	top_p: maybe(or(fc.double({ min: 0, max: 1, noNaN: true }), literal(null))),
	parallel_tool_calls: maybe(fc.boolean()),
	stream: maybe(fc.boolean()),
	stream_options: maybe(object({ include_obfuscation: maybe(fc.boolean()) })),
	max_output_tokens: maybe(fc.integer({ min: 16 })),
	max_tool_calls: maybe(fc.integer({ min: 1 })),
	reasoning: maybe(
		object({
			effort: maybe(fc.constantFrom('none', 'low', 'xhigh', null)),
			summary: maybe(fc.constantFrom('auto', 'concise', null))
		})
	),
	safety_identifier: maybe(fc.string({ maxLength: 64 })),
	truncation: maybe(fc.constantFrom('auto', 'disabled')),
	instructions: maybe(or(fc.string(), literal(null))),
	store: maybe(fc.boolean()),
	service_tier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority')),
	top_logprobs: maybe(fc.integer({ min: 0, max: 20 })),
	unknown_field: maybe(fc.anything({ maxDepth: 2 }).map((value) => JSON.stringify(value) ?? ''))
});

/** Values that are wrong for some or all fields. */
const wrong = fc.constantFrom<unknown>(
	-1,
	1.5,
	1e9,
	'x',
	'',
	[],
	{},
	[[]],
	[null],
	{ type: 'x' },
	true,
	[{ type: 'message' }],
	'x'.repeat(100)
);

describe('F12: the schema of a request', () => {
	test('what the document allows is taken', () => {
		fc.assert(
			fc.property(body, (request) => {
				fc.pre(problemsOf('CreateResponseBody', request).length === 0);
				expect(() => readResponseRequest(request)).not.toThrow();
			}),
			{ numRuns: 300 }
		);
	});

	test('what the document does not allow is refused with a 400 that names the parameter', () => {
		let refused = 0;
		fc.assert(
			fc.property(body, fc.nat(), wrong, (request, at, value) => {
				const keys = Object.keys(request).filter((key) => key !== 'unknown_field');
				const key = keys[at % keys.length] ?? 'input';
				const changed = { ...request, [key]: value };
				fc.pre(problemsOf('CreateResponseBody', changed).length > 0);
				refused += 1;
				const error = errorOf(() => readResponseRequest(changed));
				// The server accepts more than the document does: clients leave out a message's type or send a service's own values.
				if (error === null) return;
				expect(error).toBeInstanceOf(ApiError);
				expect(error).toMatchObject({
					status: 400,
					type: 'invalid_request_error',
					param: expect.stringContaining(key)
				});
			}),
			{ numRuns: 500 }
		);
		expect(refused).toBeGreaterThan(50);
	});

	test.each([
		['input', 5],
		['input[0].type', [{ type: 5 }]],
		['input[0].type', [{ text: 'x' }]],
		['input[0].content[0].text', [{ role: 'user', content: [{ type: 'input_text' }] }]],
		[
			'input[1].call_id',
			[
				{ role: 'user', content: 'a' },
				{ type: 'function_call_output', output: '' }
			]
		],
		['input[0].name', [{ type: 'function_call', call_id: 'c', name: 'a b', arguments: '' }]]
	])('%s is named when it is wrong', (param, input) => {
		expect(errorOf(() => readResponseRequest({ input }))).toMatchObject({ status: 400, param });
	});

	test('the sentence says what may stand there', () => {
		expect(errorOf(() => readResponseRequest({ input: 5 }))).toMatchObject({
			message: 'input must be text or a list.'
		});
	});

	test.each([
		['store', { background: true, store: false }],
		['conversation', { conversation: 'conv_1', previous_response_id: 'resp_1' }],
		['prompt', { prompt: { id: 'p' } }],
		[
			'tools',
			{
				tools: [
					{ type: 'function', name: 'a' },
					{ type: 'function', name: 'a' }
				]
			}
		],
		['tools[0].type', { tools: [{ type: '' }] }],
		['tools[0].name', { tools: [{ type: 'custom' }] }],
		['tools[0].tools[0].name', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] }],
		['max_output_tokens', { max_output_tokens: 15 }],
		['tool_choice.tools', { tool_choice: { type: 'allowed_tools', tools: [] } }],
		['include[0]', { include: [5] }],
		['tool_choice', { tool_choice: 'any' }]
	])('%s that is not supported, or out of its range, is refused', (param, more) => {
		expect(errorOf(() => readResponseRequest({ input: 'x', ...more }))).toMatchObject({ status: 400, param });
	});
});

function errorOf(read: () => unknown): unknown {
	try {
		read();
		return null;
	} catch (error) {
		return error;
	}
}

describe('F12: bad requests over HTTP', () => {
	let rig: ResponsesRig;
	beforeAll(async () => {
		rig = await openResponses({ skills: {} });
	});
	afterAll(() => rig.close());

	const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
	const bomb = seal({ model: 'offline', items: [{ type: 'message', text: 'x'.repeat(20_000_000) }] });
	/** Each is well within the limit; together they're 40 times over it. */
	const packed = seal({ model: 'offline', items: [{ type: 'message', text: 'x'.repeat(10_000_000) }] });
	const HOSTILE: [string, unknown][] = [
		['no JSON', '{"input":'],
		['an empty body', ''],
		['null', 'null'],
		['a list', '[]'],
		['a number', '5'],
		['a text', '"input"'],
		['nothing', {}],
		['no input', { model: 'x' }],
		['empty items', { input: [] }],
		['items that are null', { input: [null] }],
		['items nested in each other', { input: [[[[[]]]]] }],
		['deep nesting', `{"input":"x","metadata":${deep(50_000)}}`],
		['a tool of deep nesting', `{"input":"x","tools":[{"type":"function","name":"a","parameters":${deep(5_000)}}]}`],
		['a prototype', '{"__proto__":{"input":"x"}}'],
		['a previous response that is not there', { input: 'x', previous_response_id: 'resp_0' }],
		['a previous response of odd signs', { input: 'x', previous_response_id: "' OR 1=1 --\u0000" }],
		['a reference to nothing', { input: [{ type: 'item_reference', id: `msg_${'0'.repeat(32)}_0` }] }],
		['an output without its call', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
		['thoughts that are damaged', { input: [{ type: 'reasoning', summary: [], encrypted_content: 'ors1.%%%' }] }],
		[
			'thoughts that are no items',
			{
				input: [{ type: 'reasoning', summary: [], encrypted_content: `ors1.${Buffer.from('x').toString('base64url')}` }]
			}
		],
		['thoughts that unpack to too much', { input: [{ type: 'reasoning', summary: [], encrypted_content: bomb }] }],
		[
			'thoughts that together unpack to too much',
			{ input: Array.from({ length: 64 }, () => ({ type: 'reasoning', summary: [], encrypted_content: packed })) }
		],
		['a file without data', { input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a' }] }] }],
		['a file that is no base64', { input: [{ role: 'user', content: [{ type: 'input_file', file_data: '!!!' }] }] }],
		['an image without an address', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }],
		['a tool that is not there', { input: 'x', tool_choice: { type: 'function', name: 'nope' } }],
		[
			'metadata of 17 entries',
			{ input: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [at, ''])) }
		]
	];

	test.each(HOSTILE)('%s is a 400 with the API’s own error', async (_what, sent) => {
		const { status, body: answer } = await rig.ask(sent);
		expect(status).toBe(400);
		expect(answer).toEqual({
			error: {
				message: expect.any(String),
				type: 'invalid_request_error',
				code: expect.any(String),
				param: answer.error.param
			}
		});
		expect(JSON.stringify(answer).length).toBeLessThan(2000);
	});

	test.each([
		'../../etc/passwd',
		'.env',
		'',
		'..',
		'a/../../b',
		'CON',
		'\u202Egpj.exe',
		'.git',
		'x'.repeat(5000),
		'\0'
	])('a file named %j stays in its workspace, or is refused', async (filename) => {
		const content = [{ type: 'input_file', filename, file_data: 'QUJD' }];
		const { status } = await rig.ask({ input: [{ role: 'user', content }] });
		expect([200, 400]).toContain(status);
	});

	test('one item that is referred to again and again is refused once it comes to too much', async () => {
		const text = `How many words are in "${'word '.repeat(20_000)}"?`;
		const { body: first } = await rig.ask({ input: text });
		const [answer] = first.output.filter(({ type }: { type: string }) => type === 'message');
		const size = JSON.stringify(answer).length;
		const reference = { type: 'item_reference', id: answer.id };
		expect((await rig.ask({ input: [reference, reference] })).status).toBe(200);
		const input = Array.from({ length: Math.ceil((17 * 1024 * 1024) / size) }, () => reference);
		const { status, body: refused } = await rig.ask({ input });
		expect([status, refused.error.code]).toEqual([400, 'too_large']);
	});

	test('F12: instructions and tools that every event would repeat have a limit of their own', async () => {
		const tool = { type: 'function', name: 'look_up', description: 'x'.repeat(3 * 1024 * 1024) };
		const tools = await rig.ask({ input: 'Hi', tools: [tool] });
		expect(tools).toMatchObject({ status: 400, body: { error: { param: 'tools', code: 'too_large' } } });
		const told = await rig.ask({ input: 'Hi', instructions: 'x'.repeat(3 * 1024 * 1024) });
		expect(told).toMatchObject({ status: 400, body: { error: { param: 'instructions' } } });
	});

	test.each([
		['an item of another type', (own: object) => ({ type: 'weather_call', ...own })],
		[
			'a search by the model’s server',
			(own: object) => ({ type: 'tool_search_output', execution: 'server', tools: [], ...own })
		],
		['a packed item', (own: object) => inReasoning({ type: 'weather_call', ...own })]
	])('F12: %s can’t bring along fields that only this server writes', async (_what, itemOf) => {
		for (const found of [
			[null],
			[5],
			[{ type: 'function' }],
			[{ type: 'namespace', name: 'x' }],
			[{ type: 'hosted' }]
		]) {
			const input = [{ role: 'user', content: 'Hi' }, itemOf({ found_tools: found, told: { files: 5 } })];
			expect((await rig.ask({ input })).status).toBe(200);
		}
	});

	test('a body that is too large is refused as such', async () => {
		const { status, body: answer } = await rig.ask({ input: 'x'.repeat(49 * 1024 * 1024) });
		expect([status, answer.error.type]).toEqual([413, 'invalid_request_error']);
	});

	test('bodies of any shape are answered or refused, and never a fault of the server', async () => {
		await fc.assert(
			fc.asyncProperty(or(body, fc.object({ maxDepth: 3 })), async (sent) => {
				const { status } = await rig.ask({ ...sent, stream: false });
				expect([200, 400]).toContain(status);
			}),
			{ numRuns: 60 }
		);
	});
});

test.each(Object.keys(STATUS_BY_CODE) as ErrorCode[])(
	'F12: %s is told in the API’s own words under /v1',
	async (code) => {
		const error = new AppError(code, 'What happened.', { hint: 'What to do.' });
		const answer = errorResponseFor('/v1/responses', error);
		expect(answer.status).toBe(STATUS_BY_CODE[code]);
		expect(await answer.json()).toEqual({
			error: {
				message: 'What happened. What to do.',
				type: toApiError(error).type,
				code: expect.any(String),
				param: null
			}
		});
		expect(answer.headers.get('www-authenticate')).toBe(code === 'unauthorized' ? 'Bearer' : null);
		expect(await errorResponseFor('/api/skills', error).json()).toMatchObject({ error: { code } });
	}
);

test('F12: an error that nobody expected says nothing of itself', () => {
	expect(toApiError(new Error('/secret/path')).toBody().error).toMatchObject({
		code: 'server_error',
		type: 'server_error'
	});
	expect(JSON.stringify(toApiError(new Error('/secret/path')).toBody())).not.toContain('secret');
});
