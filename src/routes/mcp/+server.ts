import type { RequestHandler } from './$types';

const answer: RequestHandler = ({ request, locals }) => locals.app.mcp.handle(request, locals.caller);

export const GET = answer;
export const POST = answer;
export const DELETE = answer;
