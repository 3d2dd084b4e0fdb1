import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { McpServer } from '$lib/shared/mcp-servers.ts';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, locals }) => {
	return json(locals.app.mcpServers.reconnect(params.name) satisfies McpServer);
});
