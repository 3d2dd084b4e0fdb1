import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await locals.app.cases.remove(params.id, params.case);
	return new Response(null, { status: 204 });
});
