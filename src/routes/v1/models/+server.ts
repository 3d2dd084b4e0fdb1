import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { responsesApi } from '$lib/server/http.ts';

export const GET: RequestHandler = responsesApi(async ({ request, locals }) => {
	return json(await locals.app.responses.models(request.signal));
});
