import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, locals }) => {
	return json(await locals.app.installer.restore(params.id));
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await locals.app.installer.purge(params.id);
	return new Response(null, { status: 204 });
});
