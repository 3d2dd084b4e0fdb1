import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALLS, DIALECTS, REASONING, TEXT } from '../../../../../tests/support/model-dialects.ts';
import { appendEvent, type ContentEvent } from './items.ts';
import { ResponseReader } from './reader.ts';
import { createSseDecoder } from './connection.ts';

interface Read {
	reader: ResponseReader;
	events: ContentEvent[];
}

/** Reads a stream split at these bytes; deltas of all chunks are merged. */
function readStream(stream: string, cuts: number[] = []): Read {
	const bytes = new TextEncoder().encode(stream);
	const reader = new ResponseReader();
	const decoder = createSseDecoder();
	const events: ContentEvent[] = [];
	const edges = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
	for (const [index, end] of edges.slice(1).entries()) {
		for (const frame of decoder.push(bytes.subarray(edges[index], end))) reader.readFrame(frame);
		for (const event of reader.take()) appendEvent(events, event);
	}
	for (const frame of decoder.end()) reader.readFrame(frame, true);
	for (const event of reader.take()) appendEvent(events, event);
	return { reader, events };
}

function readEvents(...events: object[]): Read {
	return readStream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

function textOf(events: ContentEvent[], type: 'text.delta' | 'reasoning.delta'): string {
	return events.map((event) => (event.type === type ? event.delta : '')).join('');
}

const completed = (fields: object = {}) => ({
	type: 'response.completed',
	response: { status: 'completed', ...fields }
});
const message = (text: string, id = 'msg_1') => ({
	type: 'message',
	id,
	role: 'assistant',
	content: [{ type: 'output_text', text }]
});
const functionCall = (callId: string, args: unknown = '{}') => ({
	type: 'function_call',
	id: `fc_${callId}`,
	call_id: callId,
	name: 'load_skill',
	arguments: args
});
const textDelta = (delta: string, place: object = { output_index: 0 }) => ({
	type: 'response.output_text.delta',
	...place,
	delta
});

describe.each(Object.entries(DIALECTS))('a stream of %s', (_name, { stream, items }) => {
	test('shows reasoning, text and both calls once, and keeps the items verbatim', () => {
		const { reader, events } = readStream(stream);
		expect(textOf(events, 'reasoning.delta')).toBe(REASONING);
		expect(textOf(events, 'text.delta')).toBe(TEXT);
		expect(events.filter((event) => event.type === 'call.done')).toEqual(
			CALLS.map((call) => ({ type: 'call.done', ...call }))
		);
		expect(reader.items()).toEqual(items);
		expect(reader.ending).toMatchObject({ type: 'completed', incompleteReason: null });
	});

	test('begins each call before its arguments, which together are those of its end', () => {
		const { events } = readStream(stream);
		for (const { callId, name, arguments: args } of CALLS) {
			const own = events.filter((event) => 'callId' in event && event.callId === callId);
			expect(own[0]).toEqual({ type: 'call.started', callId, name });
			expect(own.map((event) => (event.type === 'call.delta' ? event.delta : '')).join('')).toBe(args);
			expect(own.at(-1)?.type).toBe('call.done');
		}
	});

	test('gives the same result however the network cuts it', () => {
		const whole = readStream(stream);
		fc.assert(
			fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
				const { reader, events } = readStream(stream, cuts);
				expect(events).toEqual(whole.events);
				expect(reader.items()).toEqual(whole.reader.items());
				expect(reader.ending).toEqual(whole.reader.ending);
			}),
			{ numRuns: 100 }
		);
	});

	test('cut off anywhere, has not completed and has invented nothing', () => {
		const bytes = new TextEncoder().encode(stream);
		const end = new TextDecoder().decode(bytes).search(/response\.(completed|done)"/);
		fc.assert(
			fc.property(fc.nat(end - 30), (length) => {
				const { reader, events } = readStream(stream.slice(0, length));
				expect(reader.ending).toBeNull();
				expect(TEXT.startsWith(textOf(events, 'text.delta'))).toBe(true);
				for (const event of events) {
					if (event.type === 'call.done') expect(CALLS.map((call) => call.arguments)).toContain(event.arguments);
				}
			}),
			{ numRuns: 100 }
		);
	});
});

