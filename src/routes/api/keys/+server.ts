import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { apiKeyCreate, type ApiKeyList, type NewApiKey } from '$lib/shared/settings.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	return json({ data: await locals.app.apiKeys.list() } satisfies ApiKeyList);
});

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const made = await locals.app.apiKeys.create(await readJson(request, apiKeyCreate));
	return json(made satisfies NewApiKey, { status: 201 });
});
