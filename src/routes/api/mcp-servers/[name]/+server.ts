import { mcpServer, mcpServerPut, mcpServerRemoved } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getMcpServer',
	tag: 'MCP servers',
	summary: 'Get an MCP server',
	params: { name: 'Name of the server: 1 to 32 of a–z, 0–9, - and _.' },
	answer: mcpServer.describe('The server.'),
	handler: ({ app, params }) => app.mcpServers.get(params.name)
});

export const PUT = endpoint({
	id: 'putMcpServer',
	tag: 'MCP servers',
	summary: 'Add or replace an MCP server',
	description:
		'A program runs on the server’s computer, outside the sandbox. A value of null keeps the saved one, as long as the program or the origin stays the same.',
	params: { name: 'Name of the server: 1 to 32 of a–z, 0–9, - and _.' },
	body: mcpServerPut,
	example: { transport: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] } },
	answer: mcpServer.describe('The server. It connects in the background.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.mcpServers.put(params.name, await body())
});

export const DELETE = endpoint({
	id: 'removeMcpServer',
	tag: 'MCP servers',
	summary: 'Remove an MCP server and its saved values',
	params: { name: 'Name of the server: 1 to 32 of a–z, 0–9, - and _.' },
	answer: mcpServerRemoved.describe('`notRevoked`: as when signing out.'),
	handler: ({ app, params }) => app.mcpServers.remove(params.name)
});
