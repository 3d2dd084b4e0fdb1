import { mcpServer } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'reconnectMcpServer',
	tag: 'MCP servers',
	summary: 'Reconnect an MCP server',
	params: { name: 'Name of the server: 1 to 32 of a–z, 0–9, - and _.' },
	answer: mcpServer.describe('The server before the attempt.'),
	errors: ['conflict'],
	handler: ({ app, params }) => app.mcpServers.reconnect(params.name)
});
