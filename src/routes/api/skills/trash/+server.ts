import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	return json({ data: await locals.app.installer.trash() });
});
