import { expect, test, vi } from 'vitest';
import { gate } from '../../../../tests/support/gate.ts';
import type { RunEvent } from '../../shared/events.ts';
import { parseArguments, RepeatGuard, runCalls } from './calls.ts';
import type { PendingCall, Toolbox, ToolResult } from './tool.ts';

const ok: ToolResult = { output: 'ok', isError: false };

function toolbox(call: Toolbox['call'], lane: Toolbox['lane'] = () => null): Toolbox {
	return { definitions: () => [], kind: () => 'own', lane, approval: async () => null, call };
}
function callOf(callId: string, args: unknown = { id: callId }): PendingCall {
	return { callId, name: 'tool', arguments: JSON.stringify(args) };
}
async function run(calls: PendingCall[], box: Toolbox, signal = new AbortController().signal, timeoutMs = 60_000) {
	const results = new Map<string, ToolResult>();
	const events: RunEvent[] = [];
	const options = { signal, repeats: new RepeatGuard(), results, timeoutMs, spend: () => undefined };
	for await (const event of runCalls(calls, box, options)) events.push(event);
	return { results, events };
}

test.each([
	['that are missing', '', {}],
	['that are blank', ' \n', {}],
	['that are an object', '{"a":[1]}', { a: [1] }],
	['that are a list', '[1]', 'The arguments must be a JSON object.'],
	['that are nothing', 'null', 'The arguments must be a JSON object.'],
	['that are a number', '7', 'The arguments must be a JSON object.'],
	['that are a text', '"a"', 'The arguments must be a JSON object.'],
	['that break off', '{"a"', expect.stringMatching(/^The arguments aren’t valid JSON: /)],
	[
		'that nobody can write again',
		`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
		'The arguments are nested more than 100 levels deep.'
	]
])('arguments %s are read as an object, or as a sentence for the model', (_what, text, expected) => {
	expect(parseArguments(text)).toEqual(expected);
});

test('a call whose arguments cannot be read is not run: the model reads what is wrong with them', async () => {
	let begun = 0;
	const box = toolbox(
		async () => {
			begun += 1;
			return ok;
		},
		(_name, args) => {
			expect(args).toBeTypeOf('object');
			return null;
		}
	);
	const { results, events } = await run([{ callId: 'a', name: 'tool', arguments: '[1]' }], box);
	expect(begun).toBe(0);
	const result = results.get('a');
	expect(JSON.parse(result?.output ?? '')).toMatchObject({ ok: false, error: 'InvalidArgs' });
	expect(events).toEqual([
		{
			type: 'TOOL_CALL_RESULT',
			messageId: 'result_a',
			toolCallId: 'a',
			role: 'tool',
			content: result?.output,
			metadata: { isError: true }
		}
	]);
});

test('a call of a tool that is not there is not run: the model reads which there are', async () => {
	const box = toolbox(async () => {
		throw new Error('it was run');
	});
	box.kind = () => null;
	const definition = (name: string) => ({ type: 'function' as const, name, description: '', parameters: {} });
	box.definitions = () => [definition('read'), definition('write')];
	const { results } = await run([callOf('a')], box);
	expect(JSON.parse(results.get('a')?.output ?? '')).toMatchObject({
		error: 'UnknownTool',
		message: 'There is no tool “tool”.',
		hint: 'Available tools: read, write'
	});
});

test('a call that is made a third time with the same arguments is told so; one with others is not', async () => {
	const repeats = new RepeatGuard();
	const ids = ['a', 'b', 'other', 'c', 'd'];
	const outputs: string[] = [];
	const results = new Map<string, ToolResult>();
	const options = { signal: new AbortController().signal, repeats, results, timeoutMs: 60_000, spend: () => undefined };
	for (const id of ids) {
		const call = callOf(id, { path: id === 'other' ? 'y' : 'x' });
		for await (const event of runCalls(
			[call],
			toolbox(async () => ok),
			options
		)) {
			if (event.type === 'TOOL_CALL_RESULT') outputs.push(event.content);
		}
	}
	expect(outputs.slice(0, 3)).toEqual(['ok', 'ok', 'ok']);
	expect(outputs.slice(3)).toEqual([
		expect.stringMatching(/^ok\n\nThis exact call was made 3 times, /),
		expect.stringMatching(/^ok\n\nThis exact call was made 4 times, /)
	]);
	expect(results.get('c')).toEqual({ output: outputs[3], isError: false });
	expect(repeats.most).toBe(4);
});

test('a tool that has answered is told nothing of a later stop', async () => {
	const controller = new AbortController();
	let told: AbortSignal | undefined;
	const box = toolbox(async (_name, _args, { signal }) => {
		told = signal;
		return ok;
	});
	await run([callOf('a')], box, controller.signal);
	controller.abort();
	expect(told?.aborted).toBe(false);
});

test('calls run beside each other: one that waits for another ends', async () => {
	const second = gate();
	const box = toolbox(async (_name, args) => {
		if (args.id === 'a') await second.opened;
		else second.open();
		return ok;
	});
	const { events } = await run([callOf('a'), callOf('b')], box);
	expect(events.map((event) => 'toolCallId' in event && event.toolCallId)).toEqual(['b', 'a']);
});

test('calls of one lane run one after the other, in order, also when one fails', async () => {
	let running = 0;
	const order: unknown[] = [];
	const box = toolbox(
		async (_name, args) => {
			expect((running += 1)).toBe(1);
			await new Promise((resolve) => setImmediate(resolve));
			order.push(args.id);
			running -= 1;
			if (args.id === 'a') throw new Error('boom');
			return ok;
		},
		() => 'one'
	);
	const { results } = await run([callOf('a'), callOf('b'), callOf('c')], box);
	expect(order).toEqual(['a', 'b', 'c']);
	expect(results.get('a')?.isError).toBe(true);
	expect(JSON.parse(results.get('a')?.output ?? '')).toMatchObject({
		error: 'ExecutionFailed',
		message: 'Error: boom'
	});
	expect(results.get('c')).toEqual(ok);
});

test('F15: what a tool tells while it works comes before its result, at once', async () => {
	const held = gate();
	const box = toolbox(async (_name, _args, { emit, toolCallId }) => {
		emit({ type: 'CUSTOM', name: 'skill.output', value: { toolCallId, stream: 'stdout', text: 'live' } });
		await held.opened;
		return ok;
	});
	const events = runCalls([callOf('a')], box, {
		signal: new AbortController().signal,
		repeats: new RepeatGuard(),
		results: new Map(),
		timeoutMs: 60_000,
		spend: () => undefined
	});
	expect((await events.next()).value).toMatchObject({ name: 'skill.output' });
	held.open();
	expect((await events.next()).value).toMatchObject({ type: 'TOOL_CALL_RESULT', content: 'ok' });
	expect((await events.next()).done).toBe(true);
});

test('after a stop, calls that had not begun are not begun; each still has its one result', async () => {
	const controller = new AbortController();
	let begun = 0;
	const box = toolbox(
		async () => {
			begun += 1;
			controller.abort();
			return ok;
		},
		() => 'one'
	);
	const { results, events } = await run([callOf('a'), callOf('b')], box, controller.signal);
	expect(begun).toBe(1);
	expect(events).toHaveLength(2);
	expect(results.get('b')?.output).toContain('Cancelled');
});

test('of many calls at once eight are at work, and the others as soon as one of them has ended', async () => {
	const all = gate();
	const eight = gate();
	let atWork = 0;
	let most = 0;
	const box = toolbox(async () => {
		atWork += 1;
		most = Math.max(most, atWork);
		if (atWork === 8) eight.open();
		await all.opened;
		atWork -= 1;
		return ok;
	});
	const running = run(
		Array.from({ length: 20 }, (_, index) => callOf(`c${index}`)),
		box
	);
	await eight.opened;
	await new Promise((resolve) => setImmediate(resolve));
	expect(most).toBe(8);
	all.open();
	const { results } = await running;
	expect(results.size).toBe(20);
	expect(most).toBe(8);
});

test('a tool that never answers is told to stop, and is a failure that the model reads; the others go on', async () => {
	let isTold = false;
	const box = toolbox(async (_name, args, { signal }) => {
		if (args.id === 'b') return ok;
		signal.addEventListener('abort', () => (isTold = true));
		return new Promise<ToolResult>(() => undefined);
	});
	const { results } = await run([callOf('a'), callOf('b')], box, undefined, 20);
	expect(JSON.parse(results.get('a')?.output ?? '')).toMatchObject({ ok: false, error: 'ExecutionTimeout' });
	expect(results.get('b')).toEqual(ok);
	expect(isTold).toBe(true);
});

test('after a stop, a tool that does not stop is given up; one that does has its own last word', async () => {
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
	try {
		const controller = new AbortController();
		const box = toolbox((_name, args, { signal }) => {
			if (args.id === 'deaf') return new Promise<ToolResult>(() => undefined);
			return new Promise((resolve) => {
				signal.addEventListener('abort', () => resolve({ output: 'I stopped.', isError: true }));
			});
		});
		const running = run([callOf('deaf'), callOf('polite')], box, controller.signal);
		controller.abort();
		await vi.advanceTimersByTimeAsync(0);
		// The call that hasn't stopped has two timers: its time limit and its grace period.
		expect(vi.getTimerCount()).toBe(2);
		await vi.advanceTimersByTimeAsync(10_000);
		const { results } = await running;
		expect(JSON.parse(results.get('deaf')?.output ?? '')).toMatchObject({ ok: false, error: 'Cancelled' });
		expect(results.get('polite')?.output).toBe('I stopped.');
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});

test('E36: while a person is asked, the time of a call stands still; what the tool takes itself counts on', async () => {
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
	try {
		const [first, second] = [gate(), gate()];
		const box = toolbox(async (_name, _args, { untimed }) => {
			// Two at once: the clock goes on after both.
			await Promise.all([untimed(() => first.opened), untimed(() => second.opened)]);
			return new Promise<ToolResult>(() => undefined);
		});
		const running = run([callOf('a')], box, undefined, 1_000);
		let isOver = false;
		void running.then(() => (isOver = true));
		await vi.advanceTimersByTimeAsync(60_000);
		first.open();
		await vi.advanceTimersByTimeAsync(60_000);
		second.open();
		await vi.advanceTimersByTimeAsync(999);
		expect(isOver).toBe(false);
		await vi.advanceTimersByTimeAsync(1);
		const { results } = await running;
		expect(results.get('a')?.output).toContain('ExecutionTimeout');
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});

test('E36: a question that is still open when the answer is stopped leaves no timer behind', async () => {
	vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
	try {
		const controller = new AbortController();
		const box = toolbox(async (_name, _args, { untimed, signal }) => {
			await untimed(() => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())));
			return ok;
		});
		const running = run([callOf('a')], box, controller.signal, 1_000);
		await vi.advanceTimersByTimeAsync(60_000);
		controller.abort();
		expect((await running).results.get('a')).toEqual(ok);
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});
