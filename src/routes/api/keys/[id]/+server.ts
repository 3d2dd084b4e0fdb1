import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { apiKeyPatch, type ApiKey } from '$lib/shared/settings.ts';
import { api, readJson } from '$lib/server/http.ts';

export const PATCH: RequestHandler = api(async ({ params, request, locals }) => {
	const { name } = await readJson(request, apiKeyPatch);
	return json((await locals.app.apiKeys.rename(params.id, name)) satisfies ApiKey);
});

/** Revokes it: it stays in the list, with what was made with it. */
export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	return json((await locals.app.apiKeys.revoke(params.id)) satisfies ApiKey);
});
