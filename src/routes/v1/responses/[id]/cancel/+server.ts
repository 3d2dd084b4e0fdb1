import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';

export const POST = door<'id'>('Responses API', 'execute', async ({ app, caller, params }) => {
	return json(await app.responses.cancel(params.id, caller));
});
