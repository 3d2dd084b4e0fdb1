import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

export const GET = door<'id'>('Responses API', 'read', async ({ app, caller, params, url }) => {
	const shows = [...url.searchParams.getAll('include'), ...url.searchParams.getAll('include[]')];
	return json(await app.responses.retrieve(params.id, caller, shows));
});

export const DELETE = door<'id'>('Responses API', 'execute', async ({ app, caller, params }) => {
	return json(await app.responses.remove(params.id, caller));
});
