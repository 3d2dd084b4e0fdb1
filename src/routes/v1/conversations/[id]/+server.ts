import { door } from '$lib/server/endpoint.ts';
import { readAnyJson } from '$lib/server/http.ts';

export const GET = door<'id'>('Responses API', 'read', ({ app, caller, params }) =>
	app.responseConversations.retrieve(params.id, caller)
);

export const POST = door<'id'>('Responses API', 'execute', async ({ app, caller, params, request }) =>
	app.responseConversations.update(params.id, await readAnyJson(request), caller)
);

export const DELETE = door<'id'>('Responses API', 'execute', ({ app, caller, params }) =>
	app.responseConversations.remove(params.id, caller)
);
