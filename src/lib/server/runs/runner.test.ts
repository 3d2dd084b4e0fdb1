import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
	call,
	calls,
	cited,
	endless,
	gate,
	hang,
	raw,
	reasoning,
	response,
	status,
	text,
	type Reply
} from '../../../../tests/support/model-server.ts';
import { isRunning } from '../../../../tests/support/processes.ts';
import { createRunRig, folded, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { AppError } from '../../shared/errors.ts';
import { isTerminal, type RunEvent } from '../../shared/events.ts';
import { emptyAnswer, type Message, type ToolPart } from '../../shared/message.ts';
import type { Store } from '../store/store.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

let rig: RunRig;
afterEach(() => rig.close());

async function start(script: Reply[], options: RigOptions = {}): Promise<RunRig> {
	rig = await createRunRig(script, options);
	return rig;
}

const NOW = '2026-01-01T12:00:00.000Z';
const use = (script: string, ...args: string[]) => call('use_skill', { skill: 'demo', script, args });
const textOf = (message: Message) => message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const toolsOf = (message: Message) => message.parts.filter((part): part is ToolPart => part.type === 'tool');
const results = (events: RunEvent[]) =>
	events.flatMap((event) => (event.type === 'TOOL_CALL_RESULT' ? [event.content] : []));
const sentInput = (request: number) => rig.server.requests[request - 1]?.body.input as Record<string, unknown>[];

describe('a run', () => {
	test('loads a skill, runs its script, answers; its events are numbered from 1, end once, and fold into what is stored', async () => {
		await start([
			[reasoning('hm'), call('load_skill', { skill: 'demo' })],
			use('say.sh', 'hi'),
			text('It said ', 'hi.')
		]);
		const { runId, numbered, list } = await rig.run('say hi');
		expect(numbered.map(({ seq }) => seq)).toEqual(numbered.map((_, index) => index + 1));
		expect(list.filter(isTerminal)).toEqual([
			{ type: 'RUN_FINISHED', threadId: 'c', runId, outcome: { type: 'success' } }
		]);
		expect(isTerminal(list.at(-1) as RunEvent)).toBe(true);

		const answer = await rig.answer(runId);
		expect(answer).toEqual(folded(answer, list));
		expect(answer).toMatchObject({ status: 'complete', error: null });
		expect(textOf(answer)).toBe('It said hi.');
		const [loaded, used] = toolsOf(answer);
		expect(loaded).toMatchObject({ name: 'load_skill', status: 'done', loaded: { skill: 'demo' } });
		expect(used).toMatchObject({
			status: 'done',
			execution: {
				script: 'scripts/say.sh',
				exitCode: 0,
				output: [{ stream: 'stdout', text: 'said: hi\n' }],
				files: [{ path: 'made-hi.txt', bytes: 5 }]
			}
		});
		expect(await rig.store.runs.get(runId)).toMatchObject({ state: 'success', lastSeq: numbered.length });
		expect(sentInput(3).map(({ type }) => type)).toEqual([
			'message',
			'reasoning',
			'function_call',
			'function_call_output',
			'function_call',
			'function_call_output'
		]);
		rig.server.assertDone();
	});

	test('F15: a script’s output comes while it runs, colours kept, capped like its result', async () => {
		const skills = {
			'loud/SKILL.md': '---\nname: loud\ndescription: Is loud.\n---\nRun it.',
			'loud/scripts/red.sh':
				'printf "\\033[31mred\\033[0m\\n"; while [ ! -e go ]; do sleep 0.02; done; yes | head -c 200000\n'
		};
		await start([call('use_skill', { skill: 'loud', script: 'red.sh' }), text('Done.')], { skills });
		const { runId } = await rig.ask('go');
		const batches = (await rig.runner.follow(runId, 0, new AbortController().signal))!;
		let shown = '';
		for await (const batch of batches) {
			const list = batch.map(({ data }) => JSON.parse(data) as RunEvent);
			for (const event of list) {
				if (event.type === 'CUSTOM' && event.name === 'skill.output') shown += event.value.text;
			}
			// It continues only after this was seen.
			if (shown.includes('\u001b[31mred\u001b[0m')) await writeFile(join(rig.workspaces.path('c'), 'go'), '');
		}
		expect(shown.length).toBeGreaterThan(10_000);
		expect(shown.length).toBeLessThan(30_000);
		const [step] = toolsOf(await rig.answer(runId));
		expect(step?.execution).toMatchObject({ exitCode: 0, truncated: true });
		expect(step?.execution?.output.map(({ text: words }) => words).join('')).toBe(shown);
	});

	test('F14: live equals replayed, from every cut point', async () => {
		await start([[text('Let me see.'), use('say.sh', 'a')], text('one ', 'two ', 'three')]);
		const { runId, numbered } = await rig.run('go');
		for (let cut = 0; cut <= numbered.length; cut += 1) {
			expect(await rig.events(runId, cut)).toEqual(numbered.slice(cut));
		}
	});

	test('a follower that comes in the middle gets what was, then what comes, without a gap', async () => {
		const held = gate();
		await start([text('first ', held, 'second')]);
		const { runId } = await rig.ask('go');
		await eventually(() => expect(textOf(rig.runner.live(runId)?.message as Message)).toBe('first '));
		const seen = rig.runner.live(runId)?.seq ?? 0;
		const whole = rig.events(runId);
		const rest = rig.events(runId, seen);
		held.open();
		expect((await whole).slice(seen)).toEqual(await rest);
		expect(textOf(await rig.answer(runId))).toBe('first second');
	});

	test('a run that has ended is read again whole, page by page, from every page’s edge and from in between', async () => {
		await start([text('short')]);
		await rig.run('go');
		const started = await rig.database.runs.start({
			run: { id: 'long', model: 'm', bootId: 'before', task: 'long' },
			conversation: { id: 'c', title: 'T' },
			place: {
				kind: 'question',
				question: { ...emptyAnswer('long-q', '', NOW), role: 'user', status: 'complete' },
				answer: emptyAnswer('long-a', 'long', NOW)
			},
			now: NOW
		});
		expect(started.outcome).toBe('started');
		const stored = Array.from({ length: 1700 }, (_, index) => {
			const filler = index % 400 === 0 ? 'x'.repeat(100_000) : 'x';
			return { seq: index + 1, data: JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: filler }) };
		});
		await rig.database.runs.finish('long', { state: 'success', finishedAt: NOW, events: stored });
		for (const after of [0, 1, 399, 400, 401, 499, 500, 501, 999, 1000, 1001, 1699, 1700]) {
			const batches = await rig.runner.follow('long', after, new AbortController().signal);
			const read = [];
			for await (const batch of batches ?? []) read.push(...batch);
			expect(read).toEqual(stored.slice(after));
		}
	});

	test('the next turn knows the conversation: items verbatim, skills still loaded', async () => {
		const skills = {
			'sums/SKILL.md': '---\nname: sums\ndescription: Adds.\n---\nCall add.',
			'sums/tools.json': JSON.stringify([
				{ name: 'add', description: 'Adds.', script: 'add.js', parameters: { a: { type: 'number' } } }
			]),
			'sums/add.js': 'export default ({ a }) => a + 1;'
		};
		await start([call('load_skill', { skill: 'sums' }), text('Loaded.'), call('add', { a: 41 }), text('It is 42.')], {
			skills
		});
		await rig.run('load it');
		const { list } = await rig.run('add one to 41');
		expect(results(list)).toEqual(['42']);
		expect((rig.server.requests[2]?.body.tools as { name: string }[]).map(({ name }) => name)).toContain('add');
		expect(JSON.stringify(sentInput(3))).toContain('Loaded.');
		rig.server.assertDone();
	});

	test('B16: calls of one answer run side by side, their results in the order of the calls', async () => {
		await start([
			calls([1, 2, 3].map((n) => ({ name: 'use_skill', args: { skill: 'demo', script: 'say.sh', args: [`${n}`] } }))),
			text('ok')
		]);
		const { list } = await rig.run('three at once');
		expect(results(list)).toHaveLength(3);
		const outputs = sentInput(2).filter(({ type }) => type === 'function_call_output');
		expect(outputs.map(({ output }) => /said: \d/.exec(String(output))?.[0])).toEqual([
			'said: 1',
			'said: 2',
			'said: 3'
		]);
	});

	test.each([
		['a tool that does not exist', call('nope', {}), 'UnknownTool'],
		['arguments that are not JSON', call('use_skill', '{"skill": "de'), 'InvalidArgs'],
		['arguments that are no object', call('use_skill', '[1]'), 'InvalidArgs'],
		['a skill that does not exist', call('load_skill', { skill: 'ghost' }), 'SkillNotFound'],
		['a path out of the folder', use('../../etc/passwd'), 'ScriptNotAllowed'],
		['a script that fails', use('fail.sh'), 'ExecutionFailed']
	])('%s is a result that the model reads, and the run goes on', async (_name, output, error) => {
		await start([output, text('I see.')]);
		const { runId, list } = await rig.run('go');
		expect(results(list)).toEqual([expect.stringContaining(error)]);
		expect(sentInput(2).at(-1)).toMatchObject({ type: 'function_call_output', output: expect.stringContaining(error) });
		expect((await rig.answer(runId)).parts.at(-1)).toMatchObject({ type: 'text', text: 'I see.' });
		expect(toolsOf(await rig.answer(runId))[0]?.status).toBe('failed');
	});

	test('the same call a third time is told so, a sixth time ends the run', async () => {
		await start(Array.from({ length: 6 }, () => use('say.sh', 'again')));
		const { runId, list } = await rig.run('go');
		const told = results(list).map((content) => content.includes('This exact call was made'));
		expect(told).toEqual([false, false, true, true, true, true]);
		expect(list.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'repeated_call' });
		expect(await rig.answer(runId)).toMatchObject({ status: 'failed', error: { code: 'repeated_call' } });
		rig.server.assertDone();
	});

	test('B16: after the last allowed step the model must answer: one more request, without the choice of a tool', async () => {
		await start([use('say.sh', '1'), use('say.sh', '2'), text('Enough.')], { limits: { maxSteps: 2 } });
		const { list } = await rig.run('go');
		expect(rig.server.requests.map(({ body }) => body.tool_choice)).toEqual(['auto', 'auto', 'none']);
		expect(list.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
	});

	test('a call of the caller\u2019s own tool is handed back, and ends the run', async () => {
		await start([[call('pick_colour', { of: 'car' }, 'call_x'), use('say.sh', 'too')]]);
		const tools = [
			{ type: 'function' as const, name: 'pick_colour', description: 'Asks.', parameters: { type: 'object' } }
		];
		const { runId, list } = await rig.run('go', { tools });
		expect(list.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['call_x'] } });
		expect(results(list)).toHaveLength(1);
		expect(await rig.answer(runId)).toMatchObject({ status: 'complete' });
	});

	test('a running turn keeps the skills that it started with; the next one sees the new ones', async () => {
		const held = gate();
		await start([text(held, 'done'), text('ok')]);
		const { runId } = await rig.ask('go');
		await rig.server.received(1);
		const before = rig.skills.registry.snapshot();
		await mkdir(join(rig.root, 'skills/late'));
		await writeFile(join(rig.root, 'skills/late/SKILL.md'), '---\nname: late\ndescription: Late.\n---\n');
		await rig.skills.reload();
		expect(before.skills.map(({ name }) => name)).toEqual(['demo']);
		held.open();
		await rig.events(runId);
		await rig.run('and now?');
		expect(rig.server.requests.map(({ body }) => String(body.instructions).includes('### late'))).toEqual([
			false,
			true
		]);
	});
});

