/** The built app as a Responses server for other people's clients (F12): keys, errors at the door; both tasks: clients.spec.ts. */
import { RESPONSES_CLIENTS } from '../support/responses-clients.ts';
import { validate } from '../support/open-responses.ts';
import { COUNT_WORDS, FIVE_WORDS } from '../support/tasks.ts';
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
