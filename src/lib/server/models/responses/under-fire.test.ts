import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import {
	type Fault,
	FAULTS,
	type Outcome,
	PATIENCE_MS,
	RECOVERED,
	repliesOf,
	STALL_MS,
	strictReply
} from '../../../../../tests/support/fault-server.ts';
import { says } from '../../../../../tests/support/faults/fault.ts';
import { responseFrames } from '../../../../../tests/support/model-frames.ts';
import {
	call,
	gate,
	hang,
	type ModelServer,
	raw,
	startModelServer,
	text
} from '../../../../../tests/support/model-server.ts';
import type { Model, ModelEvent, ModelRequest } from '../../agent/model.ts';
import { createResponsesModel, type ResponsesModelOptions } from './responses.ts';

const QUESTION: ModelRequest = {
	instructions: 'Be brief.',
	input: [{ type: 'message', role: 'user', content: 'Hello?' }],
	tools: [],
	toolChoice: 'auto',
	sessionId: 'conv_1'
};

const CLIENT = fileURLToPath(new URL('../../../../../tests/support/abort-client.ts', import.meta.url));
const ARGUMENTS = '{"skill":"demo","script":"say.sh"}';
/** Bytes. It shares no factor with frame lengths, so cuts hit every kind of position. */
const CUT_STEP = 7;

const frameText = (frame: object) => `data: ${JSON.stringify(frame)}\n\n`;

let server: ModelServer;
afterEach(() => server.close());

async function ask(model: Model, onEvent: (event: ModelEvent) => void = () => undefined): Promise<ModelEvent[]> {
	const events: ModelEvent[] = [];
	for await (const event of model.stream(QUESTION, new AbortController().signal)) {
		events.push(event);
		onEvent(event);
	}
	return events;
}

/** What the user gets from these events, as an outcome of the table. */
function outcomeOf(events: ModelEvent[], host: string): Outcome {
	const last = events.at(-1);
	if (last?.type !== 'completed' && last?.type !== 'failed') throw new Error(`It ended with ${JSON.stringify(last)}`);
	const outcome: Outcome = { text: '', error: null };
	for (const event of events) {
		if (event.type === 'text.delta') outcome.text += event.delta;
		if (event.type === 'call.done') {
			outcome.calls = [...(outcome.calls ?? []), { name: event.name, arguments: event.arguments }];
		}
	}
	if (last.type === 'failed') outcome.error = { ...last.error, message: last.error.message.replaceAll(host, '{host}') };
	else if (last.incompleteReason) outcome.incompleteReason = last.incompleteReason;
	return outcome;
}

test('the faults have names of their own, and there are more than 30', () => {
	server = { close: async () => undefined } as ModelServer;
	expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
	expect(FAULTS.length).toBeGreaterThan(30);
});

/** Runs into a fault, then asks again. */
async function expectOutcome(fault: Fault, options: Partial<ResponsesModelOptions> = {}): Promise<void> {
	const seen = gate();
	const replies = repliesOf(fault, seen);
	server = await startModelServer([...replies, strictReply()]);
	const model = createResponsesModel({
		id: 'test/model',
		baseUrl: server.url,
		backoffMs: 1,
		...(fault.isStall && fault.outcome.error !== null ? { idleTimeoutMs: STALL_MS } : {}),
		...options
	});
	let shown = '';
	const events = await ask(model, (event) => {
		if (event.type === 'text.delta') shown += event.delta;
		if (event.type === 'call.delta' || (shown !== '' && shown === fault.outcome.text)) seen.open();
	});
	const { tools: _tools, calls = [], ...expected } = fault.outcome;
	expect(outcomeOf(events, new URL(server.url).host)).toEqual({ ...expected, ...(calls.length > 0 ? { calls } : {}) });
	const retries = events.filter(({ type }) => type === 'retrying').length;
	expect(retries).toBe(replies.length - 1);
	expect(events.filter(({ type }) => type === 'completed' || type === 'failed')).toHaveLength(1);

	if (fault.isStall) {
		await server.requests[0]?.closed;
		expect(server.requests[0]?.isAborted).toBe(true);
	}
	expect(outcomeOf(await ask(model), '')).toEqual({ text: RECOVERED, error: null });
	server.assertDone();
}

/** A `fetch` whose bodies arrive byte by byte, since a client may otherwise read separate writes together. */
const fetchByByte: typeof fetch = async (input, init) => {
	const { body, status, headers } = await fetch(input, init);
	const bytes = new TransformStream<Uint8Array, Uint8Array>({
		transform(chunk, controller) {
			for (let at = 0; at < chunk.length; at++) controller.enqueue(chunk.subarray(at, at + 1));
		}
	});
	return new Response(body?.pipeThrough(bytes) ?? null, { status, headers });
};

describe('F11: the model client under fire', () => {
	test.each(FAULTS)(
		'$name: exactly this is seen, a silent connection is closed, the next request works',
		{ timeout: PATIENCE_MS },
		(fault) => expectOutcome(fault)
	);

	const small = FAULTS.filter(({ isLarge, isStall }) => !isLarge && !isStall);
	test.each(small)('$name: the same when every byte arrives alone', (fault) =>
		expectOutcome(fault, { fetch: fetchByByte })
	);
});

test('F11: a stream that is cut at any byte shows a beginning of its text and runs no half call', async () => {
	const replies = [text('Grüße, 東京 🌤!'), call('use_skill', ARGUMENTS, 'call_1')];
	const whole = Buffer.from([...responseFrames(replies, (kind) => `${kind}_1`, {})].map(frameText).join(''));
	const cuts = Array.from({ length: Math.floor(whole.length / CUT_STEP) }, (_, index) => index * CUT_STEP);
	server = await startModelServer(cuts.map((at) => raw(whole.subarray(0, at))));
	const model = createResponsesModel({ id: 'test/model', baseUrl: server.url, maxAttempts: 1 });
	for (const at of cuts) {
		const outcome = outcomeOf(await ask(model), '');
		expect(outcome.error?.code, `cut at ${at}`).toBe('stream_truncated');
		expect('Grüße, 東京 🌤!'.startsWith(outcome.text), `cut at ${at} shows ${outcome.text}`).toBe(true);
		expect(outcome.calls ?? [{ name: 'use_skill', arguments: ARGUMENTS }]).toEqual([
			{ name: 'use_skill', arguments: ARGUMENTS }
		]);
	}
	server.assertDone();
});

describe('an abort after garbage collections, in a process of its own', () => {
	test.each([
		['before the headers', hang(), false],
		['in the middle of the text', hang(...says('So ', 'far').slice(0, 3)), true]
	])('%s still closes the request to the model', async (_name, reply, isShown) => {
		server = await startModelServer([reply]);
		const child = spawn(process.execPath, ['--expose-gc', CLIENT, server.url], { stdio: ['pipe', 'pipe', 'inherit'] });
		const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
		const request = await server.received(1);
		if (isShown) expect((await lines.next()).value).toBe('shown');
		child.stdin.end('abort\n');
		expect(JSON.parse(String((await lines.next()).value))).toMatchObject({
			type: 'failed',
			error: { code: 'aborted', message: 'The reply was stopped. Send a message to continue.' }
		});
		await request.closed;
		expect(request.isAborted).toBe(true);
		expect(await once(child, 'exit')).toEqual([0, null]);
	});
});
