import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from 'vitest';
import { DIALECTS, REASONING, TEXT } from '../../../../../tests/support/model-dialects.ts';
import * as script from '../../../../../tests/support/model-server.ts';
import type { ModelEvent, ModelRequest } from '../../agent/model.ts';
import { createResponsesModel, nothingKnown, type ResponsesModelOptions } from './responses.ts';

const KEY = 'sk-or-v1-0123456789abcdef';
const QUESTION: ModelRequest = {
	instructions: 'Be brief.',
	input: [{ type: 'message', role: 'user', content: 'Weather in Tokyo?' }],
	tools: [],
	toolChoice: 'auto',
	sessionId: 'conv_1'
};

const open: script.ModelServer[] = [];

afterEach(async () => {
	await Promise.all(open.splice(0).map((server) => server.close()));
});

/** A server with these replies, and a model that uses it and retries almost at once. */
async function start(replies: script.Reply[], options: Partial<ResponsesModelOptions> = {}) {
	const server = await script.startModelServer(replies);
	open.push(server);
	const model = createResponsesModel({
		id: 'acme/large',
		baseUrl: server.url,
		apiKey: KEY,
		backoffMs: 1,
		...options
	});
	return { server, model };
}

async function ask(
	model: ReturnType<typeof createResponsesModel>,
	request: Partial<ModelRequest> = {},
	signal = new AbortController().signal
): Promise<ModelEvent[]> {
	const events: ModelEvent[] = [];
	for await (const event of model.stream({ ...QUESTION, ...request }, signal)) events.push(event);
	return events;
}

const types = (events: ModelEvent[]) => events.map((event) => event.type);
const textOf = (events: ModelEvent[]) =>
	events.map((event) => (event.type === 'text.delta' ? event.delta : '')).join('');

/** The single failure that must end the events. */
function failureOf(events: ModelEvent[]) {
	const last = events.at(-1);
	if (last?.type !== 'failed') throw new Error(`The last event is ${JSON.stringify(last)}`);
	expect(events.filter((event) => event.type === 'failed' || event.type === 'completed')).toHaveLength(1);
	expect(last.error.message).not.toContain(KEY);
	return last;
}

/** Events up to the first that `isWanted`; the stream stays open. */
async function readUntil(stream: AsyncIterator<ModelEvent>, isWanted: (event: ModelEvent) => boolean): Promise<void> {
	for (;;) {
		const { value, done } = await stream.next();
		if (done) throw new Error('The stream ended');
		if (isWanted(value)) return;
	}
}

const delta = (text: string) => ({ type: 'response.output_text.delta', output_index: 0, delta: text });
const created = { type: 'response.created', response: { status: 'in_progress' } };
const completed = { type: 'response.completed', response: { status: 'completed', output: [] } };
const item = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', x: 1 }] };
const itemDone = { type: 'response.output_item.done', output_index: 0, item };

