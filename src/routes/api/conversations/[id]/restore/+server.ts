import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, locals }) => {
	return json(await locals.app.conversationTrash.restore(params.id));
});
