/** `/v1/conversations`: items that responses go on from and add to (F12). */
import OpenAI from 'openai';
import { afterAll, afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { call, gate, status, text, type Reply } from '../support/model-server.ts';
import { createResponsesRigs, openResponses, type ResponsesRig } from '../support/responses-rig.ts';

const rigs = createResponsesRigs({
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"\n'
});
const SAY = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hello'] });
let rig: ResponsesRig;
let client: OpenAI;
afterEach(() => rigs.settle());
afterAll(() => rigs.close());
const open = async (script: Reply[] = []) => {
	rig = await rigs.open(script);
	client = clientOf('key_conversations');
};
const clientOf = (apiKey: string) => new OpenAI({ baseURL: rig.url, apiKey, maxRetries: 0 });
const user = (content: string) => ({ type: 'message' as const, role: 'user' as const, content });
const itemsOf = async (id: string) => (await client.conversations.items.list(id, { order: 'asc', limit: 100 })).data;
const saidIn = (items: object[]) => JSON.stringify(items);

test('F12: a conversation is made, described, given other metadata, and deleted with its items', async () => {
	await open();
	const made = await client.conversations.create({ metadata: { topic: 'a' }, items: [user('Hello')] });
	expect(made).toMatchObject({
		...{ id: expect.stringMatching(/^conv_[0-9a-f]{32}$/), object: 'conversation', metadata: { topic: 'a' } }
	});
	expect(await client.conversations.retrieve(made.id)).toEqual(made);
	const changed = await client.conversations.update(made.id, { metadata: { topic: 'b' } });
	expect(changed).toEqual({ ...made, metadata: { topic: 'b' } });
	expect(await client.conversations.retrieve(made.id)).toEqual(changed);
	expect((await client.conversations.create()).metadata).toEqual({});
	const deleted = { id: made.id, object: 'conversation.deleted', deleted: true };
	expect(await client.conversations.delete(made.id)).toEqual(deleted);
	const gone = [
		client.conversations.retrieve(made.id),
		client.conversations.delete(made.id),
		client.conversations.update(made.id, { metadata: {} }),
		client.conversations.items.list(made.id),
		client.responses.create({ model: 'any', input: 'Hi', conversation: made.id })
	];
	await Promise.all(
		gone.map((each) => expect(each).rejects.toMatchObject({ status: 404, code: 'conversation_not_found' }))
	);
	expect(await rig.app.store.responseConversations.items(made.id)).toEqual([]);
});

test('F12: one that would be too much to be read at once takes no more, and stays as it was', async () => {
	await open([text('Yes.')]);
	const { id } = await client.conversations.create();
	const much = 'x'.repeat(9_000_000);
	await client.conversations.items.create(id, { items: [user(much)] });
	const full = { status: 400, code: 'conversation_full' };
	await expect(client.conversations.items.create(id, { items: [user(much)] })).rejects.toMatchObject(full);
	await expect(client.conversations.create({ items: [user(much), user(much)] })).rejects.toMatchObject(full);
	expect(await itemsOf(id)).toHaveLength(1);
	await client.responses.create({ model: 'any', input: 'Hi', conversation: id });
	expect(await itemsOf(id)).toHaveLength(3);
});

test('F12: its items are added, listed in pages, read and deleted one by one', async () => {
	await open();
	const { id } = await client.conversations.create();
	const added = await client.conversations.items.create(id, { items: [user('One'), user('Two'), user('Three')] });
	expect(added).toMatchObject({ object: 'list', has_more: false, first_id: added.data[0]?.id });
	expect(added.data.map((item) => saidIn([item]))).toEqual(
		['One', 'Two', 'Three'].map((words) => expect.stringContaining(words))
	);
	const listed = [];
	for await (const item of client.conversations.items.list(id, { limit: 2 })) listed.push(item);
	expect(listed).toEqual(added.data.toReversed());
	const [first, second] = added.data.map((item) => item.id ?? '') as [string, string];
	expect(await client.conversations.items.retrieve(second, { conversation_id: id })).toEqual(added.data[1]);
	expect((await client.conversations.items.delete(first, { conversation_id: id })).id).toBe(id);
	expect((await itemsOf(id)).map((item) => item.id)).toEqual(added.data.slice(1).map((item) => item.id));
	const gone = [
		client.conversations.items.retrieve(first, { conversation_id: id }),
		client.conversations.items.delete(first, { conversation_id: id })
	];
	await Promise.all(gone.map((each) => expect(each).rejects.toMatchObject({ status: 404, code: 'item_not_found' })));
});

test('F12: a response goes on from it and adds to it, with what its skills did; a deleted item is forgotten', async () => {
	await open([[SAY], text('It was said.'), text('Hello, I said.'), text('Nothing.')]);
	const { id } = await client.conversations.create({ items: [user('My name is Ada.')] });
	const first = await client.responses.create({ model: 'any', input: 'Say hello', conversation: id });
	expect(first).toMatchObject({ status: 'completed', conversation: { id } });
	const items = await itemsOf(id);
	expect(items.map(({ type }) => type)).toEqual(['message', 'message', 'reasoning', 'message']);
	expect(saidIn(items)).not.toContain('encrypted_content');
	await client.responses.create({ model: 'any', input: 'What did you say?', conversation: { id } });
	const sent = rig.model?.requests[2]?.body.input as { type: string }[];
	expect(saidIn(sent)).toMatch(/Ada[^]*Say hello[^]*said: hello[^]*It was said[^]*What did you say/);
	expect(sent.map(({ type }) => type)).toContain('function_call_output');
	const name = (await itemsOf(id))[0]?.id ?? '';
	await client.conversations.items.delete(name, { conversation_id: id });
	await client.responses.create({ model: 'any', input: 'And my name?', conversation: id });
	expect(saidIn(rig.model?.requests[3]?.body.input as object[])).not.toContain('Ada');
	expect((await itemsOf(id)).length).toBe(7);
});

test('F12: the result of a call that was deleted isn’t sent, as no model’s server would take it', async () => {
	await open([text('Fine.')]);
	const { id } = await client.conversations.create({
		items: [
			{ type: 'function_call', call_id: 'c', name: 'look_up', arguments: '{}' },
			{ type: 'function_call_output', call_id: 'c', output: 'what was found' }
		]
	});
	const [made] = await itemsOf(id);
	await client.conversations.items.delete(made?.id ?? '', { conversation_id: id });
	await client.responses.create({ model: 'any', input: 'Go on', conversation: id });
	expect(saidIn(rig.model?.requests[0]?.body.input as object[])).not.toContain('what was found');
	expect(saidIn(await itemsOf(id))).toContain('what was found');
});

test('F12: a response in the background adds to it, too; one that fails or is cancelled adds nothing', async () => {
	const rest = gate();
	await open([text('Well.'), status(400, { error: { message: 'No.' } }), text('Half', rest)]);
	const { id } = await client.conversations.create();
	const asked = { model: 'any', conversation: id, background: true };
	const well = await client.responses.create({ ...asked, input: 'One' });
	await eventually(async () => expect((await client.responses.retrieve(well.id)).status).toBe('completed'));
	const items = await itemsOf(id);
	expect(saidIn(items)).toMatch(/One[^]*Well/);
	const failed = await client.responses.create({ ...asked, input: 'Two' });
	await eventually(async () => expect((await client.responses.retrieve(failed.id)).status).toBe('failed'));
	const { id: cancelled } = await client.responses.create({ ...asked, input: 'Three' });
	await rig.model?.received(3);
	expect((await client.responses.cancel(cancelled)).status).toBe('cancelled');
	expect(await itemsOf(id)).toEqual(items);
});

test('F12: two responses at once both add to it, each in one piece', async () => {
	const [one, two] = [gate(), gate()];
	await open([text('First', one), text('Second', two)]);
	const { id } = await client.conversations.create();
	const ask = (input: string) => client.responses.create({ model: 'any', input, conversation: id });
	const both = [ask('A?')];
	await rig.model?.received(1);
	both.push(ask('B?'));
	await rig.model?.received(2);
	one.open();
	two.open();
	await Promise.all(both);
	expect(saidIn(await itemsOf(id))).toMatch(/(A\?[^]*First[^]*B\?[^]*Second)|(B\?[^]*Second[^]*A\?[^]*First)/);
});

test('F12, E18: nobody but its own key sees it, changes it or goes on from it', async () => {
	await open();
	const { id } = await client.conversations.create({ items: [user('Mine')] });
	const [item] = await itemsOf(id);
	for (const other of [clientOf('key_someone_else'), clientOf('none')]) {
		const refused = [
			other.conversations.retrieve(id),
			other.conversations.update(id, { metadata: {} }),
			other.conversations.delete(id),
			other.conversations.items.list(id),
			other.conversations.items.create(id, { items: [user('x')] }),
			other.conversations.items.retrieve(item?.id ?? '', { conversation_id: id }),
			other.conversations.items.delete(item?.id ?? '', { conversation_id: id }),
			other.responses.create({ model: 'any', input: 'Hi', conversation: id }),
			other.responses.inputTokens.count({ model: 'any', input: 'Hi', conversation: id })
		];
		await Promise.all(refused.map((each) => expect(each).rejects.toMatchObject({ status: 404 })));
	}
	expect(saidIn(await itemsOf(id))).toContain('Mine');
});

test('F12: bodies that are wrong are refused, and never a 500; what can’t be added leaves no conversation behind', async () => {
	await open();
	const { id } = await client.conversations.create();
	const post = async (path: string, body: unknown) => {
		const answer = await fetch(`${rig.url}${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization: 'Bearer key_conversations' },
			body: typeof body === 'string' ? body : JSON.stringify(body)
		});
		return { status: answer.status, body: (await answer.json()) as unknown };
	};
	const metadata = (count: number) =>
		Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
	const orphan = [{ type: 'function_call_output', call_id: 'none', output: 'x' }];
	const wrongItems = [
		...[null, 'x', {}, [null], [[]], orphan, [{ type: 'item_reference', id: 'msg_none' }]],
		...[Array.from({ length: 21 }, () => user('x')), [{ type: 'compaction', encrypted_content: 'orsc1.x' }]]
	];
	const wrong: [string, unknown][] = [
		...['[]', '{', '5', ''].map((body): [string, unknown] => ['/conversations', body]),
		...wrongItems.slice(1).map((items): [string, unknown] => ['/conversations', { items }]),
		...wrongItems.map((items): [string, unknown] => [`/conversations/${id}/items`, { items }]),
		[`/conversations/${id}/items`, { items: [] }],
		['/conversations', { metadata: metadata(17) }],
		['/conversations', { metadata: { a: 5 } }],
		[`/conversations/${id}`, {}],
		[`/conversations/${id}`, { metadata: null }],
		[`/conversations/${id}`, { metadata: { a: 'x'.repeat(513) } }],
		['/responses', { input: 'Hi', conversation: 5 }],
		['/responses', { input: 'Hi', conversation: {} }],
		['/responses', { input: 'Hi', conversation: id, previous_response_id: 'resp_0' }],
		['/responses', { conversation: id }]
	];
	const before = await rig.app.store.responseConversations.items(id);
	for (const [path, body] of wrong) {
		const refused = await post(path, body);
		expect(refused, `${path} ${JSON.stringify(body)}`).toMatchObject({
			...{ status: 400, body: { error: { message: expect.any(String), type: 'invalid_request_error' } } }
		});
	}
	expect(await rig.app.store.responseConversations.items(id)).toEqual(before);
	for (const odd of ['conv_none', '%00', '__proto__', 'x'.repeat(1000)]) {
		expect((await rig.get(`/conversations/${odd}`)).status).toBe(404);
		expect((await rig.get(`/conversations/${odd}/items/x`)).status).toBe(404);
	}
});

test('F12: all conversations of a key have a limit together, which says what to do; deleting one makes room', async () => {
	const own = await openResponses({ script: [text('Yes.')], env: { RESPONSES_MB: '1' } });
	const [mine, others] = ['key_full', 'key_other'].map(
		(apiKey) => new OpenAI({ baseURL: own.url, apiKey, maxRetries: 0 })
	) as [OpenAI, OpenAI];
	const much = user('x'.repeat(400_000));
	const first = await mine.conversations.create({ items: [much] });
	const second = await mine.conversations.create({ items: [much] });
	const full = {
		...{ status: 400, code: 'storage_full' },
		message: expect.stringMatching(/1 MB together. Delete some .* or have RESPONSES_MB raised/)
	};
	await expect(mine.conversations.items.create(second.id, { items: [much] })).rejects.toMatchObject(full);
	await expect(mine.conversations.create({ items: [much] })).rejects.toMatchObject(full);
	expect((await mine.conversations.items.list(second.id)).data).toHaveLength(1);
	expect((await others.conversations.create({ items: [much] })).id).toMatch(/^conv_/);
	// A key that is just below is told so before the model is asked.
	await mine.conversations.items.create(second.id, { items: [user('x'.repeat(247_000))] });
	const asked = { model: 'any', input: 'Hi', conversation: second.id };
	await expect(mine.responses.create(asked)).rejects.toMatchObject({ ...full, param: 'conversation' });
	expect(own.model?.requests).toHaveLength(0);
	await mine.conversations.delete(first.id);
	expect((await mine.responses.create(asked)).output_text).toBe('Yes.');
	await own.close();
});
