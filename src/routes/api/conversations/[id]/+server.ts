import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { conversationPatch } from '$lib/shared/api.ts';
import { changeConversation, readConversation } from '$lib/server/conversations/conversations.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json(await readConversation(locals.app, params.id));
});

export const PATCH: RequestHandler = api(async ({ params, request, locals }) => {
	return json(await changeConversation(locals.app, params.id, await readJson(request, conversationPatch)));
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await locals.app.conversationTrash.remove(params.id);
	return new Response(null, { status: 204 });
});
