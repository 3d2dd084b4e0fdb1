/** Answers of several models to one question, side by side: they're written at the same time, until one is chosen. */
import { afterEach, describe, expect, test } from 'vitest';
import { call, dynamic, gate, status, text, type Reply } from '../../../../tests/support/model-server.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { runAgentInput } from '../../shared/api.ts';
import { messageText } from '../../shared/message.ts';
import { toRunRequests } from './agui-input.ts';
import { decide } from './consent.ts';
import { changeConversation, readConversation, removeMessage } from './conversations.ts';

let rig: RunRig;
afterEach(() => rig.close());

/** What each model answers, request by request. */
async function start(replies: Record<string, Reply[]>, options: RigOptions = {}): Promise<void> {
	const count = Object.values(replies).flat().length;
	const next = dynamic(({ model }) => replies[String(model)]?.shift() ?? status(500));
	rig = await createRunRig(Array<Reply>(count).fill(next), options);
}

let asked = 0;
async function ask(forwardedProps: Record<string, unknown>, content = 'Which is it?'): Promise<string[]> {
	const id = `question-${(asked += 1)}`;
	const messages = 'retry' in forwardedProps ? [] : [{ id, role: 'user', content }];
	const input = runAgentInput.parse({ threadId: 'c', runId: `run-${asked}`, messages, forwardedProps });
	const requests = toRunRequests(input);
	for (const request of requests) await rig.runner.start(request);
	return requests.map(({ runId }) => runId);
}
const read = () => readConversation(rig, 'c');
const columns = async () =>
	(await read()).compared?.map(({ model, message }) => [model, message.status, messageText(message)]);
const ended = (...runIds: string[]) => Promise.all(runIds.map((runId) => rig.events(runId)));

