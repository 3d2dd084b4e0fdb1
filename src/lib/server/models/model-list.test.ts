import { describe, expect, test } from 'vitest';
import { openRouterModel } from '../../../../tests/support/openrouter-server.ts';
import { readModelList, toModelInfos } from './model-list.ts';

const read = (value: unknown) => toModelInfos(readModelList(value));
const ids = (value: unknown) => read(value).map(({ id }) => id);

describe('F11: the list of a server', () => {
	test('says of OpenRouter’s models what they cost, take and are', () => {
		const pricing = { prompt: '0.00000015', completion: '0.0000006', input_cache_read: '0.000000015' };
		expect(read({ data: [openRouterModel('acme/large', { pricing })] })).toEqual([
			{
				...{ id: 'acme/large', name: 'The acme/large', description: 'Answers.' },
				...{ contextTokens: 128_000, price: { input: 0.15, output: 0.6, cached: 0.015 } },
				...{ takesTools: true, takes: ['image'], gives: [], reasons: true, createdAt: '2023-11-14T22:13:20.000Z' }
			}
		]);
	});

	test.each<[string, unknown, string[]]>([
		['OpenAI and LM Studio', { object: 'list', data: [{ id: 'gpt', object: 'model' }] }, ['gpt']],
		['Ollama', { object: 'list', data: [{ id: 'qwen3:8b', owned_by: 'library' }] }, ['qwen3:8b']],
		['Ollama without models', { object: 'list', data: null }, []],
		['Ollama’s own list', { models: [{ name: 'qwen3:8b', model: 'qwen3:8b' }] }, ['qwen3:8b']],
		['llama.cpp', { models: [{ name: 'a.gguf' }], object: 'list', data: [{ id: 'a.gguf', meta: {} }] }, ['a.gguf']],
		['vLLM', { data: [{ id: 'org/model', max_model_len: 32_768 }] }, ['org/model']],
		['a bare list', [{ id: 'one' }, { id: 'two' }], ['one', 'two']]
	])('is read from %s', (_name, value, expected) => {
		expect(ids(value)).toEqual(expected);
	});

	test.each([null, 'text', 7, {}, { data: {} }, { data: 'x' }, { object: 'list' }])('is none: %j', (value) => {
		expect(() => readModelList(value)).toThrow('isn’t a list of models');
	});

	test('leaves unknown what a server says nothing of', () => {
		expect(read([{ id: 'm' }])).toEqual([
			{
				...{ id: 'm', name: 'm', description: '', contextTokens: null, price: null },
				...{ takesTools: null, takes: null, gives: null, reasons: null, createdAt: null }
			}
		]);
	});

	test('names what a model takes and gives besides text, and nothing else', () => {
		const architecture = { input_modalities: ['text', 'file', 'file', 7, 'a\u202eb'], output_modalities: [] };
		expect(read([{ id: 'm', architecture }])).toMatchObject([{ takes: ['file'], gives: null }]);
	});

	test('leaves out what is no model, and whose id no request could name', () => {
		const long = 'x'.repeat(257);
		const entries = [null, 7, 'text', [], {}, { id: 5 }, { id: '' }, { id: 'a b' }, { id: 'a\u001b[2J' }, { id: ' a' }];
		expect(ids([...entries, { id: 'a\u202eb' }, { id: long }, { id: 'good' }, { id: 'good', name: 'Again' }])).toEqual([
			'good'
		]);
	});

	test.each<[unknown, unknown]>([
		['-1', '-1'],
		['NaN', '0'],
		['Infinity', '0'],
		['', ''],
		[null, {}],
		['0.1', undefined],
		['1e300', '1']
	])('knows no price of %j and %j', (prompt, completion) => {
		expect(read([{ id: 'm', pricing: { prompt, completion } }])[0]?.price).toBeNull();
	});

	test('knows that a free model is free', () => {
		expect(read([{ id: 'm:free', pricing: { prompt: '0', completion: 0 } }])[0]?.price).toEqual({
			input: 0,
			output: 0
		});
	});

	test('is read whatever the types: of ten thousand entries five thousand, cut to what people read', () => {
		const hostile = { name: 'n'.repeat(5000), description: 'd\ud800'.repeat(5000), created: 1e18, context_length: -1 };
		const wrong = { supported_parameters: 'tools', architecture: 7, pricing: [], top_provider: null };
		const list = read({
			data: Array.from({ length: 10_000 }, (_, index) => ({ id: `m${index}`, ...hostile, ...wrong }))
		});
		expect(list).toHaveLength(5000);
		const [first] = list;
		expect(first).toMatchObject({ contextTokens: null, price: null, takesTools: null, createdAt: null });
		expect([first?.name.length, first?.description.length]).toEqual([200, 2000]);
		expect(first?.description.isWellFormed()).toBe(true);
	});
});
