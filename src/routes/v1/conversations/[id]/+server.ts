import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';
import { readAnyJson } from '$lib/server/http.ts';

export const GET = door<'id'>('Responses API', 'read', async ({ app, caller, params }) => {
	return json(await app.responseConversations.retrieve(params.id, caller));
});

export const POST = door<'id'>('Responses API', 'execute', async ({ app, caller, params, request }) => {
	return json(await app.responseConversations.update(params.id, await readAnyJson(request), caller));
});

export const DELETE = door<'id'>('Responses API', 'execute', async ({ app, caller, params }) => {
	return json(await app.responseConversations.remove(params.id, caller));
});
