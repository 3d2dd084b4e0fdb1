import { door } from '$lib/server/endpoint.ts';

/** Each tool has its own scope. */
const answer = door('MCP', 'read', ({ app, caller, request }) => app.mcp.handle(request, caller));

export const GET = answer;
export const POST = answer;
export const DELETE = answer;
