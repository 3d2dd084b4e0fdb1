import { expect, test } from 'vitest';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, foldEvent } from '../../shared/message.ts';
import type { LapsedRun } from '../store/chat/run-ownership.ts';
import { takeOver } from './takeover.ts';

const ids = { threadId: 'c', runId: 'r' };
const step = (name: string): RunEvent => ({ type: 'STEP_STARTED', stepName: name });
const stepEnd = (name: string): RunEvent => ({ type: 'STEP_FINISHED', stepName: name });
const said = (id: string, words: string, isEnded = true): RunEvent[] => [
	{ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' },
	{ type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: words },
	...(isEnded ? [{ type: 'TEXT_MESSAGE_END' as const, messageId: id }] : [])
];
const called = (toolCallId: string, toolCallName: string, isEnded = true): RunEvent[] => [
	{ type: 'TOOL_CALL_START', toolCallId, toolCallName },
	{ type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
	...(isEnded ? [{ type: 'TOOL_CALL_END' as const, toolCallId }] : [])
];
const thought: RunEvent[] = [
	{ type: 'REASONING_START', messageId: 't' },
	{ type: 'REASONING_MESSAGE_START', messageId: 't', role: 'reasoning' },
	{ type: 'REASONING_MESSAGE_CONTENT', messageId: 't', delta: 'hm' }
];

/** A run with these events whose server has stopped. */
async function after(events: RunEvent[], more: Partial<LapsedRun> = {}) {
	const answer = emptyAnswer('a', 'r', '2026-01-01T12:00:00.000Z', 'q');
	const request = { ...ids, conversationId: 'c', kind: 'ask', message: { id: 'q', text: 'go', files: [] } };
	const lapsed: LapsedRun = {
		...{ id: 'r', conversationId: 'c', messageId: 'a', state: 'running', model: 'm', bootId: 'b', epoch: 1 },
		...{ startedAt: answer.createdAt, finishedAt: null, lastSeq: events.length, errorCode: null, task: 't' },
		...{ request: JSON.stringify({ tools: [{ type: 'function', name: 'theirs' }], ...request }), takeovers: 0 },
		...{ answer, items: [] },
		events: (async function* () {
			yield* [{ type: 'RUN_STARTED', ...ids } as RunEvent, ...events];
		})(),
		...more
	};
	const { taken, goesOn } = await takeOver(lapsed);
	const message = [...events, ...taken.events].reduce(foldEvent, answer);
	return {
		taken,
		goesOn,
		message,
		types: taken.events.map((event) => (event.type === 'CUSTOM' ? event.name : event.type))
	};
}

test('F14: a complete answer only lacks its end', async () => {
	const { goesOn, types } = await after([step('1'), ...said('x', 'All.'), stepEnd('1')]);
	expect(types).toEqual(['run.taken']);
	expect(goesOn).toMatchObject({ request: null });
});

test('F14: what is open is closed, in AG-UI’s order: texts, thoughts, calls, the step', async () => {
	const { types, goesOn, message } = await after([step('1'), ...thought, ...said('x', 'Half', false)]);
	expect(types).toEqual(['TEXT_MESSAGE_END', 'REASONING_MESSAGE_END', 'REASONING_END', 'STEP_FINISHED', 'run.taken']);
	expect(goesOn?.request).toMatchObject({ kind: 'continue', messageId: 'a', runId: 'r' });
	expect(message.parts).toMatchObject([{ text: 'hm', done: true }, { text: 'Half' }]);
});

test('F14: a call that was made has an unknown end, one that wasn’t is said not to have been made; the model hears of each once', async () => {
	const made = called('c1', 'use_skill');
	const started: RunEvent = {
		type: 'CUSTOM',
		name: 'skill.started',
		value: { toolCallId: 'c1', skill: 's', script: 'x.sh', args: [], sandbox: 'p' }
	};
	const { types, taken, message } = await after(
		[step('1'), ...made, ...called('c2', 'theirs'), ...called('c3', 'late', false), stepEnd('1'), started],
		{ items: [{ type: 'function_call', call_id: 'c1', name: 'use_skill', arguments: '{}' }] }
	);
	expect(types).toEqual([
		...['TOOL_CALL_END', 'skill.finished', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT', 'run.taken']
	]);
	const results = message.parts.flatMap((part) => (part.type === 'tool' ? [[part.status, part.result]] : []));
	expect(results).toEqual([
		['cancelled', expect.stringContaining('isn’t known')],
		['failed', expect.stringContaining('before this call was made')],
		['failed', expect.stringContaining('before this call was made')]
	]);
	expect(taken.items.mode).toBe('append');
	expect(
		(taken.items.items as { type: string; call_id: string }[]).map(({ type, call_id }) => [type, call_id])
	).toEqual([
		['function_call_output', 'c1'],
		['function_call', 'c2'],
		['function_call_output', 'c2'],
		['function_call', 'c3'],
		['function_call_output', 'c3']
	]);
});

test('F14: without a word the question is asked again, and what was noted for it is forgotten', async () => {
	const { goesOn, taken } = await after([step('1')], { items: [{ type: 'message', role: 'user' }] });
	expect(goesOn?.request).toMatchObject({ kind: 'ask', message: { text: 'go' } });
	expect(taken.items).toEqual({ items: [], mode: 'replace' });
});

test.each([
	['its answer is gone', { answer: null }],
	['nobody knows what was asked', { request: null }],
	['it has ended two servers', { takeovers: 2 }]
])('F14: a run doesn’t go on if %s', async (_, more) => {
	expect((await after([step('1'), ...said('x', 'Half', false)], more)).goesOn).toBeNull();
});
