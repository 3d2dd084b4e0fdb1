import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

export const GET = door<'id'>('Responses API', 'read', async ({ app, caller, params, url }) => {
	return json(await app.responses.inputItems(params.id, caller, url.searchParams));
});