describe('the reader of a response', () => {
	test('merges neighbouring deltas of one key, and only those', () => {
		const { events } = readEvents(textDelta('a'), textDelta('b'), textDelta('c', { output_index: 1 }), textDelta('d'));
		expect(events).toEqual([
			{ type: 'text.delta', key: '0', delta: 'ab' },
			{ type: 'text.delta', key: '1', delta: 'c' },
			{ type: 'text.delta', key: '0', delta: 'd' }
		]);
	});

	test('names an item by output_index, else item_id, else call_id, else its order', () => {
		const key = (place: object) => readEvents(textDelta('a', place)).events[0];
		expect(key({ output_index: 3, item_id: 'm' })).toMatchObject({ key: '3' });
		expect(key({ item_id: 'm' })).toMatchObject({ key: 'm' });
		expect(key({ call_id: 'c' })).toMatchObject({ key: 'c' });
		expect(key({})).toMatchObject({ key: 'item-0' });
	});

	test('ignores events that it does not know, and data that is no object', () => {
		const { reader, events } = readEvents(
			{ type: 'response.web_search_call.searching', output_index: 0 },
			{ type: 'keepalive' },
			{ type: 7, foo: 1 },
			[1],
			{ type: 'response.output_item.done', output_index: 5, item: null },
			{ type: 'response.output_item.added', output_index: 5 },
			textDelta('a'),
			completed()
		);
		expect(textOf(events, 'text.delta')).toBe('a');
		expect(reader.ending?.type).toBe('completed');
	});

	test('takes the type of an event from its event field, when its data has none', () => {
		const { reader } = readStream('event: error\ndata: {"message":"boom"}\n\n');
		expect(reader.ending).toEqual({ type: 'failed', payload: { message: 'boom' } });
	});

	test('the arguments of arguments.done override the deltas', () => {
		const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'x' };
		const { reader, events } = readEvents(
			{ type: 'response.output_item.added', output_index: 0, item },
			{ type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":' },
			{ type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"b":2}' },
			{ type: 'response.output_item.done', output_index: 0, item },
			completed()
		);
		expect(events.at(-1)).toEqual({ type: 'call.done', callId: 'c', name: 'x', arguments: '{"b":2}' });
		expect(reader.items()).toEqual([{ ...item, arguments: '{"b":2}' }]);
	});

	test('a call is not done before its item is', () => {
		const item = functionCall('c');
		const { events } = readEvents(
			{ type: 'response.output_item.added', output_index: 0, item },
			{ type: 'response.function_call_arguments.done', output_index: 0, arguments: '{}' },
			completed()
		);
		expect(events).toEqual([{ type: 'call.started', callId: 'c', name: 'load_skill' }]);
	});

	test('a call is never done twice, whatever a server repeats', () => {
		const item = functionCall('c', '{"a":1}');
		const done = { type: 'response.output_item.done', output_index: 0, item };
		const { reader, events } = readEvents(
			done,
			done,
			{ ...done, output_index: 1 },
			completed({ output: [item, item] })
		);
		expect(events.filter((event) => event.type === 'call.done')).toHaveLength(1);
		expect(reader.items()).toEqual([item]);
	});

	test('a call without arguments has the arguments {}', () => {
		const { events } = readEvents({ type: 'response.output_item.done', item: functionCall('c', '') });
		expect(events.at(-1)).toMatchObject({ type: 'call.done', arguments: '{}' });
	});

	test('what only the terminal output has is shown and kept, in output order', () => {
		const output = [
			{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
			message('Hello'),
			{ type: 'web_search_call', id: 'ws_1' },
			functionCall('c')
		];
		const { reader, events } = readEvents(completed({ output }));
		expect(events).toEqual([
			{ type: 'reasoning.delta', key: 'rs_1', delta: 'Hm.' },
			{ type: 'text.delta', key: 'msg_1', delta: 'Hello' },
			{ type: 'server.done', call: expect.objectContaining({ name: 'web_search_call', isError: false }) },
			{ type: 'item', item: output[2] },
			{ type: 'call.started', callId: 'c', name: 'load_skill' },
			{ type: 'call.delta', callId: 'c', delta: '{}' },
			{ type: 'call.done', callId: 'c', name: 'load_skill', arguments: '{}' }
		]);
		expect(reader.items()).toEqual(output);
	});

	test('the terminal output adds only what is missing, at its place', () => {
		const output = [
			{ type: 'reasoning', id: 'rs_1', summary: [] },
			message('Hello'),
			functionCall('a'),
			functionCall('b')
		];
		const { reader } = readEvents(
			{ type: 'response.output_item.done', output_index: 1, item: output[1] },
			{ type: 'response.output_item.done', output_index: 3, item: output[3] },
			completed({ output })
		);
		expect(reader.items()).toEqual(output);
	});

	test('text that came as deltas is not shown again by its item, also under another id', () => {
		const { reader, events } = readEvents(
			textDelta('Hel', { item_id: 'tmp' }),
			textDelta('lo', { item_id: 'tmp' }),
			completed({ output: [message('Hello', 'final')] })
		);
		expect(textOf(events, 'text.delta')).toBe('Hello');
		expect(reader.items()).toEqual([message('Hello', 'final')]);
	});

	test('text that the deltas lacked is shown with the item; a text that contradicts them is not', () => {
		const done = (text: string) => ({ type: 'response.output_item.done', output_index: 0, item: message(text) });
		expect(textOf(readEvents(textDelta('Hel'), done('Hello')).events, 'text.delta')).toBe('Hello');
		expect(textOf(readEvents(textDelta('Hel'), done('Other')).events, 'text.delta')).toBe('Hel');
	});

	test('two items of which a server says that both are number 0 are kept apart', () => {
		const place = (id: string) => ({ output_index: 0, item_id: id });
		const { reader, events } = readEvents(
			{ type: 'response.reasoning_text.delta', ...place('r'), delta: 'Hm' },
			textDelta('Hi', place('m')),
			{ type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'r', summary: [] } },
			{ type: 'response.output_item.done', output_index: 0, item: message('Hi', 'm') },
			{ type: 'response.output_item.done', output_index: 0, item: functionCall('a') },
			{ type: 'response.output_item.done', output_index: 0, item: functionCall('b') },
			completed()
		);
		expect(new Set(events.flatMap((event) => ('key' in event ? [event.key] : []))).size).toBe(2);
		expect(reader.items().map((item) => item.type)).toEqual(['reasoning', 'message', 'function_call', 'function_call']);
	});

	describe('the sources of a text', () => {
		const annotation = (end_index: number, url = 'https://a.example/', start_index = 0) => ({
			...{ type: 'url_citation', url, title: 'A', start_index, end_index }
		});
		const added = (each: object, place: object = { output_index: 0 }) => ({
			...{ type: 'response.output_text.annotation.added', ...place, annotation: each }
		});
		const withParts = (...parts: [text: string, ...annotations: object[]][]) => ({
			...message(''),
			content: parts.map(([text, ...annotations]) => ({ type: 'output_text', text, annotations }))
		});
		const doneWith = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
		const cited = ({ events }: Read) =>
			events.flatMap((event) => (event.type === 'text.citation' ? [event.citation] : []));
		const ends = (read: Read) => cited(read).map(({ end }) => end);

		test('come as they are said, once, also if the final item has them again', () => {
			const item = withParts(['One. Two.', annotation(4), annotation(9)]);
			const read = readEvents(
				textDelta('One.'),
				added(annotation(4)),
				textDelta(' Two.'),
				doneWith(item),
				completed({ output: [item] })
			);
			expect(read.events.map(({ type }) => type)).toEqual([
				'text.delta',
				'text.citation',
				'text.delta',
				'text.citation'
			]);
			expect(ends(read)).toEqual([4, 9]);
			expect(read.reader.items()).toEqual([item]);
		});

		test('that are ahead of their text wait for the final item; those past its end, or no address, are dropped', () => {
			const bad = [
				annotation(99),
				annotation(2, 'javascript:alert(1)'),
				null,
				'x',
				annotation(2, 'https://b.example/', 3)
			];
			const item = withParts(['One.', annotation(4), ...(bad as object[])]);
			const read = readEvents(
				added(annotation(4)),
				textDelta('O'),
				added(annotation(4)),
				...bad.map((each) => added(each as object)),
				textDelta('ne.'),
				doneWith(item),
				completed()
			);
			expect(ends(read)).toEqual([4]);
		});

		test('of a second part have places in the whole text', () => {
			const [first, second] = [
				{ output_index: 0, content_index: 0 },
				{ output_index: 0, content_index: 1 }
			];
			const item = withParts(['One.', annotation(4)], ['Two.', annotation(4, 'https://a.example/', 1)]);
			const streamed = readEvents(
				textDelta('One.', first),
				textDelta('Two.', second),
				added(annotation(4), first),
				added(annotation(4, 'https://a.example/', 1), second),
				completed()
			);
			expect(cited(streamed)).toMatchObject([
				{ start: 0, end: 4 },
				{ start: 5, end: 8 }
			]);
			expect(cited(readEvents(completed({ output: [item] })))).toEqual(cited(streamed));
		});

		test('of a text that isn’t the one that was shown are dropped', () => {
			expect(ends(readEvents(textDelta('Other'), doneWith(withParts(['One.', annotation(4)])), completed()))).toEqual(
				[]
			);
		});

		test('are at most 200 for a text', () => {
			const many = Array.from({ length: 500 }, (_, index) => annotation(4, `https://a.example/${index}`));
			expect(ends(readEvents(completed({ output: [withParts(['One.', ...many])] })))).toHaveLength(200);
		});
	});

	test('a refusal is text', () => {
		const refusal = {
			type: 'message',
			id: 'm',
			role: 'assistant',
			content: [{ type: 'refusal', refusal: 'I will not.' }]
		};
		const { events } = readEvents(
			{ type: 'response.refusal.delta', output_index: 0, delta: 'I will ' },
			{ type: 'response.output_item.done', output_index: 0, item: refusal },
			completed()
		);
		expect(textOf(events, 'text.delta')).toBe('I will not.');
	});

	test('parts of a summary are paragraphs, and thoughts that come twice are shown once', () => {
		const summary = (index: number, delta: string) => ({
			type: 'response.reasoning_summary_text.delta',
			output_index: 0,
			summary_index: index,
			delta
		});
		const item = {
			type: 'reasoning',
			id: 'r',
			summary: ['One.', 'Two.'].map((text) => ({ type: 'summary_text', text }))
		};
		const { events } = readEvents(
			summary(0, 'One.'),
			{ type: 'response.reasoning_text.delta', output_index: 0, delta: 'One. Two.' },
			summary(1, 'Two.'),
			{ type: 'response.output_item.done', output_index: 0, item },
			completed()
		);
		expect(textOf(events, 'reasoning.delta')).toBe('One.\n\nTwo.');
	});

	test('text without a finished item is kept as one, so that the history has it', () => {
		const { reader } = readEvents(textDelta('Hello'), { type: 'response.done' });
		expect(reader.items()).toMatchObject([{ type: 'message', role: 'assistant', content: [{ text: 'Hello' }] }]);
	});

	test('the figures of the terminal event, the cost included', () => {
		const { reader } = readStream(DIALECTS.OpenRouter?.stream ?? '');
		expect(reader.ending).toMatchObject({
			usage: { inputTokens: 812, outputTokens: 57, cachedTokens: 640, reasoningTokens: 12, cost: 0.0021 }
		});
		expect(readEvents(completed()).reader.ending).toMatchObject({ usage: null });
	});

	test('an incomplete response says why', () => {
		const response = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
		const { reader } = readEvents(textDelta('a'), { type: 'response.incomplete', response });
		expect(reader.ending).toMatchObject({ type: 'completed', incompleteReason: 'max_output_tokens' });
	});

	test('a failed response runs no call that only its output has', () => {
		const response = { status: 'failed', error: { code: 'server_error' }, output: [functionCall('a')] };
		const { reader, events } = readEvents({ type: 'response.failed', response });
		expect(reader.ending?.type).toBe('failed');
		expect(events).toEqual([]);
	});

	test('nothing after the ending is read', () => {
		const { reader, events } = readEvents(textDelta('a'), completed(), textDelta('b'), { type: 'error', message: 'x' });
		expect(textOf(events, 'text.delta')).toBe('a');
		expect(reader.ending?.type).toBe('completed');
	});

	test('events of any shape are never a throw', () => {
		const type = fc.constantFrom(
			...['output_item.added', 'output_item.done', 'output_text.delta', 'reasoning_text.delta'],
			...['function_call_arguments.delta', 'function_call_arguments.done', 'completed']
		);
		const item = fc.oneof(
			fc.jsonValue(),
			fc.record({
				type: fc.constantFrom('message', 'function_call', 'reasoning'),
				content: fc.jsonValue(),
				arguments: fc.jsonValue()
			})
		);
		const event = fc.record(
			{
				type: type.map((name) => `response.${name}`),
				output_index: fc.jsonValue(),
				item_id: fc.jsonValue(),
				item,
				delta: fc.jsonValue(),
				response: fc.oneof(fc.jsonValue(), fc.record({ output: fc.array(item) }))
			},
			{ requiredKeys: ['type'] }
		);
		fc.assert(
			fc.property(fc.array(event), (events) => {
				const { reader } = readEvents(...events);
				expect(Array.isArray(reader.items())).toBe(true);
			}),
			{ numRuns: 500 }
		);
	});
});