describe('a model server that is broken', () => {
	test('sources of a text are part of it, in the log and as stored; later requests have the item as it came', async () => {
		const annotation = { type: 'url_citation', url: 'https://a.example/', title: 'A', start_index: 0, end_index: 4 };
		await start([cited('One. Two.', annotation, { ...annotation, url: 'javascript:alert(1)' }), text('Next.')]);
		const { runId, list } = await rig.run('Say it');
		const answer = await rig.answer(runId);
		const citation = { url: 'https://a.example/', title: 'A', start: 0, end: 4 };
		expect(answer.parts).toMatchObject([{ type: 'text', text: 'One. Two.', citations: [citation] }]);
		expect(answer).toEqual(folded(answer, list));
		await rig.run('And?');
		expect(JSON.stringify(sentInput(2))).toContain(JSON.stringify(annotation));
		rig.server.assertDone();
	});

	test('a failure before anything was shown is tried again, and says so', async () => {
		await start([status(503), text('Now.')]);
		const { runId, list } = await rig.run('hello');
		expect(list).toContainEqual(expect.objectContaining({ type: 'CUSTOM', name: 'run.retry' }));
		expect(await rig.answer(runId)).toMatchObject({ status: 'complete', retry: null });
	});

	test('a call whose arguments were cut off is never run, and does not spoil the conversation', async () => {
		const item = { type: 'function_call', id: 'f', call_id: 'c1', name: 'use_skill', arguments: '' };
		await start([
			raw(
				{ type: 'response.output_item.added', output_index: 0, item },
				{ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'f', delta: '{"skill":"demo","scr' }
			),
			text('Fine.')
		]);
		const { runId } = await rig.run('go');
		expect(toolsOf(await rig.answer(runId))).toMatchObject([{ status: 'interrupted' }]);
		await expect(access(join(rig.workspaces.path('c'), 'made-.txt'))).rejects.toThrow();
		const next = await rig.run('again');
		expect(textOf(await rig.answer(next.runId))).toBe('Fine.');
	});
});

