import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

/** Model ids contain slashes. */
export const GET = door<'id'>('Responses API', 'read', async ({ app, params, request }) => {
	return json(await app.responses.model(params.id, request.signal));
});
