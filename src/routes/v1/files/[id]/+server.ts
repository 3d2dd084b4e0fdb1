import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

export const GET = door<'id'>('Responses API', 'read', async ({ app, caller, params }) => {
	return json(await app.files.retrieve(params.id, caller));
});

export const DELETE = door<'id'>('Responses API', 'execute', async ({ app, caller, params }) => {
	return json(await app.files.remove(params.id, caller));
});