describe('limits of one run', () => {
	const usage = (cost: number) => ({
		...{ input_tokens: 1000, output_tokens: 200, total_tokens: 1200, cost },
		...{ input_tokens_details: { cached_tokens: 800 }, output_tokens_details: { reasoning_tokens: 50 } }
	});

	test('cost: no model is asked beyond it, what was shown stays, and the answer says why it ends', async () => {
		await start(
			[
				response([text('Step one.'), use('say.sh', '1')], { usage: usage(0.06) }),
				response([text('Step two.'), use('say.sh', '2')], { usage: usage(0.06) }),
				text('never')
			],
			{ limits: { maxCostUsd: 0.1 } }
		);
		const { runId, list } = await rig.run('go');
		expect(list.at(-1)).toMatchObject({
			type: 'RUN_FINISHED',
			outcome: { type: 'success' },
			result: { limit: 'cost' }
		});
		expect(rig.server.requests).toHaveLength(2);
		expect(await rig.answer(runId)).toMatchObject({ status: 'complete', limit: 'cost', usage: { cost: 0.12 } });
	});

	test('time: the same', async () => {
		await start([use('say.sh', '1'), text('never')], { limits: { maxDurationMs: 0 } });
		const { runId } = await rig.run('go');
		expect(await rig.answer(runId)).toMatchObject({ status: 'complete', limit: 'time' });
		expect(rig.server.requests).toHaveLength(0);
	});

	test.each([
		['comments', ': alive\n\n', ''],
		['text', { type: 'response.output_text.delta', item_id: 'm', delta: 'On and on. ' }, 'On and on. '],
		['thoughts', { type: 'response.reasoning_summary_text.delta', item_id: 'r', delta: 'Hm. ' }, ''],
		['a call', { type: 'response.function_call_arguments.delta', item_id: 'f', delta: '1' }, '']
	])('time: a model that sends %s for ever is left, and the next message works', async (_what, chunk, said) => {
		await start([endless(chunk), text('Here I am.')], { limits: { maxDurationMs: 2000 } });
		const { runId, list } = await rig.run('go');
		expect(list.at(-1)).toMatchObject({
			type: 'RUN_FINISHED',
			outcome: { type: 'success' },
			result: { limit: 'time' }
		});
		const [request] = rig.server.requests;
		await request?.closed;
		expect(request?.isAborted).toBe(true);
		const answer = await rig.answer(runId);
		expect(answer).toMatchObject({ status: 'complete', limit: 'time', error: null });
		expect(textOf(answer).startsWith(said)).toBe(true);
		expect(answer).toEqual(folded(answer, list));

		const next = await rig.run('Still there?');
		expect(textOf(await rig.answer(next.runId))).toBe('Here I am.');
		const [shown] = textOf(answer).slice(-200).split('\n');
		expect(JSON.stringify(sentInput(2))).toContain(shown);
	});

	test('time: a script that runs is ended with it', async () => {
		await start([use('wait.sh')], { limits: { maxDurationMs: 4000 } });
		const { runId } = await rig.run('go');
		expect(await rig.answer(runId)).toMatchObject({ status: 'complete', limit: 'time' });
		expect(toolsOf(await rig.answer(runId))).toMatchObject([
			{ status: 'cancelled', execution: { error: 'Cancelled', output: [{ text: 'waiting\n' }] } }
		]);
		const pid = Number(await readFile(join(rig.workspaces.path('c'), 'pid'), 'utf8'));
		expect(isRunning(pid)).toBe(false);
	});

	test.each([
		['forward', 24 * 3_600_000],
		['back', -24 * 3_600_000]
	])('time: a clock that is set %s a day ends no run, and no figure of it is wrong', async (_way, change) => {
		const held = gate();
		await start([text(held, 'Once', ' upon a time.')], { limits: { maxDurationMs: 60_000 } });
		const { runId } = await rig.ask('go');
		await rig.server.received(1);
		vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + change });
		try {
			held.open();
			await rig.events(runId);
		} finally {
			vi.useRealTimers();
		}
		const { status: end, limit, usage } = await rig.answer(runId);
		expect({ end, limit }).toEqual({ end: 'complete', limit: null });
		expect(usage?.firstTextMs).toBeGreaterThanOrEqual(0);
		expect(usage?.firstTextMs).toBeLessThan(60_000);
		const run = await rig.store.runs.get(runId);
		const tookMs = Date.parse(run?.finishedAt ?? '') - Date.parse(run?.startedAt ?? '');
		expect(tookMs).toBeGreaterThanOrEqual(0);
		expect(tookMs).toBeLessThan(60_000);
	});

	test('length: an answer that the model’s server cut off says so, and can be continued', async () => {
		await start([response([text('Once upon')], { incomplete: 'max_output_tokens' }), text(' a time.')]);
		const { runId } = await rig.run('go');
		const answer = await rig.answer(runId);
		expect(answer).toMatchObject({ status: 'complete', limit: 'length' });
		await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: answer.id, tools: [] });
		await rig.events('more');
		expect(await rig.store.messages.get('c', answer.id)).toMatchObject({ status: 'complete', limit: null });
	});

	test('F14: the time to the first text is told once there is a text, and stays that of the answer’s first', async () => {
		await start([use('say.sh', '1'), text('Once'), text(' upon a time.')]);
		const { runId, list } = await rig.run('go');
		const figures = list.flatMap((event) =>
			event.type === 'CUSTOM' && event.name === 'run.usage' ? [event.value.firstTextMs] : []
		);
		expect(figures).toEqual([undefined, expect.any(Number)]);
		const { id, usage } = await rig.answer(runId);
		expect(usage?.firstTextMs).toBe(figures[1]);
		await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: id, tools: [] });
		await rig.events('more');
		expect((await rig.store.messages.get('c', id))?.usage?.firstTextMs).toBe(figures[1]);
	});

	test('F11: the speed of a model is measured once an answer is long enough, and what continues one measures nothing', async () => {
		const [first, rest] = [gate(), gate()];
		const figures = {
			usage: { input_tokens: 1, output_tokens: 400, output_tokens_details: { reasoning_tokens: 300 } }
		};
		let now = 0;
		const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
		try {
			await start([response([text(first, 'Once', rest, ' upon')], figures), text(' a time.'), text('Yes.')]);
			const { runId } = await rig.ask('go');
			await rig.server.received(1);
			now += 300;
			first.open();
			await eventually(() => expect(rig.runner.live(runId)?.message.parts).toMatchObject([{ text: 'Once' }]));
			now += 1000;
			rest.open();
			await rig.events(runId);
			const { id, usage } = await rig.answer(runId);
			expect(usage).toMatchObject({ firstTokenMs: 300, tokensPerSecond: 100 });
			await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: id, tools: [] });
			await rig.events('more');
			await rig.run('again');
		} finally {
			clock.mockRestore();
		}
		const speed = { answers: 2, firstTokenMs: 300, tokensPerSecond: 100 };
		expect(await rig.store.runs.speeds()).toEqual(new Map([['test/model', speed]]));
	});

	test('usage is counted by step and by answer, over the runs that write it', async () => {
		await start(
			[
				response([text('One.'), use('say.sh', '1')], { usage: usage(0.06) }),
				response([text('More.')], { usage: usage(0.01) })
			],
			{ limits: { maxCostUsd: 0.05 } }
		);
		const { runId } = await rig.run('go');
		const { id } = await rig.answer(runId);
		await rig.runner.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId: id, tools: [] });
		await rig.events('more');
		expect((await rig.store.messages.get('c', id))?.usage).toEqual({
			...{ model: 'test/model', inputTokens: 2000, outputTokens: 400, cachedTokens: 1600, reasoningTokens: 100 },
			cost: 0.06 + 0.01,
			lastStep: { inputTokens: 1000, outputTokens: 200, cachedTokens: 800, reasoningTokens: 50, cost: 0.01 },
			firstTextMs: expect.any(Number) as number,
			firstTokenMs: expect.any(Number) as number
		});
		// Two runs worked on one answer; the usage of each is counted once.
		expect(await rig.store.conversations.usage('c')).toEqual({
			...{ inputTokens: 2000, outputTokens: 400, cachedTokens: 1600, reasoningTokens: 100 },
			cost: expect.closeTo(0.07) as number
		});
	});
});

