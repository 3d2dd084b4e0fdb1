/** Fallbacks and providers: what OpenRouter is asked, who answered, and what of it other models are sent later. */
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
/** Texts of a request's reasoning; requests count from 1. */
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

describe('F11: a fallback that lacks what the request needs', () => {
	const model = (id: string, inputs: string[], outputs = ['text'], tools = ['tools']) => ({
		id,
		architecture: { input_modalities: ['text', ...inputs], output_modalities: outputs },
		supported_parameters: tools
	});
	const png = Buffer.alloc(24);
	png.write('\x89PNG\r\n\x1a\n', 'latin1');
	png.writeUInt32BE(10, 16);
	png.writeUInt32BE(10, 20);
	const pdf = Buffer.from(
		'%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj ' +
			'3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Size 4/Root 1 0 R>>'
	);
	const begin = (fallbacks: string[], models: object[]) =>
		start([text('Yes.'), text('No.')], { set: { model: 'a/one', routing: { fallbacks } }, models: models as never });
	const ask = async (id: string, file?: [string, Buffer]) => {
		if (file) await rig.workspaces.write('c', file[0], new Blob([new Uint8Array(file[1])]).stream());
		const { runId } = await rig.run(id, { message: { id, text: 'What is it?', files: file ? [file[0]] : [] } });
		return (await rig.answer(runId)).usage?.notAsked;
	};

	test.each([
		['sight', model('b/two', ['file']), ['cat.png', png], 'can’t see pictures'],
		['files', model('b/two', ['image']), ['a.pdf', pdf], 'can’t read attached files'],
		['tools', model('b/two', ['image', 'file'], ['text'], ['temperature']), undefined, 'can’t use tools']
	] as const)('(%s) is not asked, and the figures of the answer say so', async (_what, two, file, why) => {
		await begin(['b/two', 'c/three'], [model('a/one', ['image', 'file']), two, model('c/three', ['image', 'file'])]);
		const said = await ask('m1', file as [string, Buffer] | undefined);
		expect(said).toEqual([`b/two ${why}, so it wasn’t asked as a fallback.`]);
		expect(asked()[0]?.models).toEqual(['a/one', 'c/three']);
	});

	test('is asked once nothing needs it; one of which nobody knows is asked', async () => {
		await begin(['b/two', 'd/unknown'], [model('a/one', ['image']), model('b/two', [])]);
		expect(await ask('m1')).toBe(undefined);
		expect(asked()[0]?.models).toEqual(['a/one', 'b/two', 'd/unknown']);
		await ask('m2', ['cat.png', png]);
		expect(asked()[1]?.models).toEqual(['a/one', 'd/unknown']);
	});

	test('is not asked to make a picture that it can’t make', async () => {
		await begin(['b/two', 'd/unknown'], [model('a/one', [], ['image', 'text']), model('b/two', [])]);
		await rig.run('hello');
		await rig.run('hello again');
		expect(asked()[1]?.models).toEqual(['a/one', 'd/unknown']);
	});
});
