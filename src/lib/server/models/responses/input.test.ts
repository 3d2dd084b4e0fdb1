import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResponseItem } from '../../agent/model.ts';
import { INTERRUPTED_OUTPUT, sanitiseInput } from './items.ts';

const user = (content: string): ResponseItem => ({ type: 'message', role: 'user', content });
const said = (text: string, id?: string): ResponseItem => ({
	type: 'message',
	role: 'assistant',
	content: [{ type: 'output_text', text }],
	...(id === undefined ? {} : { id })
});
const thought = (id: string): ResponseItem => ({
	type: 'reasoning',
	id,
	summary: [],
	encrypted_content: 'x',
	extra: 1
});
const called = (call_id: string, args: unknown = '{"a":1}'): ResponseItem => ({
	type: 'function_call',
	call_id,
	name: 'load_skill',
	arguments: args
});
const output = (call_id: string, text = 'ok'): ResponseItem => ({
	type: 'function_call_output',
	call_id,
	output: text
});
const interrupted = (call_id: string) => output(call_id, INTERRUPTED_OUTPUT);

describe('the history before it is sent', () => {
	test('a sound history is passed on item by item, reasoning and unknown fields untouched', () => {
		const items = [
			user('hi'),
			thought('r1'),
			called('a'),
			called('b'),
			output('b'),
			output('a'),
			thought('r2'),
			said('x')
		];
		const result = sanitiseInput(items);
		expect(result).toEqual(items);
		expect(result.every((item, index) => item === items[index])).toBe(true);
	});

	test.each([
		['broken JSON', '{"a":', '{}'],
		['nothing', '', '{}'],
		['an array', '[1]', '{}'],
		['a text', '"x"', '{}'],
		['null', 'null', '{}'],
		['no value at all', null, '{}'],
		['an object that is not text', { a: 1 }, '{"a":1}'],
		['an object', ' {"a": 1}', ' {"a": 1}']
	])('arguments that are %s are sent as a JSON object', (_name, args, expected) => {
		expect(sanitiseInput([called('a', args), output('a')])[0]).toEqual(called('a', expected));
	});

	test('a call without an output gets one, directly after the calls', () => {
		expect(sanitiseInput([user('hi'), called('a'), called('b'), user('go on')])).toEqual([
			user('hi'),
			called('a'),
			called('b'),
			interrupted('a'),
			interrupted('b'),
			user('go on')
		]);
		expect(sanitiseInput([called('a'), called('b'), output('a')])).toEqual([
			called('a'),
			called('b'),
			interrupted('b'),
			output('a')
		]);
		expect(JSON.parse(INTERRUPTED_OUTPUT)).toMatchObject({ error: 'interrupted' });
	});

	test('an output without its call, or before it, is dropped', () => {
		expect(sanitiseInput([output('x'), user('hi')])).toEqual([user('hi')]);
		expect(sanitiseInput([output('a'), called('a')])).toEqual([called('a'), interrupted('a')]);
	});

	test('calls and outputs that are there twice are sent once', () => {
		expect(sanitiseInput([called('a'), output('a', '1'), called('a'), output('a', '2')])).toEqual([
			called('a'),
			output('a', '1')
		]);
	});

	test('an item saved twice in a turn is sent once; the same words in a later turn are kept', () => {
		expect(sanitiseInput([said('x', 'm1'), said('x', 'm1')])).toEqual([said('x', 'm1')]);
		const items = [said('x', 'm1'), user('again'), said('x', 'm1'), said('y'), said('y')];
		expect(sanitiseInput(items)).toEqual(items);
	});

	test('a call that names no tool, or has no id, is dropped with its output', () => {
		const nameless = { type: 'function_call', call_id: 'a', arguments: '{}' };
		expect(sanitiseInput([nameless, output('a'), { type: 'function_call', name: 'x', arguments: '{}' }])).toEqual([]);
	});

	test.each([
		['no content', {}],
		['empty text', { content: '' }],
		['no parts', { content: [] }],
		['a part without text', { content: [{ type: 'output_text', text: '' }] }]
	])('an assistant message with %s is dropped, a refusal is kept', (_name, fields) => {
		const refusal = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };
		expect(sanitiseInput([{ type: 'message', role: 'assistant', ...fields }, refusal])).toEqual([refusal]);
	});

	test('whatever was saved, each call has exactly one output after it, and a second pass changes nothing', () => {
		const id = fc.constantFrom('a', 'b', 'c');
		const item = fc.oneof(
			id.map((callId) => called(callId)),
			id.map((callId) => called(callId, '{"half')),
			id.map((callId) => output(callId)),
			id.map(thought),
			id.map((text) => said(text, 'm')),
			fc.constant(said('')),
			fc.constant(user('hi'))
		);
		fc.assert(
			fc.property(fc.array(item, { maxLength: 14 }), (items) => {
				const result = sanitiseInput(items);
				const callIds = result.filter((each) => each.type === 'function_call').map((each) => each.call_id);
				const outputIds = result.filter((each) => each.type === 'function_call_output').map((each) => each.call_id);
				expect(new Set(callIds).size).toBe(callIds.length);
				expect(outputIds.toSorted()).toEqual(callIds.toSorted());
				for (const [index, each] of result.entries()) {
					if (each.type !== 'function_call_output') continue;
					const at = result.findIndex((other) => other.type === 'function_call' && other.call_id === each.call_id);
					expect(at).toBeLessThan(index);
				}
				expect(sanitiseInput(result)).toEqual(result);
			}),
			{ numRuns: 500 }
		);
	});
});