describe('the request', () => {
	test('is the one of the Responses API, key, title and referer in its headers', async () => {
		const { server, model } = await start([script.text('Hi')], {
			appTitle: 'Skills',
			referer: 'http://localhost:3000'
		});
		const parameters = { type: 'object', properties: {} };
		const tools = [{ type: 'function' as const, name: 'load_skill', description: 'Loads', parameters }];
		await ask(model, { tools, toolChoice: 'none', sessionId: 'c'.repeat(300) });
		expect(server.requests[0]?.body).toEqual({
			model: 'acme/large',
			stream: true,
			session_id: 'c'.repeat(256),
			instructions: 'Be brief.',
			input: QUESTION.input,
			include: ['reasoning.encrypted_content'],
			tools: [{ ...tools[0], strict: null }],
			tool_choice: 'none',
			parallel_tool_calls: true
		});
		expect(server.requests[0]?.headers).toMatchObject({
			authorization: `Bearer ${KEY}`,
			accept: 'text/event-stream',
			'content-type': 'application/json',
			'http-referer': 'http://localhost:3000',
			'x-openrouter-title': 'Skills'
		});
		server.assertDone();
	});

	test('without tools and key names neither', async () => {
		const { server, model } = await start([script.text('Hi')], { apiKey: undefined });
		await ask(model);
		const { body, headers } = server.requests[0] ?? { body: {}, headers: {} };
		expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['tools']));
		expect(body).not.toHaveProperty('tool_choice');
		expect(body).not.toHaveProperty('parallel_tool_calls');
		expect(headers.authorization).toBeUndefined();
	});

	test('goes to {base}/responses, with or without a slash at the end', async () => {
		const { server, model } = await start([script.text('a'), script.text('b')]);
		const slashed = createResponsesModel({ id: 'x', baseUrl: `${server.url}//` });
		expect(textOf([...(await ask(model)), ...(await ask(slashed))])).toBe('ab');
	});

	test('sends a history with half a call in a form that every server takes', async () => {
		const { server, model } = await start([script.text('Hi')]);
		const input = [{ type: 'function_call', call_id: 'c', name: 'x', arguments: '{"a' }];
		await ask(model, { input });
		expect(server.requests[0]?.body.input).toMatchObject([
			{ call_id: 'c', arguments: '{}' },
			{ type: 'function_call_output', call_id: 'c' }
		]);
	});

	test.each(['', 'openrouter.ai', 'ftp://x/v1', 'http://user:secret@x/v1'])(
		'a base URL like "%s" is refused early',
		(baseUrl) => {
			expect(() => createResponsesModel({ id: 'x', baseUrl })).toThrow(/address of the model server/);
			expect(() => createResponsesModel({ id: 'x', baseUrl })).not.toThrow(/secret/);
		}
	);

	test('a key that no header can hold fails as unauthorized, unsent', async () => {
		const { server, model } = await start([], { apiKey: `${KEY}\u20ac` });
		expect(failureOf(await ask(model)).error.code).toBe('unauthorized');
		server.assertDone();
	});
});

describe('the answer', () => {
	test.each(Object.entries(DIALECTS))(
		'of %s arrives over HTTP: events, items, figures',
		async (_name, { stream, items }) => {
			const { server, model } = await start([script.raw(stream)]);
			const events = await ask(model);
			expect(textOf(events)).toBe(TEXT);
			expect(events.map((event) => (event.type === 'reasoning.delta' ? event.delta : '')).join('')).toBe(REASONING);
			expect(events.at(-1)).toMatchObject({ type: 'completed', items, usage: { inputTokens: 812 } });
			server.assertDone();
		}
	);

	test('deltas that arrive together are one event, and each arrival is passed on at once', async () => {
		const gate = script.gate();
		const frames = (...texts: string[]) => texts.map((text) => `data: ${JSON.stringify(delta(text))}\n\n`).join('');
		const { model } = await start([script.raw(frames('a', 'b', 'c'), gate, frames('d'), completed)]);
		const stream = model.stream(QUESTION, new AbortController().signal)[Symbol.asyncIterator]();
		expect((await stream.next()).value).toEqual({ type: 'text.delta', key: '0', delta: 'abc' });
		gate.open();
		expect((await stream.next()).value).toEqual({ type: 'text.delta', key: '0', delta: 'd' });
		expect((await stream.next()).value).toMatchObject({ type: 'completed' });
	});

	test('is complete at its terminal event, though the server keeps the connection', async () => {
		const { model } = await start([script.hang(itemDone, completed)]);
		expect((await ask(model)).at(-1)).toMatchObject({ type: 'completed', items: [item] });
	});

	test('keeps its connection for the next request', async () => {
		const whole: script.Handler = ({ begin, end }) => {
			begin();
			end([itemDone, completed].map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''));
		};
		const { server, model } = await start([whole, whole]);
		await ask(model);
		await new Promise(setImmediate);
		await ask(model);
		expect(server.requests[1]?.clientPort).toBe(server.requests[0]?.clientPort);
	});

	test('as one JSON object, from a server that knows no streaming, is shown as well', async () => {
		const body = {
			object: 'response',
			status: 'completed',
			output: [item],
			usage: { input_tokens: 3, output_tokens: 4 }
		};
		const { model } = await start([script.status(200, body)]);
		expect(await ask(model)).toEqual([
			{ type: 'text.delta', key: 'm', delta: 'Hello' },
			{ type: 'completed', items: [item], usage: { inputTokens: 3, outputTokens: 4 }, incompleteReason: null }
		]);
	});

	test('with a JSON error and status 200 is that error', async () => {
		const { model } = await start([script.status(200, { error: { code: 402, message: 'No credits' } })]);
		expect(failureOf(await ask(model)).error.code).toBe('insufficient_credits');
	});

	test.each([
		['HTML', '<!doctype html><h1>Welcome to nginx</h1>', 'Welcome to nginx'],
		['plain text', 'Upstream is asleep', 'Upstream is asleep'],
		['JSON of something else', '{"choices":[{"text":"hi"}]}', 'choices'],
		['half a JSON object', '{"output":[', 'output']
	])('that is %s is a provider_error with an excerpt', async (_name, body, words) => {
		const { model } = await start([script.status(200, body)]);
		const { error } = failureOf(await ask(model));
		expect(error.code).toBe('provider_error');
		expect(error.message).toContain(words);
	});

	test('that completes with nothing is empty_response', async () => {
		const blank = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: '' }] };
		const { model } = await start([
			script.raw(completed),
			script.raw({ type: 'response.completed', response: { output: [blank] } }),
			script.response([], { incomplete: 'max_output_tokens' })
		]);
		expect(failureOf(await ask(model)).error.code).toBe('empty_response');
		expect(failureOf(await ask(model)).error.code).toBe('empty_response');
		expect(failureOf(await ask(model)).error.message).toContain('max_output_tokens');
	});

	test('may hold a call whose arguments are no JSON: they are passed on as they are', async () => {
		const { model } = await start([script.call('load_skill', '{"name":', 'c1')]);
		expect(await ask(model)).toContainEqual({
			type: 'call.done',
			callId: 'c1',
			name: 'load_skill',
			arguments: '{"name":'
		});
	});

	test('that is cut short by the model says why', async () => {
		const { model } = await start([script.response([script.text('Once')], { incomplete: 'max_output_tokens' })]);
		expect((await ask(model)).at(-1)).toMatchObject({ type: 'completed', incompleteReason: 'max_output_tokens' });
	});
});

