import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { requireOwnConversation } from '$lib/server/runs/conversation-changes.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const id = checkConversationId(params.id);
	await requireOwnConversation(locals.app, locals.caller.apiKeyId, id);
	await refuseDeleted(locals.app, id);
	return json({ data: await locals.app.workspaces.list(id) });
});
