import { mcpServer, mcpServerPut } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getMcpServer',
	tag: 'MCP servers',
	summary: 'One of them',
	params: { name: 'Of an MCP server: 1 to 32 of a–z, 0–9, - and _.' },
	answer: mcpServer.describe('The server.'),
	handler: ({ app, params }) => app.mcpServers.get(params.name)
});

export const PUT = endpoint({
	id: 'putMcpServer',
	tag: 'MCP servers',
	summary: 'Adds a server, or changes all of it',
	description:
		'A program is started on the machine of this server, without a sandbox. null for the value of a variable or header keeps what is stored, as long as the program or the origin is the same.',
	params: { name: 'Of an MCP server: 1 to 32 of a–z, 0–9, - and _.' },
	body: mcpServerPut,
	answer: mcpServer.describe('The server; it is being connected in the background.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const server = await app.mcpServers.put(params.name, await body());
		return server;
	}
});

export const DELETE = endpoint({
	id: 'removeMcpServer',
	tag: 'MCP servers',
	summary: 'Removes a server, with what was stored for it',
	params: { name: 'Of an MCP server: 1 to 32 of a–z, 0–9, - and _.' },
	answer: null,
	handler: async ({ app, params }) => {
		await app.mcpServers.remove(params.name);
	}
});
