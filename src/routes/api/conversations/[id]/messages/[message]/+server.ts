import type { RequestHandler } from './$types';
import { removeMessage } from '$lib/server/conversations/conversations.ts';
import { api } from '$lib/server/http.ts';

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await removeMessage(locals.app, params.id, params.message);
	return new Response(null, { status: 204 });
});
