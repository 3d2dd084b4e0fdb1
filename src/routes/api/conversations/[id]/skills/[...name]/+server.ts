import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { conversationSkillPatch } from '$lib/shared/api.ts';
import { api, readJson } from '$lib/server/http.ts';
import { setConversationSkill } from '$lib/server/conversations/conversation-skills.ts';

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const { state } = await readJson(request, conversationSkillPatch);
	return json(await setConversationSkill(locals.app, params.id, { name: params.name, state }));
});