describe('stopping', () => {
	test('in the middle of text: cancelled, what was shown stays, the request to the model is closed', async () => {
		await start([hang({ type: 'response.output_text.delta', item_id: 'm', delta: 'Shown' }), text('ok')]);
		const { runId } = await rig.ask('go');
		const request = await rig.server.received(1);
		await eventually(() => expect(textOf(rig.runner.live(runId)?.message as Message)).toBe('Shown'));
		expect(await rig.runner.stop(runId)).toBe(true);
		await request.closed;
		expect(request.isAborted).toBe(true);
		expect(await rig.answer(runId)).toMatchObject({ status: 'cancelled', error: null });
		expect(textOf(await rig.answer(runId))).toBe('Shown');
		expect((await rig.events(runId)).at(-1)?.event).toMatchObject({ outcome: { type: 'cancelled' } });

		await rig.run('go on');
		expect(JSON.stringify(sentInput(2))).toContain('Shown');
	});

	test('in the middle of a script: its process is ended', async () => {
		await start([use('wait.sh')]);
		const { runId } = await rig.ask('go');
		await eventually(() => {
			const [tool] = toolsOf(rig.runner.live(runId)?.message as Message);
			expect(tool?.execution?.output).toEqual([{ stream: 'stdout', text: 'waiting\n' }]);
		});
		const pid = Number(await readFile(join(rig.workspaces.path('c'), 'pid'), 'utf8'));
		expect(isRunning(pid)).toBe(true);
		await rig.runner.stop(runId);
		expect(isRunning(pid)).toBe(false);
		expect(await rig.answer(runId)).toMatchObject({ status: 'cancelled' });
		expect(toolsOf(await rig.answer(runId))[0]).toMatchObject({
			status: 'cancelled',
			execution: { error: 'Cancelled', exitCode: null }
		});
	});

	test('before the first event, twice, and after the end', async () => {
		await start([hang()]);
		const { runId } = await rig.ask('go');
		expect(await Promise.all([rig.runner.stop(runId), rig.runner.stop(runId)])).toEqual([true, true]);
		expect(await rig.runner.stop(runId)).toBe(false);
		expect((await rig.events(runId)).filter(({ event }) => isTerminal(event))).toHaveLength(1);
		expect(await rig.store.runs.get(runId)).toMatchObject({ state: 'cancelled' });
	});
});

