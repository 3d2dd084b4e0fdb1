import { mcpServerList } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listMcpServers',
	tag: 'MCP servers',
	summary: 'List MCP servers and their status',
	answer: mcpServerList.describe('Servers by name. Values of variables and headers are left out.'),
	handler: ({ app }) => ({ data: app.mcpServers.list() })
});