describe('a broken answer', () => {
	test.each([
		['an end without a terminal event', script.raw(itemDone, delta('x'))],
		['[DONE] without a terminal event', script.raw(itemDone, 'data: [DONE]\n\n')],
		['a last event that was cut', script.raw(itemDone, 'data: {"type":"response.comp')],
		['a reset after something was shown', script.reset(itemDone)]
	])('%s is stream_truncated, what arrived is kept', async (_name, reply) => {
		const { server, model } = await start([reply]);
		const events = await ask(model);
		expect(textOf(events)).toBe('Hello');
		expect(failureOf(events)).toMatchObject({ error: { code: 'stream_truncated' }, items: [item] });
		server.assertDone();
	});

	test('an event that is not JSON is provider_error, and the text before it is kept', async () => {
		const { server, model } = await start([script.raw(delta('Hel'), 'data: {oops\n\n', delta('lo'), completed)]);
		const events = await ask(model);
		expect(textOf(events)).toBe('Hel');
		expect(failureOf(events).error).toMatchObject({ code: 'provider_error' });
		server.assertDone();
	});

	test.each([
		[{ type: 'error', code: 'server_error', message: 'boom' }],
		[{ type: 'error', error: { code: 502, message: 'boom' } }],
		[{ type: 'response.error', error: { code: 'server_error', message: 'boom' } }],
		[{ type: 'response.failed', response: { error: { code: 'server_error', message: 'boom' } } }],
		[{ error: { code: 502, message: 'boom' }, choices: [] }]
	])('the error frame %j after text fails, keeps the items and is not asked again', async (frame) => {
		const { server, model } = await start([script.raw(itemDone, frame)]);
		const failure = failureOf(await ask(model));
		expect(failure).toMatchObject({ error: { code: 'provider_error' }, items: [item] });
		expect(failure.error.message).toContain('boom');
		server.assertDone();
	});

	test('a line without an end is refused at a cap', async () => {
		const chunk = 'x'.repeat(1024 * 1024);
		const { model } = await start([script.raw('data: ', ...Array.from({ length: 20 }, () => chunk))]);
		expect(failureOf(await ask(model)).error.code).toBe('provider_error');
	});

	test('an error body without an end is read to a cap', async () => {
		let written = 0;
		const flood: script.Handler = async ({ begin, write, request }) => {
			begin(400, { 'content-type': 'text/plain' });
			while (!request.isAborted) {
				await write('x'.repeat(16 * 1024));
				written++;
			}
		};
		const { server, model } = await start([flood]);
		expect(failureOf(await ask(model)).error).toMatchObject({ code: 'provider_error', status: 400 });
		await server.requests[0]?.closed;
		expect(written).toBeGreaterThan(0);
	});
});

