import { conversationSkillPatch, conversationSkillList } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { setConversationSkill } from '$lib/server/conversations/conversation-skills.ts';

export const PUT = endpoint({
	id: 'setConversationSkill',
	tag: 'Conversations',
	summary: 'Pins a skill, unpins it, or takes it away from the model',
	description:
		'`pinned`: its instructions are always with the model. `loaded`: not pinned any more; what the model has loaded ' +
		'stays. `unloaded`: what was loaded of it so far is not with the model any more. It counts from the next answer on.',
	params: { ...OF_CONVERSATION, name: 'Of a skill.' },
	body: conversationSkillPatch,
	answer: conversationSkillList.describe('All skills of the conversation.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const { state } = await body();
		return setConversationSkill(app, params.id, { name: params.name, state });
	}
});
