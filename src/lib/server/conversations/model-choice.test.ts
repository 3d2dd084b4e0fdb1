/** Which model answers a run, how long it thinks and what it may cost: set by the request, else the chat, else settings. */
import { afterEach, describe, expect, test } from 'vitest';
import { call, cited, gate, item, raw, status, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { runAgentInput } from '../../shared/api.ts';
import type { Preset } from '../../shared/models.ts';
import type { RunRequest } from '../turns/run-request.ts';
import { toRunRequests } from './agui-input.ts';
import { readRunOffer } from './conversation-skills.ts';

let rig: RunRig;
afterEach(() => rig?.close());

async function start(script: Reply[], options: RigOptions = {}): Promise<RunRig> {
	rig = await createRunRig(script, options);
	return rig;
}

/** Each request's model and effort. */
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

describe('web tools', () => {
	/** Types of each request's tools that aren't functions. */
	const offered = () =>
		rig.server.requests.map(({ body }) =>
			((body.tools ?? []) as { type: string }[]).map(({ type }) => type).filter((type) => type !== 'function')
		);
	const [SEARCH, FETCH, DATE] = ['openrouter:web_search', 'openrouter:web_fetch', 'openrouter:datetime'];
	const search = (fields: object = {}) =>
		item('openrouter:web_search', {
			id: 'ws_1',
			status: 'completed',
			action: { type: 'search', query: 'tides', sources: [{ type: 'url', url: 'https://a.example/' }] },
			...fields
		});
	const stepsOf = async (runId: string) => (await rig.answer(runId)).parts.filter((part) => part.type === 'tool');

	test('are those of the request, else of the chat, else of the settings; first of all tools; a program with a key only gets what it asks for', async () => {
		await start(
			Array.from({ length: 6 }, () => text('Yes.')),
			{ isOpenRouter: true, set: { web: ['search'] } }
		);
		await rig.run('one');
		await rig.run('two', { choice: { web: ['search', 'fetch', 'date'] } });
		await rig.run('three');
		await rig.run('four', { choice: { web: [] } });
		await rig.run('five', { choice: { web: null } });
		await rig.run('six', { apiKeyId: 'key_a', conversationId: 'd' });
		expect(offered()).toEqual([[SEARCH], [SEARCH, FETCH, DATE], [SEARCH, FETCH, DATE], [], [SEARCH], []]);
		const tools = rig.server.requests[1]?.body.tools as object[];
		const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
		expect(tools.slice(0, 3)).toEqual([{ type: SEARCH }, { type: FETCH }, { type: DATE, parameters: { timezone } }]);
		expect(tools.length).toBeGreaterThan(3);
	});

	test('are not offered to another server, nor to a model without tools', async () => {
		await start([text('Yes.')], { set: { web: ['search'] } });
		await rig.run('one');
		expect(offered()).toEqual([[]]);
		await rig.close();
		const models = [{ id: 'test/model', supported_parameters: ['temperature'] }];
		await start([text('Yes.')], { isOpenRouter: true, set: { web: ['search'] }, models });
		await rig.run('one');
		expect(offered()).toEqual([[]]);
	});

	test('are steps with query, sources and cost; the model that used them gets them back as they came, another one or another server not', async () => {
		const annotation = { type: 'url_citation', url: 'https://a.example/', title: 'A', start_index: 0, end_index: 5 };
		const page = item('openrouter:web_fetch', {
			id: 'wf_1',
			status: 'completed',
			url: 'https://a.example/x',
			title: 'Tides',
			content: 'High at noon.',
			cost: 0.001
		});
		const fields = { query: 'tides' };
		await start([[search(), page, cited('Noon.', annotation)], text('Yes.'), text('No.')], { isOpenRouter: true });
		const { runId } = await rig.run('When?');
		expect(await stepsOf(runId)).toMatchObject([
			{ name: SEARCH, status: 'done', arguments: JSON.stringify(fields), result: 'https://a.example/' },
			{
				name: FETCH,
				status: 'done',
				arguments: '{"url":"https://a.example/x"}',
				result: 'Cost: $0.001\ntitle: Tides\ncontent: High at noon.'
			}
		]);
		await rig.run('Sure?');
		await rig.run('Really?', { choice: { model: 'acme/large' } });
		const sent = rig.server.requests.map(({ body }) => body.input as object[]);
		expect(sent[1]).toContainEqual(search().item);
		expect(sent[1]).toContainEqual(page.item);
		expect(JSON.stringify(sent[2])).not.toContain('openrouter:');
		expect(JSON.stringify(sent[2])).toContain('Noon.');
	});

	test.each([
		[
			'that fails',
			[[search({ status: 'failed', error: 'The search engine is down.' }), text('Sorry.')]],
			'The search engine is down.',
			'complete'
		],
		[
			'that is left half-way',
			[[search({ status: 'in_progress' }), text('Sorry.')]],
			'The model’s server didn’t finish this.',
			'complete'
		],
		[
			'whose answer breaks off',
			[raw({ type: 'response.output_item.added', output_index: 0, item: { type: SEARCH, id: 'ws_1' } })],
			'The model’s server ended before this was done.',
			'failed'
		]
	] as const)(
		'one %s is a failed step that says so, and the next message works',
		async (_how, script, result, ended) => {
			await start([...(script as unknown as Reply[]), text('Fine.')], { isOpenRouter: true, set: { web: ['search'] } });
			const { runId } = await rig.run('When?');
			expect(await stepsOf(runId)).toMatchObject([
				{ name: SEARCH, status: 'failed', result: expect.stringContaining(result) }
			]);
			expect((await rig.answer(runId)).status).toBe(ended);
			const next = await rig.run('Again?');
			expect((await rig.answer(next.runId)).status).toBe('complete');
			expect(JSON.stringify(rig.server.requests[1]?.body.input)).not.toContain('ws_1');
		}
	);

	test('whatever their items say, the answer is shown', async () => {
		const odd = [
			{ action: null },
			{ action: [] },
			{ action: { sources: 'x', query: { a: 1 } } },
			{ error: { code: 1 } },
			{ result: 7 },
			{ content: 'x'.repeat(100_000) }
		];
		await start([[...odd.map((fields, index) => search({ id: `ws_${index}`, ...fields })), text('Here.')]], {
			isOpenRouter: true
		});
		const { runId } = await rig.run('When?');
		const answer = await rig.answer(runId);
		expect(answer.status).toBe('complete');
		expect(answer.parts).toHaveLength(odd.length + 1);
		expect(JSON.stringify(answer).length).toBeLessThan(30_000);
	});
});

/** Each request's instructions. */
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
	// Text that chats share comes first, so the server can reuse its cache for it.
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
	toRunRequests(
		runAgentInput.parse({
			...{ threadId: 'c', runId: 'r', forwardedProps },
			messages: [{ id: 'm', role: 'user', content: 'hello' }]
		})
	)[0] as RunRequest;

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

const REVIEW: Preset = {
	...{ name: 'Review', icon: '🔍', model: 'acme/large', effort: 'high', web: ['date'], approval: null },
	routing: { fallbacks: ['acme/medium'], zdr: true },
	...{ instructions: 'You review code.', skills: ['demo'] }
};

test('a preset that is named as the model gives its chat model, effort, routing, instructions and skills, once', async () => {
	const set: NonNullable<RigOptions['set']> = { presets: { review: REVIEW } };
	await start([text('One.'), text('Two.'), text('Three.'), text('Four.')], { set });
	await rig.run('one', { choice: { model: 'preset:review' } });
	expect(await rig.store.conversationSkills.list('c')).toMatchObject([{ skill: 'demo', state: 'pinned' }]);
	expect(told()[0]).toContain('for this chat\n\nYou review code.');
	expect(await rig.store.runs.choiceOf('c')).toMatchObject({
		web: ['date'],
		routing: REVIEW.routing,
		preset: 'review'
	});
	// When a preset is changed or removed, a chat keeps what it had and what it chose since.
	set.presets = {};
	await rig.run('two', { choice: { model: 'preset:review', effort: 'low' } });
	await rig.run('three', { choice: { model: 'acme/small' } });
	await rig.run('four', { choice: { model: 'preset:review' } });
	expect(asked()).toEqual([
		['acme/large', 'high'],
		['acme/large', 'low'],
		['acme/small', 'low'],
		['acme/small', 'low']
	]);
	expect(told()[3]).toBe(told()[0]);
});

test.each(['gone', '__proto__', 'constructor', ''])(
	'a preset %j that is not there is refused, and nothing is stored',
	async (id) => {
		await start([], { set: { presets: { review: REVIEW } } });
		await expect(rig.ask('one', { choice: { model: `preset:${id}` } })).rejects.toMatchObject({ code: 'not_found' });
		expect(await rig.store.conversations.get('c')).toBeNull();
	}
);

test('a preset that asks makes scripts of trusted skills wait, and none can let more run than the server does', async () => {
	const say = call('use_skill', { skill: 'demo', script: 'say.sh', args: ['x'] });
	await start([say, say], { set: { presets: { careful: { ...REVIEW, approval: 'ask' } } } });
	const { list } = await rig.run('one', { choice: { model: 'preset:careful' } });
	expect(list.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } });
	await rig.close();
	await start([say], { approvals: 'ask', set: { presets: { easy: REVIEW } } });
	const second = await rig.run('one', { choice: { model: 'preset:easy' } });
	expect(second.list.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } });
});