describe('asking again', () => {
	const busy = (code: number) => script.status(code, { error: { code, message: 'busy' } });

	test.each([408, 409, 429, 500, 502, 503, 529])('a %i before anything was shown is asked again', async (code) => {
		const { server, model } = await start([busy(code), busy(code), script.text('Hi')]);
		const events = await ask(model);
		expect(types(events)).toEqual(['retrying', 'retrying', 'text.delta', 'completed']);
		expect(events[1]).toMatchObject({ attempt: 2 });
		server.assertDone();
	});

	test.each([400, 401, 402, 403, 404, 413])('a %i is not asked again', async (code) => {
		const { server, model } = await start([busy(code)]);
		expect(failureOf(await ask(model)).error.status).toBe(code);
		server.assertDone();
	});

	test('three times at most, then the error is the answer', async () => {
		const { server, model } = await start([busy(503), busy(503), busy(503), busy(503)], { maxAttempts: 100 });
		const events = await ask(model);
		expect(types(events)).toEqual(['retrying', 'retrying', 'retrying', 'failed']);
		expect(failureOf(events).error).toMatchObject({ code: 'provider_error', status: 503 });
		server.assertDone();
	});

	test('also after a connection that was reset, and an error in a stream that had shown nothing', async () => {
		const { server, model } = await start([
			script.reset(),
			script.reset(': hello\n\n', created),
			script.raw(created, { type: 'error', code: 'rate_limit_exceeded', message: 'busy' }),
			script.text('Hi')
		]);
		expect(types(await ask(model))).toEqual(['retrying', 'retrying', 'retrying', 'text.delta', 'completed']);
		server.assertDone();
	});

	test('a refused connection is asked again, and ends as unreachable', async () => {
		const { server, model } = await start([]);
		await server.close();
		const events = await ask(model);
		expect(types(events)).toEqual(['retrying', 'retrying', 'retrying', 'failed']);
		expect(failureOf(events).error).toMatchObject({
			code: 'unreachable',
			message: expect.stringContaining('nothing answers there') as string
		});
	});

	test.each([
		['text', delta('Hel')],
		['reasoning', { type: 'response.reasoning_text.delta', output_index: 0, delta: 'Hm' }],
		[
			'a call',
			{ type: 'response.output_item.added', output_index: 0, item: { type: 'function_call', call_id: 'c', name: 'x' } }
		]
	])('never once %s was shown', async (_name, frame) => {
		const { server, model } = await start([script.reset(frame)]);
		expect(types(await ask(model))).not.toContain('retrying');
		server.assertDone();
	});

	test('waits as long as Retry-After or availability.retry_after say', async () => {
		const { model } = await start([
			script.status(429, '', { 'retry-after': '0' }),
			script.status(429, '', { 'retry-after': new Date(Date.now() - 5_000).toUTCString() }),
			script.status(503, { error: { code: 503, message: 'busy', availability: { retry_after: 0.02 } } }),
			script.text('Hi')
		]);
		const events = await ask(model);
		expect(events.slice(0, 3)).toMatchObject([{ delayMs: 0 }, { delayMs: 0 }, { delayMs: 20 }]);
		expect(events.at(-1)?.type).toBe('completed');
	});

	test('does not wait longer than half a minute: it fails at once and says how long it would have been', async () => {
		const { server, model } = await start([script.status(429, '', { 'retry-after': '90' })]);
		expect(failureOf(await ask(model)).error).toMatchObject({ code: 'rate_limited', retryAfterMs: 90_000 });
		server.assertDone();
	});
});