describe('side by side: two or three models answer the same question', () => {
	test('both write at once, each with its own events, and both are there in the middle', async () => {
		const [one, two] = [gate(), gate()];
		await start({ one: [text('First ', one, 'done.')], two: [text('Second ', two, 'done.')] });
		const [first = '', second = ''] = await ask({ compare: ['one', 'two'], model: 'chosen' });
		await eventually(async () =>
			expect(await columns()).toEqual([
				['one', 'running', 'First '],
				['two', 'running', 'Second ']
			])
		);
		const { messages, activeRunId, compared, model } = await read();
		// The chat keeps the model it has chosen, and shows the first one's answer.
		expect([messages.at(-1)?.id, activeRunId, model]).toEqual([compared?.[0]?.message.id, first, 'chosen']);
		expect(compared?.every(({ cursor }) => cursor > 0)).toBe(true);
		// The second ends first.
		two.open();
		await ended(second);
		expect(await columns()).toEqual([
			['one', 'running', 'First '],
			['two', 'complete', 'Second done.']
		]);
		one.open();
		await ended(first);
		expect((await columns())?.map(([, state]) => state)).toEqual(['complete', 'complete']);
		rig.server.assertDone();
	});

	test('the same request again is the same runs, and another message waits for them', async () => {
		const open = gate();
		await start({ one: [text(open, 'First.')], two: [text(open, 'Second.')] });
		const runIds = await ask({ compare: ['one', 'two'] });
		asked -= 1;
		expect(await ask({ compare: ['one', 'two'] })).toEqual(runIds);
		expect(await columns()).toHaveLength(2);
		await expect(ask({})).rejects.toMatchObject({ code: 'conflict' });
		await expect(ask({ retry: `question-${asked - 1}` })).rejects.toMatchObject({ code: 'conflict' });
		open.open();
		await ended(...runIds);
	});

	test('one model fails while the other goes on, and is asked again in its place', async () => {
		const open = gate();
		await start({ one: [text('First ', open, 'done.')], two: [status(400, 'no'), text('Better.')] });
		const [first = '', second = ''] = await ask({ compare: ['one', 'two'] });
		await ended(second);
		const failed = (await read()).compared?.[1]?.message;
		expect(failed?.status).toBe('failed');
		const again = await ask({ retry: failed?.parentId, compare: ['two'], instead: failed?.id });
		await ended(...again);
		expect((await columns())?.[1]).toEqual(['two', 'complete', 'Better.']);
		// The answer that is being written isn't replaced.
		const running = (await read()).compared?.[0]?.message;
		await expect(ask({ retry: running?.parentId, compare: ['x'], instead: running?.id })).rejects.toThrow(
			'being written'
		);
		open.open();
		await ended(first);
		const { messages, alternatives } = await read();
		expect(alternatives[messages.at(-1)?.id ?? '']).toHaveLength(3);
	});

	test('one is stopped, and the other goes on', async () => {
		const open = gate();
		await start({ one: [text('First ', open, 'done.')], two: [text('Second ', open, 'done.')] });
		const [first = '', second = ''] = await ask({ compare: ['one', 'two'] });
		await rig.runner.stop(second);
		open.open();
		await ended(first);
		expect((await columns())?.map(([, state]) => state)).toEqual(['complete', 'cancelled']);
	});

	test('the chosen answer is shown from then on; the others stay as its versions', async () => {
		await start({ one: [text('First.')], two: [text('Second.'), text('More.')] });
		await ended(...(await ask({ compare: ['one', 'two'] })));
		const [, second] = (await read()).compared ?? [];
		await changeConversation(rig, 'c', { show: second?.message.id, model: 'two' });
		const { compared, messages, alternatives } = await read();
		expect(compared).toBeUndefined();
		expect(messages.at(-1)?.id).toBe(second?.message.id);
		expect(alternatives[second?.message.id ?? '']).toHaveLength(2);
		await ended(...(await ask({}, 'Go on.')));
		expect(rig.server.requests.at(-1)?.body).toMatchObject({ model: 'two' });
		expect(JSON.stringify(rig.server.requests.at(-1)?.body.input)).not.toContain('First.');
	});

	test('another model answers beside an answer that is there, and a fourth one has no room', async () => {
		await start({ one: [text('First.')], two: [text('Second.')], three: [text('Third.')] });
		const [runId = ''] = await ask({ model: 'one' });
		await ended(runId);
		const answer = await rig.answer(runId);
		await ended(...(await ask({ retry: answer.parentId, compare: ['two', 'three'], beside: answer.id })));
		expect((await columns())?.map(([model, , words]) => [model, words])).toEqual([
			['one', 'First.'],
			['two', 'Second.'],
			['three', 'Third.']
		]);
		const more = ask({ retry: answer.parentId, compare: ['four'], beside: answer.id });
		await expect(more).rejects.toThrow('already side by side');
		expect(await columns()).toHaveLength(3);
	});

	test('what was queued waits for the choice, whichever ends last', async () => {
		const [one, two] = [gate(), gate()];
		await start({ one: [text(one, 'First.'), text('Next.')], two: [text(two, 'Second.')] }, { set: { model: 'one' } });
		const runIds = await ask({ compare: ['one', 'two'] });
		expect(await rig.outbox.enqueue('c', { id: 'next', text: 'And then?', files: [] })).toBeNull();
		one.open();
		two.open();
		await ended(...runIds);
		await eventually(async () => expect((await read()).activeRunId).toBeNull());
		const { queue, compared } = await read();
		expect([queue.length, compared?.length]).toEqual([1, 2]);
		await changeConversation(rig, 'c', { show: compared?.[0]?.message.id });
		await ended((await rig.outbox.sendNow('c', 'next')) ?? '');
		expect((await read()).queue).toEqual([]);
	});

	test('each asks for its own approval, which is answered while the other is being written', async () => {
		const open = gate();
		const use = call('use_skill', { skill: 'demo', script: 'say.sh', args: ['hi'] });
		await start({ one: [text('First ', open, 'done.')], two: [use, text('It said hi.')] }, { approvals: 'ask' });
		const [first = '', second = ''] = await ask({ compare: ['one', 'two'] });
		await ended(second);
		const waiting = (await read()).compared?.[1]?.message;
		const [part] = waiting?.parts ?? [];
		const interruptId = part?.type === 'tool' ? (part.approval?.interruptId ?? '') : '';
		const by = { apiKeyId: null, scopes: null };
		const resumed = await decide(rig, {
			...{ by: by as never, conversationId: 'c', interruptId, decision: { choice: 'once' } }
		});
		await ended(resumed ?? '');
		expect(await columns()).toEqual([
			['one', 'running', 'First '],
			['two', 'complete', 'It said hi.']
		]);
		expect(rig.server.requests.map(({ body }) => body.model)).toEqual(expect.arrayContaining(['one', 'two', 'two']));
		open.open();
		await ended(first);
	});

	test('after a crash all are interrupted, are still side by side, and one goes on', async () => {
		const open = gate();
		await start({ one: [text('First ', open), text('Rest.')], two: [text('Second ', open)] });
		const runIds = await ask({ compare: ['one', 'two'] });
		await eventually(async () => expect((await columns())?.every(([, , words]) => words !== '')).toBe(true));
		// What the next start finds, as if this process were gone.
		await eventually(async () => {
			for (const runId of runIds) expect((await rig.database.runs.get(runId))?.lastSeq).toBeGreaterThan(1);
		});
		const next = rig.createRunner();
		await next.recover();
		const parts = { ...rig, runner: next };
		const { compared } = await readConversation(parts, 'c');
		expect(compared?.map(({ message }) => message.status)).toEqual(['interrupted', 'interrupted']);
		const messageId = compared?.[0]?.message.id ?? '';
		await next.start({ kind: 'continue', runId: 'more', conversationId: 'c', messageId, tools: [] });
		await rig.events('more', 0, next);
		const after = await readConversation(parts, 'c');
		expect(after.compared?.map(({ message }) => message.status)).toEqual(['complete', 'interrupted']);
		expect(rig.server.requests.at(-1)?.body.model).toBe('one');
		open.open();
		await next.close();
	});

	test('both write the same file: the last one stays, and the other is a version', async () => {
		const [one, two] = [gate(), gate()];
		const skills = {
			'demo/SKILL.md': '---\nname: demo\ndescription: Plans.\n---\nRun `scripts/plan.sh`.',
			'demo/scripts/plan.sh': 'echo "$1" > plan.txt\n'
		};
		const plan = (name: string) => call('use_skill', { skill: 'demo', script: 'plan.sh', args: [name] });
		await start(
			{ one: [plan('first'), text(one, 'Done.')], two: [[text(two, 'Now.'), plan('second')], text(one, 'Done.')] },
			{ skills }
		);
		const requestsOf = (model: string) => rig.server.requests.filter(({ body }) => body.model === model).length;
		const runIds = await ask({ compare: ['one', 'two'] });
		await eventually(() => expect(requestsOf('one')).toBe(2));
		two.open();
		await eventually(() => expect(requestsOf('two')).toBe(2));
		// Both are still being written.
		const [listed] = await rig.workspaces.listVersions('c');
		expect(listed?.path).toBe('plan.txt');
		const contents = (listed?.versions ?? []).map(async ({ id }) => {
			const { file } = await rig.workspaces.read('c', 'plan.txt', id);
			return file.readFile('utf8').finally(() => file.close());
		});
		expect((await Promise.all(contents)).toSorted()).toEqual(['first\n']);
		one.open();
		await ended(...runIds);
	});

	test('deleting the question ends the comparison, once nothing is being written', async () => {
		const open = gate();
		await start({ one: [text(open, 'First.')], two: [text('Second.')], three: [text('Next.')] });
		const [first = '', second = ''] = await ask({ compare: ['one', 'two'] });
		await ended(second);
		const questionId = (await read()).messages[0]?.id ?? '';
		await expect(removeMessage(rig, 'c', questionId)).rejects.toMatchObject({ code: 'conflict' });
		open.open();
		await ended(first);
		await eventually(() => removeMessage(rig, 'c', questionId));
		expect(await read()).toMatchObject({ messages: [], activeRunId: null });
		await ended(...(await ask({ model: 'three' })));
		expect((await read()).messages).toHaveLength(2);
	});
});

test('side by side: what is compared is one to three models and a question, and never a preset', async () => {
	await start({});
	for (const wrong of [
		{ compare: [] },
		{ compare: ['a', 'b', 'c', 'd'] },
		{ compare: ['preset:x'] },
		{ compare: ['a'], continue: 'm' }
	]) {
		await expect(ask(wrong)).rejects.toMatchObject({ code: 'invalid_input' });
	}
	await expect(ask({ compare: ['a'], retry: 'nothing', beside: 'nothing' })).rejects.toMatchObject({
		code: 'not_found'
	});
});
