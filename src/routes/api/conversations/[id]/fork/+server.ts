import { conversationFork, conversationSummary } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { forkConversation } from '$lib/server/conversations/conversations.ts';

export const POST = endpoint({
	id: 'forkConversation',
	tag: 'Conversations',
	summary: 'Copy a conversation up to a message',
	params: OF_CONVERSATION,
	body: conversationFork,
	status: 201,
	answer: conversationSummary.describe('The new conversation.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => forkConversation(app, params.id, (await body()).messageId)
});