describe('stopping', () => {
	const expectStopped = async (server: script.ModelServer, rest: AsyncIterator<ModelEvent>) => {
		const events: ModelEvent[] = [];
		for (let next = await rest.next(); !next.done; next = await rest.next()) events.push(next.value);
		expect(failureOf(events).error.code).toBe('aborted');
		await server.requests[0]?.closed;
		expect(server.requests[0]?.isAborted).toBe(true);
		server.assertDone();
	};
	const stopAt = async (reply: script.Reply, isWanted?: (event: ModelEvent) => boolean, before?: () => void) => {
		const { server, model } = await start([reply]);
		const controller = new AbortController();
		const stream = model.stream(QUESTION, controller.signal)[Symbol.asyncIterator]();
		if (isWanted) await readUntil(stream, isWanted);
		const next = stream.next();
		await server.received(1);
		before?.();
		controller.abort();
		const rest: ModelEvent[] = [];
		const first = await next;
		if (!first.done) rest.push(first.value);
		await expectStopped(server, chain(rest, stream));
	};
	function chain(events: ModelEvent[], stream: AsyncIterator<ModelEvent>): AsyncIterator<ModelEvent> {
		return {
			next: async () => (events.length > 0 ? { value: events.shift() as ModelEvent, done: false } : stream.next())
		};
	}

	test('before the headers ends as aborted and closes the connection', () => stopAt(script.hang()));

	test('between chunks ends as aborted and closes the connection', () =>
		stopAt(script.hang(delta('a')), (event) => event.type === 'text.delta'));

	test('still works after a garbage collection', async () => {
		setFlagsFromString('--expose-gc');
		const collect = runInNewContext('gc') as () => void;
		await stopAt(script.hang(), undefined, collect);
		await stopAt(script.hang(delta('a')), (event) => event.type === 'text.delta', collect);
	});

	test('during the wait before another request ends as aborted, and nothing more is sent', async () => {
		const { server, model } = await start([script.status(503, '', { 'retry-after': '20' })]);
		const controller = new AbortController();
		const events: ModelEvent[] = [];
		for await (const event of model.stream(QUESTION, controller.signal)) {
			events.push(event);
			if (event.type === 'retrying') queueMicrotask(() => controller.abort());
		}
		expect(failureOf(events).error.code).toBe('aborted');
		server.assertDone();
	});

	test('before the start sends nothing', async () => {
		const { server, model } = await start([]);
		expect(types(await ask(model, {}, AbortSignal.abort()))).toEqual(['failed']);
		server.assertDone();
	});

	test('keeps the items that had arrived', async () => {
		const { model } = await start([script.hang(itemDone)]);
		const controller = new AbortController();
		const events: ModelEvent[] = [];
		for await (const event of model.stream(QUESTION, controller.signal)) {
			events.push(event);
			controller.abort();
		}
		expect(failureOf(events)).toMatchObject({ error: { code: 'aborted' }, items: [item] });
	});

	test('a caller that stops reading closes the connection too', async () => {
		const { server, model } = await start([script.hang(delta('a'))]);
		for await (const _event of model.stream(QUESTION, new AbortController().signal)) break;
		await server.requests[0]?.closed;
		expect(server.requests[0]?.isAborted).toBe(true);
	});

	test('ends promptly also with a fetch that does not heed the signal', async () => {
		const deaf = () => new Promise<Response>(() => undefined);
		const { model } = await start([], { fetch: deaf });
		const controller = new AbortController();
		const events = ask(model, {}, controller.signal);
		controller.abort();
		expect(failureOf(await events).error.code).toBe('aborted');
	});
});

