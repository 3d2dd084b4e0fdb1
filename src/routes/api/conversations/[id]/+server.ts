import { conversationDetail, conversationPatch, conversationSummary } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { changeConversation, readConversation } from '$lib/server/conversations/conversations.ts';

export const GET = endpoint({
	id: 'getConversation',
	tag: 'Conversations',
	summary: 'A conversation with its newest messages',
	params: OF_CONVERSATION,
	answer: conversationDetail.describe('The conversation.'),
	handler: ({ app, params }) => readConversation(app, params.id)
});

export const PATCH = endpoint({
	id: 'changeConversation',
	tag: 'Conversations',
	summary: 'Renames, pins, archives it, and more',
	description: 'Only renaming makes it newer. `show` shows another branch; `isUnread: false` says that it was seen.',
	params: OF_CONVERSATION,
	body: conversationPatch,
	answer: conversationSummary.describe('The conversation.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => changeConversation(app, params.id, await body())
});

export const DELETE = endpoint({
	id: 'deleteConversation',
	tag: 'Conversations',
	summary: 'Deletes it with its files; for ten minutes it can be restored',
	params: OF_CONVERSATION,
	answer: null,
	handler: async ({ app, params }) => {
		await app.conversationTrash.remove(params.id);
	}
});
