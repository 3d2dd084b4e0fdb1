import { conversationExportQuery } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION, content } from '$lib/server/endpoint.ts';
import { exportConversation } from '$lib/server/conversations/conversation-file.ts';
import { downloadStream } from '$lib/server/http.ts';

export const GET = endpoint({
	id: 'exportConversation',
	tag: 'Conversations',
	summary: 'Download a conversation',
	params: OF_CONVERSATION,
	query: conversationExportQuery,
	answer: [
		content('application/json', 'With all branches; an import takes it.'),
		content('text/markdown', 'The visible branch, for reading.')
	],
	handler: async ({ app, params, query }) => {
		const { format } = query;
		const { pieces, ...file } = await exportConversation(app, params.id, format);
		return downloadStream(app.log, pieces, file);
	}
});
