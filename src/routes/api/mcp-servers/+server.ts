import { mcpServerList } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listMcpServers',
	tag: 'MCP servers',
	summary: 'Servers whose tools the agent may use, and how each stands now',
	answer: mcpServerList.describe('By name. Of variables and headers the names alone.'),
	handler: ({ app }) => ({ data: app.mcpServers.list() })
});
