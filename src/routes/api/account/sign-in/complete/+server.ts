import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { signInComplete } from '$lib/shared/models.ts';
import type { Settings } from '$lib/shared/settings.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const answer = await readJson(request, signInComplete);
	return json((await locals.app.models.completeSignIn(answer, request.signal)) satisfies Settings);
});
