import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { mcpServerPut, type McpServer } from '$lib/shared/mcp-servers.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json(locals.app.mcpServers.get(params.name) satisfies McpServer);
});

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const server = await locals.app.mcpServers.put(params.name, await readJson(request, mcpServerPut));
	return json(server satisfies McpServer);
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await locals.app.mcpServers.remove(params.name);
	return new Response(null, { status: 204 });
});
