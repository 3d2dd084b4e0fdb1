import { afterEach, describe, expect, test } from 'vitest';
import {
	FAULTS,
	PATIENCE_MS,
	RECOVERED,
	repliesOf,
	STALL_MS,
	strictReply
} from '../../../../tests/support/fault-server.ts';
import type { Fault } from '../../../../tests/support/fault-server.ts';
import { gate, type Gate } from '../../../../tests/support/gate.ts';
import { call, text } from '../../../../tests/support/model-server.ts';
import { createRunRig, folded, type RunRig } from '../../../../tests/support/run-rig.ts';
import { isTerminal, type RunEvent } from '../../shared/events.ts';
import type { Message, ToolPart } from '../../shared/message.ts';

/** The model's reply after its calls were answered. */
const AFTER_CALLS = 'That was it.';

let rig: RunRig;
afterEach(() => rig.close());

const textOf = ({ parts }: Message) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const toolsOf = ({ parts }: Message) => parts.filter((part): part is ToolPart => part.type === 'tool');

/** Asks, opens `seen` once everything this fault ever shows was shown, and waits for the end. */
async function runUnder({ outcome }: Fault, seen: Gate): Promise<{ runId: string; list: RunEvent[] }> {
	const { runId } = await rig.ask('Hello?');
	const batches = await rig.runner.follow(runId, 0, new AbortController().signal);
	if (!batches) throw new Error('The run has no events');
	const list: RunEvent[] = [];
	let shown = '';
	for await (const batch of batches) {
		for (const { data } of batch) {
			const event = JSON.parse(data) as RunEvent;
			list.push(event);
			if (event.type === 'TEXT_MESSAGE_CONTENT') shown += event.delta;
			if (event.type === 'TOOL_CALL_ARGS' || (shown !== '' && shown === outcome.text)) seen.open();
		}
	}
	return { runId, list };
}

describe('F14: a run under fire', () => {
	test.each(FAULTS)(
		'$name: one end, what was shown is kept, the next message works',
		{ timeout: PATIENCE_MS },
		async (fault) => {
			const { outcome } = fault;
			const seen = gate();
			const goesOn = outcome.error === null && (outcome.calls ?? []).length > 0;
			const replies = [...repliesOf(fault, seen), ...(goesOn ? [text(AFTER_CALLS)] : [])];
			rig = await createRunRig(
				replies,
				fault.isStall && fault.outcome.error !== null ? { idleTimeoutMs: STALL_MS } : {}
			);
			const { runId, list } = await runUnder(fault, seen);

			const ends = list.filter(isTerminal);
			expect(ends).toEqual([list.at(-1)]);
			const host = new URL(rig.server.url).host;
			const answer = await rig.answer(runId);
			const error = outcome.error && {
				code: outcome.error.code,
				message: outcome.error.message.replaceAll('{host}', host)
			};
			expect(answer).toMatchObject({ status: error ? 'failed' : 'complete', error, retry: null });
			expect(await rig.store.runs.get(runId)).toMatchObject({ state: error ? 'failed' : 'success' });
			expect(textOf(answer)).toBe(outcome.text + (goesOn ? AFTER_CALLS : ''));
			expect(toolsOf(answer).map(({ name, status }) => ({ name, status }))).toEqual(outcome.tools ?? []);
			expect(answer).toEqual(folded(answer, list));
			rig.server.assertDone();

			rig.server.push(strictReply());
			const next = await rig.run('Still there?');
			expect(await rig.answer(next.runId)).toMatchObject({ status: 'complete', error: null });
			expect(textOf(await rig.answer(next.runId))).toBe(RECOVERED);
			rig.server.assertDone();
		}
	);

	test('a server that numbers its calls anew in every answer: each runs, each keeps its place, the history is whole', async () => {
		const say = (word: string) => call('use_skill', { skill: 'demo', script: 'say.sh', args: [word] }, 'call_1');
		rig = await createRunRig([say('one'), say('two'), text('Both.'), say('three'), text('And that.'), strictReply()]);
		const first = await rig.run('Say one, then two');
		const second = await rig.run('And three');
		const tools = [...toolsOf(await rig.answer(first.runId)), ...toolsOf(await rig.answer(second.runId))];
		expect(tools.map(({ status, execution }) => [status, execution?.output])).toEqual(
			['one', 'two', 'three'].map((word) => ['done', [{ stream: 'stdout', text: `said: ${word}\n` }]])
		);
		expect(new Set(tools.map(({ id }) => id)).size).toBe(3);

		const last = await rig.run('Still there?');
		expect(textOf(await rig.answer(last.runId))).toBe(RECOVERED);
		const sent = rig.server.requests.at(-1)?.body.input as { type: string; output?: string }[];
		const outputs = sent.filter(({ type }) => type === 'function_call_output').map(({ output }) => String(output));
		expect(outputs).toEqual(['one', 'two', 'three'].map((word) => expect.stringContaining(`said: ${word}`)));
		rig.server.assertDone();
	});
});
