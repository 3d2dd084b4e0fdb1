import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';
import { listConversationSkills } from '$lib/server/conversations/conversation-skills.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json(await listConversationSkills(locals.app, params.id));
});
