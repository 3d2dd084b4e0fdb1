import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ locals }) => {
	await locals.app.skills.registry.reload();
	return json({ revision: locals.app.revisions.current() });
});
