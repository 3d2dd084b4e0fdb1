/** What gives a chat its title, and what doesn't. */
import { afterEach, expect, test } from 'vitest';
import { gate, item, response, status, text, type Reply } from '../../../../tests/support/model-server.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { createLog } from '../log.ts';
import { createOfflineModel } from '../offline/offline.ts';
import { createTitles } from './titles.ts';

let rig: RunRig;
let titles: ReturnType<typeof createTitles>;
let logged: string[];
afterEach(async () => {
	await titles.close();
	await rig.close();
});

type Parts = Parameters<typeof createTitles>[0];
async function start(script: Reply[], more: Partial<Parts> = {}, options: RigOptions = {}): Promise<void> {
	rig = await createRunRig(script, options);
	logged = [];
	const { store, runner, models, changes } = rig;
	const log = createLog((line) => logged.push(line));
	titles = createTitles({ store, runner, models, changes, log, isEnabled: () => true, ...more });
}

const titleIs = (title: string) =>
	eventually(async () => expect(await rig.store.conversations.get('c')).toMatchObject({ title }));

test('the model names a chat after its first answer: one small request without tools, whose cost is the chat’s', async () => {
	const usage = (cost: number) => ({ input_tokens: 10, output_tokens: 5, cost });
	const heard: string[] = [];
	const changes = { announce: (id: string) => void heard.push(id), follow: async function* () {} };
	await start(
		[
			response([text('Water is H2O.')], { usage: usage(0.5) }),
			response([text('What water is')], { usage: usage(0.25) }),
			text('More.')
		],
		{ changes }
	);
	await rig.run('What is water? Please explain.');
	const { updatedAt } = (await rig.store.conversations.get('c')) ?? {};
	await titleIs('What water is');
	expect(await rig.store.conversations.get('c')).toMatchObject({ updatedAt });
	expect(await rig.store.conversations.usage('c')).toMatchObject({ inputTokens: 20, outputTokens: 10, cost: 0.75 });
	expect((await rig.answer('run-1')).usage).toMatchObject({ cost: 0.5 });
	const { body } = rig.server.requests[1] ?? {};
	expect(body).toMatchObject({ model: 'test/model', max_output_tokens: 500 });
	expect(body?.tools ?? []).toEqual([]);
	// A second tab is notified.
	await eventually(() => expect(heard).toEqual(['c']));
	await rig.run('And ice?');
	rig.server.assertDone();
});

test('a model that makes pictures is asked for text alone', async () => {
	const models = [{ id: 'test/model', architecture: { output_modalities: ['image', 'text'] } }];
	const shared = { modelFor: () => model, effort: () => null };
	await start([text('A cat.'), text('A name')], { models: shared }, { models });
	const model = rig.models.modelFor({});
	await model.contextTokens?.();
	await rig.run('Draw a cat');
	await titleIs('A name');
	expect(rig.server.requests.map(({ body }) => body.modalities)).toEqual([['image', 'text'], ['text']]);
	rig.server.assertDone();
});

test('a title that a person gives meanwhile stays; the request is still paid, and its summary kept', async () => {
	const held = gate();
	await start([text('Yes.'), [text(held, 'Named\n', 'Summary: Says yes.')]]);
	await rig.run('one');
	await rig.server.received(2);
	await rig.store.conversations.rename('c', 'Mine', new Date().toISOString());
	const before = await rig.store.conversations.usage('c');
	held.open();
	await eventually(async () => expect(await rig.store.conversations.usage('c')).not.toEqual(before));
	await titleIs('Mine');
	expect(await rig.store.conversations.get('c')).toMatchObject({ summary: 'Says yes.' });
});

test('a request that fails leaves the first line and the chat as they are, and is logged without what was said', async () => {
	await start([text('Yes.'), status(400, { error: { code: 400, message: 'Unsupported parameter.' } }), text('Again.')]);
	await rig.run('a secret question');
	await eventually(() => expect(logged.join('')).toContain('couldn’t name a chat'));
	expect(logged.join('')).not.toContain('secret');
	await titleIs('a secret question');
	expect(await rig.answer('run-1')).toMatchObject({ status: 'complete', error: null });
	await rig.run('two');
	rig.server.assertDone();
});

