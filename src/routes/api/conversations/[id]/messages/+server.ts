import { earlierQuery, messageList } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { readEarlier } from '$lib/server/conversations/conversations.ts';

export const GET = endpoint({
	id: 'listMessages',
	tag: 'Conversations',
	summary: 'List earlier messages',
	params: OF_CONVERSATION,
	query: earlierQuery,
	answer: messageList.describe('The messages.'),
	handler: ({ app, params, query }) => readEarlier(app, params.id, query.before)
});
