import { conversationDetail, conversationPatch, conversationSummary } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { changeConversation, readConversation } from '$lib/server/conversations/conversations.ts';

export const GET = endpoint({
	id: 'getConversation',
	tag: 'Conversations',
	summary: 'Get a conversation with its newest messages',
	params: OF_CONVERSATION,
	answer: conversationDetail.describe('The conversation.'),
	handler: ({ app, params }) => readConversation(app, params.id)
});

export const PATCH = endpoint({
	id: 'changeConversation',
	tag: 'Conversations',
	summary: 'Rename, pin or archive a conversation',
	description: '`show` switches to another branch. `isUnread: false` marks it as read. Only renaming changes its date.',
	params: OF_CONVERSATION,
	body: conversationPatch,
	example: { title: 'Word counts' },
	answer: conversationSummary.describe('The conversation.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => changeConversation(app, params.id, await body())
});

export const DELETE = endpoint({
	id: 'deleteConversation',
	tag: 'Conversations',
	summary: 'Delete a conversation; it can be restored for 30 days',
	params: OF_CONVERSATION,
	answer: null,
	handler: ({ app, params }) => app.conversationTrash.remove(params.id)
});
