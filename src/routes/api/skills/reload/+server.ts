import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ locals }) => {
	const { revision } = await locals.app.skills.registry.reload();
	return json({ revision });
});
