import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { LocalServer } from '$lib/shared/models.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ request, locals }) => {
	const data = await locals.app.models.findLocal(request.signal);
	return json({ data } satisfies { data: LocalServer[] });
});
