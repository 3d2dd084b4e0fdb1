import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { signInStart, type SignInStart } from '$lib/shared/models.ts';
import { ownOrigin } from '$lib/server/access/door.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { returnTo } = await readJson(request, signInStart);
	const { models, config } = locals.app;
	return json(models.startSignIn(returnTo, ownOrigin(request.headers, config)) satisfies SignInStart);
});