test.each([
	['it is turned off', { isEnabled: () => false }, {}],
	['in Demo mode', { models: { modelFor: () => createOfflineModel(), effort: () => null } }, {}],
	['for a program with a key', {}, { apiKeyId: 'key_a' }]
])('nothing is asked if %s', async (_when, parts, more) => {
	await start([text('Yes.'), text('Two.')], parts);
	await rig.run('one', more);
	await rig.run('two', more);
	rig.server.assertDone();
	await titleIs('one');
	expect(await rig.store.conversations.get('c')).not.toHaveProperty('summary');
});

test('a chat that has a title when its first answer ends keeps it without a request', async () => {
	const held = gate();
	await start([[text(held, 'Yes.')], text('Two.')]);
	const { runId } = await rig.ask('one');
	await rig.server.received(1);
	await rig.store.conversations.rename('c', 'Mine', new Date().toISOString());
	held.open();
	await rig.events(runId);
	await rig.run('two');
	rig.server.assertDone();
	await titleIs('Mine');
});

test('the same request sums the chat up, and the search finds the words of the summary', async () => {
	await start([
		text('Water is H2O.'),
		text('Title: What water is\n', 'Summary: Explains the **molecule** to a pupil.')
	]);
	await rig.run('What is water? Please explain.');
	await titleIs('What water is');
	const { data } = await rig.store.conversations.list({ page: 1, limit: 10, query: 'to a PUPIL' });
	expect(data).toMatchObject([{ id: 'c', summary: 'Explains the molecule to a pupil.' }]);
	rig.server.assertDone();
});

test('a request that is still open when the server stops is given up, and the chat keeps its first line', async () => {
	const held = gate();
	await start([text('Yes.'), [text(held, 'Named')]]);
	await rig.run('one');
	await rig.server.received(2);
	await titles.close();
	held.open();
	expect(logged.join('')).toContain('couldn’t name a chat');
	expect(await rig.store.conversations.get('c')).not.toHaveProperty('summary');
	await titleIs('one');
});

test.each([
	['Title: A\nSummary: Charts [sales](https://x.test) by `region`.', 'A', 'Charts sales by region.'],
	['**Title:** A\n\n**Summary:** “B.”', 'A', 'B.'],
	['```json\n{\n  "title": "A",\n  "summary": "B."\n}\n```', 'A', 'B.'],
	['A\nDo you want to know more?', 'A', undefined],
	['Summary: B.', 'one', 'B.'],
	['Summary: B.\nTitle: A', 'A', 'B.'],
	['Title:\nSummary: …', 'one', undefined],
	[`Title: A\nSummary: ${'word '.repeat(1000)}`, 'A', `${'word '.repeat(31)}word…`],
	[`Title: ${'x'.repeat(5000)}`, `${'x'.repeat(80)}…`, undefined],
	['Title: ![A chart](data:image/png;base64,AAAA)\nSummary: \u202eB\u200b.', 'A chart', 'B.']
])('of %j the title is %j and the summary %j', async (said, title, summary) => {
	await start([text('Yes.'), text(said)]);
	await rig.run('one');
	await rig.server.received(2);
	await eventually(async () => expect((await rig.store.conversations.get('c'))?.summary).toBe(summary));
	await titleIs(title);
});

test('of a picture instead of words nothing is taken', async () => {
	const picture = item('image_generation_call', { id: 'i', status: 'completed', result: 'iVBORw0KGgo=' });
	await start([text('Yes.'), response([picture], { usage: { input_tokens: 1, output_tokens: 900 } })]);
	await rig.run('one');
	await eventually(async () => expect(await rig.store.conversations.usage('c')).toMatchObject({ outputTokens: 920 }));
	await titleIs('one');
	expect(await rig.store.conversations.get('c')).not.toHaveProperty('summary');
});

test.each([
	['\n\n# **“The title.”**\nand more', 'The title'],
	['Title: Plans\u202e \u200bfor today…', 'Plans for today…'],
	[`${'word '.repeat(40)}`, `${'word '.repeat(15)}word…`],
	['"…"', 'one'],
	['', 'one']
])('of %j the title is %j', async (said, title) => {
	await start([text('Yes.'), text(said)]);
	await rig.run('one');
	await rig.server.received(2);
	await eventually(async () => expect(await rig.store.conversations.get('c')).toMatchObject({ title }));
	await titles.close();
	await titleIs(title);
});
