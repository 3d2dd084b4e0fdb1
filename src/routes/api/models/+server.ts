import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { ModelList } from '$lib/shared/models.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ request, locals }) => {
	return json((await locals.app.models.list(request.signal)) satisfies ModelList);
});
