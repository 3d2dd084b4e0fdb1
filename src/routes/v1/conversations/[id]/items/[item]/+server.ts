import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

export const GET = door<'id' | 'item'>('Responses API', 'read', async ({ app, caller, params }) => {
	return json(await app.responseConversations.item(params.id, params.item, caller));
});

export const DELETE = door<'id' | 'item'>('Responses API', 'execute', async ({ app, caller, params }) => {
	return json(await app.responseConversations.removeItem(params.id, params.item, caller));
});
