import { mcpServer, mcpSignInAnswer } from '$lib/shared/mcp-servers.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'completeMcpSignIn',
	tag: 'MCP servers',
	summary: 'Complete signing in to an MCP server',
	params: { name: 'Name of the server: 1 to 32 of a–z, 0–9, - and _.' },
	body: mcpSignInAnswer,
	answer: mcpServer.describe('The server. It connects again in the background.'),
	errors: ['conflict', 'unavailable'],
	handler: async ({ app, params, body }) => app.mcpServers.completeSignIn(params.name, await body())
});
