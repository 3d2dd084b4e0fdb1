import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { responsesApi } from '$lib/server/http.ts';

export const GET: RequestHandler = responsesApi(async ({ params, url, locals }) => {
	const shows = [...url.searchParams.getAll('include'), ...url.searchParams.getAll('include[]')];
	return json(await locals.app.responses.retrieve(params.id, locals.caller, shows));
});

export const DELETE: RequestHandler = responsesApi(async ({ params, locals }) => {
	return json(await locals.app.responses.remove(params.id, locals.caller));
});
