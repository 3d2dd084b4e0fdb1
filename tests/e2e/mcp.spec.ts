/** Requests the built app refuses at /mcp. For what clients can do there, see clients.spec.ts. */
import { expect, test } from './app.ts';

test('E15: other methods, other origins and a wrong key are refused at /mcp', async ({ app }) => {
	const url = new URL('/mcp', app.url);
	const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
	const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	const statuses = await Promise.all(
		[
			fetch(url, { method: 'PUT', headers, body }),
			fetch(url, { method: 'POST', headers: { ...headers, origin: 'https://evil.example' }, body }),
			fetch(url, { method: 'POST', headers: { ...headers, authorization: 'Bearer ors_wrong' }, body }),
			fetch(url, { method: 'POST', headers, body: '{' })
		].map(async (response) => (await response).status)
	);
	expect(statuses).toEqual([405, 403, 401, 400]);
});
