import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
	createToolNames,
	extractToolCalls,
	toAnthropicTools,
	toChatTools,
	toGeminiTools,
	toToolResult,
	type ExtractedCall,
	type GeminiTool,
	toGeminiSchema,
	createSdkTools
} from './adapters.ts';
import { USE_SKILL } from '../call/tools.ts';
import type { ToolDefinition } from '../types.ts';

const parameters = {
	type: 'object',
	properties: { text: { type: 'string', minLength: 1 }, list: { type: 'array', items: { type: 'object', const: 1 } } },
	required: ['text'],
	additionalProperties: false
};
const tool = { type: 'function' as const, name: 'shout', description: 'Shouts.', parameters };

describe('definitions', () => {
	test('B17: Chat Completions nests a tool under `function`', () => {
		expect(toChatTools([tool])).toEqual([
			{ type: 'function', function: { name: 'shout', description: 'Shouts.', parameters } }
		]);
	});
	test('B11: Anthropic calls the schema `input_schema`', () => {
		expect(toAnthropicTools([tool])).toEqual([{ name: 'shout', description: 'Shouts.', input_schema: parameters }]);
	});
	test('B11: Gemini gets one entry of declarations, without keywords that it refuses', () => {
		expect(toGeminiTools([tool, USE_SKILL])).toEqual([
			{
				functionDeclarations: [
					{
						name: 'shout',
						description: 'Shouts.',
						parameters: {
							type: 'object',
							properties: {
								text: { type: 'string', minLength: 1 },
								list: { type: 'array', items: { type: 'object' } }
							},
							required: ['text']
						}
					},
					{ name: 'use_skill', description: USE_SKILL.description, parameters: USE_SKILL.parameters }
				]
			}
		]);
		expect(toGeminiTools([])).toEqual([]);
	});

	test('B11: a property that says itself that it is required is no list of names, which Gemini would refuse', () => {
		const text = { type: 'string', required: true };
		const [{ functionDeclarations }] = toGeminiTools([
			{ ...tool, parameters: { type: 'object', properties: { text }, required: ['text'] } }
		]) as [GeminiTool];
		expect(functionDeclarations[0]?.parameters).toEqual({
			...{ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
		});
	});

	test('B10: a name with a version has a readable alias that every provider takes, and is found again', () => {
		const long = 'x'.repeat(70);
		const given = ['fetch@1.2.0', 'fetch__1_2_0', 'plain', `${long}a`, `${long}b`, 'näh', ''];
		const names = createToolNames(given);
		expect(names.toWire('fetch@1.2.0')).toBe('fetch__1_2_0');
		expect(names.toWire('plain')).toBe('plain');
		const wires = given.map((name) => names.toWire(name));
		expect(new Set(wires).size).toBe(given.length);
		for (const wire of wires) expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
		expect(wires.map((wire) => names.fromWire(wire))).toEqual(given);
		expect(names.fromWire('unknown')).toBe('unknown');
	});
});

const expected = (format: ExtractedCall['format'], id = 'c1'): ExtractedCall[] => [
	{ format, id, name: 'shout', arguments: { text: 'hi' } }
];

describe('calls', () => {
	test.each<[string, unknown, ExtractedCall[]]>([
		[
			'a Responses output item',
			{
				output: [
					{ type: 'message' },
					{ type: 'function_call', call_id: 'c1', name: 'shout', arguments: '{"text":"hi"}' }
				]
			},
			expected('responses')
		],
		[
			'Chat choices',
			{
				choices: [
					{
						message: {
							tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shout', arguments: '{"text":"hi"}' } }]
						}
					}
				]
			},
			expected('chat')
		],
		[
			'Chat tool_calls at the root',
			{ tool_calls: [{ id: 'c1', function: { name: 'shout', arguments: '{"text":"hi"}' } }] },
			expected('chat')
		],
		[
			'an Anthropic tool_use block',
			{
				content: [
					{ type: 'text', text: 'Well' },
					{ type: 'tool_use', id: 'c1', name: 'shout', input: { text: 'hi' } }
				]
			},
			expected('anthropic')
		],
		[
			'a Gemini part without an id, which the client repeats at the root',
			{
				candidates: [
					{ content: { parts: [{ text: 'x' }, { functionCall: { name: 'shout', args: { text: 'hi' } } }] } }
				],
				functionCalls: [{ name: 'shout', args: { text: 'hi' } }]
			},
			expected('gemini', 'shout_0')
		],
		[
			'Gemini functionCalls alone',
			{ functionCalls: [{ id: 'c1', name: 'shout', args: { text: 'hi' } }] },
			expected('gemini')
		]
	])('D39: %s', (_name, response, calls) => {
		expect(extractToolCalls(response)).toEqual(calls);
	});

	test('B12: the model\u2019s name plays no part, and an answer without calls has none', () => {
		expect(extractToolCalls({ model: 'other/thing', output: [] })).toEqual([]);
		expect(extractToolCalls({ content: 'just text' })).toEqual([]);
	});

	test('arguments that are no JSON object are named, not thrown', () => {
		const calls = extractToolCalls({
			output: [
				{ type: 'function_call', call_id: 'a', name: 'shout', arguments: '{"text":' },
				{ type: 'function_call', call_id: 'b', name: 'shout', arguments: '[1]' },
				{ type: 'function_call', call_id: 'c', name: 'shout', arguments: '' }
			]
		});
		expect(calls.map(({ problem }) => problem?.slice(0, 17))).toEqual([
			'The arguments are',
			'The arguments mus',
			undefined
		]);
		expect(calls.map((call) => call.arguments)).toEqual([{}, {}, {}]);
	});

	test('whatever a server sends, reading it never throws', () => {
		const keys = fc.constantFrom(
			'output',
			'choices',
			'message',
			'tool_calls',
			'function',
			'content',
			'candidates',
			'parts',
			'functionCall',
			'functionCalls',
			'type',
			'name',
			'arguments'
		);
		const value = fc.letrec((tie) => ({
			node: fc.oneof(
				{ depthSize: 'small' },
				fc.constantFrom('function_call', 'tool_use', '{', '{}', null, 7),
				fc.array(tie('node'), { maxLength: 3 }),
				fc.dictionary(keys, tie('node'), { maxKeys: 4 })
			)
		})).node;
		fc.assert(
			fc.property(value, (response) => Array.isArray(extractToolCalls(response))),
			{ numRuns: 2000 }
		);
	});
});

test('D40: a result goes back in the shape of its call', () => {
	const of = (format: ExtractedCall['format']) => ({ format, id: 'c1', name: 'shout', arguments: {} });
	expect(toToolResult(of('responses'), 'HI')).toEqual({ type: 'function_call_output', call_id: 'c1', output: 'HI' });
	expect(toToolResult(of('chat'), 'HI')).toEqual({ role: 'tool', tool_call_id: 'c1', content: 'HI' });
	expect(toToolResult(of('anthropic'), 'no', true)).toEqual({
		type: 'tool_result',
		tool_use_id: 'c1',
		content: 'no',
		is_error: true
	});
	expect(toToolResult(of('gemini'), 'HI')).toEqual({
		functionResponse: { id: 'c1', name: 'shout', response: { output: 'HI' } }
	});
});

test.each([
	[
		'keywords that are unknown are left out',
		{ type: 'object', additionalProperties: false, $schema: 'x' },
		{ type: 'object' }
	],
	[
		'properties may be called as a keyword is',
		{ type: 'object', properties: { const: { type: 'string', const: 'a' } } },
		{ type: 'object', properties: { const: { type: 'string', enum: ['a'] } } }
	],
	['one type and null is nullable', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
	['several types are a choice', { type: ['string', 'number'] }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
	['oneOf is anyOf', { oneOf: [{ type: 'string', $id: 'x' }] }, { anyOf: [{ type: 'string' }] }],
	['values of an enum that are no texts are not said', { type: 'integer', enum: [1, 2] }, { type: 'integer' }],
	['a format that Gemini does not know is not said', { type: 'string', format: 'email' }, { type: 'string' }],
	['a format that it knows is', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
	['a list is one of something', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
	[
		'what is required is a property',
		{ type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b', 'toString'] },
		{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
	]
])('B11: %s', (_name, schema, expected) => {
	expect(toGeminiSchema(schema)).toEqual(expected);
});

function toolWith(parameters: Record<string, unknown>): ToolDefinition {
	return { type: 'function', name: 'greet', description: 'Greet', parameters };
}

test('B17: an SDK tool checks its arguments with Zod and hands them to the one function that runs tools', async () => {
	const properties = { name: { type: 'string' }, times: { type: 'integer' } };
	const parameters = { type: 'object', properties, required: ['name'], additionalProperties: false };
	const [tool] = createSdkTools([toolWith(parameters)], (name, args) => Promise.resolve({ name, args }));
	expect(tool).toMatchObject({ type: 'function', function: { name: 'greet', description: 'Greet' } });
	const { inputSchema, execute } = tool!.function;
	expect(inputSchema.parse({ name: 'Ada' })).toEqual({ name: 'Ada' });
	expect(inputSchema.safeParse({}).success).toBe(false);
	expect(inputSchema.safeParse({ name: 'Ada', age: 1 }).success).toBe(false);
	expect(await execute({ name: 'Ada' })).toEqual({ name: 'greet', args: { name: 'Ada' } });
});

test.each<[string, Record<string, unknown>]>([
	['if', { if: { required: ['name'] }, then: { required: ['times'] } }],
	['not', { not: { required: ['other'] } }],
	['patternProperties', { patternProperties: { '^x-': { type: 'string' } } }],
	['anyOf', { anyOf: [{ required: ['name'] }, { required: ['times'] }] }]
])('B17: a schema with `%s`, which is no Zod object, keeps its properties', (_, more) => {
	const parameters = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], ...more };
	const [tool] = createSdkTools([toolWith(parameters)], () => Promise.resolve(null));
	expect(tool!.function.inputSchema.safeParse({ name: 'Ada' }).success).toBe(true);
	expect(tool!.function.inputSchema.safeParse({ name: 1 }).success).toBe(false);
	expect(tool!.function.inputSchema.safeParse({}).success).toBe(false);
});

test('B17: a pattern that JavaScript cannot read leaves the other arguments checked', () => {
	const properties = { code: { type: 'string', pattern: '(' }, times: { type: 'integer' } };
	const [tool] = createSdkTools([toolWith({ type: 'object', properties })], () => Promise.resolve(null));
	expect(tool!.function.inputSchema.safeParse({ code: 'x', times: 2 }).success).toBe(true);
	expect(tool!.function.inputSchema.safeParse({ times: 'x' }).success).toBe(false);
});
