import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { settingsPatch, type Settings } from '$lib/shared/settings.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	return json(locals.app.settings.current() satisfies Settings);
});

export const PUT: RequestHandler = api(async ({ request, locals }) => {
	const patch = await readJson(request, settingsPatch);
	return json((await locals.app.settings.change(patch, new Date().toISOString())) satisfies Settings);
});
