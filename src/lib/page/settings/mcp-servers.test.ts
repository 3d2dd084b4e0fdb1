import { expect, test } from 'vitest';
import type { McpServer } from '../../shared/mcp-servers.ts';
import { EMPTY_FORM, formOfWay, inputOf, readPasted, sameInput } from './mcp-servers.svelte.ts';

test('E36: what is typed becomes what the API takes; an empty value of what is stored keeps it', () => {
	const values = [
		{ name: ' TOKEN ', value: '', isStored: true },
		{ name: 'OTHER', value: ' x ', isStored: false },
		{ name: '', value: 'lost', isStored: false }
	];
	const form = { ...EMPTY_FORM, command: ' npx ', args: '-y\na server\n\n', values, asksFirst: false };
	expect(inputOf(form, true)).toEqual({
		transport: { type: 'stdio', command: 'npx', args: ['-y', 'a server'], env: { TOKEN: null, OTHER: ' x ' } },
		isEnabled: true,
		approval: 'auto'
	});
});

test('E36: switching a server off changes nothing else of it', () => {
	const transport = { type: 'http', url: 'https://example.org/mcp', headers: ['Authorization'] } as const;
	const server = { name: 'a', transport, isEnabled: true, approval: 'ask' } as unknown as McpServer;
	expect(sameInput(server, { isEnabled: false })).toEqual({
		transport: { ...transport, headers: { Authorization: null } },
		isEnabled: false,
		approval: 'ask'
	});
});

test('E36: nor does it change arguments of several lines, or empty ones', () => {
	const transport = { type: 'stdio', command: 'sh', args: ['-c', 'one\ntwo', ''], env: ['A'] } as const;
	const server = { name: 'a', transport, isEnabled: true, approval: 'auto' } as unknown as McpServer;
	expect(sameInput(server, { isEnabled: false }).transport).toMatchObject({ args: transport.args, env: { A: null } });
});

test.each([
	['io.github.x/mail', 'Mail & more', 'mail-more'],
	['io.github.x/mail', '日本語', 'mail'],
	['日本語', null, '']
])('E36: a server of the registry (%s, %s) fills in the name %j', (name, title, filled) => {
	const way = { type: 'http' as const, url: 'https://x.test/', headers: [] };
	const about = { description: '', version: '', page: null, isDeprecated: false };
	expect(formOfWay({ name, title, ...about, ways: [way] }, way).name).toBe(filled);
});

test('E36: pasted configuration is read in the shapes that other programs have', () => {
	const file = { command: 'npx', args: ['-y', '@x/files', '/tmp'], env: { A: 'b' } };
	const web = { type: 'http', url: 'https://example.org/mcp', headers: { Authorization: 'Bearer x' } };
	const read = readPasted(JSON.stringify({ mcpServers: { 'My Files': file, web } }));
	expect(read).toMatchObject([
		{ name: 'my-files', input: { transport: { type: 'stdio', ...file }, approval: 'ask', isEnabled: true } },
		{ name: 'web', input: { transport: { url: web.url, headers: web.headers } } }
	]);
	expect(readPasted(JSON.stringify({ servers: { web } }))).toHaveLength(1);
	expect(readPasted(JSON.stringify({ web: { ...web, disabled: true } }))[0]?.input.isEnabled).toBe(false);
});

test.each([
	['', 'isn’t an MCP configuration'],
	['[]', 'isn’t an MCP configuration'],
	['{"mcpServers": {}}', 'isn’t an MCP configuration'],
	['{"mcpServers": {"a": {}}}', '“a” needs'],
	['{"mcpServers": {"a": 1}}', '“a” needs'],
	['{"a": {"url": "ftp://x"}}', 'a: url must start with http'],
	['{"a": {"command": "x", "args": "y"}}', 'a: args'],
	['{"ü": {"command": "x"}}', 'isn’t a valid name']
])('E36: %s is refused in words', (json, words) => expect(() => readPasted(json)).toThrow(words));