describe('the key', () => {
	test('does not follow a redirect', async () => {
		const { server: other } = await start([]);
		const { server, model } = await start([script.status(307, '', { location: `${other.url}/responses` })]);
		const { error } = failureOf(await ask(model));
		expect(error).toMatchObject({ code: 'provider_error', status: 307 });
		expect(error.message).toContain(other.url);
		expect(other.requests).toHaveLength(0);
		server.assertDone();
	});

	test('is taken out of what a server says', async () => {
		const quote = { error: { code: 'invalid_api_key', message: `Incorrect API key provided: ${KEY}` } };
		const { model } = await start([
			script.status(401, quote),
			script.status(503, `key ${KEY}`),
			script.status(400, KEY)
		]);
		expect(failureOf(await ask(model)).error.message).toContain('[key]');
		expect(JSON.stringify(await ask(model))).not.toContain(KEY);
	});
});

describe('the scripted server', () => {
	test('answers 500 to a request too many, and says so', async () => {
		const { server, model } = await start([script.text('Hi')], { maxAttempts: 1 });
		await ask(model);
		expect(failureOf(await ask(model)).error.status).toBe(500);
		expect(() => server.assertDone()).toThrow(/Request 2 has no reply/);
	});

	test('says when a reply was not asked for', async () => {
		const { server } = await start([script.text('Hi')]);
		expect(server.remaining).toBe(1);
		expect(() => server.assertDone()).toThrow(/1 repl/);
	});

	test('can choose its reply by what was asked, and play mixed turns', async () => {
		const { model } = await start([
			script.dynamic((body) => script.text(`You sent ${JSON.stringify(body.session_id)}`)),
			[script.reasoning('Hm'), script.text('Look.'), ...script.calls([{ name: 'a' }, { name: 'b', args: { x: 1 } }])],
			script.truncated('Hel', 'lo')
		]);
		expect(textOf(await ask(model))).toBe('You sent "conv_1"');
		const turn = await ask(model);
		expect(turn.filter((event) => event.type === 'call.done')).toMatchObject([
			{ callId: 'call_1', name: 'a', arguments: '{}' },
			{ callId: 'call_2', name: 'b', arguments: '{"x":1}' }
		]);
		const cut = await ask(model);
		expect(textOf(cut)).toBe('Hello');
		expect(failureOf(cut).error.code).toBe('stream_truncated');
	});
});