describe('starting', () => {
	test('the same run id twice, even at once, is one run', async () => {
		await start([text('once')]);
		const more = { runId: 'same', message: { id: 'q', text: 'go', files: [] } };
		await Promise.all([rig.ask('', more), rig.ask('', more)]);
		await rig.events('same');
		await rig.ask('', more);
		expect(rig.server.requests).toHaveLength(1);
		expect(await rig.store.messages.list('c')).toHaveLength(2);
	});

	test.each([
		['another text', { message: { id: 'q', text: 'Something else', files: [] } }],
		['another message', { message: { id: 'q2', text: 'go', files: [] } }],
		['other files', { message: { id: 'q', text: 'go', files: ['a.txt'] } }],
		['another place', { after: null }]
	])('the same run id with %s is refused, while it runs and after its end', async (_what, more) => {
		const held = gate();
		await start([text(held, 'once')]);
		const same = { runId: 'same', message: { id: 'q', text: 'go', files: [] } };
		await rig.ask('', same);
		await expect(rig.ask('', { ...same, ...more })).rejects.toMatchObject({ code: 'conflict' });
		held.open();
		await rig.events('same');
		await expect(rig.ask('', { ...same, ...more })).rejects.toMatchObject({ code: 'conflict' });
		await rig.ask('', same);
		expect(rig.server.requests).toHaveLength(1);
	});

	test('of two requests with one run id at the same moment, one is asked and the other is told', async () => {
		await start([text('once')]);
		const ask = (id: string) => rig.ask('', { runId: 'same', message: { id, text: id, files: [] } });
		const [one, other] = await Promise.allSettled([ask('a'), ask('b')]);
		expect([one.status, other.status].toSorted()).toEqual(['fulfilled', 'rejected']);
		await rig.events('same');
		expect(rig.server.requests).toHaveLength(1);
	});

	test('a run id that asked for something is none to retry or to go on with', async () => {
		await start([text('once')]);
		const { runId } = await rig.run('go');
		const { id, parentId } = await rig.answer(runId);
		const setup = { runId, conversationId: 'c', tools: [] };
		for (const task of [
			{ kind: 'retry' as const, questionId: parentId ?? '' },
			{ kind: 'continue' as const, messageId: id }
		]) {
			await expect(rig.runner.start({ ...setup, ...task })).rejects.toMatchObject({ code: 'conflict' });
		}
	});

	test('a second message while an answer is written is refused, and nothing of it is stored', async () => {
		const held = gate();
		await start([text(held, 'done')]);
		const { runId } = await rig.ask('first');
		await expect(rig.ask('second')).rejects.toMatchObject({ code: 'conflict' });
		held.open();
		await rig.events(runId);
		expect(await rig.store.messages.list('c')).toHaveLength(2);
	});

	test('a run id of another conversation, and a message id that was used, are refused', async () => {
		await start([text('a'), text('b')]);
		await rig.run('one');
		await expect(rig.ask('x', { runId: 'run-1', conversationId: 'other' })).rejects.toMatchObject({ code: 'conflict' });
		const message = { id: 'question-1', text: 'x', files: [] };
		await expect(rig.ask('x', { message })).rejects.toMatchObject({ code: 'conflict' });
		expect(await rig.store.conversations.get('other')).toBeNull();
	});

	test('an upload\u2019s conversation is named after its first message, one with a name keeps it', async () => {
		await start([text('a'), text('b')]);
		await rig.store.conversations.create({ id: 'c', title: 'New chat', createdAt: new Date(0).toISOString() });
		await rig.run('Summarise the sales\nof last year');
		expect((await rig.store.conversations.get('c'))?.title).toBe('Summarise the sales');
		await rig.run('Something else');
		expect((await rig.store.conversations.get('c'))?.title).toBe('Summarise the sales');
	});
});

