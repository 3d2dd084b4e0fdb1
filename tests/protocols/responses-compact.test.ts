/** `POST /v1/responses/compact`: what's kept word for word, what's sealed, and how a conversation continues from it. */
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest';
import { call, endless, gate, response, status, text, type Reply } from '../support/model-server.ts';
import {
	createResponsesRigs,
	openResponses,
	type ResponsesRig,
	type ResponsesRigOptions
} from '../support/responses-rig.ts';
import { connectResponses } from '../support/responses-socket.ts';
import { COUNT_WORDS, FIVE_WORDS, SALES, SUMMARISE, missingSums } from '../support/tasks.ts';

let rig: ResponsesRig;
afterEach(async () => {
	await rigs.settle();
});

const SKILLS = { 'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nSay `hello` to all.' };
const rigs = createResponsesRigs(SKILLS);
afterAll(() => rigs.close());
const open = async (script: Reply[], more?: ResponsesRigOptions) => (rig = await rigs.open(script, more));
const sent = (number: number) => rig.model?.requests[number]?.body ?? {};
const sentItems = (number: number) => sent(number).input as Record<string, unknown>[];
const textOf = (body: { output: { type: string; content?: { text: string }[] }[] }) =>
	body.output
		.flatMap(({ type, content = [] }) => (type === 'message' ? content.map((part) => part.text) : []))
		.join('');
const message = (role: string, words: string) => ({ type: 'message', role, content: words });
const dataUrl = `data:text/csv;base64,${Buffer.from(SALES.text).toString('base64')}`;

const TALK = [
	message('developer', 'Be polite.'),
	message('user', 'My code word is slate.'),
	message('assistant', 'I remember it.'),
	message('user', 'We meet on Tuesday.')
];

test('F12, F7: the user’s words are kept, the rest is a sealed summary, and the model goes on from both', async () => {
	await open([
		response([text('The code word is slate; they meet on Tuesday.')], {
			usage: { input_tokens: 50, output_tokens: 12, total_tokens: 62 }
		}),
		text('Slate.')
	]);
	const { status: code, body } = await rig.compact({
		...{ model: 'some/model', input: TALK, instructions: 'You keep dates.', prompt_cache_key: 'k' }
	});
	expect(code).toBe(200);
	expect(body.output).toMatchObject([
		{ type: 'message', role: 'developer', status: 'completed', content: [{ type: 'input_text', text: 'Be polite.' }] },
		{ type: 'message', role: 'user', content: [{ text: 'My code word is slate.' }] },
		{ type: 'message', role: 'user', content: [{ text: 'We meet on Tuesday.' }] },
		{ type: 'compaction', id: expect.stringMatching(/^cmp_/) }
	]);
	expect(body).toMatchObject({ object: 'response.compaction', usage: { input_tokens: 50, output_tokens: 12 } });
	expect(JSON.stringify(body)).not.toContain('The code word is');
	expect(sent(0)).toMatchObject({ model: 'some/model', prompt_cache_key: 'k' });
	expect(String(sent(0).instructions)).toContain('You keep dates.');
	expect(JSON.stringify(sentItems(0))).toContain('Assistant: I remember it.');

	const next = await rig.ask({ model: 'some/model', input: [...body.output, message('user', 'The code word?')] });
	expect(textOf(next.body)).toBe('Slate.');
	const words = sentItems(1).map(({ content }) => (content as { text: string }[])[0]?.text ?? '');
	expect(words).toHaveLength(5);
	expect(words[3]).toContain('The code word is slate; they meet on Tuesday.');
	expect(words.join()).not.toContain('I remember it.');
});

test('F12: a chain is compacted by its id, with its skills and the calls that wait for their output', async () => {
	await open([
		call('load_skill', { skill: 'demo' }),
		call('get_weather', { place: 'Rome' }, 'call_w'),
		text('They asked for the weather.'),
		text('Warm.')
	]);
	const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }];
	const asked = await rig.ask({ input: 'Say hello, then the weather', tools });
	const { body } = await rig.compact({ model: 'some/model', previous_response_id: asked.body.id });
	expect(body.output.map(({ type }: { type: string }) => type)).toEqual(['message', 'compaction']);
	const output = { type: 'function_call_output', call_id: 'call_w', output: '30 degrees' };
	const { status: code } = await rig.ask({ model: 'some/model', input: [...body.output, output], tools });
	expect(code).toBe(200);
	const items = sentItems(3);
	expect(items.map(({ type }) => type)).toEqual([
		...['message', 'message', 'function_call', 'function_call_output', 'function_call', 'function_call_output']
	]);
	expect(String(items[3]?.output)).toContain('<skill_content');
	expect(items.slice(4)).toMatchObject([{ name: 'get_weather' }, { output: '30 degrees' }]);
	// The result isn't a stored response: only its items continue the conversation.
	expect((await rig.ask({ input: 'x', previous_response_id: body.id })).body.error.code).toBe(
		'previous_response_not_found'
	);
	expect((await rig.get(`/responses/${body.id}`)).status).toBe(404);
});

