/** Fallbacks and providers: what OpenRouter is asked, who answered, and what of it another model is sent later. */
import { afterEach, describe, expect, test } from 'vitest';
import { call, reasoning, response, status, text, type Reply } from '../../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../../tests/support/run-rig.ts';
import { modelRouting, type ModelRouting } from '../../../shared/models.ts';

let rig: RunRig;
afterEach(() => rig?.close());

async function start(script: Reply[], options: RigOptions = {}): Promise<RunRig> {
	rig = await createRunRig(script, { isOpenRouter: true, ...options });
	return rig;
}

const by = (model: string, ...outputs: Parameters<typeof response>[0]) => response(outputs, { model });
const asked = () => rig.server.requests.map(({ body: { model, models, provider } }) => ({ model, models, provider }));
/** Texts of the reasoning in a request, from 1. */
const thoughts = (request: number) => {
	const input = rig.server.requests[request - 1]?.body.input as { type: string; content?: { text: string }[] }[];
	return input.flatMap(({ type, content }) => (type === 'reasoning' ? (content ?? []).map((part) => part.text) : []));
};

describe('F11: fallbacks and providers', () => {
	test('are sent to OpenRouter and to nobody else', async () => {
		const routing: ModelRouting = { fallbacks: ['b/two', 'a/one'], sort: 'price', zdr: true };
		await start([text('Yes.')], { set: { model: 'a/one', routing } });
		await rig.run('hello');
		expect(asked()).toEqual([{ model: 'a/one', models: ['a/one', 'b/two'], provider: { sort: 'price', zdr: true } }]);
		await rig.close();
		await start([text('Yes.')], { isOpenRouter: false, set: { routing } });
		await rig.run('hello');
		expect(asked()).toEqual([{ model: 'test/model', models: undefined, provider: undefined }]);
	});

	test('of a chat replace those of the settings one by one, are kept, and are given back by null', async () => {
		await start([text('1'), text('2'), text('3')], { set: { routing: { zdr: true, sort: 'price' } } });
		await rig.run('one', { choice: { routing: { sort: 'throughput', only: ['deepinfra'], fallbacks: ['b/two'] } } });
		await rig.run('two');
		expect((await rig.store.runs.choiceOf('c')).routing?.only).toEqual(['deepinfra']);
		await rig.run('three', { choice: { routing: null } });
		const chosen = { provider: { zdr: true, sort: 'throughput', only: ['deepinfra'] } };
		expect(asked()).toMatchObject([chosen, chosen, { provider: { zdr: true, sort: 'price' } }]);
		expect(asked()[1]?.models).toEqual(['test/model', 'b/two']);
		expect(asked()[2]?.models).toBe(undefined);
	});

	test.each([
		[{ fallbacks: ['a', 'b', 'c'] }],
		[{ fallbacks: ['has space'] }],
		[{ sort: 'random' }],
		[{ only: ['../x y'] }],
		[{ order: ['x'] }]
	])('%j is refused', (routing) => {
		expect(modelRouting.safeParse(routing).success).toBe(false);
	});
});

describe('F11: a fallback that answers', () => {
	const two = { set: { model: 'a/one', routing: { fallbacks: ['b/two'] } } };

	test('is named in the figures; its reasoning is not sent to the model that was asked for', async () => {
		await start(
			[
				by('b/two-2026-10-01', reasoning('Two thinks.'), call('load_skill', { skill: 'demo' })),
				by('a/one', reasoning('One thinks.'), text('Done.')),
				by('a/one', text('Again.'))
			],
			two
		);
		const { runId } = await rig.run('hello');
		expect((await rig.answer(runId)).usage).toMatchObject({ model: 'a/one', answeredBy: 'b/two' });
		expect(thoughts(2)).toEqual([]);
		const next = await rig.run('more');
		expect(thoughts(3)).toEqual(['One thinks.']);
		expect(JSON.stringify(rig.server.requests[2]?.body)).not.toContain('answered_by');
		expect((await rig.answer(next.runId)).usage?.answeredBy).toBe(undefined);
	});

	test('keeps its own reasoning when the chat switches to it', async () => {
		await start([by('b/two', reasoning('Two thinks.'), text('Done.')), by('b/two', text('Again.'))], two);
		await rig.run('hello');
		await rig.run('more', { choice: { model: 'b/two' } });
		expect(thoughts(2)).toEqual(['Two thinks.']);
	});

	test('behind a router, only the reasoning of the model that answered last is sent', async () => {
		await start(
			[
				by('x/one', reasoning('X thinks.'), call('load_skill', { skill: 'demo' })),
				by('y/two', reasoning('Y thinks.'), text('Done.')),
				by('y/two', text('Again.'))
			],
			{ set: { model: 'openrouter/auto' } }
		);
		const { runId } = await rig.run('hello');
		expect(thoughts(2)).toEqual(['X thinks.']);
		expect((await rig.answer(runId)).usage).toMatchObject({ model: 'openrouter/auto', answeredBy: 'y/two' });
		await rig.run('more');
		expect(thoughts(3)).toEqual(['Y thinks.']);
	});

	test.each([['a/one'], ['a/one-20261001'], ['a/1-one-20261001'], ['a/one:free'], ['nobody/knows']])(
		'is not suspected behind %s, another name of the model asked for',
		async (name) => {
			await start([by(name, text('Yes.'))], {
				...two,
				models: [{ id: 'a/one', canonical_slug: 'a/1-one-20261001' }, { id: 'b/two' }]
			});
			const { runId } = await rig.run('hello');
			expect((await rig.answer(runId)).usage?.answeredBy).toBe(undefined);
		}
	);

	test('must take tools, as far as is known; one that doesn’t is named after an error', async () => {
		const models = [
			{ id: 'a/one', supported_parameters: ['tools'] },
			{ id: 'b/two', supported_parameters: ['temperature'] }
		];
		await start([status(400, { error: { code: 400, message: 'No.' } })], { ...two, models });
		const { runId } = await rig.run('hello');
		expect(asked()[0]?.models).toBe(undefined);
		expect((await rig.answer(runId)).error?.fallbacks).toEqual(['b/two']);
	});

	test('that an error names is told to the page, unless no request could name it', async () => {
		const availability = { fallback_models: ['c/three', 7, 'has space', 'a\u202eb'] };
		await start([status(400, { error: { code: 400, message: 'Overloaded', availability } })]);
		const { runId } = await rig.run('hello');
		const { error } = await rig.answer(runId);
		expect(error?.fallbacks).toEqual(['c/three']);
		expect(error?.message).toContain('Available now: c/three.');
	});
});

test('F11: a fallback that can’t see is not asked to answer about a picture', async () => {
	const see = (id: string, ...more: string[]) => ({ id, architecture: { input_modalities: ['text', ...more] } });
	const models = [see('a/one', 'image'), see('b/two'), see('c/three', 'image')];
	await start([text('A cat.')], { set: { model: 'a/one', routing: { fallbacks: ['b/two', 'c/three'] } }, models });
	const png = Buffer.alloc(24);
	png.write('\x89PNG\r\n\x1a\n', 'latin1');
	png.writeUInt32BE(10, 16);
	png.writeUInt32BE(10, 20);
	await rig.workspaces.write('c', 'cat.png', new Blob([new Uint8Array(png)]).stream());
	await rig.run('What is it?', { message: { id: 'm1', text: 'What is it?', files: ['cat.png'] } });
	expect(asked()[0]?.models).toEqual(['a/one', 'c/three']);
});