describe('when the server ends', () => {
	test('F14: a close interrupts what runs, with a terminal event, and starts nothing new', async () => {
		await start([use('wait.sh')]);
		const { runId } = await rig.ask('go');
		await eventually(() => access(join(rig.workspaces.path('c'), 'pid')));
		const events = rig.events(runId);
		await rig.runner.close();
		expect((await events).at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'interrupted' });
		expect(await rig.store.runs.get(runId)).toMatchObject({ state: 'interrupted' });
		await expect(rig.ask('more')).rejects.toMatchObject({ code: 'unavailable' });
	});

	test('F14: what a dead process left running is interrupted at the next start, with its text kept', async () => {
		await start([hang({ type: 'response.output_text.delta', item_id: 'm', delta: 'Kept' }), text('ok')]);
		const { runId } = await rig.ask('go');
		await eventually(async () => expect(textOf(await rig.written(runId))).toBe('Kept'));
		const { lastSeq } = (await rig.store.runs.get(runId))!;
		const next = rig.createRunner();
		await next.recover();
		expect(await rig.answer(runId)).toMatchObject({ status: 'interrupted', error: { code: 'interrupted' } });
		expect(textOf(await rig.answer(runId))).toBe('Kept');
		const replayed = await rig.events(runId, 0, next);
		expect(replayed).toHaveLength(lastSeq + 1);
		expect(replayed.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'interrupted' });
		expect(await rig.store.runs.listRunning('another start')).toEqual([]);
		await rig.runner.stop(runId);
	});
});

