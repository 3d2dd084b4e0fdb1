import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';
import { readRunOffer } from '$lib/server/conversations/run-offer.ts';

export const GET: RequestHandler = api(async ({ params, request, locals }) => {
	return json(await readRunOffer(locals.app.runner, params.id, request.signal));
});