test('F12: what was compacted can be compacted again; the earlier summary goes into the new one', async () => {
	await open([text('SUMMARY-ONE'), text('SUMMARY-TWO'), text('Yes.')]);
	const first = (await rig.compact({ model: 'some/model', input: TALK })).body;
	const second = (await rig.compact({ model: 'some/model', input: [...first.output, message('user', 'More.')] })).body;
	expect(JSON.stringify(sentItems(1))).toContain('SUMMARY-ONE');
	expect(second.output.map(({ role = null }) => role)).toEqual(['developer', 'user', 'user', 'user', null]);
	await rig.ask({ input: [...second.output, message('user', 'Go on')] });
	const told = JSON.stringify(sentItems(2));
	expect(told).toContain('SUMMARY-TWO');
	expect(told).not.toContain('SUMMARY-ONE');
});

test('F12: of a very long conversation the newest words are kept, and the summary stands for the others', async () => {
	await open([text('Long ago.')], { env: { AGENT_CONTEXT_TOKENS: '4000' } });
	const input = Array.from({ length: 60 }, (_, index) => message('user', `${index} ${'word '.repeat(80)}`));
	const { body } = await rig.compact({ model: 'some/model', input });
	const words = body.output.slice(0, -1).map(({ content }: { content: { text: string }[] }) => content[0]?.text);
	expect(words.length).toBeGreaterThan(3);
	expect(words.length).toBeLessThan(20);
	expect(words.at(-1)).toMatch(/^59 /);
});

test('F12: a compaction names the pictures of the workspace in place of their bytes', async () => {
	const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000a0000000a' + '0'.repeat(16), 'hex');
	await open([text('A cat was shown.')]);
	const image = { type: 'input_image', image_url: `data:image/png;base64,${png.toString('base64')}` };
	const words = { type: 'input_text', text: 'Look' };
	const { body } = await rig.compact({ model: 'some/model', input: [{ role: 'user', content: [words, image] }] });
	const [{ content }] = body.output as [{ content: { type: string; text: string }[] }];
	expect(content.map((part) => part.type)).toEqual(['input_text', 'input_text', 'input_text']);
	expect(content[1]?.text).toMatch(/^\[Picture: image-\w{8}\.png\]$/);
});

test('F9, F12: with the built-in responder both tasks go on after a compaction, files and all, over either transport', async () => {
	rig = await openResponses();
	onTestFinished(() => rig.close());
	const file = { type: 'input_file', filename: SALES.name, file_data: dataUrl };
	const first = await rig.ask({
		model: 'any',
		input: [{ role: 'user', content: [{ type: 'input_text', text: SUMMARISE }, file] }]
	});
	expect(missingSums(textOf(first.body))).toEqual([]);
	const { body } = await rig.compact({ model: 'any', previous_response_id: first.body.id });
	expect(body.usage.total_tokens).toBeGreaterThan(0);
	expect((await rig.compact({ model: 'any', previous_response_id: first.body.id })).body.usage).toEqual(body.usage);
	const again = await rig.ask({ model: 'any', input: [...body.output, message('user', SUMMARISE)] });
	expect(missingSums(textOf(again.body))).toEqual([]);
	const socket = await connectResponses(`${rig.url}/responses`);
	const turn = await socket.turn({ input: [...body.output, message('user', COUNT_WORDS)], store: false });
	expect(textOf(turn.at(-1)?.response)).toMatch(FIVE_WORDS);
	await socket.close();
});

test('E18: nobody compacts another key’s chain, or opens what was compacted for it', async () => {
	await open([text('Hello.'), text('SUMMARY'), text('Yes.')]);
	const { body: made } = await rig.ask({ input: 'Hi' }, { key: 'key_a' });
	const body = { model: 'm', previous_response_id: made.id };
	expect((await rig.compact(body, { key: 'key_b' })).body.error.code).toBe('previous_response_not_found');
	const compacted = (await rig.compact(body, { key: 'key_a' })).body;
	const input = [...compacted.output, message('user', 'Go on')];
	for (const key of ['key_b', undefined]) {
		const refused = await rig.ask({ input }, key ? { key } : {});
		expect([refused.status, refused.body.error]).toMatchObject([
			400,
			{ code: 'invalid_encrypted_content', param: 'input[1].encrypted_content' }
		]);
	}
	expect((await rig.ask({ input }, { key: 'key_a' })).status).toBe(200);
});