describe('a full disk', () => {
	const full = () => Promise.reject(new AppError('storage_full', 'The disk is full. Free some space and try again.'));

	test('while an answer is written: the run ends with that error, and the next message works once there is room', async () => {
		let isFull = false;
		const wrapStore = (store: Store): Store => ({
			...store,
			runs: {
				...store.runs,
				appendAll: (...given) => (isFull ? full() : store.runs.appendAll(...given)),
				finish: (...given) => (isFull ? full() : store.runs.finish(...given))
			}
		});
		const held = gate();
		await start([text('one ', held, 'two'), text('Room again.')], { wrapStore });
		const { runId } = await rig.ask('go');
		await eventually(async () => expect(textOf(await rig.written(runId))).toBe('one '));
		const events = rig.events(runId);
		isFull = true;
		held.open();
		expect((await events).at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'storage_full' });
		isFull = false;
		const next = await rig.run('and now?');
		expect(textOf(await rig.answer(next.runId))).toBe('Room again.');
		expect(await rig.answer(runId)).toMatchObject({ status: 'interrupted' });
	});

	test('when items cannot be kept: the run ends with that error, and the process lives', async () => {
		const wrapStore = (store: Store): Store => ({
			...store,
			runs: {
				...store.runs,
				appendAll: (all) => (all.some(({ items }) => items) ? full() : store.runs.appendAll(all))
			}
		});
		await start([use('say.sh', 'x'), text('never asked for')], { wrapStore });
		const { runId, list } = await rig.run('go');
		expect(list.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'storage_full' });
		expect(await rig.answer(runId)).toMatchObject({ status: 'failed', error: { code: 'storage_full' } });
	});
});
