import { conversationSummary } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'restoreConversation',
	tag: 'Trash',
	summary: 'Restore a conversation',
	params: OF_CONVERSATION,
	answer: conversationSummary.describe('The conversation.'),
	handler: ({ app, params }) => app.conversationTrash.restore(params.id)
});

export const DELETE = endpoint({
	id: 'deleteTrashedConversation',
	tag: 'Trash',
	summary: 'Delete a conversation for good',
	params: OF_CONVERSATION,
	answer: null,
	handler: ({ app, params }) => app.conversationTrash.removeForGood(params.id)
});
