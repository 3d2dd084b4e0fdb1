/** Calls of a client's own tools inside the runner: what's stored, what waits, what ends them. */
import { afterEach, expect, test } from 'vitest';
import { call, gate, response, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, folded, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { ToolPart } from '../../shared/message.ts';
import type { FunctionTool } from '../agent/model.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

const CLOCK: FunctionTool = { type: 'function', name: 'clock', description: 'Says the time.', parameters: {} };
const tools = [CLOCK];

let rig: RunRig;
afterEach(() => rig.close());

async function start(...script: Reply[]): Promise<void> {
	rig = await createRunRig(script);
}
const toolsOf = async (runId: string) =>
	(await rig.answer(runId)).parts.filter((part): part is ToolPart => part.type === 'tool');
const results = (...ids: string[]) => ids.map((toolCallId) => ({ toolCallId, output: 'noon', isError: false }));

test('F13: a call that was handed to the caller waits, in what is stored as in what its events make', async () => {
	await start(call('clock', {}, 'c1'));
	const { runId, list } = await rig.run('time?', { tools });
	const answer = await rig.answer(runId);
	expect(answer).toEqual(folded(answer, list));
	expect(answer.status).toBe('complete');
	expect(await toolsOf(runId)).toMatchObject([{ id: 'c1', status: 'waiting' }]);
});

test('F13: the results of a handed call and the run that goes on with them are stored together; the newest run writes the answer', async () => {
	await start(call('clock', {}, 'c1'), text('Noon.'));
	await rig.run('time?', { tools });
	const more = { kind: 'results' as const, runId: 'more', conversationId: 'c', tools, results: results('c1', 'c1') };
	await Promise.all([rig.runner.start(more), rig.runner.start(more)]);
	await rig.events('more');
	expect(await toolsOf('more')).toMatchObject([{ status: 'done', result: 'noon' }]);
	expect(rig.server.requests).toHaveLength(2);
	await expect(rig.runner.start({ ...more, runId: 'again' })).rejects.toMatchObject({ code: 'conflict' });
	await expect(rig.runner.start({ ...more, runId: 'x', conversationId: 'other' })).rejects.toMatchObject({
		code: 'not_found'
	});
});

test('F14: a message that waits is sent after the answer has its result, not before', async () => {
	const held = gate();
	await start([text('Let me see', held), call('clock', {}, 'c1')], text('Noon.'), text('And this.'));
	const { runId } = await rig.ask('time?', { tools });
	await rig.outbox.enqueue('c', { id: 'later', text: 'and then?', files: [] });
	held.open();
	expect((await rig.events(runId)).at(-1)?.event).toMatchObject({ outcome: { pendingToolCallIds: ['c1'] } });
	const more = { kind: 'results' as const, runId: 'more', conversationId: 'c', tools, results: results('c1') };
	await eventually(() => rig.runner.start(more));
	await rig.events('more');
	await eventually(async () => expect(await rig.store.queue.list('c')).toEqual([]));
	const sent = (await rig.store.messages.list('c')).at(-1)?.runId;
	await rig.events(sent ?? '');
	const messages = await rig.store.messages.list('c');
	expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
	rig.server.assertDone();
});

test('F13: whoever continues an answer instead of giving the result gets one without it', async () => {
	await start(call('clock', {}, 'c1'), text('I do not know.'));
	const { runId } = await rig.run('time?', { tools });
	const { id: messageId } = await rig.answer(runId);
	await rig.runner.start({ kind: 'continue', runId: 'go', conversationId: 'c', messageId, tools: [] });
	await rig.events('go');
	expect(await toolsOf('go')).toMatchObject([{ status: 'cancelled' }]);
	expect(JSON.stringify(rig.server.requests[1]?.body.input)).toContain('NoResult');
});

test('F13: a call that the model’s server cut off is closed before the run ends, and is nobody’s to answer', async () => {
	await start(response([call('clock', '{"zone":', 'c1')], { incomplete: 'max_output_tokens' }));
	const { runId, list } = await rig.run('time?', { tools });
	const kinds = list.flatMap((event) => ('toolCallId' in event ? [event.type] : []));
	expect(kinds.at(0)).toBe('TOOL_CALL_START');
	expect(kinds.at(-1)).toBe('TOOL_CALL_END');
	expect((await toolsOf(runId)).map((part) => part.status)).not.toContain('preparing');
});
