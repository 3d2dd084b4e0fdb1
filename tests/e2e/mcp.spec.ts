/** The built app as an MCP server, by the protocol’s own client. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from '@playwright/test';
import { test } from './app.ts';

for (const { version, mode } of [
	{ version: '2026-07-28', mode: { pin: '2026-07-28' } },
	{ version: '2025-11-25', mode: 'legacy' }
] as const) {
	test(`E15: the built app counts words for an MCP client of ${version}`, async ({ app }) => {
		const client = new Client({ name: 'e2e', version: '1.0.0' }, { versionNegotiation: { mode } });
		await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', app.url)));
		expect(client.getNegotiatedProtocolVersion()).toBe(version);
		const result = await client.callTool({ name: 'count_words', arguments: { text: 'one two three' } });
		expect(result.structuredContent).toMatchObject({ words: 3 });
		await client.close();
	});
}

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
