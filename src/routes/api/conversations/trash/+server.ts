import { deletedConversationList, pageQuery } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listDeletedConversations',
	tag: 'Trash',
	summary: 'List deleted conversations, last deleted first',
	description: 'Until `expiresAt`, 30 days after it was deleted, a conversation can be restored with all its files.',
	query: pageQuery,
	answer: deletedConversationList.describe('One page.'),
	handler: async ({ app, query }) => ({ ...(await app.conversationTrash.list(query)), ...query })
});
