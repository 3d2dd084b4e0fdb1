import { mcpRegistryAnswer, mcpRegistryQuery } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'searchMcpRegistry',
	tag: 'MCP servers',
	summary: 'Search the public registry of MCP servers',
	query: mcpRegistryQuery,
	answer: mcpRegistryAnswer.describe('At most 20 servers, with the ways to use each.'),
	errors: ['unavailable'],
	handler: ({ app, request, query }) => app.searchMcpRegistry(query.query, request.signal)
});
