/** Which model answers a run, how long it thinks and what it may cost: the request, else the conversation, else the settings. */
import { afterEach, expect, test } from 'vitest';
import { call, gate, status, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { runAgentInput } from '../../shared/api.ts';
import { toRunRequest } from './agui-input.ts';
import { readRunOffer } from './conversation-skills.ts';

let rig: RunRig;
afterEach(() => rig?.close());

async function start(script: Reply[], options: RigOptions = {}): Promise<RunRig> {
	rig = await createRunRig(script, options);
	return rig;
}

/** Model and effort of each request. */
const asked = () =>
	rig.server.requests.map(({ body }) => [body.model, (body.reasoning as { effort?: string } | undefined)?.effort]);

test('F11: model and effort of a request answer it, and from then on the conversation; null gives them back', async () => {
	await start(
		Array.from({ length: 5 }, () => text('Yes.')),
		{ set: { model: 'set/model', effort: 'low' } }
	);
	const first = await rig.run('one');
	await rig.run('two', { choice: { model: 'acme/large', effort: 'high' } });
	const third = await rig.run('three');
	await rig.run('four', { choice: { effort: null } });
	await rig.run('five', { choice: { model: null } });
	expect(asked()).toEqual([
		['set/model', 'low'],
		['acme/large', 'high'],
		['acme/large', 'high'],
		['acme/large', 'low'],
		['set/model', 'low']
	]);
	expect(await rig.store.runs.get(first.runId)).toMatchObject({ model: 'set/model' });
	expect(await rig.store.runs.get(third.runId)).toMatchObject({ model: 'acme/large' });
	expect(await rig.store.runs.choiceOf('c')).toEqual({ model: null, effort: null });
});

test('F11: another answer and more of an answer take a choice as well', async () => {
	await start([text('One.'), text('Two.'), text('Three.')]);
	await rig.run('hello');
	const common = { conversationId: 'c', tools: [] };
	const retried = { ...common, runId: 'again', kind: 'retry' as const, questionId: 'question-1' };
	await rig.runner.start({ ...retried, choice: { model: 'acme/large' } });
	await rig.events('again');
	const { id: messageId } = await rig.answer('again');
	await rig.runner.start({ ...common, runId: 'more', kind: 'continue', messageId, choice: { effort: 'minimal' } });
	await rig.events('more');
	expect(asked()).toEqual([
		['test/model', undefined],
		['acme/large', undefined],
		['acme/large', 'minimal']
	]);
});

/** The instructions of each request. */
const told = () => rig.server.requests.map(({ body }) => String(body.instructions));

test('custom instructions for all chats and for this one stand at the end, in this order, and count from the next turn', async () => {
	const set: NonNullable<RigOptions['set']> = { instructions: 'Be brief.' };
	const held = gate();
	await start(
		[[text(held, 'First'), call('load_skill', { skill: 'demo' })], text('Yes.'), text('Two.'), text('Three.')],
		{
			set
		}
	);
	const { runId } = await rig.ask('one', { choice: { instructions: 'Answer in verse.' } });
	await rig.server.received(1);
	set.instructions = 'Be long.';
	await rig.store.conversations.change('c', { instructions: 'Answer in prose.' }, new Date().toISOString());
	held.open();
	await rig.events(runId);
	await rig.run('two');
	await rig.run('three', { choice: { instructions: '' } });
	const [first = '', same, second = '', third = ''] = told();
	expect(first).toMatch(/for all chats\n\nBe brief\.\n\n## [^\n]*for this chat\n\nAnswer in verse\.$/);
	expect(same).toBe(first);
	expect(second).toMatch(/Be long\.\n\n## [^\n]*\n\nAnswer in prose\.$/);
	expect(third).toMatch(/Be long\.$/);
	// Whatever more chats have in common stands before, so a server can reuse its cache of that.
	const before = (all: string) => all.slice(0, all.indexOf('## Instructions from the user'));
	expect([before(second), before(third)]).toEqual([before(first), before(first)]);
	expect(await rig.store.runs.choiceOf('c')).toEqual({ model: null, effort: null });
	expect((await readRunOffer(rig.runner, runId, AbortSignal.timeout(10_000))).offer?.custom).toEqual({
		allChats: 'Be brief.',
		thisChat: 'Answer in verse.'
	});
});

test('the owner’s instructions for all chats are not told to a program with a key; those of its chat are', async () => {
	await start([text('Yes.')], { set: { instructions: 'I am Anna.' } });
	await rig.run('one', { apiKeyId: 'key_a', choice: { instructions: 'Be kind.' } });
	expect(told()[0]).not.toContain('Anna');
	expect(told()[0]).toMatch(/for this chat\n\nBe kind\.$/);
});

test('F11: nothing is sent of effort where nobody has said any', async () => {
	await start([text('Yes.')]);
	await rig.run('hello');
	expect(rig.server.requests[0]?.body).not.toHaveProperty('reasoning');
});

test('F11: a run keeps model, effort and limits that it began with, whatever is set meanwhile', async () => {
	const set: NonNullable<RigOptions['set']> = { model: 'first/model', effort: 'low' };
	const limits = { maxSteps: 5 };
	const held = gate();
	await start([[text(held, 'First'), call('load_skill', { skill: 'demo' })], text('Yes.'), text('Next.')], {
		set,
		limits
	});
	const { runId } = await rig.ask('one');
	await rig.server.received(1);
	Object.assign(set, { model: 'second/model', effort: null });
	limits.maxSteps = 1;
	held.open();
	expect((await rig.events(runId)).at(-1)?.event).toMatchObject({ type: 'RUN_FINISHED' });
	await rig.run('two');
	expect(asked()).toEqual([
		['first/model', 'low'],
		['first/model', 'low'],
		['second/model', undefined]
	]);
	expect(await rig.answer(runId)).toMatchObject({ limit: null });
	rig.server.assertDone();
});

test('F11: limits that are set count for the next run', async () => {
	const limits: { maxSteps?: number } = {};
	const load = () => call('load_skill', { skill: 'demo' });
	await start([load(), text('Done.'), load(), text('Cut.')], { limits });
	const first = await rig.run('one');
	limits.maxSteps = 1;
	const second = await rig.run('two');
	expect(rig.server.requests.map(({ body }) => body.tool_choice)).toEqual(['auto', 'auto', 'auto', 'none']);
	expect([first, second].map(({ list }) => list.at(-1)?.type)).toEqual(['RUN_FINISHED', 'RUN_FINISHED']);
	rig.server.assertDone();
});

test('F11: a model that its server does not have is said to be missing, and the next one answers', async () => {
	const missing = status(404, { error: { code: 404, message: 'No endpoints found' } });
	await start([missing, text('Yes.')]);
	const { list } = await rig.run('one', { choice: { model: 'gone/model' } });
	expect(list.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'model_not_found' });
	expect((await rig.run('two', { choice: { model: null } })).list.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
});

const requestOf = (forwardedProps: unknown) =>
	toRunRequest(
		runAgentInput.parse({
			...{ threadId: 'c', runId: 'r', forwardedProps },
			messages: [{ id: 'm', role: 'user', content: 'hello' }]
		})
	);

test('F11, F7: choice and pins are read from forwardedProps; what is not said stays, and nonsense is refused', () => {
	expect(requestOf({ model: 'a/b', effort: null, pins: ['demo'] })).toMatchObject({
		...{ choice: { model: 'a/b', effort: null }, pins: ['demo'] }
	});
	expect(requestOf({ retry: 'q', effort: 'low' })).toMatchObject({ kind: 'retry', choice: { effort: 'low' } });
	expect(requestOf({})).not.toHaveProperty('choice');
	expect(requestOf({})).not.toHaveProperty('pins');
	for (const wrong of [
		{ model: 'a b' },
		{ model: '' },
		{ effort: 'hard' },
		{ pins: 'demo' },
		{ pins: [''] },
		{ instructions: 'x'.repeat(8001) }
	]) {
		expect(() => requestOf(wrong)).toThrow('forwardedProps');
	}
});
