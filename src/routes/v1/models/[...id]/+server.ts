import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { responsesApi } from '$lib/server/http.ts';

/** Ids of models hold slashes. */
export const GET: RequestHandler = responsesApi(async ({ params, request, locals }) => {
	return json(await locals.app.responses.model(params.id, request.signal));
});
