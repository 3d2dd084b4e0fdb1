import { afterEach, describe, expect, test } from 'vitest';
import { call, gate, raw, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { Message } from '../../shared/message.ts';
import { readConversation, createOutbox } from './conversations.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

let rig: RunRig;
afterEach(() => rig.close());

async function start(script: Reply[]): Promise<void> {
	rig = await createRunRig(script);
}
const textOf = (message: Message) => message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const shown = async () => (await readConversation(rig, 'c')).messages.map(textOf);
const waiting = async () => (await readConversation(rig, 'c')).queue.map(({ text: words }) => words);
const enqueue = (id: string) => rig.outbox.enqueue('c', { id, text: `text of ${id}`, files: [] });

/** Resolves once the model got its first request. */
const asked = () => eventually(() => expect(rig.server.requests).toHaveLength(1));

/** Resolves once no run is in progress or about to start. */
async function quiet(): Promise<void> {
	for await (const _change of changes()) {
		const { activeRunId, queue } = await readConversation(rig, 'c');
		if (activeRunId === null && queue.length === 0) return;
	}
}
async function* changes(): AsyncGenerator<void> {
	const controller = new AbortController();
	yield;
	try {
		yield* rig.changes.follow('c', controller.signal);
	} finally {
		controller.abort();
	}
}

describe('F14: a message that is sent while an answer is written', () => {
	test('waits for its end, and is sent then; several in their order', async () => {
		const held = gate();
		await start([text('One', held, '.'), text('Two.'), text('Three.')]);
		const { runId } = await rig.ask('first');
		expect(await enqueue('a')).toBe(null);
		await enqueue('b');
		expect(await waiting()).toEqual(['text of a', 'text of b']);
		held.open();
		await rig.events(runId);
		await quiet();
		expect(await shown()).toEqual(['first', 'One.', 'text of a', 'Two.', 'text of b', 'Three.']);
	});

	test('is sent at once when the answer has ended meanwhile', async () => {
		await start([text('One.'), text('Two.')]);
		await rig.run('first');
		const runId = await enqueue('a');
		await rig.events(runId!);
		expect(await shown()).toEqual(['first', 'One.', 'text of a', 'Two.']);
		expect(await waiting()).toEqual([]);
	});

	test('the same again is the same message, also after it was sent; another under its id is refused', async () => {
		const held = gate();
		await start([text('One', held, '.'), text('Two.'), text('Three.')]);
		const { runId } = await rig.ask('first');
		await enqueue('a');
		expect(await enqueue('a')).toBe(null);
		const other = { id: 'a', text: 'something else', files: [] };
		await expect(rig.outbox.enqueue('c', other)).rejects.toMatchObject({ code: 'conflict' });
		expect(await waiting()).toEqual(['text of a']);
		held.open();
		await rig.events(runId);
		await quiet();

		const sent = (await readConversation(rig, 'c')).messages.at(-1)?.runId;
		expect(await enqueue('a')).toBe(sent);
		await expect(rig.outbox.enqueue('c', other)).rejects.toMatchObject({ code: 'conflict' });
		expect(await waiting()).toEqual([]);
		await rig.events((await enqueue('b')) ?? '');
		expect(await shown()).toEqual(['first', 'One.', 'text of a', 'Two.', 'text of b', 'Three.']);
	});

	test('another conversation may have a message of the same id', async () => {
		await start([text('One.'), text('Two.'), text('Other one.'), text('Other two.')]);
		await rig.run('first');
		await rig.events((await enqueue('a')) ?? '');
		await rig.events((await rig.ask('there', { conversationId: 'd' })).runId);
		const runId = await rig.outbox.enqueue('d', { id: 'a', text: 'text of a', files: [] });
		await rig.events(runId ?? '');
		expect(await rig.store.queue.list('d')).toEqual([]);
		expect((await rig.store.messages.list('d')).map(textOf)).toEqual([
			'there',
			'Other one.',
			'text of a',
			'Other two.'
		]);
	});

	test('can be changed and taken back while it waits, and not after', async () => {
		const held = gate();
		await start([text('One', held, '.'), text('Two.')]);
		const { runId } = await rig.ask('first');
		await enqueue('a');
		await enqueue('b');
		expect(await rig.store.queue.edit('c', 'a', 'changed')).toBe(true);
		expect(await rig.store.queue.remove('c', 'b')).toBe(true);
		held.open();
		await rig.events(runId);
		await quiet();
		expect(await shown()).toEqual(['first', 'One.', 'changed', 'Two.']);
		expect(await rig.store.queue.edit('c', 'a', 'too late')).toBe(false);
		expect(await rig.store.queue.remove('c', 'a')).toBe(false);
	});

	test('that is sent now ends the run after its step, so that the model reads it next', async () => {
		const held = gate();
		const say = call('use_skill', { skill: 'demo', script: 'say.sh', args: ['x'] });
		await start([[text('Working', held, '.'), say], text('Steered.'), text('Last.')]);
		const { runId } = await rig.ask('first');
		await enqueue('a');
		await enqueue('b');
		expect(await rig.outbox.sendNow('c', 'b')).toBe(null);
		held.open();
		await rig.events(runId);
		await quiet();
		expect(await shown()).toEqual(['first', 'Working.', 'text of b', 'Steered.', 'text of a', 'Last.']);
		// The step was finished: its script ran once, and the model has read the result.
		expect((await rig.workspaces.list('c')).map(({ path }) => path)).toEqual(['made-x.txt']);
		const input = rig.server.requests[1]?.body.input as { type: string }[];
		expect(input.map(({ type }) => type)).toEqual([
			'message',
			'message',
			'function_call',
			'function_call_output',
			'message'
		]);
	});

	test('stays waiting when the answer was stopped, and is sent when asked to', async () => {
		await start([text('One', gate(), '.'), text('Two.')]);
		const { runId } = await rig.ask('first');
		await asked();
		await enqueue('a');
		await rig.runner.stop(runId);
		expect(await waiting()).toEqual(['text of a']);
		const sent = await rig.outbox.sendNow('c', 'a');
		await rig.events(sent!);
		expect(await waiting()).toEqual([]);
		expect((await shown()).slice(-2)).toEqual(['text of a', 'Two.']);
	});

	test('stays waiting when the answer failed: nobody is asked twice what nobody could answer', async () => {
		const held = gate();
		await start([raw(held, '{"not": "a stream"}'), text('Two.')]);
		const { runId } = await rig.ask('first');
		await enqueue('a');
		held.open();
		expect((await rig.events(runId)).at(-1)?.event).toMatchObject({ type: 'RUN_ERROR' });
		await rig.runner.stop(runId);
		expect(await waiting()).toEqual(['text of a']);
	});

	test('is kept over a restart', async () => {
		const held = gate();
		await start([text('One', held, '.'), text('Two.')]);
		await rig.ask('first');
		await asked();
		await enqueue('a');
		await rig.runner.close();
		const next = rig.createRunner();
		await next.recover();
		expect(await waiting()).toEqual(['text of a']);
		const runId = await createOutbox({ ...rig, runner: next }).sendNow('c', 'a');
		await rig.events(runId!, 0, next);
		expect((await shown()).slice(-2)).toEqual(['text of a', 'Two.']);
		await next.close();
	});

	/** As if the server were killed after the end of a run, before it sends what waits. */
	async function leave(script: Reply[], work: () => Promise<unknown>): Promise<void> {
		let isDead = false;
		rig = await createRunRig(script, {
			wrapStore: (store) => ({
				...store,
				queue: { ...store.queue, list: async (id) => (isDead ? [] : store.queue.list(id)) }
			})
		});
		const { runId } = await rig.ask('first');
		await asked();
		await enqueue('a');
		isDead = true;
		await work();
		await rig.events(runId);
		await rig.runner.close();
		isDead = false;
	}
	async function startAgain(): Promise<void> {
		const runner = rig.createRunner();
		await runner.recover();
		const outbox = createOutbox({ ...rig, runner });
		outbox.start();
		await eventually(async () => expect(await rig.store.queue.listDue()).toEqual([]));
		await outbox.close();
		await runner.close(60_000);
	}

	test('is sent at the next start, once, if the server was killed just after the answer was complete', async () => {
		const held = gate();
		await leave([text('One', held, '.'), text('Two.')], async () => held.open());
		expect(await waiting()).toEqual(['text of a']);
		await startAgain();
		await startAgain();
		expect(await shown()).toEqual(['first', 'One.', 'text of a', 'Two.']);
		expect(await waiting()).toEqual([]);
	});

	test('stays waiting over a restart if the answer was stopped, or its chat deleted and restored', async () => {
		await leave([text('One', gate(), '.')], async () => rig.runner.stop('run-1'));
		await startAgain();
		expect(await waiting()).toEqual(['text of a']);
		await rig.close();
		const held = gate();
		await leave([text('One', held, '.')], async () => held.open());
		await rig.store.conversations.markDeleted('c', new Date().toISOString());
		await startAgain();
		await rig.store.conversations.restore('c');
		await startAgain();
		expect(await waiting()).toEqual(['text of a']);
		expect(await shown()).toEqual(['first', 'One.']);
	});

	test('that can’t be sent isn’t tried again and again', async () => {
		const held = gate();
		await leave([text('One', held, '.')], async () => held.open());
		const runner = { ...rig.runner, onEnd: () => undefined, start: () => Promise.reject(new Error('no model')) };
		const outbox = createOutbox({ ...rig, runner: runner as never });
		outbox.start();
		await eventually(async () => expect(await rig.store.queue.listDue()).toEqual([]));
		await outbox.close();
		expect(rig.logged.filter((line) => line.includes('no model'))).toHaveLength(1);
		expect(await waiting()).toEqual(['text of a']);
	});

	test('comes only once, however often it is sent', async () => {
		const held = gate();
		await start([text('One', held, '.'), text('Two.')]);
		const { runId } = await rig.ask('first');
		await Promise.all([enqueue('a'), enqueue('a'), enqueue('a')]);
		expect(await waiting()).toEqual(['text of a']);
		held.open();
		await rig.events(runId);
		await quiet();
		expect(await shown()).toEqual(['first', 'One.', 'text of a', 'Two.']);
	});

	test('needs a conversation, and room: fifty may wait', async () => {
		const held = gate();
		await start([text('One', held, '.')]);
		await expect(rig.outbox.enqueue('ghost', { id: 'a', text: 'x', files: [] })).rejects.toMatchObject({
			code: 'not_found'
		});
		const { runId } = await rig.ask('first');
		for (let index = 0; index < 50; index += 1) await enqueue(`m${index}`);
		await expect(enqueue('one-more')).rejects.toMatchObject({ code: 'conflict' });
		await rig.runner.stop(runId);
	});
});
