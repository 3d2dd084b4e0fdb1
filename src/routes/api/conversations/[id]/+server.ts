import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { conversationPatch } from '$lib/shared/api.ts';
import { AppError } from '$lib/shared/errors.ts';
import { readConversation, removeConversation, showBranch } from '$lib/server/runs/conversations.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json(await readConversation(locals.app, params.id));
});

export const PATCH: RequestHandler = api(async ({ params, request, locals }) => {
	const { title, show } = await readJson(request, conversationPatch);
	const { conversations } = locals.app.store;
	if (show !== undefined) await showBranch(locals.app, params.id, show);
	if (title !== undefined) await conversations.rename(params.id, title, new Date().toISOString());
	const conversation = await conversations.get(params.id);
	if (!conversation) throw new AppError('not_found', 'There is no such conversation.');
	return json(conversation);
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await removeConversation(locals.app, params.id);
	return new Response(null, { status: 204 });
});
