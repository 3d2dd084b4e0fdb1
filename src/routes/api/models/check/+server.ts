import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { keyCheck, type KeyStatus } from '$lib/shared/models.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const check = await readJson(request, keyCheck);
	return json((await locals.app.models.check(check, request.signal)) satisfies KeyStatus);
});
