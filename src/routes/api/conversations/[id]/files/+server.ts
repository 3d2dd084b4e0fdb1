import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { checkConversationId } from '$lib/server/runs/agui-input.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json({ data: await locals.app.workspaces.list(checkConversationId(params.id)) });
});
