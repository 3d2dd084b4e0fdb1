import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { conversationFork } from '$lib/shared/api.ts';
import { forkConversation } from '$lib/server/conversations/conversations.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const { messageId } = await readJson(request, conversationFork);
	return json(await forkConversation(locals.app, params.id, messageId), { status: 201 });
});
