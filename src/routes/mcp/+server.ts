import { door } from '$lib/server/endpoint.ts';

/** Each of its tools has a scope of its own. */
const answer = door('MCP', 'read', ({ app, caller, request }) => app.mcp.handle(request, caller));

export const GET = answer;
export const POST = answer;
export const DELETE = answer;
