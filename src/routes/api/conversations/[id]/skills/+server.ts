import { conversationSkillList } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { listConversationSkills } from '$lib/server/conversations/conversation-skills.ts';

export const GET = endpoint({
	id: 'listConversationSkills',
	tag: 'Conversations',
	summary: 'List the skills of a conversation',
	params: OF_CONVERSATION,
	answer: conversationSkillList.describe('The skills with their token counts.'),
	handler: ({ app, params }) => listConversationSkills(app, params.id)
});
