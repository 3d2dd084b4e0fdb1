import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { McpServerList } from '$lib/shared/mcp-servers.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	return json({ data: locals.app.mcpServers.list() } satisfies McpServerList);
});
