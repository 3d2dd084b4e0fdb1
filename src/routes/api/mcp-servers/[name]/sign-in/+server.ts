import { mcpSignedOut } from '$lib/shared/mcp-servers.ts';
import { signInStart, signInStarted } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { ownOrigin } from '$lib/server/access/door.ts';

const params = { name: 'Name of the server: 1 to 32 of a–z, 0–9, - and _.' };

export const POST = endpoint({
	id: 'startMcpSignIn',
	tag: 'MCP servers',
	summary: 'Start signing in to an MCP server (OAuth PKCE)',
	params,
	body: signInStart,
	answer: signInStarted.describe('The address to open. It returns to `returnTo` with `code` and `state`.'),
	errors: ['conflict', 'unavailable'],
	handler: async ({ app, params: { name }, request, body }) => {
		const { returnTo } = await body();
		return app.mcpServers.startSignIn(name, returnTo, ownOrigin(request.headers, app.config));
	}
});

export const DELETE = endpoint({
	id: 'endMcpSignIn',
	tag: 'MCP servers',
	summary: 'Sign out of an MCP server',
	description:
		'The tokens are forgotten at once. If the authorization server can revoke them, it is told, for at most 5 seconds; `notRevoked` says so if that failed.',
	params,
	answer: mcpSignedOut.describe('The server. It connects again in the background.'),
	handler: ({ app, params: { name } }) => app.mcpServers.signOut(name)
});
