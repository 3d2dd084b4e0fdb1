import { conversationSkillList } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { listConversationSkills } from '$lib/server/conversations/conversation-skills.ts';

export const GET = endpoint({
	id: 'listConversationSkills',
	tag: 'Conversations',
	summary: 'Its skills: those that are pinned, then those that are loaded',
	params: OF_CONVERSATION,
	answer: conversationSkillList.describe('All of them, with their tokens.'),
	handler: ({ app, params }) => listConversationSkills(app, params.id)
});
