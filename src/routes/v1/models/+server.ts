import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

export const GET = door('Responses API', 'read', async ({ app, request }) => {
	return json(await app.responses.models(request.signal));
});