describe('F11: asking OpenRouter’s providers to cache the prompt', () => {
	/** The scripted server, addressed as OpenRouter. */
	const openrouter = async (id: string, replies: script.Reply[], models?: Record<string, unknown>[]) => {
		const server = await script.startModelServer(replies, models ? { models } : {});
		open.push(server);
		const send: typeof fetch = (input, init) =>
			fetch(
				String(input instanceof Request ? input.url : input).replace('https://openrouter.ai/api/v1', server.url),
				init
			);
		return { server, options: { id, baseUrl: 'https://openrouter.ai/api/v1', fetch: send } };
	};
	const SEEN = { input_tokens: 1000, input_tokens_details: { cached_tokens: 800 }, output_tokens: 5 };
	const usageOf = (events: ModelEvent[]) => {
		const last = events.at(-1);
		return last?.type === 'completed' ? last.usage : null;
	};

	test.each([
		['anthropic/claude-sonnet-5', { cache_control: { type: 'ephemeral' } }],
		['~anthropic/claude-latest', { cache_control: { type: 'ephemeral' } }],
		['qwen/qwen4-max', { cache_control: { type: 'ephemeral' } }],
		['openai/gpt-6', { prompt_cache_key: 'conv_1' }],
		['google/gemini-4', {}],
		['anthropic-like/model', {}]
	])('%s is asked with %j', async (id, fields) => {
		const { server, options } = await openrouter(id, [script.text('Hi.')]);
		await ask(createResponsesModel(options));
		const { cache_control, prompt_cache_key } = server.requests[0]!.body;
		expect(JSON.parse(JSON.stringify({ cache_control, prompt_cache_key }))).toEqual(fields);
	});

	test('models that only cache when asked have two marks: one after tools and instructions, which chats share, and one that moves with the chat', async () => {
		const { server, options } = await openrouter('anthropic/claude-sonnet-5', [
			script.text('Hi.'),
			script.text('Title')
		]);
		await ask(createResponsesModel(options), { instructions: 'Be brief.' });
		await ask(createResponsesModel(options), { instructions: 'Name this chat.', sessionId: '' });
		const [chat, once] = server.requests.map(({ body }) => body);
		const text = { type: 'input_text', text: 'Be brief.', prompt_cache_breakpoint: { mode: 'explicit' } };
		expect((chat!.input as unknown[])[0]).toEqual({ type: 'message', role: 'system', content: [text] });
		expect(chat).not.toHaveProperty('instructions');
		expect(chat!.cache_control).toEqual({ type: 'ephemeral' });
		// No later request starts the same way, so caching it saves nothing.
		expect(once).toMatchObject({ instructions: 'Name this chat.' });
		expect(JSON.stringify(once)).not.toContain('cache');
	});

	test('another server gets no such field, and a caller’s own key stays', async () => {
		const { server, model } = await start([script.text('Hi.')], { id: 'anthropic/claude-sonnet-5' });
		await ask(model);
		expect(Object.keys(server.requests[0]!.body)).not.toContain('cache_control');
		const { server: other, options } = await openrouter('openai/gpt-6', [script.text('Hi.')]);
		await ask(createResponsesModel(options), { options: { prompt_cache_key: 'mine' } });
		expect(other.requests[0]!.body.prompt_cache_key).toBe('mine');
	});

	test('a server that refuses the field is asked once more without it, and never again with it, by any model', async () => {
		const refusal = script.status(400, { error: { code: 400, message: 'Unknown parameter: cache_control' } });
		const { server, options } = await openrouter('anthropic/claude-sonnet-5', [
			refusal,
			script.text('Hi.'),
			script.text('Again.'),
			script.text('Another.')
		]);
		const facts = nothingKnown();
		const model = createResponsesModel({ ...options, server: facts });
		expect(types(await ask(model))).toEqual(['text.delta', 'completed']);
		await ask(model);
		await ask(createResponsesModel({ ...options, id: 'openai/gpt-6', server: facts }));
		expect(server.requests.map(({ body }) => /cache/.test(JSON.stringify(body)))).toEqual([true, false, false, false]);
		expect(server.requests[1]!.body.instructions).toBe('Be brief.');
		server.assertDone();
	});

	test('any other error is shown unchanged, after one request', async () => {
		const refusal = script.status(400, { error: { code: 400, message: 'The prompt is not allowed' } });
		const { server, options } = await openrouter('anthropic/claude-sonnet-5', [refusal]);
		expect(failureOf(await ask(createResponsesModel(options))).error.message).toContain('The prompt is not allowed');
		server.assertDone();
	});

	test('what the cache saved is counted by the list of prices; a cache that never hits saves nothing', async () => {
		const prices = { prompt: '0.000003', completion: '0.000015', input_cache_read: '0.0000003' };
		const none = { ...SEEN, input_tokens_details: { cached_tokens: 0 } };
		const { options } = await openrouter(
			'anthropic/claude-sonnet-5',
			[SEEN, none].map((usage) => script.response([script.text('Hi.')], { usage })),
			[{ id: 'anthropic/claude-sonnet-5', pricing: prices }]
		);
		const model = createResponsesModel(options);
		await model.contextTokens?.();
		expect(usageOf(await ask(model))).toMatchObject({ cachedTokens: 800, saved: expect.closeTo(0.00216, 9) as number });
		expect(usageOf(await ask(model))?.saved).toBe(undefined);
	});

	test.each([[undefined], ['-1'], ['0.000004'], ['free']])(
		'a cached price of %s saves nothing that is known',
		async (price) => {
			const { options } = await openrouter(
				'openai/gpt-6',
				[script.response([script.text('Hi.')], { usage: SEEN })],
				[{ id: 'openai/gpt-6', pricing: { prompt: '0.000003', completion: '0.00001', input_cache_read: price } }]
			);
			const model = createResponsesModel(options);
			await model.contextTokens?.();
			expect(usageOf(await ask(model))).toEqual({ inputTokens: 1000, outputTokens: 5, cachedTokens: 800 });
		}
	);
});
