import { door } from '$lib/server/endpoint.ts';

export const GET = door('Responses API', 'read', ({ app, request }) => app.responses.models(request.signal));
