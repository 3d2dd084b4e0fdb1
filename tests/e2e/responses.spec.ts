/** The built app as a Responses server for other people's clients (F12): keys, errors at the door; both tasks: clients.spec.ts. */
import OpenAI, { toFile } from 'openai';
import { RESPONSES_CLIENTS } from '../support/responses-clients.ts';
import { validate } from '../support/open-responses.ts';
import { COUNT_WORDS, FIVE_WORDS, missingSums, SALES, SUMMARISE } from '../support/tasks.ts';
import { expect, test } from './app.ts';

const TOKEN = 'the-token-of-this-test-0123456789';

test.describe('with ADMIN_TOKEN', () => {
	test.use({ appOptions: { env: { ADMIN_TOKEN: TOKEN } } });

	const keyOf = async (url: string, scopes: string[]): Promise<string> => {
		const answer = await fetch(`${url}/api/keys`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
			body: JSON.stringify({ name: 'a client', scopes })
		});
		return ((await answer.json()) as { key: string }).key;
	};
	const post = (url: string, key: string | null, body: unknown) =>
		fetch(`${url}/v1/responses`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
			body: JSON.stringify(body)
		});

	test('F12, E18: a key of one’s own answers, remembers, and is kept apart from others', async ({ app }) => {
		const [own, other] = [await keyOf(app.url, ['execute', 'read']), await keyOf(app.url, ['execute', 'read'])];
		for (const clientFor of Object.values(RESPONSES_CLIENTS)) {
			expect(await clientFor({ url: `${app.url}/v1`, key: own }).ask({ text: COUNT_WORDS })).toMatch(FIVE_WORDS);
		}
		const answer = await post(app.url, own, { input: COUNT_WORDS });
		const body = (await answer.json()) as { id: string };
		validate('ResponseResource', body);
		const read = (key: string) =>
			fetch(`${app.url}/v1/responses/${body.id}`, { headers: { authorization: `Bearer ${key}` } });
		expect((await read(own)).status).toBe(200);
		expect((await read(other)).status).toBe(404);
	});

	test('F12: an address below /v1 that does not exist is a 404 in the API’s words, with any key and without one', async ({
		app
	}) => {
		const key = await keyOf(app.url, ['read']);
		for (const path of ['nope', 'audio/speech', 'responses/a/b/c', 'threads', '']) {
			for (const method of ['GET', 'POST', 'DELETE']) {
				for (const bearer of [null, 'ors_wrong', key, TOKEN]) {
					const answer = await fetch(`${app.url}/v1/${path}`, {
						method,
						headers: {
							...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
							...(bearer === null ? {} : { authorization: `Bearer ${bearer}` })
						},
						...(method === 'POST' ? { body: '{}' } : {})
					});
					const what = `${method} /v1/${path} as ${bearer}`;
					expect(answer.status, what).toBe(404);
					const error = { type: 'invalid_request_error', code: 'not_found', param: null, message: expect.any(String) };
					expect(await answer.json(), what).toEqual({ error });
				}
			}
		}
	});

	test('F12: a response in the background goes on without its client, over the app’s own doors', async ({ app }) => {
		const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: await keyOf(app.url, ['execute', 'read']) });
		const request = { model: 'any', input: COUNT_WORDS, background: true };
		const { id, status } = await client.responses.create(request);
		expect(status).toBe('queued');
		const types: string[] = [];
		for await (const { type } of await client.responses.retrieve(id, { stream: true })) types.push(type);
		expect([types[1], types.at(-1)]).toEqual(['response.queued', 'response.completed']);
		expect((await client.responses.cancel(id)).status).toBe('completed');
		expect((await client.responses.retrieve(id)).output_text).toMatch(FIVE_WORDS);
		const reader = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: await keyOf(app.url, ['read']) });
		await expect(reader.responses.cancel(id)).rejects.toMatchObject({ status: 403 });
	});

	test('F12: a file that is uploaded is named in a request, over the app’s own doors', async ({ app }) => {
		const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: await keyOf(app.url, ['execute', 'read']) });
		const file = await toFile(Buffer.from(SALES.text), SALES.name);
		const { id } = await client.files.create({ file, purpose: 'user_data' });
		const content = [
			{ type: 'input_file' as const, file_id: id },
			{ type: 'input_text' as const, text: SUMMARISE }
		];
		const { output_text } = await client.responses.create({ model: 'any', input: [{ role: 'user', content }] });
		expect(missingSums(output_text)).toEqual([]);
		expect(await (await client.files.content(id)).text()).toBe(SALES.text);
		const form = { method: 'POST', headers: { origin: 'http://evil.example' }, body: new FormData() };
		expect((await fetch(`${app.url}/v1/files`, form)).status).toBe(403);
	});

	test('F12: a conversation, its items and an estimate of tokens, over the app’s own doors', async ({ app }) => {
		const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: await keyOf(app.url, ['execute', 'read']) });
		const { id } = await client.conversations.create({ metadata: { topic: 'words' } });
		const asked = { model: 'any', input: COUNT_WORDS, conversation: id };
		expect((await client.responses.inputTokens.count(asked)).input_tokens).toBeGreaterThan(100);
		const response = await client.responses.create(asked);
		expect(response.output_text).toMatch(FIVE_WORDS);
		expect((await client.responses.inputItems.list(response.id)).data).toHaveLength(1);
		const { data } = await client.conversations.items.list(id);
		expect(data.length).toBeGreaterThan(1);
		const last = data[0]?.id ?? '';
		expect(await client.conversations.items.retrieve(last, { conversation_id: id })).toEqual(data[0]);
		await client.conversations.items.delete(last, { conversation_id: id });
		await client.conversations.update(id, { metadata: {} });
		expect((await client.conversations.delete(id)).deleted).toBe(true);
	});

	test('F12: what the door refuses is told in the API’s own words', async ({ app }) => {
		const reader = await keyOf(app.url, ['read']);
		const refusals: [Response, number, string][] = [
			[await post(app.url, null, { input: 'x' }), 401, 'authentication_error'],
			[await post(app.url, 'ors_wrong', { input: 'x' }), 401, 'authentication_error'],
			[await post(app.url, reader, { input: 'x' }), 403, 'permission_error'],
			[
				await fetch(`${app.url}/v1/responses`, { headers: { authorization: `Bearer ${TOKEN}` } }),
				405,
				'invalid_request_error'
			],
			[
				await fetch(`${app.url}/v1/nope`, { headers: { authorization: `Bearer ${TOKEN}` } }),
				404,
				'invalid_request_error'
			],
			[
				await fetch(`${app.url}/v1/responses`, {
					method: 'POST',
					headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain' },
					body: '{}'
				}),
				415,
				'invalid_request_error'
			]
		];
		for (const [answer, status, type] of refusals) {
			expect(answer.status).toBe(status);
			expect(await answer.json()).toMatchObject({ error: { type, message: expect.any(String), param: null } });
		}
	});
});
