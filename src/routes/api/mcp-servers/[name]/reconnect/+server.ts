import { mcpServer } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'reconnectMcpServer',
	tag: 'MCP servers',
	summary: 'Tries at once to connect it anew',
	params: { name: 'Of an MCP server: 1 to 32 of a–z, 0–9, - and _.' },
	answer: mcpServer.describe('The server, as it stands at the beginning of the try.'),
	errors: ['conflict'],
	handler: ({ app, params }) => app.mcpServers.reconnect(params.name)
});
