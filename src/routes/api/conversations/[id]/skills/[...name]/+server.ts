import { conversationSkillPatch, conversationSkillList } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { setConversationSkill } from '$lib/server/conversations/conversation-skills.ts';

export const PUT = endpoint({
	id: 'setConversationSkill',
	tag: 'Conversations',
	summary: 'Pin, unpin or unload a skill',
	description:
		'`pinned`: the model always has its instructions. `loaded`: no longer pinned, but what the model has loaded stays. ' +
		'`unloaded`: the model no longer has what it loaded. Takes effect with the next reply.',
	params: { ...OF_CONVERSATION, name: 'Name of the skill.' },
	body: conversationSkillPatch,
	answer: conversationSkillList.describe('The skills of the conversation.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const { state } = await body();
		return setConversationSkill(app, params.id, { name: params.name, state });
	}
});