test('F12: what was changed on the way is refused, and what another server has made goes on to the model as it is', async () => {
	await open([text('SUMMARY'), text('Yes.')]);
	const { output } = (await rig.compact({ model: 'm', input: 'Hi' })).body as {
		output: { type: string; encrypted_content: string }[];
	};
	const sealed = output.at(-1)?.encrypted_content ?? '';
	for (const changed of [
		...[sealed.slice(0, -4), `${sealed.slice(0, 20)}AAAA${sealed.slice(24)}`, sealed.slice(0, 10), 'orsc1.', 'orsc1.%%']
	]) {
		const refused = await rig.ask({ input: [{ type: 'compaction', encrypted_content: changed }] });
		expect(refused.body.error.code, changed.slice(0, 30)).toBe('invalid_encrypted_content');
	}
	const foreign = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAAB' };
	await rig.ask({ input: [foreign, message('user', 'Go on')] });
	expect(sentItems(1)[0]).toEqual(foreign);
});

test('F12: one compaction that comes again and again is refused once it unpacks to too much', async () => {
	await open([text('word '.repeat(100_000))]);
	const { output } = (await rig.compact({ model: 'm', input: 'Hi' })).body as { output: Record<string, unknown>[] };
	const refused = await rig.ask({ input: Array.from({ length: 4000 }, () => output.at(-1)) });
	expect([refused.status, refused.body.error.code]).toEqual([400, 'too_large']);
});

test('F12: bad requests are told what is wrong with them, and ask no model', async () => {
	await open([]);
	const cases: [unknown, string | null][] = [
		...['', '{', 'null', '[]', '"x"'].map((body): [unknown, null] => [body, null]),
		[{}, 'model'],
		[{ input: 'Hi' }, 'model'],
		[{ model: null, input: 'Hi' }, 'model'],
		[{ model: '', input: 'Hi' }, 'model'],
		[{ model: 'm' }, 'input'],
		[{ model: 'm', input: [] }, 'input'],
		[{ model: 'm', input: null }, 'input'],
		[{ model: 'm', input: 7 }, 'input'],
		[{ model: 'm', input: [{ type: 5 }] }, 'input[0].type'],
		[{ model: 'm', input: 'Hi', previous_response_id: 'resp_none' }, 'previous_response_id'],
		[{ model: 'm', input: 'Hi', instructions: ['x'] }, 'instructions'],
		[{ model: 'm', input: 'Hi', prompt_cache_key: 'k'.repeat(65) }, 'prompt_cache_key'],
		[{ model: 'm', input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input[0]']
	];
	for (const [body, param] of cases) {
		const refused = await rig.compact(body);
		const name = JSON.stringify(body).slice(0, 100);
		expect(refused.status, name).toBe(400);
		expect(refused.body.error, name).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) });
		if (param !== null) expect(refused.body.error.param, name).toBe(param);
	}
});

test('F12: what the model’s server refuses is an error of its own status; who goes away is not worked for', async () => {
	const never = gate();
	await open([
		status(401, { error: { code: 401, message: 'No such key' } }),
		status(402, { error: { code: 402, message: 'No credits' } }),
		text('Beginning', never)
	]);
	const body = { model: 'm', input: TALK };
	const codes = [await rig.compact(body), await rig.compact(body)].map((each) => [each.status, each.body.error.code]);
	expect(codes).toEqual([
		[502, 'upstream_unauthorized'],
		[402, 'insufficient_credits']
	]);
	const leaving = new AbortController();
	const left = rig.compact(body, { signal: leaving.signal }).catch((error: unknown) => error);
	const request = await rig.model?.received(3);
	leaving.abort();
	await left;
	await request?.closed;
	expect(request?.isAborted).toBe(true);
});

test('F12: a model that is never done with a summary is left when the time of a turn is over', async () => {
	await open([endless(': alive\n\n')], { env: { AGENT_TIMEOUT_MS: '1000' } });
	const { status: code, body } = await rig.compact({ model: 'some/model', input: TALK });
	expect({ code, error: body.error }).toMatchObject({ code: 504, error: { code: 'timeout' } });
	await rig.model?.requests[0]?.closed;
});
